"""What a column of a stream holds: the same in all batches, or it would be another column."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._encoding.columns import Column, NumberColumn, ObjectColumn, is_missing


class ColumnKinds:
    """What every column holds, as far as batches have told: one without any value tells nothing."""

    def __init__(self, n_features: int) -> None:
        self.names: list[str | None] = [None] * n_features
        self._from_objects = [True] * n_features

    def check(self, position: int, column: Column, label: str, first_row: int) -> Column:
        """Note what a column holds; raise if batches before held something else. Objects come back numbered."""
        objects = False
        if isinstance(column, ObjectColumn) and not column.is_float:
            objects, is_integer = True, column.is_integer
            column = column.coded(label)
            column.is_integer = is_integer
        kind = _kind_of(column, self.names[position])
        self._note(position, kind, objects, label, f"from row {first_row} on")
        return column

    def copy(self) -> ColumnKinds:
        """Return another one that knows the same, to learn by itself."""
        other = ColumnKinds(0)
        other.names, other._from_objects = list(self.names), list(self._from_objects)
        return other

    def join(self, other: ColumnKinds, labels: list[str]) -> None:
        """Note what the columns of another part of the stream hold."""
        for i, kind in enumerate(other.names):
            self._note(i, kind, other._from_objects[i], labels[i], "in another part")

    def _note(self, position: int, kind: str | None, objects: bool, label: str, where: str) -> None:
        before = self.names[position]
        if kind is None:
            return
        if before is None:
            self.names[position], self._from_objects[position] = kind, objects
        elif kind != before:
            # Objects may be of several kinds in one table, too; numbers to be cut may not stand among them.
            mixed = objects and self._from_objects[position] and "floats" not in {kind, before}
            if not mixed:
                raise ValueError(
                    f"{label} holds {before} in the batches so far, but {kind} {where}: give it one type in all batches"
                )


def _kind_of(column: Column, before: str | None) -> str | None:
    if isinstance(column, NumberColumn):
        if column.is_float:
            # Readers of text files make columns of NaN where a batch has no value.
            nothing = before != "floats" and bool(np.isnan(column.floats("")).all())
            return None if nothing else "floats"
        return "integers" if column.is_integer else "booleans"
    if isinstance(column, ObjectColumn):
        return "floats"
    if column.declared:
        return "categories" if column.values else None
    kinds = {_value_kind(value) for value in column.values if not is_missing(value)}
    return None if not kinds else kinds.pop() if len(kinds) == 1 else "objects of several types"


def _value_kind(value: Any) -> str:
    if isinstance(value, str):
        return "strings"
    if isinstance(value, bool):
        return "booleans"
    if isinstance(value, float):
        return "whole floats"  # objects with a fraction among them are floats
    return "integers" if isinstance(value, int) else f"{type(value).__name__} values"
