"""The terminal: tables of results, and progress bars where somebody watches."""

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
Tell = Callable[[int, float | None], None]


def plain_table(title: str | None = None, **options: Any) -> Table:
    """Return a table with a line under its headings and no others, so that much fits a terminal of 80 columns."""
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


def console(**options: Any) -> Console:
    """Return the terminal; names of columns and labels are shown as they are, without colors or markup of their own."""
    from rich.console import Console

    return Console(highlight=False, **options)


def print_table(screen: Console, table: Table) -> None:
    """Print a table with no cell cut: in a terminal that is too narrow its lines are broken, but every digit is there."""
    before = screen.width
    screen.width = 1_000
    needed = screen.measure(table).maximum
    screen.width = max(before, needed)
    screen.print(table)
    screen.width = before


def on_terminal() -> bool:
    """Tell whether somebody watches standard error."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


@contextmanager
def rows_bar(what: str) -> Iterator[Tell]:
    """Show the progress of reading rows, and yield what is to be told of every batch."""
    if not on_terminal():
        yield lambda _rows, _share: None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
    except ImportError:  # no reason to fail
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

        def tell(rows: int, share: float | None) -> None:
            nonlocal done
            done += rows
            seconds = max(time.perf_counter() - start, 1e-9)
            shown = f"{done:,} rows, {_short(done / seconds)} rows/s"
            if not share:
                progress.update(task, rows=shown)
            else:
                left = timedelta(seconds=round(seconds * (1 - share) / share))
                progress.update(task, total=1.0, completed=share, rows=f"{shown}, {left} left")

        yield tell


@contextmanager
def steps_bar(total: int) -> Iterator[Callable[[str], None]]:
    """Show which of several steps is at work, and yield what is to be told its name."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        begun = 0

        def tell(name: str) -> None:
            nonlocal begun
            progress.update(task, description=name, completed=begun)
            begun += 1

        yield tell


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:.0f}"
