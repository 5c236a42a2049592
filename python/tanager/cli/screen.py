"""Tables and texts in the terminal."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table


def plain_table(title: str | None = None, **options: Any) -> Table:
    """Return a table with a line under its headings and no others, so that much fits a terminal of 80 columns."""
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
    return Console(highlight=False, **options)


def print_table(screen: Console, table: Table) -> None:
    """Print a table with no cell cut: in a terminal that is too narrow its lines are broken, but every digit is there."""
    before = screen.width
    screen.width = 1_000
    needed = screen.measure(table).maximum
    screen.width = max(before, needed)
    screen.print(table)
    screen.width = before
