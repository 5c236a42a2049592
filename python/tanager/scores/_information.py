"""Information measures, and scores of families of variables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from .._encoding.encoder import EncodingSettings, Table, encode_labels, learn_encoding, read_table
from .._learning.names import feature_position, read_arcs
from .._utils.typing import missing_code
from .._utils.validation import check_choice, check_number
from ._acll import acll_settings

_SCORES = ("loglik", "aic", "bic", "bdeu", "k2", "acll")


def entropy(x: Any) -> float:
    """Return the entropy of a variable, in nats; missing values are ignored.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
        Categories of any type.

    Examples
    --------
    >>> from tanager.scores import entropy
    >>> round(entropy(["heads", "tails", "tails", "heads"]), 6)
    0.693147
    """
    return _core.entropy(np.ascontiguousarray(_table(x).sum(axis=(1, 2))))


def mutual_information(x: Any, y: Any) -> float:
    """Return the mutual information I(x; y), in nats, from the rows where both are observed.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
        Categories of any type.

    Examples
    --------
    >>> from tanager.scores import mutual_information
    >>> round(mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"]), 6)
    0.693147
    """
    return _core.mutual_information(np.ascontiguousarray(_table(x, y).sum(axis=2)))


def conditional_mutual_information(x: Any, y: Any, z: Any) -> float:
    """Return the conditional mutual information I(x; y | z), in nats, from the rows where all are observed.

    Parameters
    ----------
    x, y, z : array-like of shape (n_rows,)
        Categories of any type.

    Examples
    --------
    >>> from tanager.scores import conditional_mutual_information
    >>> conditional_mutual_information([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0])
    0.0
    """
    return _core.conditional_mutual_information(_table(x, y, z))


def family_score(
    X: Any,
    y: Any,
    child: int | str,
    parents: Iterable[int | str] = (),
    *,
    score: str = "bic",
    equivalent_sample_size: float = 1.0,
    assumption: str = "dirichlet",
    a: float = 1.0,
    b: float | None = None,
    pseudo_counts: float = 5.0,
) -> float:
    """Return the score of a feature given feature parents and the class, larger is better.

    Parameters
    ----------
    X, y
        Categorical data and its classes, as in ``fit``.
    child, parents
        Features by name or position.
    score : {"loglik", "aic", "bic", "bdeu", "k2", "acll"}, default="bic"
        Log-likelihood, penalized log-likelihood ("aic", "bic"), log marginal likelihood under a Dirichlet prior ("bdeu",
        "k2"), or the contribution of the family to the approximate conditional log-likelihood (see `acll_score`).
    equivalent_sample_size : float, default=1.0
        Strength of the prior for "bdeu".
    assumption, a, b, pseudo_counts
        Settings of "acll", as in `acll_score`.

    Examples
    --------
    >>> from tanager.scores import family_score
    >>> round(family_score([["a"], ["a"], ["b"]], [0, 0, 1], 0, score="k2"), 4)
    -1.7918
    """
    check_choice(score, "score", _SCORES)
    size = check_number(equivalent_sample_size, "equivalent_sample_size")
    settings = acll_settings(assumption, a, b, pseudo_counts)
    table, names = _read_named(X)
    feature = feature_position(child, names, "child")
    given = [feature_position(parent, names, "parents") for parent in parents]
    counts = _count(table, y, [(feature, given)] if given else [])
    if score == "acll":
        return _core.acll_family_score(counts, feature, given, *settings)
    return _core.family_score(counts, feature, given, score, size)


def acll_score(
    X: Any,
    y: Any,
    arcs: Iterable[tuple[int | str, int | str]] = (),
    *,
    assumption: str = "dirichlet",
    a: float = 1.0,
    b: float | None = None,
    pseudo_counts: float = 5.0,
) -> float:
    """Return the approximate conditional log-likelihood (aCLL) of a structure, larger is better.

    The parameters are those that maximize it (`parameters.AcllOptimal`). The class is a parent of every feature. The score
    is a sum over the class and the features, plus a constant per row. `structure.AcllTree` maximizes it over all trees.

    Parameters
    ----------
    X, y
        Categorical data and its classes, as in ``fit``.
    arcs : list of (parent, child), default=()
        Features by name or position; no arcs means naive Bayes.
    assumption : {"dirichlet", "uniform"}, default="dirichlet"
        The assumed distribution of the joint probabilities of a row with each class; see `acll_constants`. The uniform
        assumption has p = 1.
    a, b : float, and float or None, default=1.0 and None
        Parameters of the Dirichlet assumption; None means the number of rows.
    pseudo_counts : float, default=5.0
        Lower bound N' on the weight of a cell of a table.

    References
    ----------
    Carvalho, Adão and Mateus (2013), Efficient approximation of the conditional relative entropy with applications to
    discriminative learning of Bayesian network classifiers. Entropy 15, equation 28.

    Examples
    --------
    >>> from tanager.scores import acll_score
    >>> X, y = [[0, 0], [0, 1], [1, 1], [1, 1]], [1, 1, 0, 1]
    >>> forth = acll_score(X, y, [(0, 1)], assumption="uniform", pseudo_counts=1)
    >>> back = acll_score(X, y, [(1, 0)], assumption="uniform", pseudo_counts=1)
    >>> round(forth - back, 4)
    0.1237
    """
    settings = acll_settings(assumption, a, b, pseudo_counts)
    table, names = _read_named(X)
    parents: list[list[int]] = [[] for _ in names]
    for parent, child in read_arcs(arcs, names, "class", "arcs").between_features:
        parents[child].append(parent)
    counts = _count(table, y, [(child, of_child) for child, of_child in enumerate(parents) if of_child])
    return _core.acll_score(counts, parents, *settings)


def _read_named(X: Any) -> tuple[Table, list[str]]:
    table = read_table(X)
    return table, [f"x{i}" for i in range(table.n_features)] if table.names is None else table.names


def _count(table: Table, y: Any, families: list[tuple[int, list[int]]]) -> _core.CountSet:
    classes, codes = encode_labels(y)
    settings = EncodingSettings(discretizer=None)
    encoder, columns = learn_encoding(table, settings, y_codes=codes, n_classes=len(classes), weights=None)
    data = _core.Dataset(columns, encoder.cardinalities, codes, len(classes), None)
    return _core.CountSet.count(data, "singles", families, 1)


def _table(*variables: Any) -> Any:
    """Return the joint counts of up to three variables; the axes of variables that are not given have length one."""
    coded = []
    for variable in variables:
        plain = variable.tolist() if np.ma.isMaskedArray(variable) else variable  # None where masked
        if not hasattr(plain, "__len__"):
            raise TypeError(f"expected a sequence of values for each variable, got {type(plain).__name__}")
        values = np.fromiter(plain, dtype=object, count=len(plain))
        settings = EncodingSettings(discretizer=None)
        encoder, columns = learn_encoding(
            read_table(values[:, None]), settings, y_codes=None, n_classes=1, weights=None
        )
        missing = missing_code(columns[0])
        codes = columns[0].astype(np.int64)
        coded.append((np.where(codes == missing, -1, codes), encoder.cardinalities[0]))
    if len({len(codes) for codes, _ in coded}) > 1:
        lengths = ", ".join(str(len(codes)) for codes, _ in coded)
        raise ValueError(f"expected variables of the same length, got {lengths}")
    observed = np.logical_and.reduce([codes >= 0 for codes, _ in coded])
    shape = [size for _, size in coded] + [1] * (3 - len(coded))
    n_cells = math.prod(shape)
    if n_cells > _core.MAX_TABLE_CELLS:
        raise ValueError(f"the joint table would have {n_cells:,} cells; the limit is {_core.MAX_TABLE_CELLS:,}")
    joint = np.zeros(len(observed), dtype=np.int64)
    for codes, size in coded:
        joint = joint * size + codes
    counts = np.bincount(joint[observed], minlength=n_cells)
    return np.ascontiguousarray(counts.reshape(shape), dtype=np.float64)
