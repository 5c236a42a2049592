"""Collect and print results: tables of times, and figures with their targets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.harness import tables
from benchmarks.harness.options import Options
from benchmarks.harness.timing import Timing


@dataclass(frozen=True)
class Row:
    """A contender's time; None if it was not measured."""

    name: str
    timing: Timing | None
    remark: str = ""


@dataclass(frozen=True)
class Figure:
    """A measured value, with or without a target."""

    benchmark: str
    what: str
    value: float | None
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    remark: str = ""
    checked: bool = True

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target or a value, or if the run does not check targets."""
        if self.value is None or not self.checked or (self.at_least is None and self.at_most is None):
            return None
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )

    @property
    def target(self) -> str:
        if self.at_least is not None:
            return f">= {number(self.at_least)}"
        return "" if self.at_most is None else f"<= {number(self.at_most)}"

    @property
    def verdict(self) -> str:
        if self.met is not None:
            return "met" if self.met else "NOT MET"
        if not self.target:
            return ""
        return "not checked" if self.value is not None else "n/a"


@dataclass
class Report:
    """Results of one run.

    Parameters
    ----------
    checks_targets : bool
        False for quick runs, whose datasets are too small for the targets.
    """

    facts: dict[str, str]
    checks_targets: bool = True
    tables: list[dict[str, Any]] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    _benchmark: str = ""

    def begin(self, benchmark: str, title: str) -> None:
        """Start a benchmark, to which later tables and figures belong."""
        self._benchmark = benchmark
        print(f"\n## {benchmark}: {title}", flush=True)

    def table(self, title: str, rows: Sequence[Row]) -> None:
        """Print and record times. The first row is tanager's; the others are compared with it by CPU time."""
        first = rows[0].timing
        lines = [("", "wall", "CPU", "CPU / first", "")]
        for row in rows:
            if row.timing is None:
                lines.append((row.name, "-", "-", "-", row.remark))
                continue
            ratio = "" if first is None or row is rows[0] else f"{number(row.timing.cpu / first.cpu)} x"
            lines.append((row.name, seconds(row.timing.wall), seconds(row.timing.cpu), ratio, row.remark))
        print(f"\n{title}")
        print_columns(lines, "lrrrl")
        kept = [
            {"name": r.name, **(asdict(r.timing) if r.timing else {"wall": None, "cpu": None}), "remark": r.remark}
            for r in rows
        ]
        self.tables.append({"benchmark": self._benchmark, "title": title, "rows": kept})

    def figure(self, what: str, value: float | None, unit: str, **rest: Any) -> None:
        """Record a figure; `at_least` or `at_most` is its target."""
        figure = Figure(self._benchmark, what, value, unit, **{"checked": self.checks_targets, **rest})
        self.figures.append(figure)
        if not figure.target:
            print(f"  {what}: {number(value)} {unit}  {figure.remark}".rstrip(), flush=True)

    def summary(self) -> None:
        """Print every figure that has a target."""
        print("\n## Figures and targets\n")
        lines = [("", "", "measured", "", "target", "", "")]
        lines += [
            (f.benchmark, f.what, number(f.value), f.unit, f.target, f.verdict, f.remark)
            for f in self.figures
            if f.target
        ]
        print_columns(lines, "llrlrll")

    def save(self, path: Path) -> None:
        """Write everything as JSON."""
        figures = [{**asdict(f), "met": f.met} for f in self.figures]
        content = {"machine": self.facts, "tables": self.tables, "figures": figures}
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def table_for(report: Report, options: Options, benchmark: str, name: str) -> tables.CodedTable | None:
    """Start a benchmark on a published dataset, or print why it is skipped and return None."""
    try:
        table = {"chess": tables.chess, "letter": tables.letter}[name]()
    except FileNotFoundError as error:
        report.begin(benchmark, f"{name} skipped: {error}")
        return None
    table = table.thinned(500) if options.quick else table
    report.begin(benchmark, f"{table}, one thread" if benchmark != "two threads" else str(table))
    return table


def number(value: float | None) -> str:
    """Format with three significant digits and thousands separators."""
    if value is None:
        return "n/a"
    if value == 0:
        return "0"
    if abs(value) < 1e-3:
        return f"{value:.1e}"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return text if abs(value) < 100_000 else f"{float(f'{value:.3g}'):,.0f}"


def seconds(value: float) -> str:
    """Format a time in a suitable unit."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}" if value * factor < 100 else f"{value * factor:.0f} {unit}"
    return f"{value:.2f} s " if value < 100 else f"{value:.0f} s "


def print_columns(lines: Sequence[Sequence[str]], align: str) -> None:
    """Print lines of cells in columns; `align` has l or r for each."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(align))]
    for line in lines:
        cells = [
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(line, widths, align, strict=True)
        ]
        print(("  " + "  ".join(cells)).rstrip(), flush=True)
