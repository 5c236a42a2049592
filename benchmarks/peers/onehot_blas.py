"""A baseline: the speed of good NumPy code, with one-hot float32 matrices, BLAS and SciPy's spanning tree.

All counts of pairs within a class are one matrix product H^T H of its one-hot rows, and BLAS is the fastest general
machine there is for that. Written with care: rows sorted by class once, blocks that stay in the cache, the symmetric
product (NumPy calls syrk for H.T @ H), comparisons and casts that NumPy vectorizes, no index arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from . import Contender, Peer

_BLOCK = 2048


class OneHotTan:
    """TAN with one pseudo-count per cell, the classes included.

    Parameters
    ----------
    drop_last : bool
        Leave out the column of each feature's last value and get its counts by subtraction: fewer columns than
        one-hot has, so a cheaper product, which few would write.
    """

    def __init__(self, drop_last: bool = False) -> None:
        self._drop_last = drop_last

    def fit(self, X: NDArray[Any], y: NDArray[Any], /) -> OneHotTan:
        self.classes_, codes = np.unique(y, return_inverse=True)
        n_classes, n_values = len(self.classes_), int(X.max()) + 1
        pairs = self._count_pairs(X, codes, n_classes, n_values)
        self._parents = _best_tree(pairs)
        self._build_tables(pairs)
        return self

    def _count_pairs(self, X: NDArray[Any], codes: NDArray[Any], s: int, r: int) -> NDArray[Any]:
        """Return counts [class][value of u][u][value of v][v]."""
        n = X.shape[1]
        kept = r - 1 if self._drop_last else r
        class_counts = np.bincount(codes, minlength=s)
        ends = np.cumsum(class_counts)
        by_class = X[np.argsort(codes.astype(np.uint8), kind="stable")]
        grams = np.zeros((s, kept * n, kept * n), dtype=np.float32)
        for c in range(s):
            for begin in range(ends[c] - class_counts[c], ends[c], _BLOCK):
                rows = by_class[begin : min(begin + _BLOCK, ends[c])]
                hot = np.concatenate([rows == v for v in range(kept)], axis=1).astype(np.float32)
                grams[c] += hot.T @ hot  # at most 2^24 rows of a class are counted exactly
        counts = grams.astype(np.float64).reshape(s, kept, n, kept, n)
        return _complete(counts, class_counts) if self._drop_last else counts

    def _build_tables(self, pairs: NDArray[Any]) -> None:
        """Return log tables [feature][value of its parent][own value][class]; those of the root do not depend on the parent."""
        s, r, n = pairs.shape[:3]
        features = np.arange(n)
        totals = np.einsum("cafaf->cf", pairs)[:, 0]
        smoothed = pairs[:, :, self._parents, :, features].transpose(0, 2, 3, 1) + 1.0  # [f][parent][own][class]
        root = self._parents[0]
        smoothed[root] = np.einsum("caa->ac", pairs[:, :, root, :, root])[None] + 1.0
        self._tables = np.log(smoothed / smoothed.sum(axis=2, keepdims=True)).reshape(n * r * r, s)
        self._offsets = (features * r * r).astype(np.int64)
        self._log_prior = np.log((totals + 1.0) / (totals.sum() + s))
        self._n_values = r

    def predict_proba(self, X: NDArray[Any], /) -> NDArray[Any]:
        joint = np.empty((len(X), len(self.classes_)))
        for begin in range(0, len(X), _BLOCK):
            rows = X[begin : begin + _BLOCK].astype(np.int64)
            cells = self._offsets + rows[:, self._parents] * self._n_values + rows
            joint[begin : begin + _BLOCK] = self._tables[cells].sum(axis=1)
        joint += self._log_prior
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        joint /= joint.sum(axis=1, keepdims=True)
        return joint


def _complete(kept: NDArray[Any], class_counts: NDArray[Any]) -> NDArray[Any]:
    """Fill in the last value of every feature from the margins."""
    s, k, n = kept.shape[:3]
    counts = np.zeros((s, k + 1, n, k + 1, n))
    counts[:, :k, :, :k] = kept
    singles = np.einsum("cafaf->caf", kept)
    last = class_counts[:, None] - singles.sum(axis=1)
    edge = singles[:, :, :, None] - kept.sum(axis=3)  # value of u, last of v
    counts[:, :k, :, k] = edge
    counts[:, k, :, :k] = edge.transpose(0, 3, 1, 2)
    counts[:, k, :, k] = last[:, None, :] - edge.sum(axis=1)
    features = np.arange(n)  # a feature with itself: only equal values co-occur
    counts[:, :k, features, k, features] = 0
    counts[:, k, features, :k, features] = 0
    counts[:, k, features, k, features] = last
    return counts


def _best_tree(pairs: NDArray[Any]) -> NDArray[Any]:
    """Return the parent of every feature in the tree of largest conditional mutual information; the root is its own parent."""
    n = pairs.shape[2]
    singles = np.einsum("cafaf->caf", pairs)
    totals = singles[:, :, 0].sum(axis=1)
    # I(u;v|c) = sum p log p(u,v,c) p(c) / p(u,c) p(v,c), as a sum of x log x over counts
    joint = _x_log_x(pairs).sum(axis=(0, 1, 3))
    single = _x_log_x(singles).sum(axis=(0, 1))
    information = (joint - single[:, None] - single + _x_log_x(totals).sum()) / totals.sum()
    np.fill_diagonal(information, 0.0)
    # The minimum spanning tree; costs must be positive, because SciPy treats zero as no edge.
    costs = information.max() + 1.0 - information
    np.fill_diagonal(costs, 0.0)
    tree = minimum_spanning_tree(costs)
    _, before = breadth_first_order(tree, 0, directed=False)
    parents = np.arange(n)
    parents[before >= 0] = before[before >= 0]
    return parents


def _x_log_x(counts: NDArray[Any]) -> NDArray[Any]:
    terms: NDArray[Any] = counts * np.log(np.maximum(counts, 1.0))
    return terms


def _one_hot_tan() -> Contender:
    return OneHotTan()


PEER = Peer("floor: one-hot BLAS + SciPy tree", "scipy", {"tan": _one_hot_tan}, slow=False, agrees_to=1e-9)
