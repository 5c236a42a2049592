"""Sums over all spanning trees of a weighted graph, and what is known of a tree drawn at random.

A tree is drawn with a probability proportional to the product of its edges' weights: uniformly, if these are all equal.
Use it to average over trees, to count them, or to draw them, however far the weights are apart: nothing is subtracted, so
results are good to a few units in the last place where a determinant in floating point is wrong or not even positive.

All functions take the weights as ``log_weights``, either

- an array-like of shape (n, n): the natural logarithms, ``-inf`` where there is no edge; or
- a tuple ``(mantissa, exponent)`` of such arrays for weights ``mantissa * 2**exponent``, a mantissa of zero meaning no
  edge. Mantissas must not be negative, and exponents must be whole numbers between -2^40 and 2^40. A logarithm of 10,000
  knows its weight to twelve digits only, while a pair keeps them all.

The matrix must be symmetric to the last bit: ``np.maximum(a, a.T)`` makes it so where rounding has not. The diagonal is
ignored.

References
----------
Kirchhoff (1847), Ueber die Auflösung der Gleichungen, auf welche man bei der Untersuchung der linearen Vertheilung
galvanischer Ströme geführt wird. Annalen der Physik 148.

Grassmann, Taksar and Heyman (1985), Regenerative analysis and steady state distributions for Markov chains. Operations
Research 33.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.random import draw_seed
from .._utils.validation import is_integer, n_threads
from ._mp import log_determinant
from ._weights import read_weights

__all__ = [
    "MapTree",
    "edge_probabilities",
    "log_tree_sum",
    "log_tree_sum_mp",
    "map_tree",
    "sample_trees",
    "tree_entropy",
]


#: More would take months, and larger numbers do not fit in an array's shape.
_MOST_TREES = 10**12


class MapTree(NamedTuple):
    """The most probable tree.

    Attributes
    ----------
    edges : ndarray of shape (n - 1, 2)
        Pairs of nodes (u, v) with u < v, in increasing order.
    log_probability : float
        Natural logarithm of the tree's probability.
    """

    edges: npt.NDArray[np.int64]
    log_probability: float


def log_tree_sum(log_weights: Any) -> float:
    """Return the logarithm of the sum over all spanning trees of the product of their weights.

    Use it to normalize a distribution over trees, or, with equal weights, to count the trees of a graph.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.

    Returns
    -------
    float
        The natural logarithm; ``-inf`` if the edges do not connect all nodes, 0.0 for a single node.

    Notes
    -----
    By elimination without subtraction (Grassmann, Taksar and Heyman) in O(n³), with numbers of any magnitude. The relative
    error of the sum grows slowly with n and not at all with the range of the weights: about 1e-15 for n = 60. The
    logarithm is that sum's, rounded.

    Examples
    --------
    The complete graph of five nodes has 5³ spanning trees (Cayley).

    >>> import numpy as np
    >>> from tanager.tree_sums import log_tree_sum
    >>> round(np.exp(log_tree_sum(np.zeros((5, 5)))))
    125
    """
    return _core.tree_sum(read_weights(log_weights).to_core())[2]


def edge_probabilities(log_weights: Any, n_jobs: int | None = None) -> npt.NDArray[np.float64]:
    """Return the probability of every edge to be in the tree.

    Use it to see which edges a distribution over trees is sure of. With weights as conductances, it is the weight of an
    edge times the effective resistance between its ends.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.
    n_jobs : int or None, default=None
        Number of threads; None means one, -1 all. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, with zeros on the diagonal. The upper triangle sums to n - 1. Small probabilities are as exact as large
        ones, and zero below 1e-308.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.tree_sums import edge_probabilities
    >>> edge_probabilities(np.log([[1, 1, 1], [1, 1, 2], [1, 2, 1]])).round(3)
    array([[0. , 0.6, 0.6],
           [0.6, 0. , 0.8],
           [0.6, 0.8, 0. ]])
    """
    return _core.edge_probabilities(read_weights(log_weights).to_core(), n_threads(n_jobs))


def map_tree(log_weights: Any) -> MapTree:
    """Return the most probable tree, a maximum spanning tree, and the logarithm of its probability.

    Use it for the one tree that stands for all, and to see how far it does: with a probability close to one averaging
    over trees changes nothing.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.

    Returns
    -------
    MapTree
        ``edges`` and ``log_probability``. Of edges of equal weight those of the lowest nodes are taken.

    Notes
    -----
    The logarithm is found without subtraction: for a tree of probability 1 - 1e-60 it is -1e-60, not zero.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.tree_sums import map_tree
    >>> tree = map_tree([[0, 0, -100], [0, 0, 5], [-100, 5, 0]])
    >>> tree.edges.tolist()
    [[0, 1], [1, 2]]
    >>> print(f"{-tree.log_probability:.4g}")
    3.745e-44
    """
    return MapTree(*_core.best_tree(read_weights(log_weights).to_core()))


def tree_entropy(log_weights: Any, n_jobs: int | None = None) -> float:
    """Return the entropy of the tree, in nats.

    Use it to tell how spread a distribution over trees is: exp of it is the number of trees that, equally probable,
    would be as uncertain.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.
    n_jobs : int or None, default=None
        Number of threads; None means one, -1 all. The result does not depend on it.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.tree_sums import tree_entropy
    >>> round(np.exp(tree_entropy(np.zeros((4, 4)))))
    16
    """
    return _core.tree_entropy(read_weights(log_weights).to_core(), n_threads(n_jobs))


def sample_trees(
    log_weights: Any, n_samples: int, random_state: Any = None, n_jobs: int | None = None
) -> npt.NDArray[np.int64]:
    """Draw spanning trees, independently and exactly.

    Use it for averages over trees that no formula gives.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.
    n_samples : int
        Number of trees.
    random_state : int, RandomState or None, default=None
        A whole number makes the trees the same in every call, and the first ones the same for any ``n_samples``.
    n_jobs : int or None, default=None
        Number of threads; None means one, -1 all. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_samples, n - 1, 2)
        The edges of each tree as pairs of nodes (u, v) with u < v, in increasing order.

    Notes
    -----
    Nodes are eliminated once, in O(n³), and every tree is drawn by undoing that step by step. Random walks (Aldous and
    Broder, Wilson) draw from the same distribution, but may take for ever where clusters of nodes are far apart; this takes
    about O(n²) for a tree whatever the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.tree_sums import sample_trees
    >>> trees = sample_trees(np.zeros((4, 4)), 1000, random_state=1)
    >>> trees.shape
    (1000, 3, 2)
    >>> len(np.unique(trees, axis=0))
    16
    """
    if not is_integer(n_samples) or n_samples < 0:
        raise ValueError(f"n_samples must be a whole number that is not negative, but is {n_samples!r}")
    if n_samples > _MOST_TREES:
        raise ValueError(f"n_samples must be at most {_MOST_TREES:,}, but is {n_samples:,}")
    weights = read_weights(log_weights).to_core()
    drawn = draw_seed(random_state)
    return _core.sample_trees(weights, int(n_samples), drawn, n_threads(n_jobs))


def log_tree_sum_mp(log_weights: Any, digits: int | None = None) -> Any:
    """Return the logarithm of the tree sum by a determinant of as many digits as it takes.

    Use it to check `log_tree_sum`: it shares nothing with it, and is slower by a factor of thousands to millions.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges, taken as exact; see `tanager.tree_sums`.
    digits : int or None, default=None
        Decimal digits of the first attempt. By default as many as the largest weight and the smallest of a maximum
        spanning tree are apart, and some more.

    Returns
    -------
    mpmath.mpf
        The natural logarithm, with 30 digits of the sum's relative precision or more; ``float`` rounds it. ``-inf`` if the
        edges do not connect all nodes.

    Notes
    -----
    Kirchhoff's theorem: the sum is the determinant of the Laplacian without one row and column, by symmetric elimination
    in mpmath. Digits are doubled until that no longer changes the sum by a relative 2^-100.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.tree_sums import log_tree_sum, log_tree_sum_mp
    >>> weights = np.array([[0.0, -1000.0, -1001.0], [-1000.0, 0.0, 500.0], [-1001.0, 500.0, 0.0]])
    >>> print(f"{log_tree_sum(weights):.10f} {float(log_tree_sum_mp(weights)):.10f}")
    -499.6867383125 -499.6867383125
    """
    if digits is not None and (not is_integer(digits) or digits < 1):
        raise ValueError(f"digits must be None or a whole number above zero, but is {digits!r}")
    given = read_weights(log_weights)
    given.to_core()  # refuses what is out of all bounds, in the same words
    return log_determinant(given, digits)
