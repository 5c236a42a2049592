"""Labels as text that people read: nothing in it can break lines, turn the direction of writing or become markup."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable
from typing import Any


def display_label(label: Any) -> str:
    """Return a label as one line of text; what cannot be printed is escaped as in Python, and so is empty text."""
    text = str(label)
    return text if text.isprintable() and text.strip() else repr(label)


def distinct_labels(labels: Iterable[Any]) -> list[str]:
    """Return different labels as different texts, each as `display_label` does where that tells them apart: not 1 and "1"."""
    found = list(labels)
    texts = list(map(display_label, found))
    times = Counter(texts)
    return [text if times[text] == 1 else repr(label) for text, label in zip(texts, found, strict=True)]


def html_label(label: Any) -> str:
    """Return a label as HTML that shows it and does nothing else."""
    return html.escape(display_label(label))


def plural(n: int, what: str) -> str:
    """Return a number with a noun, such as "1 class" or "2 classes"."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}{'es' if what.endswith('s') else 's'}"
