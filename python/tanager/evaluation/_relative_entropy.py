"""How far conditional class probabilities are from those observed, or from true ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._encoding.encoder import encode_labels, learn_encoding, read_table
from .._utils.typing import Floats
from .._utils.validation import check_sample_weight

# What sums of probabilities may be off by.
_ROUNDING = 1e-5


def conditional_relative_entropy(p: Any, q: Any, weight: Any = None) -> float:
    """Return the conditional relative entropy of class probabilities p from q: the mean of D(p(C|x) || q(C|x)).

    It is zero where q equals p, and otherwise tells how many nats more than necessary a row's class costs who believes q
    while p is true.

    Parameters
    ----------
    p : array-like of shape (n_rows, n_classes)
        The probability of every class given the features: the true one, or, for a classifier against data, what
        `observed_class_proba` finds there.
    q : array-like of shape (n_rows, n_classes)
        What is to be judged, such as ``predict_proba`` of the same rows.
    weight : array-like of shape (n_rows,) or None, default=None
        How much every row counts, such as the true probability of its features; they are divided by their sum. Rows of
        weight zero are not looked at. None counts all alike.

    Returns
    -------
    float
        In nats, never negative; infinite if a class that p gives a chance has probability zero in q.

    Notes
    -----
    For a classifier B and N rows D it is what the conditional log-likelihood lacks to the best possible,
    D(P_D(C|A) || P_B(C|A)) = -CLL(B|D) / N - H_D(C|A): less of the one is more of the other.

    References
    ----------
    Carvalho, Adão and Mateus (2013), Efficient approximation of the conditional relative entropy with applications to
    discriminative learning of Bayesian network classifiers. Entropy 15, section 4.

    Examples
    --------
    >>> import tanager as tg
    >>> from tanager.evaluation import conditional_relative_entropy, observed_class_proba
    >>> X, y = [["a"], ["a"], ["a"], ["b"]], [0, 0, 1, 1]
    >>> p = observed_class_proba(X, y)
    >>> p.round(2)
    array([[0.67, 0.33],
           [0.67, 0.33],
           [0.67, 0.33],
           [0.  , 1.  ]])
    >>> q = tg.NaiveBayesClassifier().fit(X, y).predict_proba(X)
    >>> round(conditional_relative_entropy(p, q), 4)
    0.1085
    """
    true, judged = _table(p, "p"), _table(q, "q")
    if true.shape != judged.shape:
        raise ValueError(f"p and q must have the same shape, but have {true.shape} and {judged.shape}")
    weights = check_sample_weight(weight, len(true), "weight")
    if weights is not None:
        # Rows without weight may be anything. The largest becomes one, so that sums neither overflow nor vanish.
        counts = weights > 0
        true, judged, weights = true[counts], judged[counts], weights[counts] / weights.max()
    if not len(true):
        raise ValueError("conditional_relative_entropy needs at least one row that counts, but there is none")
    _check_probabilities(true, "p")
    _check_probabilities(judged, "q")
    possible = true > 0
    with np.errstate(divide="ignore"):
        # Logarithms of each: a quotient could leave the range of a double.
        terms = true * (np.log(np.where(possible, true, 1)) - np.log(np.where(possible, judged, 1)))
    by_row = terms.sum(axis=1)
    if np.isinf(by_row).any():  # however little the row weighs
        return math.inf
    return max(0.0, float(np.average(by_row, weights=weights)))


def observed_class_proba(X: Any, y: Any, classes: Any = None, *, sample_weight: Any = None) -> Floats:
    """Return the share of every class among the rows that have the same features, for every row.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
        As in ``fit``; cells are compared as they are, numbers too, and missing ones are equal to each other.
    y : array-like of shape (n_rows,)
        The class of every row.
    classes : array-like or None, default=None
        The classes in the order of the columns, as in ``classes_``; by default those in `y`, sorted.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        How often each row counts.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Rows whose like have no weight at all have NaN.

    Examples
    --------
    >>> from tanager.evaluation import observed_class_proba
    >>> observed_class_proba([["a"], ["b"], ["a"]], ["no", "no", "yes"])
    array([[0.5, 0.5],
           [1. , 0. ],
           [0.5, 0.5]])
    """
    table = read_table(X)
    known, codes = encode_labels(y)
    if len(codes) != table.n_rows:
        raise ValueError(f"X has {table.n_rows} rows, but y has {len(codes)}")
    weights = check_sample_weight(sample_weight, len(codes))
    _, columns = learn_encoding(
        table, y_codes=codes, n_classes=len(known), weights=None, numeric_features=[], discretizer=None
    )
    groups = np.zeros(len(codes), dtype=np.int64)
    for column in columns:  # a number of its own for every combination so far
        groups = np.unique(groups * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    order = known if classes is None else np.asarray(classes)
    index = {label: i for i, label in enumerate(order.tolist())}
    unknown = [label for label in known.tolist() if label not in index]
    if unknown:
        raise ValueError(f"y must hold only the given classes, but {unknown[0]!r} is none of them")
    position = np.array([index[label] for label in known.tolist()], dtype=np.intp)[codes]
    counts = np.zeros((int(groups.max(initial=-1)) + 1, len(order)))
    np.add.at(counts, (groups, position), 1.0 if weights is None else weights)
    with np.errstate(invalid="ignore"):
        shares = counts / counts.sum(axis=1, keepdims=True)
    found: Floats = shares[groups]
    return found


def _table(given: Any, name: str) -> Floats:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"{name} must have a row per row and a column per class, but has shape {values.shape}")
    return values


def _check_probabilities(values: Floats, name: str) -> None:
    wrong = ~((values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= _ROUNDING))
    if wrong.any():
        raise ValueError(f"{name} must hold probabilities that sum to one, but one row is {values[wrong][0].tolist()}")
