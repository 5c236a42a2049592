"""Checks of arguments that several estimators share."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import cpu_count

from .. import _core
from .warnings import warn_user

# More threads than any machine has; larger requests mean the same.
_MAX_THREADS = 4096

#: The limit of exact inference unless another is set, and the largest that can be set.
MAX_CELLS = 2**24
_MOST_CELLS = 2**32 - 1


def is_integer(value: Any) -> bool:
    """Say whether a setting is an integer of Python or NumPy; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_number(value: Any, parameter: str) -> float:
    """Return a setting as a float, or say that it is not a number."""
    if isinstance(value, float):  # the rule, and the abstract class takes longer to ask
        return float(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{parameter} must be a number, but is {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{parameter} must be finite, but is too large for a float") from None


def check_max_cells(value: Any) -> int:
    """Return a limit of exact inference as an integer."""
    if not is_integer(value) or not 1 <= value <= _MOST_CELLS:
        raise ValueError(f"max_cells: expected an integer from 1 to {_MOST_CELLS}, got {value!r}")
    return int(value)


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` means."""
    if n_jobs is None:
        return 1
    if not is_integer(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a whole number other than zero, but is {n_jobs!r}")
    return min(int(n_jobs), _MAX_THREADS) if n_jobs > 0 else max(1, cpu_count() + 1 + int(n_jobs))


def check_features(estimator: Any, names: list[str] | None, n_features: int) -> None:
    """Compare number and names of features with those of fit, in scikit-learn's words."""
    known = getattr(estimator, "feature_names_in_", None)
    kind = type(estimator).__name__
    if known is None and names is not None:
        warn_user(f"X has feature names, but {kind} was fitted without feature names")
    elif known is not None and names is None:
        warn_user(f"X does not have valid feature names, but {kind} was fitted with feature names")
    elif known is not None and names is not None and names != known.tolist():
        raise ValueError(_different_names(known.tolist(), names))
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {kind} is expecting {estimator.n_features_in_} features as input"
        )


def _different_names(known: list[str], names: list[str]) -> str:
    def listed(some: set[str], most: int = 5) -> str:
        lines = [f"- {name}\n" for name in sorted(some)[:most]]
        return "".join(lines) + ("- ...\n" if len(some) > most else "")

    unexpected, missing = set(names) - set(known), set(known) - set(names)
    message = "The feature names should match those that were passed during fit.\n"
    if unexpected:
        message += f"Feature names unseen at fit time:\n{listed(unexpected)}"
    if missing:
        message += f"Feature names seen at fit time, yet now missing:\n{listed(missing)}"
    if not unexpected and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def check_sample_weight(
    sample_weight: Any, n_rows: int, name: str = "sample_weight", *, first_row: int = 0, some: bool = True
) -> npt.NDArray[np.float64] | None:
    """Return the weights of the rows as an array, or None if there are none; `some` of them must be above zero."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError(f"{name} must have a weight for every row, but some are masked")
    given = np.asarray(sample_weight)
    if given.dtype.kind == "c":
        raise ValueError(f"{name} must hold numbers, but some are complex")
    try:
        weights = np.asarray(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, but some are not") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one weight per row, but has {weights.shape}")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"{name} must be finite and not negative, but row {first_row + row} has {weights[row]:g}")
    if some and not weights.any():
        raise ValueError(f"{name} must have a weight above zero, but all are zero")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(f"{name} must have a finite sum, but the weights add up to infinity")
    return weights


def check_table_sizes(
    names: list[str], sizes: list[int], n_classes: int, families: list[tuple[int, list[int]]]
) -> None:
    """Refuse tables that are too large by name; the core knows features by position only."""
    for child, parents in families:
        cells = math.prod([sizes[f] for f in (child, *parents)]) * n_classes
        if cells > _core.MAX_TABLE_CELLS:
            given = ", ".join([*(repr(names[p]) for p in parents), "the class"])
            raise ValueError(
                f"the table of {names[child]!r} given {given} would have {cells:,} cells, but at most "
                f"{_core.MAX_TABLE_CELLS:,} are possible"
            )


def check_class_prior(class_prior: Any, n_classes: int) -> list[float]:
    """Return the class probabilities that a user gives; an empty list for None, which means that they are estimated."""
    if class_prior is None:
        return []
    try:
        prior = np.asarray(class_prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"class_prior must hold probabilities, but is {class_prior!r}") from None
    if prior.shape != (n_classes,):
        raise ValueError(f"class_prior must have {n_classes} probabilities, one per class, but has shape {prior.shape}")
    if not np.isfinite(prior).all() or (prior < 0).any() or abs(prior.sum() - 1) > 1e-8:
        raise ValueError(f"class_prior must hold probabilities that sum to one, but is {class_prior!r}")
    return [float(p) for p in prior]
