"""Labels, names and tables as text for people; no label can break a line, reverse the direction of writing or become markup."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any


def display_label(label: Any) -> str:
    """Return a label as one line of text; empty and unprintable labels as Python writes them."""
    text = str(label)
    return text if text.isprintable() and text.strip() else repr(label)


def distinct_labels(labels: Iterable[Any]) -> list[str]:
    """Return each label as `display_label` does, or as Python writes it where two would look the same, such as 1 and "1"."""
    listed = list(labels)
    texts = list(map(display_label, listed))
    times = Counter(texts)
    return [text if times[text] == 1 else repr(label) for text, label in zip(texts, listed, strict=True)]


def html_label(label: Any) -> str:
    """Return a label as HTML that shows it and does nothing else."""
    return html.escape(display_label(label))


def plural(n: int, what: str) -> str:
    """Return a number with a noun, such as "1 class" or "2 classes"."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}{'es' if what.endswith('s') else 's'}"


def join_names(names: Iterable[Any], most: int = 8) -> str:
    """Return names as Python writes them, separated by commas; of more than `most`, the first ones and how many there are.

    >>> join_names(["a", "b"])
    "'a', 'b'"
    >>> join_names("abc", most=2)
    "'a', 'b', ... (3 in all)"
    """
    listed = list(names)
    more = f", ... ({len(listed):,} in all)" if len(listed) > most else ""
    return ", ".join(map(repr, listed[:most])) + more


def text_table(rows: Sequence[Sequence[str]], *, left: int = 0) -> str:
    """Return rows of cells as aligned text; the first `left` columns are aligned to the left, the others to the right.

    >>> print(text_table([["model", "score"], ["TAN", "0.9"]], left=1))
    model  score
    TAN      0.9
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    align = [str.ljust if i < left else str.rjust for i in range(len(widths))]
    lines = [
        "  ".join(justify(cell, width) for justify, cell, width in zip(align, row, widths, strict=True)) for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def shortened(text: str, length: int = 60) -> str:
    """Shorten a text for a message."""
    return text if len(text) <= length else text[: length - 3] + "..."
