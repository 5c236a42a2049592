"""Sums over all spanning trees of a weighted graph, and properties of a random spanning tree.

The probability of a tree is proportional to the product of the weights of its edges: uniform if all weights are equal.
Use these functions to average over trees, to count them or to sample them. They work for weights of any range: the
algorithms do not subtract, so results are accurate to a few units in the last place where a determinant in floating point
is wrong or even negative.

All functions take the weights as ``log_weights``, either

- an array-like of shape (n, n): the natural logarithms, ``-inf`` where there is no edge; or
- a tuple ``(mantissa, exponent)`` of such arrays for weights ``mantissa * 2**exponent``; a mantissa of zero means no edge.
  Mantissas must be non-negative, and exponents must be integers between -2^40 and 2^40. A logarithm of 10,000 determines
  its weight only to twelve digits, while a pair keeps all of them.

The matrix must be exactly symmetric; ``np.maximum(a, a.T)`` removes asymmetries due to rounding. The diagonal is ignored.

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
from .._utils.validation import check_int, check_optional_int, n_threads
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


#: More would take months, and larger numbers do not fit the shape of an array.
_MAX_TREES = 10**12


class MapTree(NamedTuple):
    """The most probable spanning tree, returned by `map_tree`.

    Attributes
    ----------
    edges : ndarray of shape (n - 1, 2)
        Pairs of nodes (u, v) with u < v, in increasing order.
    log_probability : float
        Natural logarithm of the probability of the tree.
    """

    edges: npt.NDArray[np.int64]
    log_probability: float


def log_tree_sum(log_weights: Any) -> float:
    """Return the logarithm of the sum over all spanning trees of the products of their weights.

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
    Elimination without subtraction (Grassmann, Taksar and Heyman) in O(n³), with numbers of any magnitude. The relative
    error of the sum grows slowly with n and does not depend on the range of the weights: about 1e-15 for n = 60.

    Examples
    --------
    The complete graph with five nodes has 5³ spanning trees (Cayley):

    >>> import numpy as np
    >>> from tanager.tree_sums import log_tree_sum
    >>> round(np.exp(log_tree_sum(np.zeros((5, 5)))))
    125
    """
    return _core.tree_sum(read_weights(log_weights).to_core())[2]


def edge_probabilities(log_weights: Any, n_jobs: int | None = None) -> npt.NDArray[np.float64]:
    """Return the probability that each edge is in a random spanning tree.

    Use it to see which edges are certain under a distribution over trees. With weights as conductances, it is the weight of
    an edge times the effective resistance between its ends.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.
    n_jobs : int or None, default=None
        Number of threads; None means one, -1 all. It does not change the result.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, with zeros on the diagonal. The upper triangle sums to n - 1. Small probabilities have the same relative
        accuracy as large ones; those below 1e-308 are zero.

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

    Use it to represent a distribution by a single tree, and to see how well that works: with a probability close to one,
    averaging over trees changes nothing.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.

    Returns
    -------
    MapTree
        ``edges`` and ``log_probability``. Ties between edges go to the lowest nodes.

    Notes
    -----
    The logarithm is computed without subtraction: for a tree of probability 1 - 1e-60 it is -1e-60, not zero.

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
    """Return the entropy of the distribution over spanning trees, in nats.

    Use it to measure how spread out the distribution is: its exponential is the number of equally probable trees with the
    same entropy.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.
    n_jobs : int or None, default=None
        Number of threads; None means one, -1 all. It does not change the result.

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
    """Draw independent spanning trees from their exact distribution.

    Use it for averages over trees without a closed form.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges; see `tanager.tree_sums`.
    n_samples : int
        Number of trees.
    random_state : int, RandomState or None, default=None
        Seed or generator. With an integer, every call returns the same trees, and a larger ``n_samples`` only appends
        further ones.
    n_jobs : int or None, default=None
        Number of threads; None means one, -1 all. It does not change the result.

    Returns
    -------
    ndarray of shape (n_samples, n - 1, 2)
        The edges of each tree as pairs of nodes (u, v) with u < v, in increasing order.

    Notes
    -----
    Nodes are eliminated once, in O(n³), and each tree is drawn by undoing the elimination step by step. Random walks (Aldous
    and Broder, Wilson) draw from the same distribution, but may practically never end if clusters of nodes are weakly
    connected; this algorithm takes about O(n²) per tree for any weights.

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
    n_samples = check_int(n_samples, "n_samples", minimum=0, maximum=_MAX_TREES)
    weights = read_weights(log_weights).to_core()
    return _core.sample_trees(weights, n_samples, draw_seed(random_state), n_threads(n_jobs))


def log_tree_sum_mp(log_weights: Any, digits: int | None = None) -> Any:
    """Return the logarithm of the tree sum, computed as a determinant with mpmath at sufficient precision.

    Use it to verify `log_tree_sum`: it shares no code with it, and is thousands to millions of times slower.

    Parameters
    ----------
    log_weights : array-like of shape (n, n), or tuple of two of them
        The weights of the edges, regarded as exact; see `tanager.tree_sums`.
    digits : int or None, default=None
        Decimal digits of the first attempt. The default follows from the ratio of the largest weight to the smallest
        weight of a maximum spanning tree.

    Returns
    -------
    mpmath.mpf
        The natural logarithm, with a relative precision of the sum of at least 30 digits; ``float`` rounds it. ``-inf`` if
        the edges do not connect all nodes.

    Notes
    -----
    By Kirchhoff's theorem, the sum is the determinant of the Laplacian without one row and column, computed by symmetric
    elimination. The number of digits is doubled until the sum changes by less than a relative 2^-100.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.tree_sums import log_tree_sum, log_tree_sum_mp
    >>> weights = np.array([[0.0, -1000.0, -1001.0], [-1000.0, 0.0, 500.0], [-1001.0, 500.0, 0.0]])
    >>> print(f"{log_tree_sum(weights):.10f} {float(log_tree_sum_mp(weights)):.10f}")
    -499.6867383125 -499.6867383125
    """
    digits = check_optional_int(digits, "digits", minimum=1)
    weights = read_weights(log_weights)
    weights.to_core()  # the same checks and messages as in the other functions
    return log_determinant(weights, digits)
