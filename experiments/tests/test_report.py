"""The committed report, and the README that quotes it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

pytest.importorskip("scipy")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from experiments.beyond import experiment as beyond
from experiments.lines import LINES, MORE
from experiments.page import sealed


def test_the_report_has_every_result_and_every_figure() -> None:
    folder = ROOT / "docs"
    report = (folder / "reproduction.md").read_text(encoding="utf-8")
    assert "A quick run" not in report
    text = report.rpartition("\n<!-- ")[0]
    assert sealed(text) == report  # no manual edits
    assert sealed(text.replace("1", "2", 1)) != report
    sections = report.split("\n### ")[1:]
    for line in (*LINES, *MORE):  # every claim that is not met has a reason
        (section,) = (found for found in sections if found.startswith(f"{line}\n"))
        assert "**not met** |" not in section
    for line in LINES:
        assert f"\n### {line}\n" in report
        assert f"| [{line}](#" in report
    shown = {path.partition(")")[0] for path in report.split("](reproduction/")[1:]}
    assert shown == {path.name for path in (folder / "reproduction").iterdir()}


def summary(report: str) -> dict[str, dict[str, str]]:
    """Parse the first table of the report: figures by method, then column."""
    lines = report.partition("## Summary\n")[2].partition("\n## ")[0].splitlines()
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0].strip("*"): dict(zip(header, row, strict=True)) for row in rows}


def test_the_readme_advises_with_the_figures_of_the_report() -> None:
    table = summary((ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8"))
    figures = {name: set(list(row.values())[2:]) for name, row in table.items()}
    for name, row in table.items():
        figures[name].add(f"{float(row['fit time, ms']):.2g}")
    every = set().union(*figures.values())
    methods = {f"`{beyond.code(name)}`": name for name in table}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in readme.splitlines() if line.startswith("|")
    ]
    advised = [row for row in rows if len(row) == 3 and row[1] in methods]
    assert len(advised) >= 5
    for _, method, why in advised:
        named = set(re.findall(r"\d+\.\d|\d+(?= ms)", why))
        assert named & figures[methods[method]], f"{why}: no figure of {method}"
        assert named <= every, f"{why}: not in the report"
    for column, method in {
        "below 1,000 rows": "SSTBMATAN",
        "1,000 or more": "TAN BIC ELR",
        "accuracy": "TAN BIC ELR",
    }.items():
        # No other method of tanager is clearly better than the recommended one.
        assert f"`{beyond.code(method)}`" in [row[1] for row in advised]
        assert float(table[method][column]) <= 0.5 + min(float(table[name][column]) for name in beyond.TANAGER)


def test_the_guide_advises_what_the_report_found() -> None:
    table = summary((ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8"))
    methods = {beyond.code(name): name for name in table}
    guide = (ROOT / "docs" / "which-method.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in guide.splitlines() if line.startswith("| ")]
    advised = [methods[code] for row in rows for code in re.findall(r"`([^`]+)`", row[2]) if code in methods]

    def ranked(column: str, names: Iterable[str]) -> list[str]:
        return sorted(names, key=lambda name: float(table[name][column]))

    first, second = advised[:2]  # for many rows, then for few
    assert ranked("probabilities", table)[0] == ranked("1,000 or more", beyond.TANAGER)[0] == first
    assert ranked("accuracy", beyond.TANAGER)[0] == first
    assert second in ranked("below 1,000 rows", beyond.TANAGER)[:2]  # it ties with the first
    # Better ones in the order of the guide, then those for other purposes, then the baseline.
    order = ["NB ELR", "NB WANBIA", "AODE", "TAN BIC", "TAN-HC", "NB"]
    assert set(order) <= set(advised)
    assert ranked("probabilities", order) == order
