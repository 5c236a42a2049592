"""Progress bars, and stopping threads that work for another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

from .. import _core

#: Shows a text, and how many of how many steps are done.
Show = Callable[[str, int, int], None]

#: Set in worker threads: Ctrl-C reaches only the main thread, which then sets the event.
stopping: ContextVar[Event | None] = ContextVar("stopping", default=None)


def check_stopping() -> None:
    """Raise KeyboardInterrupt in a worker thread that the main thread wants to stop."""
    stop = stopping.get()
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


def stop_callback() -> Callable[[], None] | None:
    """Return a function that raises KeyboardInterrupt once this worker thread is to stop; None outside worker threads."""
    stop = stopping.get()
    if stop is None:
        return None

    def check() -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    return check


_core.ask_besides(check_stopping)


@contextmanager
def live_bar(verbose: int) -> Iterator[Show | None]:
    """Yield a function that updates a progress bar; None unless `verbose`, and where rich is not installed."""
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
    """Show how many of `total` steps are done, and yield a function to call after each of them."""
    done = 0
    with live_bar(verbose) as show:

        def advance() -> None:
            nonlocal done
            done += 1
            if show is not None:
                show(what, done, total)

        yield advance
