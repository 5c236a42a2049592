"""Edge weights as users pass them: logarithms, or mantissas and exponents."""

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
class CheckedWeights:
    """Checked edge weights: natural logarithms if there are no exponents, else mantissas."""

    values: _Floats
    exponents: _Integers | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.values)

    def to_core(self) -> _core.EdgeWeights:
        """Return the weights as the core takes them."""
        if self.exponents is None:
            return _core.EdgeWeights.from_logs(self.values)
        return _core.EdgeWeights.from_parts(self.values, self.exponents)


def read_weights(log_weights: Any) -> CheckedWeights:
    """Check edge weights in one of the forms that `tanager.tree_sums` describes.

    Returns
    -------
    CheckedWeights
        C-contiguous and symmetric, without NaN; the diagonal means "no edge". Mantissas are zero or in [0.5, 1), except at
        the largest exponent.
    """
    # A tuple of two rows of numbers is a matrix; a tuple of two matrices is mantissas and exponents.
    if isinstance(log_weights, tuple) and len(log_weights) == 2 and all(map(_is_table, log_weights)):
        return _read_parts(*log_weights)
    return _read_logs(log_weights)


def _is_table(part: Any) -> bool:
    try:
        return np.ndim(part) == 2
    except ValueError:  # rows of different lengths, an error that is raised on reading
        return True


def _read_logs(log_weights: Any) -> CheckedWeights:
    logs = _matrix(log_weights, "log_weights", "fiu").astype(np.float64, order="C")
    np.fill_diagonal(logs, -np.inf)
    _reject(~(logs < np.inf), logs, "log_weights: expected numbers, or minus infinity for no edge")
    _check_symmetry(logs != logs.T, "log_weights", logs)
    return CheckedWeights(logs)


def _read_parts(mantissa: Any, exponent: Any) -> CheckedWeights:
    given = _matrix(mantissa, "mantissas of log_weights", "fiu").astype(np.float64, order="C")
    whole = _matrix(exponent, "exponents of log_weights", "iu")
    if whole.shape != given.shape:
        raise ValueError(
            f"log_weights: expected mantissas and exponents of the same shape, got {given.shape} and {whole.shape}"
        )
    np.fill_diagonal(given, 0.0)
    _reject(~((given >= 0) & (given < np.inf)), given, "mantissas of log_weights: expected finite numbers >= 0")
    beyond = (given > 0) & ((whole > _MAX_EXPONENT) | (whole < -_MAX_EXPONENT))
    _reject(beyond, whole, "exponents of log_weights: expected integers from -2^40 to 2^40")
    mantissas, shifts = np.frexp(given)
    # Exponents of missing edges are arbitrary.
    exponents = np.where(given > 0, whole, 0).astype(np.int64) + shifts
    # An exponent that normalization moved out of bounds is moved back.
    bounded = np.clip(exponents, -_MAX_EXPONENT, _MAX_EXPONENT)
    mantissas, exponents = np.ldexp(mantissas, (exponents - bounded).astype(np.int32)), bounded
    unequal = (mantissas != mantissas.T) | (exponents != exponents.T)
    _check_symmetry(unequal, "log_weights", given, whole)
    return CheckedWeights(np.ascontiguousarray(mantissas), np.ascontiguousarray(exponents))


def _matrix(values: Any, name: str, kinds: str) -> npt.NDArray[Any]:
    if np.ma.is_masked(values):
        raise ValueError(f"{name}: expected a number for every pair of nodes, got masked values")
    try:
        matrix = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name}: expected a square matrix, got rows of different lengths") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name}: expected a square matrix with one row per node, got shape {matrix.shape}")
    if matrix.dtype.kind not in kinds:
        what = "numbers" if "f" in kinds else "integers"
        raise ValueError(f"{name}: expected {what}, got dtype {matrix.dtype}")
    return matrix


def _reject(bad: npt.NDArray[np.bool_], values: npt.NDArray[Any], expected: str) -> None:
    if bad.any():
        u, v = np.argwhere(bad)[0]
        raise ValueError(f"{expected}, got {values[u, v]} for edge ({u}, {v})")


def _check_symmetry(unequal: npt.NDArray[np.bool_], name: str, *parts: npt.NDArray[Any]) -> None:
    if unequal.any():
        u, v = np.argwhere(unequal)[0]
        forth, back = (" * 2**".join(str(part[pair]) for part in parts) for pair in ((u, v), (v, u)))
        raise ValueError(
            f"{name}: expected a symmetric matrix, got {forth} for edge ({u}, {v}) and {back} for ({v}, {u})"
        )
