"""The encoder of one column: its categories or its cut points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.typing import MISSING_CODE, Codes, Floats, Recoding, missing_code
from ..discretize import interval_labels
from .columns import EXACT, CodedColumn, Column, NumberColumn, ObjectColumn, is_missing
from .matching import OtherTypes, meaning

#: The order of a column's categories: sorted, that of the column's type, or that of the user, who declared them all.
Order = Literal["sorted", "dtype", "declared"]

#: The maximum number of values of a feature: 16 bits, less the code of missing values.
MAX_VALUES = MISSING_CODE - 1
_NO_CATEGORIES: npt.NDArray[Any] = np.empty(0, dtype=object)


class EncodedColumn:
    """The codes of a column, and the values that have no code.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16
    find_unknown : callable or None, default=None
        Returns values without a code, at least one if there are any; None if all values have one.
    """

    __slots__ = ("_find_unknown", "codes")

    def __init__(self, codes: Codes, find_unknown: Callable[[], list[Any]] | None = None) -> None:
        self.codes = codes
        self._find_unknown = find_unknown

    @property
    def may_have_unknown(self) -> bool:
        """Whether there may be unknown values. Fast, while `unknown` reads all rows."""
        return self._find_unknown is not None

    @property
    def unknown(self) -> list[Any]:
        """Values that occur in the column but have no code; not necessarily all of them."""
        return [] if self._find_unknown is None else self._find_unknown()


class ColumnEncoder:
    """Encodes one column by its categories or its cut points. Immutable.

    Parameters
    ----------
    kind : {"category", "interval"}
    categories : ndarray, default=None
        The categories in the order of their codes.
    cuts : ndarray of float64, default=None
        Cut points, ascending; code i means cuts[i-1] < x <= cuts[i].
    order : {"sorted", "dtype", "declared"}, default="sorted"
        Whether the categories are sorted, are in the order of the column's type, or were declared by the user; declared
        categories never grow.
    """

    def __init__(
        self,
        kind: Literal["category", "interval"],
        *,
        categories: npt.NDArray[Any] | None = None,
        cuts: Floats | None = None,
        order: Order = "sorted",
    ) -> None:
        self.kind = kind
        self.order = order
        self.categories = _NO_CATEGORIES
        self.cuts: Floats | None = None
        if kind == "interval":
            self.cuts = np.array(cuts, dtype=np.float64)
        elif categories is not None:
            # An array that nobody else can write to need not be copied; the core makes such arrays.
            is_shared = categories.flags.writeable or categories.base is not None
            self.categories = np.array(categories) if is_shared else categories
        self._complete()

    def labels(self) -> list[Any]:
        """Return the meaning of every code: a category, or an interval as text; [None] if no value is known."""
        if self.cuts is None:
            return self.categories.tolist() if len(self.categories) else [None]
        return interval_labels(self.cuts)

    @cached_property
    def index(self) -> dict[Any, int]:
        """The code of every category."""
        return {value: code for code, value in enumerate(self.categories.tolist())}

    @cached_property
    def integer_book(self) -> _core.CodeBook | None:
        """The codes of integers, if all categories are integers (or there are no categories)."""
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

    def encode(self, column: Column, label: str, *, match: bool = False) -> EncodedColumn:
        """Encode a column.

        Parameters
        ----------
        column : Column
        label : str
            The name of the column in messages.
        match : bool, default=False
            Whether an unknown value gets the code of a category that equals it except for the type, such as "1" for 1.
        """
        if self.cuts is not None:
            column = _spelled_numbers(column, label) if match else column
            return EncodedColumn(_core.apply_cuts(column.floats(label), self.cuts))
        if isinstance(column, NumberColumn):
            coded = self._encode_numbers(column)
            if coded is not None:
                codes, has_unknown = coded
                return EncodedColumn(codes, (lambda: _unknown_numbers(column, codes)) if has_unknown else None)
        # If "True" is known, but True is not, it matters which of the objects that equal 1 are booleans.
        if match and isinstance(column, ObjectColumn) and self._other_types.knows_truths:
            return self._encode_coded(column.coded_apart(label), match=match)
        return self._encode_coded(column.coded(label), match=match)

    def _encode_numbers(self, column: NumberColumn) -> tuple[Codes, bool] | None:
        """Encode numbers without looking for their distinct values first; None if the categories require that.

        Also returns whether there may be numbers without a code; the placeholder of a missing value counts as one.
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
            # All bits set is the missing code; np.where would take ten times as long.
            np.bitwise_or(codes, np.negative(column.missing.astype(codes.dtype)), out=codes)
        return codes, absent

    def _encode_coded(self, column: CodedColumn, *, match: bool = False) -> EncodedColumn:
        found = [self.index.get(value, MISSING_CODE) for value in column.values]
        if match and MISSING_CODE in found:
            other = [
                self._other_types.find(v) if code == MISSING_CODE else code
                for v, code in zip(column.values, found, strict=True)
            ]
            found = [MISSING_CODE if code is None else code for code in other]
        table = np.array(found, dtype=np.uint16)

        def find_unknown() -> list[Any]:
            known = (table != MISSING_CODE) | ~column.used()
            return [v for v, k in zip(column.values, known, strict=True) if not (k or is_missing(v))]

        codes = _core.recode(column.codes, table, len(self.categories))
        return EncodedColumn(codes, find_unknown if MISSING_CODE in found else None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("kind", "categories", "cuts", "order")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._complete()

    def _complete(self) -> None:
        """Make the arrays read-only, and set the number of codes: at least 1, since the core knows no feature without values."""
        self.categories.setflags(write=False)
        self.cardinality = len(self.categories) or 1
        if self.cuts is not None:
            self.cuts.setflags(write=False)
            self.cardinality = len(self.cuts) + 1


def _spelled_numbers(column: Column, label: str) -> Column:
    """Return a column in which strings that spell numbers are numbers."""
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


def unknown_category(label: str, value: Any) -> str:
    """Return the message for a value that is not among the known categories."""
    return f"{label} contains the unknown category {value!r}"


def undeclared_category(label: str, value: Any) -> str:
    """Return the message for a value that is not among the categories that the user declared."""
    return f"{label} contains {value!r}, which is not among the categories declared for it"


def check_n_values(n_values: int, label: str) -> None:
    """Reject a feature with more values than 16 bits can distinguish."""
    if n_values > MAX_VALUES:
        raise ValueError(f"{label} has {n_values:,} distinct values; a feature can have at most {MAX_VALUES:,}")


def learn_categories(column: Column, label: str) -> tuple[ColumnEncoder, Codes]:
    """Find the categories of a column, and encode it."""
    if isinstance(column, NumberColumn):
        return _learn_numbers(column, label)
    coded = column.coded(label)
    present = [value for value in coded.values if not is_missing(value)]
    values = list(dict.fromkeys(present)) if coded.has_order else present
    check_n_values(len(values), label)  # before sorting, which is slow for millions of values
    if not coded.has_order:
        values = sorted_values(values)
    encoder = ColumnEncoder(
        "category", categories=category_array(values, coded.dtype), order="dtype" if coded.has_order else "sorted"
    )
    return encoder, encoder._encode_coded(coded).codes


def _learn_numbers(column: NumberColumn, label: str) -> tuple[ColumnEncoder, Codes]:
    codes = None
    if column.is_float or column.missing is not None:
        values = distinct_numbers(column)
    else:
        (values,), (codes,) = _core.learn_integers(column.values)
    check_n_values(len(values), label)
    encoder = ColumnEncoder("category", categories=values.astype(column.values.dtype, copy=False))
    return encoder, encoder.encode(column, label).codes if codes is None else codes


def distinct_numbers(column: NumberColumn) -> npt.NDArray[Any]:
    """Return the numbers that occur in a column, ascending."""
    values = column.values
    if column.missing is not None:
        if column.missing.all():
            return values[:0]
        # Replacing missing values by a number that occurs is faster than leaving them out.
        values = np.where(column.missing, values[np.argmin(column.missing)], values)
    if column.is_float:
        return _core.distinct_floats(values)
    return _core.learn_integers(values)[0][0]


def encode_declared(values: Sequence[Any], column: Column, label: str) -> tuple[ColumnEncoder, Codes]:
    """Encode a column by the categories that the user declared; any other value is an error."""
    known = [value.item() if isinstance(value, np.generic) else value for value in values]
    if any(map(is_missing, known)):
        raise ValueError(f"the categories declared for {label} contain a missing value")
    if len(set(known)) < len(known):
        raise ValueError(f"the categories declared for {label} contain {_first_duplicate(known)!r} more than once")
    check_n_values(len(known), label)
    encoder = ColumnEncoder("category", categories=category_array(known), order="declared")
    encoded = encoder.encode(column, label)
    if unknown := encoded.unknown:
        raise ValueError(undeclared_category(label, unknown[0]))
    return encoder, encoded.codes


def _first_duplicate(values: Sequence[Any]) -> Any:
    return next(value for i, value in enumerate(values) if value in values[:i])


def extend_categories(old: ColumnEncoder, column: Column, label: str) -> tuple[ColumnEncoder, Recoding]:
    """Return an encoder that also knows a column's new categories, and the new code of each old code."""
    if old.kind == "interval" or old.order == "declared":
        return old, np.arange(old.cardinality, dtype=np.uint16)
    if isinstance(column, NumberColumn):
        dtype = column.values.dtype
        return _with_categories(old, distinct_numbers(column).astype(dtype).tolist(), dtype, "sorted", label)
    coded = column.coded(label)
    used = coded.used() | coded.has_order
    values = [v for v, u in zip(coded.values, used, strict=True) if u and not is_missing(v)]
    return _with_categories(old, values, coded.dtype, "dtype" if coded.has_order else "sorted", label)


def join_categories(old: ColumnEncoder, other: ColumnEncoder, label: str) -> tuple[ColumnEncoder, Recoding]:
    """Return an encoder that also knows another one's categories, and the new code of each old code."""
    if old.kind == "interval" or old.order == "declared":
        return old, np.arange(old.cardinality, dtype=np.uint16)
    added = other.categories.dtype if len(other.categories) else None
    order: Order = "sorted" if other.order == "sorted" else "dtype"
    return _with_categories(old, other.categories.tolist(), added, order, label)


def _with_categories(
    old: ColumnEncoder, values: Sequence[Any], added: Any, added_order: Order, label: str
) -> tuple[ColumnEncoder, Recoding]:
    same = np.arange(old.cardinality, dtype=np.uint16)
    new = [value for value in values if value not in old.index]
    if not new:
        return old, same
    known = old.categories.tolist()
    order = old.order if known or old.order != "sorted" else added_order
    merged = sorted_values(known + new) if order == "sorted" else known + new
    check_n_values(len(merged), label)
    # Integers and strings of fixed width keep a type that holds both.
    joined = None
    if added is not None:
        before = old.categories.dtype if known else added
        joined = np.result_type(before, added) if before.kind + added.kind in _JOINED_KINDS else None
    encoder = ColumnEncoder("category", categories=category_array(merged, joined), order=order)
    if not known:
        return encoder, same
    return encoder, np.array([encoder.index[value] for value in known], dtype=np.uint16)


_JOINED_KINDS = {"ii", "uu", "ff", "bb", "UU", "SS"}


def sorted_values(values: Sequence[Any]) -> list[Any]:
    """Return values sorted; by type first if they cannot be compared, and unsorted if that fails, too."""
    try:
        return sorted(values)
    except TypeError:
        pass
    try:
        return sorted(values, key=lambda value: (type(value).__name__, value))
    except TypeError:
        return list(values)


def category_array(values: Sequence[Any], dtype: Any = None) -> npt.NDArray[Any]:
    """Return an array of categories: of the given type; else of booleans, integers or floats if all are; else of objects."""
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
