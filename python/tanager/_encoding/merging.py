"""Fitted models put together: what each of them has counted, over the categories and classes of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.typing import Recoding
from .column_encoder import ColumnEncoder, join_categories
from .encoder import Encoder


def join_encoders(first: Encoder, second: Encoder) -> tuple[Encoder, list[Recoding], list[Recoding]]:
    """Return an encoder that knows the categories of both, and how the codes of each move."""
    columns, moved_first, moved_second = [], [], []
    for i, (a, b) in enumerate(zip(first.columns, second.columns, strict=True)):
        label = first.label(i)
        _check_alike(a, b, label)
        joined, recoding = join_categories(a, b, label)
        columns.append(joined)
        moved_first.append(recoding)
        moved_second.append(moved_codes(b, joined))
    return Encoder(columns, first.names), moved_first, moved_second


def _check_alike(a: ColumnEncoder, b: ColumnEncoder, label: str) -> None:
    if a.kind != b.kind:
        raise ValueError(f"models can be merged if they cut the same columns, but only one of them cuts {label}")
    if a.cuts is not None and not np.array_equal(a.cuts, b.cuts):  # type: ignore[arg-type]  # of intervals both
        raise ValueError(
            f"models can be merged if they cut numbers at the same points, but {label} is cut differently: use one "
            "discretizer on all rows first, or discretizer=None"
        )
    if a.declared == "user":
        strange = [value for value in b.categories.tolist() if value not in a.index]
        if strange:
            raise ValueError(f"{label} holds {strange[0]!r}, which is none of the categories declared for it")


def moved_codes(column: ColumnEncoder, joined: ColumnEncoder) -> Recoding:
    """Return where the codes of a column are in one that knows all its categories and more."""
    if column.kind == "interval" or not len(column.categories):
        return np.arange(column.cardinality, dtype=np.uint16)
    return np.array([joined.index[value] for value in column.categories.tolist()], dtype=np.uint16)


def add_counts(
    sizes: list[int], n_classes: int, parts: Sequence[tuple[_core.CountSet, list[Recoding], npt.NDArray[Any]]]
) -> _core.CountSet:
    """Add counts that are over different values; each part comes with how its codes and its classes move."""
    total: _core.CountSet | None = None
    for counts, features, classes in parts:
        moved = counts.recoded(sizes, n_classes, features, classes)
        if total is None:
            total = moved
            continue
        if (total.scope, total.families) != (moved.scope, moved.families):
            raise ValueError("models can be merged if they count the same tables, but theirs are of different features")
        total += moved
    if total is None:
        raise ValueError("there is nothing to add")
    return total


def check_mergeable(clf: Any, other: Any) -> None:
    """Refuse to merge classifiers of different types or of different columns."""
    if type(other) is not type(clf):
        raise TypeError(f"a {type(clf).__name__} merges with its like, but a {type(other).__name__} came")
    if not other._is_fitted():
        return  # which is said elsewhere
    mine, theirs = clf._schema, other._schema
    if mine.n_features != theirs.n_features or mine.names != theirs.names:
        raise ValueError(
            f"models can be merged if they know the same columns, but these know {mine.feature_names} and "
            f"{theirs.feature_names}"
        )


def joined_labels(known: npt.NDArray[Any], found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the labels of both, of the type that both have or as objects."""
    if known.dtype.kind == found.dtype.kind and known.dtype.kind != "O":
        return np.concatenate([known, found])
    labels = np.empty(len(known) + len(found), dtype=object)
    labels[: len(known)] = known
    labels[len(known) :] = found
    return labels


def positions_among(labels: npt.NDArray[Any], among: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """Return where each label stands among others."""
    position = {label: i for i, label in enumerate(among.tolist())}
    return np.array([position[label] for label in labels.tolist()], dtype=np.uint16)
