"""The predictor of a network, made when it is first asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.validation import MAX_CELLS


class LatePredictor:
    """Predicts as `_core.Predictor` does; its tables are made for the first rows, for many a fit is never asked.

    Parameters
    ----------
    network : _core.Network
    made : _core.AnyPredictor or None, default=None
        The predictor of the network, if there is one already.
    """

    def __init__(self, network: _core.Network, made: _core.AnyPredictor | None = None):
        self._network = network
        self._made = made
        self._max_cells = MAX_CELLS

    @property
    def max_cells(self) -> int:
        """What rows with missing values may need."""
        return self._max_cells

    @max_cells.setter
    def max_cells(self, value: int) -> None:
        if value != self._max_cells:
            self._max_cells, self._made = value, None

    @property
    def _predictor(self) -> _core.AnyPredictor:
        made = self._made
        if made is None:
            made = self._made = _core.Predictor(self._network, self._max_cells)
        return made

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
