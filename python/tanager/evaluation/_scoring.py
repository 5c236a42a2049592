"""Scores of predicted probabilities, and the ``scoring`` argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.labels import encode_labels, label_array
from .._utils.text import join_names, plural
from .._utils.typing import Floats

Truth = npt.NDArray[np.uint16]

#: Code of a true class that the classifier does not know.
UNKNOWN = 65535
# Probabilities in single precision may exceed one by this much.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class Outcome:
    """Predictions for the test rows of a fold, and the true classes.

    Attributes
    ----------
    y_true : ndarray
        True labels.
    truth : ndarray of uint16
        Their positions in `classes`; UNKNOWN for other labels.
    classes : ndarray
        Labels that the classifier knows.
    n_right : int
        Number of correctly predicted rows; only if a score needs it.
    proba : ndarray of shape (n_rows, n_classes)
        Probabilities; only if a score needs them.
    log_proba : callable
        Returns the logarithms of the probabilities, or None if the classifier does not provide them.
    """

    y_true: npt.NDArray[Any]
    truth: Truth
    classes: npt.NDArray[Any]
    n_right: int
    proba: Floats
    log_proba: Callable[[], Floats | None]


@dataclass(frozen=True)
class Scorer:
    """A score: its name, whether it needs probabilities, and how to compute it."""

    name: str
    needs_proba: bool
    compute: Callable[[Outcome], float]
    greater_is_better: bool = True


def _accuracy_of(outcome: Outcome) -> float:
    return outcome.n_right / len(outcome.truth)


def _log_based(score: Callable[..., float]) -> Callable[[Outcome], float]:
    def compute(outcome: Outcome) -> float:
        value = score(outcome.proba, outcome.truth)
        # A probability may have underflowed to zero: then its logarithm is finite.
        if np.isinf(value) and not (outcome.truth == UNKNOWN).any():
            logs = outcome.log_proba()
            if logs is not None:
                return score(outcome.proba, outcome.truth, logs)
        return value

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
    """Return the scorers that ``scoring`` stands for; their names are unique."""
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
        raise ValueError(f"scoring: expected every score once, got {min(twice)!r} more than once")
    if not scorers:
        raise ValueError("scoring: expected at least one score, got none")
    return scorers


def _resolve(one: Any, name: Any) -> Scorer:
    if isinstance(one, str):
        if one not in _BY_NAME:
            raise ValueError(f"scoring: expected one of {join_names(_BY_NAME)} or a function, got {one!r}")
        known = _BY_NAME[one]
        return known if name is None else Scorer(str(name), known.needs_proba, known.compute, known.greater_is_better)
    if not callable(one):
        raise TypeError(_wrong(one))
    name = str(getattr(one, "__name__", type(one).__name__) if name is None else name)
    return Scorer(name, True, _computed_by(one, name))


def _computed_by(function: Callable[..., Any], name: str) -> Callable[[Outcome], float]:
    def compute(outcome: Outcome) -> float:
        value = function(outcome.y_true, outcome.proba, outcome.classes)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(f"score {name!r}: expected the function to return a number, got {value!r}") from None

    return compute


def _wrong(value: Any) -> str:
    return (
        f"scoring: expected a name ({join_names(_BY_NAME)}), a function of (y_true, proba, classes), or a list or dict of "
        f"these, got {type(value).__name__}"
    )


def positions(labels: Any, classes: npt.NDArray[Any]) -> Truth:
    """Return the position of every label among the classes; UNKNOWN for other labels."""
    values, codes = encode_labels(labels)
    index = {label: i for i, label in enumerate(classes.tolist())}
    table = np.array([index.get(label, UNKNOWN) for label in values.tolist()], dtype=np.uint16)
    return table[codes]


def _classes(y_true: Any, classes: Any) -> npt.NDArray[Any]:
    """Return the classes of the columns: the given ones, or the sorted labels of `y_true`."""
    return encode_labels(y_true)[0] if classes is None else label_array(classes)


def known_classes(y_true: Any, classes: Any) -> list[Any]:
    """Return the labels of the columns of `proba`."""
    labels: list[Any] = _classes(y_true, classes).tolist()
    return labels


def checked(y_true: Any, proba: Any, classes: Any) -> tuple[Floats, Truth]:
    """Return the probabilities as an array, and the column of every true class."""
    try:
        probabilities = np.ascontiguousarray(proba, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"proba: expected an array of numbers: {error}") from None
    if probabilities.ndim != 2:
        raise ValueError(f"proba: expected shape (n_rows, n_classes), got {probabilities.shape}")
    known = _classes(y_true, classes)
    if known.shape != (probabilities.shape[1],):
        raise ValueError(
            f"proba: expected {plural(len(known), 'column')}, one per class, got {probabilities.shape[1]}; pass classes= if y_true "
            "does not contain all of them"
        )
    if len(set(known.tolist())) < len(known):
        raise ValueError(f"classes: expected unique labels, got {known.tolist()}")
    wrong = ~((probabilities >= 0) & (probabilities <= 1 + _ROUNDING))
    if wrong.any():
        raise ValueError(f"proba: expected probabilities from 0 to 1, got {probabilities[wrong][0]}")
    return probabilities, positions(y_true, known)


def accuracy(y_true: Any, proba: Any, classes: Any = None) -> float:
    """Return the fraction of rows whose most probable class is the true class.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True classes. Rows of a class that is not in `classes` count as errors.
    proba : array-like of shape (n_rows, n_classes)
        Predicted probabilities, as returned by ``predict_proba``.
    classes : array-like of shape (n_classes,) or None, default=None
        Classes in the order of the columns, such as ``classes_``; None means the sorted labels of `y_true`.

    Returns
    -------
    float
        Ties are resolved in favor of the first class.

    Examples
    --------
    >>> from tanager.evaluation import accuracy
    >>> accuracy(["no", "yes", "yes"], [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]])
    0.6666666666666666
    """
    return _core.accuracy(*checked(y_true, proba, classes))


def log_loss(y_true: Any, proba: Any, classes: Any = None) -> float:
    """Return the log loss: the mean of -ln P(true class). Smaller is better; a perfect prediction has log loss 0.

    Parameters
    ----------
    y_true, proba, classes
        As in `accuracy`. The log loss is infinite if a true class has probability zero or is not in `classes`;
        probabilities are not clipped.

    Returns
    -------
    float
        In nats, as scikit-learn's ``log_loss``. Cerquides and López de Màntaras report the sum over rows, LogScore, which
        is the negative of `conditional_log_likelihood`.

    Examples
    --------
    >>> from tanager.evaluation import log_loss
    >>> round(log_loss(["no", "yes", "yes"], [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]]), 4)
    0.6905
    """
    return _core.log_loss(*checked(y_true, proba, classes))


def conditional_log_likelihood(y_true: Any, proba: Any, classes: Any = None) -> float:
    """Return the conditional log-likelihood: the sum of ln P(true class), in nats. Larger is better.

    Parameters
    ----------
    y_true, proba, classes
        As in `accuracy`. The result is minus infinity if a true class has probability zero or is not in `classes`.

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
    """Return the area under the receiver operating characteristic (ROC) curve.

    Parameters
    ----------
    y_true, proba, classes
        As in `accuracy`.

    Returns
    -------
    float
        For two classes, the area for the second class, as scikit-learn's ``roc_auc_score(y_true, proba[:, 1])``. For more
        classes, the mean of the one-vs-rest areas over all classes that some rows have and some do not; this equals
        scikit-learn's ``multi_class="ovr"`` if all classes occur. NaN if there is no such class.

    Examples
    --------
    >>> from tanager.evaluation import auc
    >>> auc(["no", "yes", "yes"], [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]])
    1.0
    """
    return _core.auc(*checked(y_true, proba, classes))
