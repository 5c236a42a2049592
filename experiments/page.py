"""The report: tables, claims and figures of all experiments as one Markdown page."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.lines import LINES, MORE
from experiments.runner import Results


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and our result.

    Attributes
    ----------
    line : str
        A key of `LINES` or `MORE`.
    met : bool or None
        None for a result that is reported but not evaluated.
    reason : str
        Why it is not met, or not evaluated.
    """

    line: str
    what: str
    paper: str
    ours: str
    met: bool | None
    reason: str = ""

    @property
    def verdict(self) -> str:
        return {True: "met", False: "**not met**", None: "reported"}[self.met]


@dataclass
class Page:
    """Contents of the report.

    Parameters
    ----------
    quick : bool
        Few datasets and splits: claims are shown, and evaluated only where the size does not matter.
    figures : Path or None
        Folder of the figures; None to omit them.
    results : Results
        Results of all experiments: the reason for one may come from another.
    summary : list of str
        First section of the report.
    """

    quick: bool
    figures: Path | None = None
    results: Results = field(default_factory=Results)
    summary: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def heading(self, text: str, level: int = 2) -> None:
        self.lines += ["", "#" * level + " " + text, ""]

    def text(self, text: str) -> None:
        """Add paragraphs, separated by empty lines."""
        for paragraph in text.strip().split("\n\n"):
            self.lines += ["", " ".join(paragraph.split()), ""]

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]], align: str = "") -> None:
        """Add a table; `align` has l or r for every column (default: l for the first, r for the others)."""
        align = align or "l" + "r" * (len(header) - 1)
        self.lines += ["", *markdown(header, rows, align), ""]

    def claim(
        self, line: str, what: str, paper: str, ours: str, met: bool | None, reason: str = "", *, always: bool = False
    ) -> None:
        """Add a claim; `reason` is shown if it is not met. `always`: evaluate it in quick runs as well."""
        if line not in LINES and line not in MORE:
            raise ValueError(f"line: expected a key of LINES or MORE in lines.py, got {line!r}")
        if self.quick and not always:
            self.claims.append(Claim(line, what, paper, ours, None, "a quick run"))
        else:
            self.claims.append(Claim(line, what, paper, ours, met, "" if met else reason))

    def figure(self, name: str, caption: str, figure: Any) -> None:
        """Save a figure and add it to the page."""
        if self.figures is None:
            return
        self.figures.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.figures / f"{name}.png", dpi=150, metadata={"Software": None})
        from matplotlib import pyplot as plt

        plt.close(figure)
        self.lines += ["", f"![{caption}]({self.figures.name}/{name}.png)", "", f"*{caption}*", ""]

    def of(self, line: str) -> list[Claim]:
        """Return the claims of a published result."""
        return [claim for claim in self.claims if claim.line == line]

    def verdict(self, line: str) -> str:
        """Return whether all evaluated claims of a published result are met."""
        evaluated = [claim for claim in self.of(line) if claim.met is not None]
        met = sum(bool(claim.met) for claim in evaluated)
        if not evaluated:
            return "not evaluated"
        return "met" if met == len(evaluated) else f"**{met} of {len(evaluated)}**"

    def lines_table(self, lines: Mapping[str, str]) -> list[str]:
        """Return a table of published results: the first claim of each, whether all claims are met, and which are not."""
        rows = []
        for line, what in lines.items():
            claims = self.of(line)
            figures = (claims[0].paper, claims[0].ours) if claims else ("-", "not run")
            off = [claim.what for claim in claims if claim.met is False]
            rows.append((f"[{line}](#{anchor(line)})", what, *figures, self.verdict(line), "; ".join(off)))
        header = ("result", "expected", "first claim: paper", "ours", "claims met", "not met")
        return markdown(header, rows, "llllll")

    def claims_of(self, line: str, what: str) -> list[str]:
        """Return all claims of a published result as a table with the reasons below it; empty without claims."""
        if not self.of(line):
            return []
        reasons = list(dict.fromkeys(claim.reason for claim in self.of(line) if claim.reason))
        marks = {reason: f" ({k})" for k, reason in enumerate(reasons, start=1)}
        rows = [(c.what, c.paper, c.ours, c.verdict + marks.get(c.reason, "")) for c in self.of(line)]
        notes = [f"-{mark} {reason}." for reason, mark in marks.items()]
        if reasons == ["a quick run"]:
            notes = ["A quick run cannot evaluate these claims."]
        return ["", f"### {line}", "", what, "", *markdown(("", "paper", "ours", ""), rows, "llll"), "", *notes]


def sealed(text: str) -> str:
    """Return a report with its hash appended, which lets a test detect manual edits."""
    return f"{text}\n<!-- {hashlib.sha256(text.encode()).hexdigest()[:32]}: generated, do not edit. -->\n"


def anchor(heading: str) -> str:
    """Return the anchor of a heading."""
    return "".join(c for c in heading.lower().replace(" ", "-") if c.isalnum() or c == "-")


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Return the lines of a table."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
    if any(len(row) != len(align) for row in cells):
        raise ValueError(f"expected rows of {len(align)} cells, got {sorted({len(row) for row in cells})}")
    widths = [max(3, *(len(row[k]) for row in cells)) for k in range(len(align))]
    rule = ["-" * (width - 1) + (":" if side == "r" else "-") for width, side in zip(widths, align, strict=True)]
    padded = [
        [cell.rjust(w) if side == "r" else cell.ljust(w) for cell, w, side in zip(row, widths, align, strict=True)]
        for row in cells
    ]
    return ["| " + " | ".join(row) + " |" for row in (padded[0], rule, *padded[1:])]
