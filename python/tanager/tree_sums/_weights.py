"""Weights of the edges of a graph as users give them: logarithms, or mantissas and exponents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

_MAX_EXPONENT = 2**40


@dataclass(frozen=True)
class GivenWeights:
    """Weights that were found to be in order: natural logarithms if there are no exponents, else mantissas."""

    values: _Floats
    exponents: _Integers | None = None

    @property
    def n_nodes(self) -> int:
        """Number of rows, one per node."""
        return len(self.values)

    def to_core(self) -> _core.EdgeWeights:
        """Return them as the core takes them."""
        if self.exponents is None:
            return _core.EdgeWeights.from_logs(self.values)
        return _core.EdgeWeights.from_parts(self.values, self.exponents)


def read_weights(log_weights: Any) -> GivenWeights:
    """Check weights of edges; see `tanager.tree_sums` for what they may be.

    Returns
    -------
    GivenWeights
        C-contiguous and symmetric, without NaN; the diagonal stands for "no edge". Mantissas are zero or, up to the largest exponent, in
        [0.5, 1).
    """
    # A tuple of two rows of numbers is a matrix; of two matrices, it is mantissas and exponents.
    if isinstance(log_weights, tuple) and len(log_weights) == 2 and all(map(_is_table, log_weights)):
        return _read_parts(*log_weights)
    return _read_logs(log_weights)


def _is_table(part: Any) -> bool:
    try:
        return np.ndim(part) == 2
    except ValueError:  # rows of different lengths, which is said when they are read
        return True


def _read_logs(log_weights: Any) -> GivenWeights:
    logs = _matrix(log_weights, "log_weights", "fiu").astype(np.float64, order="C")
    np.fill_diagonal(logs, -np.inf)
    _refuse(~(logs < np.inf), logs, "log_weights must hold numbers, or minus infinity where there is no edge")
    _check_symmetry(logs != logs.T, "log_weights", logs)
    return GivenWeights(logs)


def _read_parts(mantissa: Any, exponent: Any) -> GivenWeights:
    given = _matrix(mantissa, "the mantissas of log_weights", "fiu").astype(np.float64, order="C")
    whole = _matrix(exponent, "the exponents of log_weights", "iu")
    if whole.shape != given.shape:
        raise ValueError(
            "log_weights must have as many exponents as mantissas, but their shapes are "
            f"{whole.shape} and {given.shape}"
        )
    np.fill_diagonal(given, 0.0)
    _refuse(~((given >= 0) & (given < np.inf)), given, "mantissas must be numbers that are not negative")
    beyond = (given > 0) & ((whole > _MAX_EXPONENT) | (whole < -_MAX_EXPONENT))
    _refuse(beyond, whole, "exponents must be between -2^40 and 2^40")
    mantissas, shifts = np.frexp(given)
    # Exponents of edges that do not exist may be anything.
    exponents = np.where(given > 0, whole, 0).astype(np.int64) + shifts
    # What a mantissa brings beyond the bounds of exponents goes back to it.
    bounded = np.clip(exponents, -_MAX_EXPONENT, _MAX_EXPONENT)
    mantissas, exponents = np.ldexp(mantissas, (exponents - bounded).astype(np.int32)), bounded
    unequal = (mantissas != mantissas.T) | (exponents != exponents.T)
    _check_symmetry(unequal, "log_weights", given, whole)
    return GivenWeights(np.ascontiguousarray(mantissas), np.ascontiguousarray(exponents))


def _matrix(values: Any, name: str, kinds: str) -> npt.NDArray[Any]:
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must have a number for every pair of nodes, but some are masked")
    try:
        matrix = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} must be a square matrix, but its rows differ in length") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be a square matrix, one row per node, but has shape {matrix.shape}")
    if matrix.dtype.kind not in kinds:
        what = "numbers" if "f" in kinds else "whole numbers"
        raise ValueError(f"{name} must hold {what}, but has the dtype {matrix.dtype}")
    return matrix


def _refuse(bad: npt.NDArray[np.bool_], values: npt.NDArray[Any], expected: str) -> None:
    if bad.any():
        u, v = np.argwhere(bad)[0]
        raise ValueError(f"{expected}, but the one of the edge {u}, {v} is {values[u, v]}")


def _check_symmetry(unequal: npt.NDArray[np.bool_], name: str, *parts: npt.NDArray[Any]) -> None:
    if unequal.any():
        u, v = np.argwhere(unequal)[0]
        forth, back = (" * 2**".join(str(part[pair]) for part in parts) for pair in ((u, v), (v, u)))
        raise ValueError(
            f"{name} must be symmetric, but the one of the edge {u}, {v} is {forth} and of {v}, {u} {back}"
        )
