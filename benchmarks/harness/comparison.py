"""Compare the results of two runs, or the best of two sets of runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.report import number, print_columns, seconds


@dataclass
class Value:
    """A time, or a figure whose better direction may be unknown."""

    value: float
    unit: str
    higher_is_better: bool | None

    def best(self, other: Value) -> Value:
        return Value((max if self.higher_is_better else min)(self.value, other.value), self.unit, self.higher_is_better)

    def __str__(self) -> str:
        return seconds(self.value) if self.unit == "CPU" else f"{number(self.value)} {self.unit}"


def compare(before: Path, after: Path, tolerance: float) -> int:
    """Print what both measured; return 1 if anything is worse by more than the tolerance (a fraction)."""
    old, new = read(before), read(after)
    common = [name for name in old if name in new]
    if not common:
        raise ValueError(f"expected results of the same benchmarks, got none in both {before} and {after}")
    lines = [("", "", "before", "after", "after / before", "")]
    worse = 0
    for name in common:
        a, b = old[name], new[name]
        ratio = b.value / a.value if a.value else 1.0
        loss = 0.0 if a.higher_is_better is None or ratio <= 0 else (1 / ratio if a.higher_is_better else ratio) - 1
        worse += loss > tolerance
        lines.append((*name, str(a), str(b), f"{ratio:.3f}", "WORSE" if loss > tolerance else ""))
    print_columns(lines, "llrrrl")
    for what, only in (("before", set(old) - set(new)), ("after", set(new) - set(old))):
        if only:
            print(f"only {what}: {'; '.join(sorted(f'{a}: {b}' for a, b in only))}")
    print(f"{worse} of {len(common)} are worse by more than {100 * tolerance:g} %")
    return 1 if worse else 0


def read(path: Path) -> dict[tuple[str, str], Value]:
    """Read tanager's CPU times and all figures, by benchmark and name; the best of several files."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"expected files of --json in {path}, got none")
    found: dict[tuple[str, str], Value] = {}
    for file in files:
        content = json.loads(file.read_text(encoding="utf-8"))
        for name, value in _values(content):
            found[name] = value.best(found[name]) if name in found else value
    return found


def _values(content: dict) -> list[tuple[tuple[str, str], Value]]:
    times = [
        ((table["benchmark"], f"{table['title']}: {row['name']}"), Value(row["cpu"], "CPU", False))
        for table in content["tables"]
        for row in table["rows"][:1]
        if row["cpu"] is not None
    ]
    figures = [
        (
            (figure["benchmark"], figure["what"]),
            Value(figure["value"], figure["unit"], _direction(figure)),
        )
        for figure in content["figures"]
        if figure["value"] is not None
    ]
    return times + figures


def _direction(figure: dict) -> bool | None:
    if figure["at_least"] is None and figure["at_most"] is None:
        return None
    return figure["at_least"] is not None
