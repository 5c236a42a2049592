"""How much variables tell about each other, and how good a family of variables is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core
from ._encoding import encode_labels, learn_encoding, read_table
from ._settings import as_number

__all__ = ["conditional_mutual_information", "entropy", "family_score", "mutual_information"]

_SCORES = ("loglik", "aic", "bic", "bdeu", "k2")


def entropy(x: Any) -> float:
    """Return the entropy of a variable, in nats; missing cells are left out.

    Examples
    --------
    >>> from tanager.scores import entropy
    >>> round(entropy(["heads", "tails", "tails", "heads"]), 6)
    0.693147
    """
    return _core.entropy(np.ascontiguousarray(_table(x).sum(axis=(1, 2))))


def mutual_information(x: Any, y: Any) -> float:
    """Return I(x; y), in nats, from the rows where both are observed.

    Examples
    --------
    >>> from tanager.scores import mutual_information
    >>> round(mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"]), 6)
    0.693147
    """
    return _core.mutual_information(np.ascontiguousarray(_table(x, y).sum(axis=2)))


def conditional_mutual_information(x: Any, y: Any, z: Any) -> float:
    """Return I(x; y | z), in nats, from the rows where all are observed.

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
) -> float:
    """Return the score of a feature given feature parents and the class; larger is better.

    Parameters
    ----------
    X, y
        A table of categories and its classes, as in ``fit``.
    child, parents
        Features by name or position.
    score : {"loglik", "aic", "bic", "bdeu", "k2"}, default="bic"
        Log-likelihood, penalized log-likelihood, or log marginal likelihood under a Dirichlet prior.
    equivalent_sample_size : float, default=1.0
        Strength of the prior of "bdeu".

    Examples
    --------
    >>> from tanager.scores import family_score
    >>> round(family_score([["a"], ["a"], ["b"]], [0, 0, 1], 0, score="k2"), 4)
    -1.7918
    """
    from ._structure_learner import position_of

    if score not in _SCORES:
        raise ValueError(f"score must be one of {', '.join(_SCORES)}, but is {score!r}")
    size = as_number(equivalent_sample_size, "equivalent_sample_size")
    table = read_table(X)
    names = [f"x{i}" for i in range(table.n_features)] if table.names is None else table.names
    family = (position_of(child, names, "child"), [position_of(p, names, "parent") for p in parents])
    classes, codes = encode_labels(y)
    encoder, columns = learn_encoding(
        table, y_codes=codes, n_classes=len(classes), weights=None, numeric_features=[], discretizer=None
    )
    data = _core.Dataset(columns, encoder.cardinalities, codes, len(classes), None)
    counts = _core.CountSet.count(data, "singles", [family] if family[1] else [], 1)
    return _core.family_score(counts, *family, score, size)


def _table(*variables: Any) -> Any:
    """Count up to three variables jointly; axes of variables not given have length one."""
    coded = []
    for variable in variables:
        cells = variable.tolist() if np.ma.isMaskedArray(variable) else variable  # None where masked
        values = np.fromiter(cells, dtype=object, count=len(cells))
        encoder, columns = learn_encoding(
            read_table(values[:, None]), y_codes=None, n_classes=1, weights=None, numeric_features=[], discretizer=None
        )
        missing = np.iinfo(columns[0].dtype).max
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
