"""Terminal output: tables of results, and progress bars if standard error is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: Takes the number of rows just read, and the fraction of the file read so far (0 to 1, or None if unknown).
RowProgress = Callable[[int, float | None], None]


def plain_table(title: str | None = None, **options: Any) -> Table:
    """Return a compact table, with a line under the header only, to fit 80 columns."""
    from rich import box
    from rich.table import Table

    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
        **options,
    )


def make_console(**options: Any) -> Console:
    """Return a console that prints names and labels unchanged, without highlighting."""
    from rich.console import Console

    return Console(highlight=False, **options)


def print_table(console: Console, table: Table) -> None:
    """Print a table without truncating cells: in a narrow terminal, lines wrap instead."""
    width = console.width
    console.width = 1_000
    needed = console.measure(table).maximum
    console.width = max(width, needed)
    console.print(table)
    console.width = width


def on_terminal() -> bool:
    """Whether standard error is a terminal."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


@contextmanager
def rows_bar(what: str) -> Iterator[RowProgress]:
    """Show a progress bar of rows, and yield the function to call after every batch."""
    if not on_terminal():
        yield lambda _rows, _share: None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
    except ImportError:  # progress is optional
        yield lambda _rows, _share: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[rows]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None, rows="")
        start, done = time.perf_counter(), 0

        def advance(rows: int, share: float | None) -> None:
            nonlocal done
            done += rows
            seconds = max(time.perf_counter() - start, 1e-9)
            text = f"{done:,} rows, {_short(done / seconds)} rows/s"
            if not share:
                progress.update(task, rows=text)
            else:
                left = timedelta(seconds=round(seconds * (1 - share) / share))
                progress.update(task, total=1.0, completed=share, rows=f"{text}, {left} left")

        yield advance


@contextmanager
def steps_bar(total: int) -> Iterator[Callable[[str], None]]:
    """Show which of several steps is running, and yield the function to call with its name."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        begun = 0

        def advance(name: str) -> None:
            nonlocal begun
            progress.update(task, description=name, completed=begun)
            begun += 1

        yield advance


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:.0f}"
