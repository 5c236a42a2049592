"""Checks of arguments that several estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import cpu_count


def effective_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` means."""
    if n_jobs is None:
        return 1
    if n_jobs == 0 or int(n_jobs) != n_jobs:
        raise ValueError(f"n_jobs must be None or a whole number other than zero, but is {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, cpu_count() + 1 + int(n_jobs))


def check_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Return the weights of the rows as an array, or None if there are none."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), one weight per row, but has {weights.shape}")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"sample_weight must be finite and not negative, but row {row} has {weights[row]:g}")
    if not weights.any():
        raise ValueError("sample_weight must have a weight above zero, but all are zero")
    return weights
