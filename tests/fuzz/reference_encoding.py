"""How tables become codes, by the documented rules: plain Python over lists of values, independent of the library.

A column is a list of Python values, None where missing. docs/getting-started.md says what is taken for what; `Coding` is what has
been learned of one column, and turns values into codes.
"""

from __future__ import annotations

import contextlib
import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

NUMBERS = (bool, int, float)


class Undecided(Exception):
    """Rounding decides, so that the definition does not say what is right."""


@dataclass
class Coding:
    """Categories in the order of their codes, or cut points."""

    categories: list | None = None
    cuts: list[float] | None = None
    declared: bool = False

    @property
    def cardinality(self) -> int:
        return max(1, len(self.categories)) if self.cuts is None else len(self.cuts) + 1

    def code(self, value) -> int:
        """The code of a value; -1 if it is missing or unknown."""
        if value is None:
            return -1
        if self.cuts is not None:
            return bisect_left(self.cuts, float(value))  # code i means cuts[i - 1] < value <= cuts[i]
        return next((i for i, known in enumerate(self.categories) if known == value), -1)

    def matched_code(self, value) -> int:
        """The same in prediction, where values that differ in nothing but type match if that is unambiguous."""
        code = self.code(value)
        if code >= 0 or value is None:
            return code
        meant = spelled(value) if isinstance(value, str) else value
        if meant is None or not isinstance(meant, NUMBERS):
            return -1
        found = []
        for i, known in enumerate(self.categories):
            if isinstance(value, str):
                alike = isinstance(known, bool) if isinstance(meant, bool) else isinstance(known, NUMBERS)
                found += [i] if alike and known == meant else []
            elif isinstance(known, str) and (number := spelled(known)) is not None and number == meant:
                found += [i] if isinstance(meant, bool) or not isinstance(number, bool) else []
        return found[0] if len(found) == 1 else -1

    def codes(self, values) -> np.ndarray:
        return np.array([self.matched_code(value) for value in values], dtype=np.int64)

    def extended(self, values) -> Coding:
        """The same with the values that are new, as learning from all rows at once would have it."""
        if self.cuts is not None:
            return self
        new = []
        for value in values:
            if value is not None and self.code(value) < 0 and value not in new:
                new.append(value)
        return Coding(self.categories + new if self.declared else in_order(self.categories + new), None, self.declared)


def spelled(text):
    """The number or truth value that a text spells, or None."""
    text = text.strip(" \t")
    if text.lower() in ("true", "false") and text in (text.lower(), text.upper(), text.capitalize()):
        return text.lower() == "true"
    if not text.isascii() or "_" in text or "nan" in text.lower():
        return None
    for read in (int, float):
        with contextlib.suppress(ValueError):
            return read(text)
    return None


def in_order(values) -> list:
    """Sorted; values that cannot be compared by type and then value, or else in the order of rows."""
    try:
        return sorted(values)
    except TypeError:
        pass
    try:
        return sorted(values, key=lambda value: (type(value).__name__, value))
    except TypeError:
        return list(values)


def learn_categories(values) -> Coding:
    return Coding([]).extended(values)


# -- discretization


def halfway(a, b) -> float:
    middle = a / 2 + b / 2 if math.isinf(a + b) else (a + b) / 2
    return (middle if middle < b else a) + 0.0


def entropy(weights) -> float:
    """In bits, of the weights of the classes in some rows."""
    total = math.fsum(weights.values())
    return -math.fsum(w / total * math.log2(w / total) for w in weights.values() if w > 0)


def class_weights(rows) -> dict:
    found = {}
    for _, c, w in rows:
        found[c] = found.get(c, 0.0) + w
    return found


def mdl_cuts(x, y, w) -> list[float]:
    """Fayyad and Irani: the best of all cuts, if it pays, and so on in both parts."""
    rows = sorted((float(a) + 0.0, c, b) for a, c, b in zip(x, y, w, strict=True) if a is not None and b > 0)
    return sorted(_mdl(rows))


def _mdl(rows) -> list[float]:
    whole = class_weights(rows)
    total = math.fsum(whole.values())
    if len(whole) < 2:
        return []
    splits = []
    for i in range(1, len(rows)):
        if rows[i - 1][0] < rows[i][0]:
            left, right = class_weights(rows[:i]), class_weights(rows[i:])
            n1, n2 = math.fsum(left.values()), math.fsum(right.values())
            splits.append(((n1 * entropy(left) + n2 * entropy(right)) / total, i))
    if not splits:
        return []
    least = min(splits)[0]
    i = next(i for value, i in splits if value <= least + 1e-12)
    if any(1e-14 < value - least < 1e-10 for value, _ in splits):
        raise Undecided
    left, right = class_weights(rows[:i]), class_weights(rows[i:])
    e, e1, e2 = entropy(whole), entropy(left), entropy(right)
    n1, n2 = math.fsum(left.values()), math.fsum(right.values())
    k, k1, k2 = len(whole), len(left), len(right)
    gain = e - (n1 * e1 + n2 * e2) / total
    log_power = math.log2(3**k - 2) if k < 600 else k * math.log2(3)
    cost = (math.log2(max(total - 1, 1.0)) + log_power - (k * e - k1 * e1 - k2 * e2)) / total
    if abs(gain - cost) < 1e-12:
        raise Undecided
    return [halfway(rows[i - 1][0], rows[i][0]), *_mdl(rows[:i]), *_mdl(rows[i:])] if gain > cost else []


def equal_frequency_cuts(x, w, bins) -> list[float]:
    """Between distinct values, where the weight below is nearest to equal shares; of two equally near the lower."""
    rows = sorted((float(a) + 0.0, b) for a, b in zip(x, w, strict=True) if a is not None and b > 0)
    edges, below = [], 0.0
    for i, (value, weight) in enumerate(rows):
        if i and rows[i - 1][0] < value:
            edges.append((below, halfway(rows[i - 1][0], value)))
        below += weight
    cuts = set()
    for k in range(1, bins):
        distances = [abs(weight - k * below / bins) for weight, _ in edges]
        if distances:
            if any(0 < d - min(distances) < 1e-9 * below for d in distances):
                raise Undecided
            cuts.add(edges[distances.index(min(distances))][1])
    return sorted(cuts)


def equal_width_cuts(x, w, bins) -> list[float]:
    values = [float(a) for a, b in zip(x, w, strict=True) if a is not None and b > 0]
    if not values or min(values) == max(values):
        return []
    low, high = Fraction(min(values)), Fraction(max(values))
    return sorted({c for k in range(1, bins) if low <= (c := float(low + k * (high - low) / bins)) < high})


def find_cuts(discretizer, x, y, w) -> list[float]:
    """By the name of a discretizer, with five bins as by default."""
    if discretizer == "mdlp":
        return mdl_cuts(x, y, w)
    return (equal_frequency_cuts if discretizer == "equal-frequency" else equal_width_cuts)(x, w, 5)
