"""Which method to start with: the table in README.md, whose figures are those of the report.

`python -m benchmarks.papers all` writes it between two marks when it writes docs/reproduction.md, and a test compares the two, so that no
figure there can be another than in the report.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.harness import ROOT
from benchmarks.papers import beyond
from benchmarks.papers.page import markdown

README = ROOT / "README.md"
BEGIN = "<!-- Written by python -m benchmarks.papers all from docs/reproduction.md. -->"
END = "<!-- Up to here. -->"
GIST = "## The gist"
#: Columns of the gist.
PROBABILITIES, SMALL, LARGE, ACCURACY, TIME = (
    "probabilities",
    "below 1,000 rows",
    "1,000 or more",
    "accuracy",
    "ms to learn",
)

WORDS = {"TAN": "one tree", "NB": "naive Bayes", "RandomForest": "a random forest", "LightGBM": "LightGBM"}

Table = dict[str, dict[str, str]]  # by method, then column


def gist(report: str) -> Table:
    """Read the table of the gist back from the report."""
    lines = report.partition(f"{GIST}\n")[2].partition("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    header, _, *rest = rows
    return {row[0].strip("*"): dict(zip(header, row, strict=True)) for row in rest}


def advice(table: Table) -> list[tuple[str, str, str]]:
    """Return situations, what to start with, and why, with the figures of the report."""

    def rank(method: str, column: str = PROBABILITIES) -> str:
        return table[method][column]

    def beside(column: str, *methods: str) -> str:
        return ", ".join(
            f"{WORDS[m]} {rank(m, column)}" for m in methods if m in table
        )  # LightGBM may not be installed

    def learned(method: str) -> str:
        return f"learned in {float(table[method][TIME]):.2g} ms"

    def place(method: str) -> str:
        better = sum(float(row[PROBABILITIES]) < float(rank(method)) for row in table.values())
        return f"place {better + 1} of {len(table)} on all tables ({rank(method)})"

    trees, elr = "SSTBMATAN", "TAN BIC ELR"
    small = f"rank {rank(trees, SMALL)} there ({beside(SMALL, 'TAN', 'NB', 'RandomForest')}), {learned(trees)}"
    large = f"rank {rank(elr, LARGE)} there ({beside(LARGE, 'LightGBM', 'RandomForest', 'NB')}), {learned(elr)}"
    accurate = f"rank {rank(elr, ACCURACY)} by accuracy ({beside(ACCURACY, 'LightGBM', 'RandomForest', 'NB')})"
    return [
        (
            "a first model, fewer than a thousand rows; probabilities that can be trusted",
            beyond.code(trees),
            f"an exact average over all trees, nothing to tune: {small}",
        ),
        (
            "a thousand rows or more, and prediction is what counts",
            beyond.code(elr),
            f"the arcs that pay, with parameters that discriminate: {large}; {place(elr)}",
        ),
        (
            "rows come in a stream or from a cluster, or `partial_fit` adds to the model",
            beyond.code("AODE"),
            f"one pass, counts that add up: rank {rank('AODE')} on all tables, {learned('AODE')}",
        ),
        (
            "a network to look at and to explain",
            beyond.code("TAN BIC"),
            f"naive Bayes with only those arcs that pay: rank {rank('TAN BIC')} ({beside(PROBABILITIES, 'NB')})",
        ),
        (
            "a baseline, or as few parameters as can be",
            beyond.code("NB"),
            f"rank {rank('NB')}, and {rank('NB', ACCURACY)} by accuracy, which suffers less; {learned('NB')}",
        ),
        (
            "accuracy alone, whatever the probabilities",
            beyond.code(elr),
            f"{accurate}; try boosted trees, too",
        ),
    ]


def block(report: str) -> str:
    """Return the table of a report between its marks."""
    table = gist(report)
    rows = [(situation, f"`{code}`", why) for situation, code, why in advice(table)]
    counted = re.search(r"Average ranks of (\d+) classifiers over (\d+) tables", report)
    if counted is None:
        raise ValueError("expected a report that says how many classifiers and tables it has, but it does not")
    about = (
        f"Ranks are means over {counted.group(2)} published tables of the ranks of {counted.group(1)} classifiers, tanager's and others', by the log "
        "score of their probabilities where nothing else is said (1 is best). [The report](docs/reproduction.md) has them all, and the figures "
        "of the papers beside ours; [which method when](docs/which-method.md) goes on from here."
    )
    return "\n".join([BEGIN, "", *markdown(("your situation", "start with", "why"), rows, "lll"), "", about, "", END])


def rewrite(report: str, readme: Path = README) -> None:
    """Put the table of a report into the README."""
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    readme.write_text(before + block(report) + after, encoding="utf-8")
