"""Matching of values that equal a category except for their type, such as the string "1" for the category 1.

Python's equality is tried first; for it 1, 1.0 and True are the same. Otherwise a string may spell a number or a boolean that
is a category, or the other way round. The rules are those of the C++ programs: "3", "+3", "3.0" and "3e0" spell the number 3;
"true", "True" and "TRUE" spell True, which is not a number here; and a string never matches another string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity))", re.ASCII)
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
# Longer integers are read as floats: Python rejects very long ones, and is slow for others.
_MAX_DIGITS = 40
_SEVERAL = -1


def meaning(text: str) -> bool | int | float | None:
    """Return the number or boolean that a string spells; None if it spells neither."""
    bare = text.strip(" \t")
    if bare in _TRUTH:
        return _TRUTH[bare]
    if _NUMBER.fullmatch(bare) is None:
        return None
    if len(bare) <= _MAX_DIGITS and bare.lstrip("+-").isdigit():
        return int(bare)
    return float(bare)


class OtherTypes:
    """Finds categories that equal a value except for its type.

    Parameters
    ----------
    index : mapping
        The code of every category.
    """

    def __init__(self, index: Mapping[Any, int]) -> None:
        self._index = index
        self._truths: set[int] = set()
        self._floats = {category for category in index if isinstance(category, float)}
        self._by_number: dict[Any, int] = {}
        self._by_truth: dict[bool, int] = {}
        for category, code in index.items():
            if isinstance(category, bool):
                self._truths.add(code)
            meant = meaning(category) if isinstance(category, str) else None
            if isinstance(meant, bool):
                self._by_truth[meant] = _SEVERAL if meant in self._by_truth else code
            elif meant is not None:
                self._by_number[meant] = _SEVERAL if meant in self._by_number else code
        self.knows_truths = bool(self._by_truth)

    def find(self, value: Any) -> int | None:
        """Return the code of the only category that equals a value except for its type; None if there is none or several."""
        if isinstance(value, str):
            meant = meaning(value)
            code = None if meant is None else self._index.get(meant)
            if code is None and type(meant) is int and abs(meant) >= 2**63 and float(meant) in self._floats:
                return self._index[float(meant)]  # as in C++, which reads longer integers as floats
            # The string "True" does not match 1, although True == 1.
            return None if isinstance(meant, bool) and code not in self._truths else code
        if isinstance(value, bool):
            found = {self._by_truth.get(value), self._by_number.get(value)} - {None}
        elif isinstance(value, (int, float, Decimal, Fraction)):
            found = {self._by_number.get(value)} - {None}
        else:
            return None
        return found.pop() if len(found) == 1 and _SEVERAL not in found else None


def unseen_column(label: str, categories: Sequence[Any], values: Sequence[Any], n_rows: int) -> str | None:
    """Return a message that none of a column's values is known; None if that need not be a mistake.

    Parameters
    ----------
    label : str
        The name of the column in messages.
    categories, values : sequence
        The known categories and the values of the column, both without missing values.
    n_rows : int
        Number of rows with a value. A single value of the right type is just a new category.
    """
    if not categories or not values or (n_rows < 2 and _families(categories) == _families(values)):
        return None
    known, got = (f"{_kinds(labels)} such as {labels[0]!r:.50}" for labels in (categories, values))
    return (
        f"every value of {label} is unseen, so it is treated as missing: the model was fitted on {known}, but got {got}"
    )


def _kinds(values: Sequence[Any]) -> str:
    kinds = sorted({_kind(value) for value in values})
    return kinds[0] if len(kinds) == 1 else "objects of several types"


def _families(values: Sequence[Any]) -> set[str]:
    return {_family(meaning(v) if isinstance(v, str) and meaning(v) is not None else v) for v in values}


def _family(value: Any) -> str:
    return "number" if isinstance(value, (int, float, Decimal, Fraction)) else type(value).__name__


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "strings"
    if isinstance(value, bool):
        return "booleans"
    if isinstance(value, float):
        return "floats"
    return "integers" if isinstance(value, int) else f"{type(value).__name__} values"
