"""How many rows are done, how fast, and how long it will take: on terminals only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from .tables.csv_reader import Tell


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
