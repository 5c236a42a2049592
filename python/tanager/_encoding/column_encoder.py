"""What the encoder knows of one column: its categories or its cut points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.typing import MISSING_CODE, Codes, Recoding, missing_code
from ..discretize import interval_labels
from .columns import EXACT, CodedColumn, Column, NumberColumn, ObjectColumn, is_missing
from .matching import OtherTypes, meaning

# Whether categories have an order of their own: no, by the column's type, or by the user (then they never grow).
Declared = Literal["", "dtype", "user"]

MAX_VALUES = 65534
_NO_CATEGORIES: npt.NDArray[Any] = np.empty(0, dtype=object)


class ColumnEncoder:
    """One column's codes. Immutable.

    Parameters
    ----------
    kind : {"category", "interval"}
    categories : ndarray, default=None
        The categories in the order of their codes.
    cuts : ndarray of float64, default=None
        Increasing; code i means cuts[i-1] < x <= cuts[i].
    declared : {"", "dtype", "user"}, default=""
        Who gave the categories their order: nobody (they are sorted), the column's type, or the user.
    """

    def __init__(
        self,
        kind: Literal["category", "interval"],
        *,
        categories: npt.NDArray[Any] | None = None,
        cuts: npt.NDArray[np.float64] | None = None,
        declared: Declared = "",
    ) -> None:
        self.kind = kind
        self.declared = declared
        self.categories = _NO_CATEGORIES
        self.cuts: npt.NDArray[np.float64] | None = None
        if kind == "interval":
            self.cuts = np.array(cuts, dtype=np.float64)
        elif categories is not None:
            # What nobody can write to need not be copied; the core makes such arrays.
            is_shared = categories.flags.writeable or categories.base is not None
            self.categories = np.array(categories) if is_shared else categories
        self._complete()

    def labels(self) -> list[Any]:
        """Return what every code means: a category, or an interval as text; None if no value is known."""
        if self.cuts is None:
            return self.categories.tolist() if len(self.categories) else [None]
        return interval_labels(self.cuts)

    @cached_property
    def index(self) -> dict[Any, int]:
        """The code of every category."""
        return {value: code for code, value in enumerate(self.categories.tolist())}

    @cached_property
    def integer_book(self) -> _core.CodeBook | None:
        """The codes of integers, if all categories are integers (or there are none)."""
        if self.cuts is not None or (self.categories.dtype.kind not in "iub" and len(self.categories)):
            return None
        return _core.CodeBook(self.categories.astype(np.int64))

    @cached_property
    def _float_book(self) -> _core.CodeBook | None:
        if self.categories.dtype.kind != "f":
            return None
        return _core.CodeBook(_core.float_keys(self.categories.astype(np.float64)))

    @cached_property
    def _other_types(self) -> OtherTypes:
        return OtherTypes(self.index)

    def encode(self, column: Column, label: str, *, match: bool = False) -> tuple[Codes, Callable[[], Iterable[Any]]]:
        """Encode a column.

        Parameters
        ----------
        column : Column
        label : str
            What messages call the column.
        match : bool, default=False
            Whether values that are unknown get the code of a category that equals them but for its type.

        Returns
        -------
        codes : ndarray of uint8 or uint16
        unknown : callable
            Returns the values that are there but have no code; ``list`` itself if there can be none.
        """
        if self.cuts is not None:
            column = _spelled_numbers(column, label) if match else column
            return _core.apply_cuts(column.floats(label), self.cuts), list
        if isinstance(column, NumberColumn):
            coded = self._encode_numbers(column)
            if coded is not None:
                codes, absent = coded
                return codes, (lambda: _unknown_numbers(column, codes)) if absent else list
        # Where "True" is known, but True is not, it matters which of the objects that equal 1 are truth values.
        if match and isinstance(column, ObjectColumn) and self._other_types.knows_truths:
            return self._encode_coded(column.coded_apart(label), match=match)
        return self._encode_coded(column.coded(label), match=match)

    def _encode_numbers(self, column: NumberColumn) -> tuple[Codes, bool] | None:
        """Encode numbers without a detour through their distinct values; None if the categories need it.

        Also says whether any is without a code; where cells are missing, whatever stands in their places may be.
        """
        values = column.values
        codes: Codes
        if self.integer_book is not None:
            if column.is_float:
                codes, absent = self.integer_book.encode_floats(values, by_pattern=False)
            else:
                (codes,), unknown = _core.CodeBooks([self.integer_book]).encode(values)
                absent = bool(unknown)
        elif self._float_book is not None:
            if not column.is_float:
                if (
                    values.dtype.itemsize == 8
                    and len(values)
                    and max(abs(int(values.min())), int(values.max())) > EXACT
                ):
                    return None
                values = values.astype(np.float64)
            codes, absent = self._float_book.encode_floats(values, by_pattern=True)
        else:
            return None
        if column.missing is not None:
            # All bits set is the missing code; a choice by mask would take ten times as long.
            np.bitwise_or(codes, np.negative(column.missing.astype(codes.dtype)), out=codes)
        return codes, absent

    def _encode_coded(self, column: CodedColumn, *, match: bool = False) -> tuple[Codes, Callable[[], Iterable[Any]]]:
        found = [self.index.get(value, MISSING_CODE) for value in column.values]
        if match and MISSING_CODE in found:
            other = [
                self._other_types.find(v) if code == MISSING_CODE else code
                for v, code in zip(column.values, found, strict=True)
            ]
            found = [MISSING_CODE if code is None else code for code in other]
        table = np.array(found, dtype=np.uint16)

        def unknown() -> list[Any]:
            known = (table != MISSING_CODE) | ~column.used()
            return [v for v, k in zip(column.values, known, strict=True) if not (k or is_missing(v))]

        return _core.recode(column.codes, table, len(self.categories)), unknown if MISSING_CODE in found else list

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("kind", "categories", "cuts", "declared")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._complete()

    def _complete(self) -> None:
        """Make the arrays constant, and count the codes: at least 1, since the core knows no feature without values."""
        self.categories.setflags(write=False)
        self.cardinality = len(self.categories) or 1
        if self.cuts is not None:
            self.cuts.setflags(write=False)
            self.cardinality = len(self.cuts) + 1


def _spelled_numbers(column: Column, label: str) -> Column:
    """Return a column whose texts that spell numbers are numbers."""
    if isinstance(column, NumberColumn) or (isinstance(column, ObjectColumn) and column.holds_numbers):
        return column
    coded = column.coded(label)
    meant = [meaning(value) if isinstance(value, str) else None for value in coded.values]
    is_number = [number is not None and not isinstance(number, bool) for number in meant]
    values = [m if n else v for v, m, n in zip(coded.values, meant, is_number, strict=True)]
    return CodedColumn(coded.codes, values)


def _unknown_numbers(column: NumberColumn, codes: Codes) -> list[Any]:
    unknown = codes == missing_code(codes)
    if column.missing is not None:
        unknown &= ~column.missing
    if column.is_float:
        unknown &= ~np.isnan(column.values)
    values: list[Any] = column.values[unknown][:1].tolist()
    return values


def unseen_message(label: str, value: Any) -> str:
    """Say that a category is not known."""
    return f"{label} holds {value!r}, which is none of the known categories"


def check_number(n_values: int, label: str) -> None:
    """Refuse a feature with more values than 16 bits can tell apart."""
    if n_values > MAX_VALUES:
        raise ValueError(f"{label} has {n_values} distinct values, but a feature can have at most {MAX_VALUES}")


def learn_categories(column: Column, label: str) -> tuple[ColumnEncoder, Codes]:
    """Find the categories of a column, and encode it."""
    if isinstance(column, NumberColumn):
        return _learn_numbers(column, label)
    coded = column.coded(label)
    kept = [value for value in coded.values if not is_missing(value)]
    values = list(dict.fromkeys(kept)) if coded.declared else kept
    check_number(len(values), label)  # before they are sorted, which takes long for millions
    if not coded.declared:
        values = sorted_values(values)
    encoder = ColumnEncoder(
        "category", categories=category_array(values, coded.dtype), declared="dtype" if coded.declared else ""
    )
    return encoder, encoder._encode_coded(coded)[0]


def _learn_numbers(column: NumberColumn, label: str) -> tuple[ColumnEncoder, Codes]:
    codes = None
    if column.is_float or column.missing is not None:
        values = distinct_numbers(column)
    else:
        (values,), (codes,) = _core.learn_integers(column.values)
    check_number(len(values), label)
    encoder = ColumnEncoder("category", categories=values.astype(column.values.dtype, copy=False))
    return encoder, encoder.encode(column, label)[0] if codes is None else codes


def distinct_numbers(column: NumberColumn) -> npt.NDArray[Any]:
    """Return the numbers that occur in a column, ascending."""
    values = column.values
    if column.missing is not None:
        if column.missing.all():
            return values[:0]
        # A number that is there takes the place of what is not, which is faster than to leave those out.
        values = np.where(column.missing, values[np.argmin(column.missing)], values)
    if column.is_float:
        return _core.distinct_floats(values)
    return _core.learn_integers(values)[0][0]


def encode_declared(values: Sequence[Any], column: Column, label: str) -> tuple[ColumnEncoder, Codes]:
    """Encode a column by the categories that the user declared; others are an error."""
    known = [value.item() if isinstance(value, np.generic) else value for value in values]
    if any(map(is_missing, known)):
        raise ValueError(f"the categories declared for {label} hold a missing value")
    if len(set(known)) < len(known):
        raise ValueError(f"the categories declared for {label} hold {_first_twice(known)!r} more than once")
    check_number(len(known), label)
    encoder = ColumnEncoder("category", categories=category_array(known), declared="user")
    codes, unknown = encoder.encode(column, label)
    for value in unknown():
        raise ValueError(f"{label} holds {value!r}, which is none of the categories declared for it")
    return encoder, codes


def _first_twice(values: Sequence[Any]) -> Any:
    return next(value for i, value in enumerate(values) if value in values[:i])


def extend_categories(old: ColumnEncoder, column: Column, label: str) -> tuple[ColumnEncoder, Recoding]:
    """Return an encoder that also knows a column's new categories, and the new code of each old code."""
    if old.kind == "interval" or old.declared == "user":
        return old, np.arange(old.cardinality, dtype=np.uint16)
    if isinstance(column, NumberColumn):
        dtype = column.values.dtype
        return _with_categories(old, distinct_numbers(column).astype(dtype).tolist(), dtype, "", label)
    coded = column.coded(label)
    used = coded.used() | coded.declared
    found = [v for v, u in zip(coded.values, used, strict=True) if u and not is_missing(v)]
    return _with_categories(old, found, coded.dtype, "dtype" if coded.declared else "", label)


def join_categories(old: ColumnEncoder, other: ColumnEncoder, label: str) -> tuple[ColumnEncoder, Recoding]:
    """Return an encoder that also knows another one's categories, and the new code of each old code."""
    if old.kind == "interval" or old.declared == "user":
        return old, np.arange(old.cardinality, dtype=np.uint16)
    added = other.categories.dtype if len(other.categories) else None
    return _with_categories(old, other.categories.tolist(), added, "dtype" if other.declared else "", label)


def _with_categories(
    old: ColumnEncoder, found: Sequence[Any], added: Any, declared_now: Declared, label: str
) -> tuple[ColumnEncoder, Recoding]:
    same = np.arange(old.cardinality, dtype=np.uint16)
    declared, dtype = old.declared, old.categories.dtype
    if declared_now and not len(old.categories):
        declared = declared_now
    new = [value for value in found if value not in old.index]
    if not new:
        return old, same
    known = old.categories.tolist()
    merged = known + new if declared else sorted_values(known + new)
    check_number(len(merged), label)
    # Integers and strings of fixed width keep a type that holds both.
    joined = None
    if added is not None:
        before = dtype if known else added
        joined = np.result_type(before, added) if before.kind + added.kind in _JOINED_KINDS else None
    encoder = ColumnEncoder("category", categories=category_array(merged, joined), declared=declared)
    if not known:
        return encoder, same
    return encoder, np.array([encoder.index[value] for value in known], dtype=np.uint16)


_JOINED_KINDS = {"ii", "uu", "ff", "bb", "UU", "SS"}


def sorted_values(values: Sequence[Any]) -> list[Any]:
    """Sort values; those that cannot be compared by type and then value, or not at all."""
    try:
        return sorted(values)
    except TypeError:
        pass
    try:
        return sorted(values, key=lambda value: (type(value).__name__, value))
    except TypeError:
        return list(values)


def category_array(values: Sequence[Any], dtype: Any = None) -> npt.NDArray[Any]:
    """Make an array of categories: of the given type, of booleans, integers or floats if that is what all are, or of objects."""
    if dtype is not None and dtype != object:
        return np.array(values, dtype=dtype)
    if dtype is None and values and all(isinstance(value, (bool, int, float)) for value in values):
        if all(isinstance(value, bool) for value in values):
            return np.array(values, dtype=bool)
        if any(isinstance(value, bool) for value in values):
            pass  # neither numbers nor booleans
        elif not any(isinstance(value, float) for value in values):
            if all(-(2**63) <= value < 2**63 for value in values):
                return np.array(values, dtype=np.int64)
        elif all(isinstance(value, float) or abs(value) <= EXACT for value in values):
            return np.array(values, dtype=np.float64)
    return np.fromiter(values, dtype=object, count=len(values))
