"""How much variables tell about each other, and how good a family of variables is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from .._encoding.encoder import Table, encode_labels, learn_encoding, read_table
from .._learning.names import feature_position, read_arcs
from .._utils.typing import missing_code
from .._utils.validation import check_number
from ._acll import acll_settings

_SCORES = ("loglik", "aic", "bic", "bdeu", "k2", "acll")


def entropy(x: Any) -> float:
    """Return the entropy of a variable, in nats; missing cells are left out.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
        Categories of any kind.

    Examples
    --------
    >>> from tanager.scores import entropy
    >>> round(entropy(["heads", "tails", "tails", "heads"]), 6)
    0.693147
    """
    return _core.entropy(np.ascontiguousarray(_table(x).sum(axis=(1, 2))))


def mutual_information(x: Any, y: Any) -> float:
    """Return I(x; y), in nats, from the rows where both are observed.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
        Categories of any kind.

    Examples
    --------
    >>> from tanager.scores import mutual_information
    >>> round(mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"]), 6)
    0.693147
    """
    return _core.mutual_information(np.ascontiguousarray(_table(x, y).sum(axis=2)))


def conditional_mutual_information(x: Any, y: Any, z: Any) -> float:
    """Return I(x; y | z), in nats, from the rows where all are observed.

    Parameters
    ----------
    x, y, z : array-like of shape (n_rows,)
        Categories of any kind.

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
    """Return the score of a feature given feature parents and the class; larger is better.

    Parameters
    ----------
    X, y
        A table of categories and its classes, as in ``fit``.
    child, parents
        Features by name or position.
    score : {"loglik", "aic", "bic", "bdeu", "k2", "acll"}, default="bic"
        Log-likelihood, penalized log-likelihood, log marginal likelihood under a Dirichlet prior, or the family's part
        of the approximate conditional log-likelihood (see `acll_score`).
    equivalent_sample_size : float, default=1.0
        Strength of the prior of "bdeu".
    assumption, a, b, pseudo_counts
        Of "acll", as in `acll_score`.

    Examples
    --------
    >>> from tanager.scores import family_score
    >>> round(family_score([["a"], ["a"], ["b"]], [0, 0, 1], 0, score="k2"), 4)
    -1.7918
    """
    if score not in _SCORES:
        raise ValueError(f"score must be one of {', '.join(_SCORES)}, but is {score!r}")
    size = check_number(equivalent_sample_size, "equivalent_sample_size")
    settings = acll_settings(assumption, a, b, pseudo_counts)
    table, names = _read_named(X)
    feature, found = feature_position(child, names, "child"), [feature_position(p, names, "parent") for p in parents]
    counts = _count(table, y, [(feature, found)] if found else [])
    if score == "acll":
        return _core.acll_family_score(counts, feature, found, *settings)
    return _core.family_score(counts, feature, found, score, size)


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
    """Return the approximate conditional log-likelihood (aCLL) of a structure, with the parameters that maximize it.

    The class is a parent of every feature. The score is a sum over class and features, and a constant per row; larger is
    better. `structure.AcllTree` maximizes it over all trees, and `parameters.AcllOptimal` are the parameters.

    Parameters
    ----------
    X, y
        A table of categories and its classes, as in ``fit``.
    arcs : list of (parent, child), default=()
        Features by name or position; none is naive Bayes.
    assumption : {"dirichlet", "uniform"}, default="dirichlet"
        What is assumed of the joint probabilities of a row with every class; see `acll_constants`. The constant of the
        uniform assumption is that of p = 1.
    a, b : float, and float or None, default=1.0 and None
        Of the Dirichlet assumption; None means the number of rows.
    pseudo_counts : float, default=5.0
        The least that a cell of a table may count (N').

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
    counts = _count(table, y, [(child, found) for child, found in enumerate(parents) if found])
    return _core.acll_score(counts, parents, *settings)


def _read_named(X: Any) -> tuple[Table, list[str]]:
    table = read_table(X)
    return table, [f"x{i}" for i in range(table.n_features)] if table.names is None else table.names


def _count(table: Table, y: Any, families: list[tuple[int, list[int]]]) -> _core.CountSet:
    classes, codes = encode_labels(y)
    encoder, columns = learn_encoding(
        table, y_codes=codes, n_classes=len(classes), weights=None, numeric_features=[], discretizer=None
    )
    data = _core.Dataset(columns, encoder.cardinalities, codes, len(classes), None)
    return _core.CountSet.count(data, "singles", families, 1)


def _table(*variables: Any) -> Any:
    """Count up to three variables jointly; axes of variables not given have length one."""
    coded = []
    for variable in variables:
        cells = variable.tolist() if np.ma.isMaskedArray(variable) else variable  # None where masked
        values = np.fromiter(cells, dtype=object, count=len(cells))
        encoder, columns = learn_encoding(
            read_table(values[:, None]), y_codes=None, n_classes=1, weights=None, numeric_features=[], discretizer=None
        )
        missing = missing_code(columns[0])
        codes = columns[0].astype(np.int64)
        coded.append((np.where(codes == missing, -1, codes), encoder.cardinalities[0]))
    if len({len(codes) for codes, _ in coded}) > 1:
        lengths = ", ".join(str(len(codes)) for codes, _ in coded)
        raise ValueError(f"all variables must have the same number of values, but they have {lengths}")
    observed = np.logical_and.reduce([codes >= 0 for codes, _ in coded])
    shape = [size for _, size in coded] + [1] * (3 - len(coded))
    n_cells = math.prod(shape)
    if n_cells > _core.MAX_TABLE_CELLS:
        raise ValueError(
            f"the joint table would have {n_cells:,} cells, but at most {_core.MAX_TABLE_CELLS:,} are possible"
        )
    joint = np.zeros(len(observed), dtype=np.int64)
    for codes, size in coded:
        joint = joint * size + codes
    counts = np.bincount(joint[observed], minlength=n_cells)
    return np.ascontiguousarray(counts.reshape(shape), dtype=np.float64)
