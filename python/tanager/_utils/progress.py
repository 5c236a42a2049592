"""Progress bars for work that lasts, and how it is told to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

from .. import _core

#: Shows a text, and how much of how much is done.
Show = Callable[[str, int, int], None]

#: Set in threads that work for another one: Ctrl-C reaches only the main thread, which then sets the event.
stopping: ContextVar[Event | None] = ContextVar("stopping", default=None)


def check_stopping() -> None:
    """Raise KeyboardInterrupt in a thread that is to end."""
    stop = stopping.get()
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


_core.ask_besides(check_stopping)


@contextmanager
def live_bar(verbose: int) -> Iterator[Show | None]:
    """Yield what shows the state of the work in a bar, or None.

    Nothing is shown unless `verbose`, nor where rich is not installed: it is no reason to fail.
    """
    if not verbose:
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None)
        yield lambda text, done, total: progress.update(task, description=text, completed=done, total=total)


@contextmanager
def progress_bar(what: str, total: int, verbose: int) -> Iterator[Callable[[], None]]:
    """Show how many of `total` pieces of work are done, and yield what to call after every piece."""
    done = 0
    with live_bar(verbose) as show:

        def advance() -> None:
            nonlocal done
            done += 1
            if show is not None:
                show(what, done, total)

        yield advance
