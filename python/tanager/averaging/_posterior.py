"""Posterior over trees: edge probabilities, MAP tree, entropy and sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import tree_sums
from .._encoding.encoder import Encoder
from .._utils.optional import import_optional
from .._utils.text import display_label, join_names, text_table
from .._utils.typing import Floats
from ..network import Network
from ..network._network import LazyPredictor
from ._html import posterior_html

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EdgeProbabilities", "TreePosterior"]

#: Larger matrices are printed as a list of the most probable edges.
_MAX_SHOWN = 12


@dataclass(frozen=True, repr=False, eq=False)
class EdgeProbabilities:
    """The probability of every edge between two features.

    Attributes
    ----------
    names : tuple of str
        The features of the rows and columns.
    values : ndarray of shape (n_features, n_features)
        Symmetric, with zeros on the diagonal; the upper triangle sums to the number of features less one.
    """

    names: tuple[str, ...]
    values: Floats

    def __getitem__(self, pair: Any) -> float:
        """Look up an edge by its two ends, such as ``edges["color", "size"]``, in any order."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"expected the names of two features, such as edges['color', 'size'], got {pair!r}")
        for name in pair:
            if name not in self.names:
                raise KeyError(f"there is no feature {name!r}; the features are {join_names(self.names)}")
        return float(self.values[self.names.index(pair[0]), self.names.index(pair[1])])

    def most_probable(self, n: int | None = None) -> list[tuple[str, str, float]]:
        """Return the edges as (name, name, probability), most probable first.

        Parameters
        ----------
        n : int or None, default=None
            Maximum number of edges; None means all.
        """
        rows, columns = np.triu_indices(len(self.names), 1)
        order = np.argsort(-self.values[rows, columns], kind="stable")[:n]
        return [
            (self.names[u], self.names[v], float(self.values[u, v]))
            for u, v in zip(rows[order], columns[order], strict=True)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with the features as index and columns."""
        pd = import_optional("pandas", "to_frame")
        return pd.DataFrame(self.values, index=list(self.names), columns=list(self.names))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype) if copy is not False else np.asarray(self.values, dtype=dtype)

    def __repr__(self) -> str:
        n = len(self.names)
        if n > _MAX_SHOWN:
            edges = [f"{p:.3f}  {display_label(u)} - {display_label(v)}" for u, v, p in self.most_probable(10)]
            rest = n * (n - 1) // 2 - len(edges)
            return "\n".join([f"P(edge) between {n} features", *edges, f"  ...  and {rest} less probable edges"])
        names = list(map(display_label, self.names))
        lines = [["P(edge)", *names]]
        for i, name in enumerate(names):
            lines.append([name, *("-" if i == j else f"{p:.3f}" for j, p in enumerate(self.values[i]))])
        return text_table(lines)


class TreePosterior:
    """The posterior distribution over all trees between the features, given the training data.

    Created by fitting a `TBMATANClassifier` (``clf.posterior_``). The probability of a tree is proportional to the product of
    the weights of its edges. All properties are exact and computed lazily.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1", as_frame=True)
    >>> posterior = tg.TBMATANClassifier().fit(data.X, data.y).posterior_
    >>> round(posterior.edge_probabilities["head_shape", "body_shape"], 6)
    1.0
    >>> print(f"{posterior.map_probability:.2g} of {6**4} trees, as uncertain as {posterior.n_effective_trees:.0f}")
    0.061 of 1296 trees, as uncertain as 18
    >>> posterior.map_tree
    <Network: tree-augmented naive Bayes (TAN), 6 features, 2 classes, 5 arcs between features, 47 parameters>
    >>> len(posterior.sample_trees(100, random_state=1))
    100
    """

    def __init__(
        self, core: Any, encoder: Encoder, feature_names: list[str], class_name: str, classes: npt.NDArray[Any],
        threads: int = 1,
    ):  # fmt: skip
        self._core = core
        self._encoder = encoder
        self.feature_names = list(feature_names)
        self._class_name = class_name
        self._classes = classes
        self._threads = threads

    @cached_property
    def _weights(self) -> tuple[Floats, npt.NDArray[np.int64]]:
        return self._core.edge_weights  # type: ignore[no-any-return]  # the core is a _core.Tbmatan or an MpAverage

    @cached_property
    def edge_probabilities(self) -> EdgeProbabilities:
        """The probability that each edge is in the tree."""
        values = tree_sums.edge_probabilities(self._weights, n_jobs=self._threads)
        values.setflags(write=False)
        return EdgeProbabilities(tuple(self.feature_names), values)

    @cached_property
    def _best(self) -> tree_sums.MapTree:
        return tree_sums.map_tree(self._weights)

    @property
    def map_edges(self) -> list[tuple[str, str]]:
        """The edges of the most probable tree, as pairs of names."""
        return self._named(self._best.edges)

    @cached_property
    def map_tree(self) -> Network:
        """The most probable tree as a network, rooted at the first feature, with posterior means as parameters."""
        core = self._core.network_of([(int(u), int(v)) for u, v in self._best.edges])
        return Network(core, LazyPredictor(core), self._encoder, self.feature_names, self._class_name, self._classes)

    @property
    def log_map_probability(self) -> float:
        """Natural logarithm of the posterior probability of the most probable tree; accurate even if that is close to one."""
        return self._best.log_probability

    @property
    def map_probability(self) -> float:
        """Posterior probability of the most probable tree, which is its share of the average."""
        return math.exp(self.log_map_probability)

    @cached_property
    def entropy(self) -> float:
        """Entropy over trees, in nats: zero if one tree is certain."""
        return tree_sums.tree_entropy(self._weights, n_jobs=self._threads)

    @property
    def n_effective_trees(self) -> float:
        """The number of equally probable trees with the same entropy: e to the power of the entropy."""
        return math.exp(min(self.entropy, 709.0))

    def sample_trees(self, n_samples: int, random_state: Any = None) -> list[list[tuple[str, str]]]:
        """Draw independent samples of trees from the posterior.

        Parameters
        ----------
        n_samples : int
            Number of trees.
        random_state : int, RandomState or None, default=None
            Seed or generator; an integer gives the same trees in every call.

        Returns
        -------
        list of list of (str, str)
            The edges of every tree.
        """
        drawn = tree_sums.sample_trees(self._weights, n_samples, random_state, n_jobs=self._threads)
        return [self._named(tree) for tree in drawn]

    def plot_edges(self, ax: Any = None) -> Any:
        """Plot the probabilities of all edges as a matrix; see `tanager.plotting.plot_edges`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to plot on; None creates a new figure.
        """
        from ..plotting import plot_edges

        return plot_edges(self, ax)

    def plot_map_tree(self, ax: Any = None) -> Any:
        """Plot the most probable tree; see `tanager.plotting.plot_map_tree`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to plot on; None creates a new figure.
        """
        from ..plotting import plot_map_tree

        return plot_map_tree(self, ax)

    def _named(self, edges: npt.NDArray[np.int64]) -> list[tuple[str, str]]:
        names = self.feature_names
        return [(names[u], names[v]) for u, v in edges.tolist()]

    def __repr__(self) -> str:
        return (
            f"<TreePosterior: {len(self.feature_names)} features, most probable tree has probability "
            f"{self.display_probability()}>"
        )

    def display_probability(self) -> str:
        """Return the probability of the most probable tree as text, also if it is too small for a float."""
        best = self.log_map_probability
        return f"{math.exp(best):.3g}" if best > -690 else f"10^{best / math.log(10):.4g}"

    def _repr_html_(self) -> str:
        return posterior_html(self)
