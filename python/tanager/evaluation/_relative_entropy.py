"""Conditional relative entropy between class probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._encoding.encoder import EncodingSettings, encode_labels, learn_encoding, read_table
from .._utils.typing import Floats
from .._utils.validation import check_sample_weight

# Tolerance of sums of probabilities.
_ROUNDING = 1e-5


def conditional_relative_entropy(p: Any, q: Any, weight: Any = None) -> float:
    """Return the conditional relative entropy of class probabilities p from q: the mean of D(p(C|x) || q(C|x)).

    It is the expected excess log loss, in nats per row, of predicting with q when p is true; zero if q equals p.

    Parameters
    ----------
    p : array-like of shape (n_rows, n_classes)
        True class probabilities given the features; or, to compare a classifier with data, the observed ones, as returned
        by `observed_class_proba`.
    q : array-like of shape (n_rows, n_classes)
        Class probabilities to evaluate, such as ``predict_proba`` for the same rows.
    weight : array-like of shape (n_rows,) or None, default=None
        Weight of each row, such as the true probability of its features; weights are normalized to sum to one. Rows of
        weight zero are ignored. None means equal weights.

    Returns
    -------
    float
        In nats, non-negative; infinite if a class with positive probability in p has probability zero in q.

    Notes
    -----
    For a classifier B and N rows D, it is the distance of the conditional log-likelihood from its maximum:
    D(P_D(C|A) || P_B(C|A)) = -CLL(B|D) / N - H_D(C|A).

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
    true, evaluated = _matrix(p, "p"), _matrix(q, "q")
    if true.shape != evaluated.shape:
        raise ValueError(f"p and q: expected the same shape, got {true.shape} and {evaluated.shape}")
    weights = check_sample_weight(weight, len(true), "weight")
    if weights is not None:
        # Rows of weight zero may hold anything. Scaling by the largest weight avoids overflow and underflow of sums.
        counts = weights > 0
        true, evaluated, weights = true[counts], evaluated[counts], weights[counts] / weights.max()
    if not len(true):
        raise ValueError("conditional_relative_entropy: expected at least one row with positive weight, got none")
    _check_probabilities(true, "p")
    _check_probabilities(evaluated, "q")
    possible = true > 0
    with np.errstate(divide="ignore"):
        # A difference of logarithms, because a quotient could overflow.
        terms = true * (np.log(np.where(possible, true, 1)) - np.log(np.where(possible, evaluated, 1)))
    by_row = terms.sum(axis=1)
    if np.isinf(by_row).any():  # however small its weight
        return math.inf
    return max(0.0, float(np.average(by_row, weights=weights)))


def observed_class_proba(X: Any, y: Any, classes: Any = None, *, sample_weight: Any = None) -> Floats:
    """Return, for every row, the class frequencies among the rows with the same feature values.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
        As in ``fit``. Values are compared without discretization, and missing values are equal to each other.
    y : array-like of shape (n_rows,)
        Class labels.
    classes : array-like or None, default=None
        Classes in the order of the columns, such as ``classes_``; None means the sorted labels of `y`.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weight of each row.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        NaN where all rows with the same feature values have weight zero.

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
    settings = EncodingSettings(discretizer=None)
    _, columns = learn_encoding(table, settings, y_codes=codes, n_classes=len(known), weights=None)
    groups = np.zeros(len(codes), dtype=np.int64)
    for column in columns:  # numbers the combinations of values of the columns so far
        groups = np.unique(groups * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    order = known if classes is None else np.asarray(classes)
    index = {label: i for i, label in enumerate(order.tolist())}
    unknown = [label for label in known.tolist() if label not in index]
    if unknown:
        raise ValueError(f"y: expected only the given classes, got {unknown[0]!r}")
    position = np.array([index[label] for label in known.tolist()], dtype=np.intp)[codes]
    counts = np.zeros((int(groups.max(initial=-1)) + 1, len(order)))
    np.add.at(counts, (groups, position), 1.0 if weights is None else weights)
    with np.errstate(invalid="ignore"):
        shares = counts / counts.sum(axis=1, keepdims=True)
    proba: Floats = shares[groups]
    return proba


def _matrix(given: Any, name: str) -> Floats:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"{name}: expected shape (n_rows, n_classes), got {values.shape}")
    return values


def _check_probabilities(values: Floats, name: str) -> None:
    wrong = ~((values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= _ROUNDING))
    if wrong.any():
        raise ValueError(f"{name}: expected rows of probabilities that sum to one, got {values[wrong][0].tolist()}")
