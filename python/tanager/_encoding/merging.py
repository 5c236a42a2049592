"""Joining the encoders, labels and counts of several models or parts of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.typing import Recoding
from .column_encoder import ColumnEncoder, join_categories, undeclared_category
from .encoder import Encoder


def join_encoders(first: Encoder, second: Encoder) -> tuple[Encoder, list[Recoding], list[Recoding]]:
    """Return an encoder that knows the categories of both, and the new codes of each."""
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
        raise ValueError(f"cannot merge models: {label} is discretized in only one of them")
    if a.cuts is not None and not np.array_equal(a.cuts, b.cuts):  # type: ignore[arg-type]  # of intervals both
        raise ValueError(
            f"cannot merge models: {label} has different cut points; discretize all rows with the same discretizer first, or "
            "set discretizer=None"
        )
    if a.order == "declared":
        strange = [value for value in b.categories.tolist() if value not in a.index]
        if strange:
            raise ValueError(undeclared_category(label, strange[0]))


def moved_codes(column: ColumnEncoder, joined: ColumnEncoder) -> Recoding:
    """Return the codes of a column's categories in an encoder that knows all of them."""
    if column.kind == "interval" or not len(column.categories):
        return np.arange(column.cardinality, dtype=np.uint16)
    return np.array([joined.index[value] for value in column.categories.tolist()], dtype=np.uint16)


def add_counts(
    sizes: list[int], n_classes: int, parts: Sequence[tuple[_core.CountSet, list[Recoding], npt.NDArray[Any]]]
) -> _core.CountSet:
    """Add counts over different values; each part comes with the new codes of its features and classes."""
    total: _core.CountSet | None = None
    for counts, features, classes in parts:
        moved = counts.recoded(sizes, n_classes, features, classes)
        if total is None:
            total = moved
            continue
        if (total.scope, total.families) != (moved.scope, moved.families):
            raise ValueError("cannot merge models: they count tables of different features")
        total += moved
    if total is None:
        raise ValueError("there are no counts to add")
    return total


def joined_labels(known: npt.NDArray[Any], found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the labels of both arrays, of their common type or as objects."""
    if known.dtype.kind == found.dtype.kind and known.dtype.kind != "O":
        return np.concatenate([known, found])
    labels = np.empty(len(known) + len(found), dtype=object)
    labels[: len(known)] = known
    labels[len(known) :] = found
    return labels


def positions_among(labels: npt.NDArray[Any], among: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """Return the position of each label among others."""
    position = {label: i for i, label in enumerate(among.tolist())}
    return np.array([position[label] for label in labels.tolist()], dtype=np.uint16)
