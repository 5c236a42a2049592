"""Checks of settings and arguments. Messages read "name: expected what, got value"."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from joblib import cpu_count

from .. import _core
from .typing import Floats
from .warnings import warn_user

# More threads than any machine has; larger requests mean the same.
_MAX_THREADS = 4096

#: The default limit on the number of cells of exact inference, and the largest limit that can be set.
MAX_CELLS = 2**24
_MAX_MAX_CELLS = 2**32 - 1

#: How far the sum of class priors may be from one.
_PRIOR_TOLERANCE = 1e-8


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer of Python or NumPy; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_int(value: Any, name: str, *, minimum: int | None = None, maximum: int | None = None) -> int:
    """Return a setting as an integer within the limits, both included.

    Messages of all these checks have one form, "name: expected what, got value", such as
    "max_parents: expected an integer >= 1, got 0".
    """
    low, high = -math.inf if minimum is None else minimum, math.inf if maximum is None else maximum
    if not is_integer(value) or not low <= value <= high:
        raise ValueError(f"{name}: expected an integer{_range(minimum, maximum)}, got {value!r}")
    return int(value)


def check_optional_int(value: Any, name: str, *, minimum: int | None = None, maximum: int | None = None) -> int | None:
    """Return None for None, and otherwise the same as `check_int`."""
    if value is None:
        return None
    try:
        return check_int(value, name, minimum=minimum, maximum=maximum)
    except ValueError as error:
        raise ValueError(str(error).replace("expected ", "expected None or ", 1)) from None


def check_number(
    value: Any,
    name: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    finite: bool = False,
) -> float:
    """Return a setting as a float from `minimum` to `maximum`, both included, or `above` a limit that is excluded.

    Raises
    ------
    TypeError
        If the value is not a number.
    ValueError
        If it is out of range; "noise: expected a number from 0 to 1, got 2".
    """
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):  # floats are checked fast
        raise TypeError(f"{name}: expected a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name}: expected a finite number, got one too large for a float") from None
    is_inside = (
        (minimum is None or number >= minimum)
        and (maximum is None or number <= maximum)
        and (above is None or number > above)
        and (not finite or math.isfinite(number))
    )
    if not is_inside:
        kind = "a finite number" if finite else "a number"
        raise ValueError(f"{name}: expected {kind}{_range(minimum, maximum, above)}, got {value!r}")
    return number


def _range(minimum: float | None, maximum: float | None, above: float | None = None) -> str:
    low = "" if minimum is None else f" >= {minimum:,}"
    low = low if above is None else f" > {above:,}"
    if maximum is None:
        return low
    if above is not None:
        return f"{low} and <= {maximum:,}"
    return f" <= {maximum:,}" if minimum is None else f" from {minimum:,} to {maximum:,}"


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return a setting that is one of some texts; "score: expected one of 'aic', 'bic', got 'x'"."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, got {value!r}")
    return value


def check_bool(value: Any, name: str) -> bool:
    """Return a setting that is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def check_max_cells(value: Any) -> int:
    """Return a limit on the number of cells of exact inference."""
    return check_int(value, "max_cells", minimum=1, maximum=_MAX_MAX_CELLS)


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's ``n_jobs`` stands for."""
    if n_jobs is None:
        return 1
    if not is_integer(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs: expected None or an integer other than 0, got {n_jobs!r}")
    return min(int(n_jobs), _MAX_THREADS) if n_jobs > 0 else max(1, cpu_count() + 1 + int(n_jobs))


def check_features(estimator: Any, names: list[str] | None, n_features: int) -> None:
    """Compare the number and names of features with those of ``fit``; messages are those of scikit-learn."""
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
) -> Floats | None:
    """Return the weights of the rows as an array; None stays None. If `some`, at least one weight must be positive.

    Rows are numbered from `first_row` on in messages.
    """
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError(f"{name}: expected a weight for every row, got masked values")
    given = np.asarray(sample_weight)
    if given.dtype.kind == "c":
        raise ValueError(f"{name}: expected numbers, got complex ones")
    try:
        weights = np.asarray(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected numbers, got values of another type") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"{name}: expected shape ({n_rows},), one weight per row, got {weights.shape}")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"{name}: expected finite, non-negative weights, got {weights[row]:g} in row {first_row + row}"
        )
    if some and not weights.any():
        raise ValueError(f"{name}: expected at least one positive weight, got only zeros")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(f"{name}: expected weights with a finite sum, got weights that add up to infinity")
    return weights


def check_table_sizes(
    names: list[str], sizes: list[int], n_classes: int, families: list[tuple[int, list[int]]]
) -> None:
    """Reject tables that are too large, with the names of their features: the core knows only positions."""
    for child, parents in families:
        cells = math.prod([sizes[f] for f in (child, *parents)]) * n_classes
        if cells > _core.MAX_TABLE_CELLS:
            given = ", ".join([*(repr(names[p]) for p in parents), "the class"])
            raise ValueError(
                f"the table of {names[child]!r} given {given} would have {cells:,} cells; the limit is "
                f"{_core.MAX_TABLE_CELLS:,}"
            )


def check_class_prior(class_prior: Any, n_classes: int) -> list[float]:
    """Return the class probabilities that a user gives; an empty list for None, which means that they are estimated.

    They must be finite, non-negative, one per class, and sum to one within 1e-8.
    """
    if class_prior is None:
        return []
    try:
        prior = np.asarray(class_prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"class_prior: expected probabilities, got {class_prior!r}") from None
    if prior.shape != (n_classes,):
        raise ValueError(f"class_prior: expected {n_classes} probabilities, one per class, got shape {prior.shape}")
    if not np.isfinite(prior).all() or (prior < 0).any() or abs(prior.sum() - 1) > _PRIOR_TOLERANCE:
        raise ValueError(f"class_prior: expected probabilities that sum to 1, got {class_prior!r}")
    return [float(p) for p in prior]
