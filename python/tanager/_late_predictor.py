"""The predictor of a network, made when it is first asked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core


class LatePredictor:
    """Predicts as `_core.Predictor` does; its tables are made for the first rows, for many a fit is never asked."""

    def __init__(self, network: _core.Network):
        self._network = network

    @cached_property
    def _predictor(self) -> _core.Predictor:
        return _core.Predictor(self._network)

    def predict(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, output: str, threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Return one number per row and class."""
        return self._predictor.predict(columns, n_rows, output, threads)

    def predict_classes(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, threads: int = 1
    ) -> npt.NDArray[np.uint32]:
        """Return the most probable class of every row."""
        return self._predictor.predict_classes(columns, n_rows, threads)
