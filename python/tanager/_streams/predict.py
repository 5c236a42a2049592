"""Predicting a stream of batches, in memory for two batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._encoding.table import Table, read_table
from .._utils.text import join_names
from .._utils.typing import Codes
from .batches import BatchSource, batch_length
from .fit import overlapped

if TYPE_CHECKING:
    from ..classifiers._base import BaseClassifier

#: The output of the core's predictors for each method; None means class codes.
_OUTPUTS = {
    "predict": None,
    "predict_proba": "posterior",
    "predict_log_proba": "log_posterior",
    "predict_joint_log_proba": "log_joint",
}


def predict_stream(clf: BaseClassifier, batches: Any, method: str | Sequence[str]) -> Iterator[Any]:
    """Predict batch by batch, as ``clf.predict_stream`` describes."""
    methods = [method] if isinstance(method, str) else list(method)
    if wrong := [method] if not methods else [name for name in methods if name not in _OUTPUTS]:
        raise ValueError(f"method: expected one of {join_names(_OUTPUTS)} or a list of them, got {wrong[0]!r}")
    source = BatchSource(batches)
    names = clf._schema.names
    warned = False

    def encode(raw: Any) -> tuple[list[Codes] | None, int]:
        nonlocal warned
        if batch_length(raw) == 0:
            return None, 0
        columns, n_rows, has_warned = clf._encode_table(_features(read_table(raw), names), warn=not warned)
        warned |= has_warned  # once per stream
        clf._announce(clf._core_model, columns, n_rows)
        return columns, n_rows

    def predict(codes: tuple[list[Codes] | None, int]) -> tuple[npt.NDArray[Any], ...]:
        columns, n_rows = codes
        if columns is None:
            return tuple(clf.classes_[:0] if m == "predict" else np.empty((0, len(clf.classes_))) for m in methods)
        return tuple(clf._predict_codes(columns, n_rows, _OUTPUTS[name]) for name in methods)

    results = overlapped(source.open(names), encode, predict)
    return (result[0] for result in results) if isinstance(method, str) else results


def _features(table: Table, names: list[str] | None) -> Table:
    """Return the columns of the model, if the table has all of them by name."""
    if names is None or table.names is None or table.names == names or not set(names) <= set(table.names):
        return table
    places = {name: i for i, name in enumerate(table.names)}
    return table.select([places[name] for name in names])
