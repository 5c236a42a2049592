"""The report: tables, claims and figures of all experiments as one Markdown page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and what came out.

    Attributes
    ----------
    met : bool or None
        None where it is reported and not judged.
    reason : str
        Why it is not met, or not judged.
    """

    line: str
    what: str
    paper: str
    ours: str
    met: bool | None
    reason: str = ""

    @property
    def verdict(self) -> str:
        return {True: "met", False: "**not met**", None: "not judged"}[self.met]


@dataclass
class Page:
    """What is to be written.

    Parameters
    ----------
    quick : bool
        Few tables and splits: claims are shown, and judged only where that does not matter.
    figures : Path or None
        Folder of the pictures; None: none are drawn.
    """

    quick: bool
    figures: Path | None = None
    lines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def heading(self, text: str, level: int = 2) -> None:
        self.lines += ["", "#" * level + " " + text, ""]

    def text(self, text: str) -> None:
        """Add paragraphs, which empty lines part."""
        for paragraph in text.strip().split("\n\n"):
            self.lines += ["", " ".join(paragraph.split()), ""]

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]], align: str = "") -> None:
        """Add a table; `align` has l or r for every column (default: l, then r)."""
        align = align or "l" + "r" * (len(header) - 1)
        self.lines += ["", *markdown(header, rows, align), ""]

    def claim(
        self, line: str, what: str, paper: str, ours: str, met: bool | None, reason: str = "", *, always: bool = False
    ) -> None:
        """Add a claim; `reason` is shown if it is not met. `always`: a quick run may judge it, too."""
        if self.quick and not always:
            self.claims.append(Claim(line, what, paper, ours, None, "a quick run"))
        else:
            self.claims.append(Claim(line, what, paper, ours, met, "" if met else reason))

    def figure(self, name: str, caption: str, figure: Any) -> None:
        """Write a picture, and show it."""
        if self.figures is None:
            return
        self.figures.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.figures / f"{name}.png", dpi=150, metadata={"Software": None})
        from matplotlib import pyplot as plt

        plt.close(figure)
        self.lines += ["", f"![{caption}]({self.figures.name}/{name}.png)", "", f"*{caption}*", ""]

    def claims_table(self, line: str = "") -> list[str]:
        """Return the claims whose line begins so."""
        rows = [(c.line, c.what, c.paper, c.ours, c.verdict, c.reason) for c in self.claims if c.line.startswith(line)]
        return markdown(("line", "what should come out", "paper", "ours", "", "reason"), rows, "llllll")


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Return the lines of a table."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
    if any(len(row) != len(align) for row in cells):
        raise ValueError(f"expected rows of {len(align)} cells, but one has {max(len(row) for row in cells)}")
    widths = [max(3, *(len(row[k]) for row in cells)) for k in range(len(align))]
    rule = ["-" * (width - 1) + (":" if side == "r" else "-") for width, side in zip(widths, align, strict=True)]
    padded = [
        [cell.rjust(w) if side == "r" else cell.ljust(w) for cell, w, side in zip(row, widths, align, strict=True)]
        for row in cells
    ]
    return ["| " + " | ".join(row) + " |" for row in (padded[0], rule, *padded[1:])]
