"""Warnings about columns that are probably not meant to be categories, such as IDs and dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Any

from .errors import print_message

#: Columns with at most this many values never cause a warning.
_FEW = 20
#: Columns with more distinct integers than this are probably quantities, not codes.
_MANY = 50

_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?|\d\d?[./]\d\d?[./]\d{4}.*")


def warn_about_columns(clf: Any, n_rows: float) -> None:
    """Print a warning for each column that is unlikely to generalize to new rows, and how to fix it."""
    columns = zip(clf._schema.feature_names, clf._encoder.columns, strict=True)
    for name, column in columns:
        if column.kind == "category":
            warning = column_warning(name, column.labels(), n_rows)
            if warning:
                print_message(f"warning: {warning}")


def column_warning(name: str, labels: Sequence[Any], n_rows: float) -> str:
    """Return the warning about a categorical column, or an empty string."""
    if len(labels) <= _FEW:
        return ""
    texts = [label for label in labels if isinstance(label, str)]
    words = [text for text in texts if not _NUMBER.fullmatch(text.strip())]
    if 0 < len(words) < 0.1 * len(labels):
        return (
            f"column {name!r} contains numbers but also {_first_few(words)}, so its {len(labels):,} values are treated as "
            "categories; list words that mean a missing value with --missing"
        )
    if not words and any("," in text for text in texts):  # codes such as 007 are text on purpose
        return (
            f"column {name!r} contains numbers with a decimal comma, so its {len(labels):,} values are treated as "
            "categories; use a decimal point"
        )
    if len(texts) == len(labels) and all(_DATE.fullmatch(text.strip()) for text in texts):
        return (
            f"column {name!r} contains {len(labels):,} dates, treated as unrelated categories; new dates will be unknown; "
            f"exclude it with --ignore {quote(name)}"
        )
    is_numeric = all(isinstance(label, int) for label in labels)
    if len(labels) > 0.5 * n_rows:
        return (
            f"column {name!r} looks like an ID ({len(labels):,} distinct values in {n_rows:,.0f} rows); exclude it with "
            f"--ignore {quote(name)}" + (f", or bin its numbers with --numeric {quote(name)}" if is_numeric else "")
        )
    if len(labels) > _MANY and is_numeric:
        return (
            f"column {name!r} has {len(labels):,} distinct integers, treated as unrelated categories; bin them with "
            f"--numeric {quote(name)}"
        )
    return ""


def _first_few(words: Iterable[str], n_shown: int = 3) -> str:
    quoted = [repr(word) for word in words]
    more = f" and {len(quoted) - n_shown} more" if len(quoted) > n_shown else ""
    return ", ".join(quoted[:n_shown]) + more
