"""Columns that are probably not what their reader takes them for: said once, after learning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .errors import say

#: Fewer values than these are worth a table, whatever they look like.
_FEW = 20
#: More whole numbers than these are rather amounts than codes.
_MANY = 50

_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?|\d\d?[./]\d\d?[./]\d{4}.*")


def say_doubts(clf: Any, n_rows: float) -> None:
    """Tell of columns that cannot help to predict new rows as they are, and what to do about them."""
    columns = zip(clf._schema.feature_names, clf._encoder.columns, strict=True)
    for name, column in columns:
        if column.kind == "category":
            doubt = doubt_about(name, column.labels(), n_rows)
            if doubt:
                say(f"warning: {doubt}")


def doubt_about(name: str, labels: Sequence[Any], n_rows: float) -> str:
    """Return what is strange about the categories of a column; nothing if that is nothing."""
    if len(labels) <= _FEW:
        return ""
    texts = [label for label in labels if isinstance(label, str)]
    words = [text for text in texts if not _NUMBER.fullmatch(text.strip())]
    if 0 < len(words) < 0.1 * len(labels):
        return (
            f"column {name!r} holds numbers, but also {_some(words)}, so that all its {len(labels):,} values are "
            "categories; --missing names words that mean a missing cell"
        )
    if not words and any("," in text for text in texts):  # codes such as 007 are meant to be text
        return (
            f"column {name!r} holds numbers with a decimal comma, which are read as text, so that all its {len(labels):,} "
            "values are categories; numbers have a decimal point"
        )
    if len(texts) == len(labels) and all(_DATE.fullmatch(text.strip()) for text in texts):
        return (
            f"column {name!r} holds {len(labels):,} dates, each a category of its own, which tells nothing of other dates; "
            "--ignore leaves the column out"
        )
    if len(labels) > 0.5 * n_rows:
        return (
            f"column {name!r} has {len(labels):,} different values in {n_rows:,.0f} rows, and tells nothing of rows with "
            "others; --ignore leaves it out, --numeric cuts numbers into intervals"
        )
    if len(labels) > _MANY and all(isinstance(label, int) for label in labels):
        return (
            f"column {name!r} has {len(labels):,} whole numbers, each a category of its own; --numeric cuts numbers into "
            "intervals"
        )
    return ""


def _some(words: Iterable[str], most: int = 3) -> str:
    found = [repr(word) for word in words]
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
