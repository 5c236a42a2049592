"""Scores of predicted probabilities, and what users give as ``scoring``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.labels import encode_labels, label_array
from .._utils.typing import Floats

Truth = npt.NDArray[np.uint16]

#: The code of a true class that the classifier never saw.
UNKNOWN = 65535
# What sums of probabilities in single precision may be above one.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class Outcome:
    """What a classifier says about the test rows of a fold, beside the truth.

    Attributes
    ----------
    y_true : ndarray
        The true labels.
    truth : ndarray of uint16
        Their positions in `classes`, UNKNOWN for others.
    classes : ndarray
        The labels that the classifier knows.
    n_right : int
        How many rows it predicts right; only if asked for.
    proba : ndarray of shape (n_rows, n_classes)
        The probabilities; only if asked for.
    log_proba : callable
        Returns their logarithms, or None if the classifier does not give them.
    """

    y_true: npt.NDArray[Any]
    truth: Truth
    classes: npt.NDArray[Any]
    n_right: int
    proba: Floats
    log_proba: Callable[[], Floats | None]


@dataclass(frozen=True)
class Scorer:
    """One score: its name, what it needs, and how it is computed."""

    name: str
    needs_proba: bool
    compute: Callable[[Outcome], float]
    greater_is_better: bool = True


def _accuracy_of(outcome: Outcome) -> float:
    return outcome.n_right / len(outcome.truth)


def _log_based(score: Callable[..., float]) -> Callable[[Outcome], float]:
    def compute(outcome: Outcome) -> float:
        found = score(outcome.proba, outcome.truth)
        # A probability too small for a float became zero: its logarithm is known all the same.
        if np.isinf(found) and not (outcome.truth == UNKNOWN).any():
            logs = outcome.log_proba()
            if logs is not None:
                return score(outcome.proba, outcome.truth, logs)
        return found

    return compute


def _auc_of(outcome: Outcome) -> float:
    return _core.auc(outcome.proba, outcome.truth)


_BY_NAME = {
    "accuracy": Scorer("accuracy", False, _accuracy_of),
    "log_loss": Scorer("log_loss", True, _log_based(_core.log_loss), greater_is_better=False),
    "cll": Scorer("cll", True, _log_based(_core.conditional_log_likelihood)),
    "auc": Scorer("auc", True, _auc_of),
}


def resolve_scoring(scoring: Any) -> list[Scorer]:
    """Turn what a user gives as ``scoring`` into scorers, each of another name."""
    if isinstance(scoring, str) or callable(scoring):
        scoring = [scoring]
    if isinstance(scoring, Mapping):
        named: Iterable[tuple[Any, Any]] = scoring.items()
    elif isinstance(scoring, Iterable):
        named = [(None, one) for one in scoring]
    else:
        raise TypeError(_wrong(scoring))
    scorers = [_resolve(one, name) for name, one in named]
    names = [scorer.name for scorer in scorers]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"scoring must name every score once, but {min(twice)!r} comes more than once")
    if not scorers:
        raise ValueError("scoring must name at least one score, but is empty")
    return scorers


def _resolve(one: Any, name: Any) -> Scorer:
    if isinstance(one, str):
        if one not in _BY_NAME:
            raise ValueError(f"scoring must be one of {', '.join(_BY_NAME)} or a function, but is {one!r}")
        known = _BY_NAME[one]
        return known if name is None else Scorer(str(name), known.needs_proba, known.compute, known.greater_is_better)
    if not callable(one):
        raise TypeError(_wrong(one))
    shown = str(getattr(one, "__name__", type(one).__name__) if name is None else name)
    return Scorer(shown, True, _computed_by(one, shown))


def _computed_by(function: Callable[..., Any], name: str) -> Callable[[Outcome], float]:
    def compute(outcome: Outcome) -> float:
        found = function(outcome.y_true, outcome.proba, outcome.classes)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise TypeError(f"the score {name!r} must be a number, but is {found!r}") from None

    return compute


def _wrong(value: Any) -> str:
    return (
        f"scoring must be a name ({', '.join(_BY_NAME)}), a function of (y_true, proba, classes), or a list or dict of "
        f"these, but is of type {type(value).__name__}"
    )


def positions(labels: Any, classes: npt.NDArray[Any]) -> Truth:
    """Return the position of every label among the classes, UNKNOWN where it is none of them."""
    values, codes = encode_labels(labels)
    index = {label: i for i, label in enumerate(classes.tolist())}
    table = np.array([index.get(label, UNKNOWN) for label in values.tolist()], dtype=np.uint16)
    return table[codes]


def _classes(y_true: Any, classes: Any) -> npt.NDArray[Any]:
    """Return the classes that columns stand for: those given, or those that occur, sorted."""
    return encode_labels(y_true)[0] if classes is None else label_array(classes)


def known_classes(y_true: Any, classes: Any) -> list[Any]:
    """Return the labels that the columns of probabilities stand for."""
    found: list[Any] = _classes(y_true, classes).tolist()
    return found


def checked(y_true: Any, proba: Any, classes: Any) -> tuple[Floats, Truth]:
    """Return probabilities, and the positions of the true classes among the columns."""
    probabilities = np.ascontiguousarray(proba, dtype=np.float64)
    if probabilities.ndim != 2:
        raise ValueError(f"proba must have a row per row and a column per class, but has shape {probabilities.shape}")
    known = _classes(y_true, classes)
    if known.shape != (probabilities.shape[1],):
        raise ValueError(
            f"proba must have a column for each of the {len(known)} classes, but has {probabilities.shape[1]}"
        )
    if len(set(known.tolist())) < len(known):
        raise ValueError(f"classes must differ, but are {known.tolist()}")
    wrong = ~((probabilities >= 0) & (probabilities <= 1 + _ROUNDING))
    if wrong.any():
        raise ValueError(f"proba must hold probabilities, but one is {probabilities[wrong][0]}")
    return probabilities, positions(y_true, known)


def accuracy(y_true: Any, proba: Any, classes: Any = None) -> float:
    """Return the share of rows whose most probable class is the true one.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        The true classes. One that is not among `classes` is never predicted.
    proba : array-like of shape (n_rows, n_classes)
        What ``predict_proba`` returns.
    classes : array-like of shape (n_classes,) or None, default=None
        The classes in the order of the columns, as in ``classes_``; by default those in `y_true`, sorted.

    Returns
    -------
    float
        Ties go to the first class.

    Examples
    --------
    >>> from tanager.evaluation import accuracy
    >>> accuracy(["no", "yes", "yes"], [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]])
    0.6666666666666666
    """
    return _core.accuracy(*checked(y_true, proba, classes))


def log_loss(y_true: Any, proba: Any, classes: Any = None) -> float:
    """Return the mean of -ln P(true class): zero for certainty that is right, and smaller is better.

    Parameters
    ----------
    y_true, proba, classes
        As in `accuracy`. The score is infinite if a true class has probability zero or is not among `classes`; nothing
        is clipped.

    Returns
    -------
    float
        In nats. Cerquides and López de Màntaras report the sum, which is the negative of
        `conditional_log_likelihood`; the mean can be compared between folds and tables of any size.

    Examples
    --------
    >>> from tanager.evaluation import log_loss
    >>> round(log_loss(["no", "yes", "yes"], [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]]), 4)
    0.6905
    """
    return _core.log_loss(*checked(y_true, proba, classes))


def conditional_log_likelihood(y_true: Any, proba: Any, classes: Any = None) -> float:
    """Return the sum of ln P(true class), in nats.

    Parameters
    ----------
    y_true, proba, classes
        As in `accuracy`. Minus infinity if a true class has probability zero or is not among `classes`.

    Returns
    -------
    float

    Examples
    --------
    >>> from tanager.evaluation import conditional_log_likelihood
    >>> round(conditional_log_likelihood(["no", "yes", "yes"], [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]]), 4)
    -2.0715
    """
    return _core.conditional_log_likelihood(*checked(y_true, proba, classes))


def auc(y_true: Any, proba: Any, classes: Any = None) -> float:
    """Return the area under the receiver operating characteristic.

    Parameters
    ----------
    y_true, proba, classes
        As in `accuracy`.

    Returns
    -------
    float
        Of two classes, the area of the second, as ``roc_auc_score(y_true, proba[:, 1])`` of scikit-learn. Of more, the
        mean of each class against the rest, over the classes that some rows have and some do not: the same as
        scikit-learn's ``multi_class="ovr"`` where all classes occur. NaN if there is no such class.

    Examples
    --------
    >>> from tanager.evaluation import auc
    >>> auc(["no", "yes", "yes"], [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]])
    1.0
    """
    return _core.auc(*checked(y_true, proba, classes))
