"""The Bayesian average over all tree-augmented naive Bayes models (TBMATAN)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.encoder import Encoder
from .._encoding.schema import Schema
from .._learning.contract import FittedModel, Requirements, TrainingContext
from .._utils.text import join_names, plural
from .._utils.typing import Codes, Floats, missing_code
from .._utils.validation import check_int, check_number
from .._utils.warnings import warn_user
from ..classifiers._base import BaseClassifier
from ..classifiers._description import ModelDescription, network_information
from ..exceptions import EstimateWarning, FallbackWarning
from ..network import Network
from ._aode import count_pairs
from ._mp import MpAverage, MpPredictor
from ._posterior import TreePosterior

#: The range of equivalent sample sizes for which the error bounds of the core are proven.
_PROVEN_SIZES = (1e-120, 1e120)
_MAX_ASSIGNMENTS = 2**22
_MAX_TREES = 100_000
_MAX_STUBBORNNESS = 300


class TBMATANClassifier(BaseClassifier):
    """The Bayesian average over all tree-augmented naive Bayes models (TBMATAN).

    Every tree over the n features is a model; there are n to the power of n - 2 of them. Each tree is weighted by its
    posterior probability given the training rows, its parameters are integrated out under Dirichlet priors, and the prediction
    is the average over all trees, computed exactly and fast in closed form. Prefer it to `TANClassifier` if rows are few or
    probabilities matter, when a single tree is uncertain; with many rows the average approaches a single tree, the best by the
    Bayesian score. Fitting counts pairs of features once, so `partial_fit` and `merge` can update the model at any time.
    ``posterior_`` shows how certain the structure is.

    A training row with missing values is counted in the tables of its known features. Tables of a feature with different
    partners are then based on different rows and need not agree on it: the probabilities of all possible rows sum to one only
    approximately, and averages over any number of sampled trees only approximate the exact sum over missing values.

    Parameters
    ----------
    equivalent_sample_size : float, default=10.0
        The weight of the prior in rows, spread evenly over the cells of every table. From 1e-120 to 1e120 the fast core
        computes predictions with proven error bounds; outside this range mpmath does, thousands of times slower, after a
        `FallbackWarning`.
    stubbornness : float or None, default=None
        Limits the factors by which the data change the prior edge weights to the range from 10 to the power of
        ``-stubbornness`` to 1, which keeps the structure posterior from becoming overconfident. ``stubbornness=5`` is SSTBMATAN.
    edge_beliefs : array-like of shape (n_features, n_features), dict of (name, name) to float, or None, default=None
        Prior weight of every edge, up to a common factor; 0 excludes an edge. A dict gives the weights of single edges and leaves
        the others at 1. The prior of a tree is proportional to the product of the weights of its edges.
    max_assignments : int, default=4096
        Maximum number of combinations of values of a row's missing features that are summed over exactly.
    n_trees : int, default=200
        Number of trees drawn from the posterior to predict rows with more combinations; each tree marginalizes missing values
        exactly. An `EstimateWarning` reports the number of such rows.
    discretizer, numeric_features, categories, unseen, class_prior, n_jobs, random_state, verbose
        As in `BayesNetClassifier`.

    Attributes
    ----------
    posterior_ : TreePosterior
        The posterior over trees: edge probabilities, the most probable tree as a network, its probability, the entropy, and
        random samples of trees.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    categories_ : list of ndarray
        The values of every feature, in the order of their codes; intervals for discretized features.
    counts_ : CountSet
        The counts that the model was fitted from; `partial_fit` adds to them. Model files always store them.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    References
    ----------
    Cerquides and López de Màntaras (2003), Tractable Bayesian learning of tree augmented naive Bayes models. Proceedings of
    the 20th International Conference on Machine Learning.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe", as_frame=True)
    >>> clf = tg.TBMATANClassifier().fit(data.X, data.y)
    >>> round(clf.score(data.X, data.y), 2)
    0.83
    >>> clf.predict_proba(data.X[:1]).round(3)
    array([[0.661, 0.339]])
    >>> clf.posterior_
    <TreePosterior: 9 features, most probable tree has probability 0.0312>
    """

    posterior_: TreePosterior
    _core_type = _core.Tbmatan

    def __init__(
        self,
        equivalent_sample_size: float = 10.0,
        stubbornness: float | None = None,
        *,
        edge_beliefs: Any = None,
        max_assignments: int = 4096,
        n_trees: int = 200,
        discretizer: Any = "mdlp",
        numeric_features: Any = "float",
        categories: Any = None,
        unseen: str = "missing",
        class_prior: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        super().__init__(
            discretizer=discretizer,
            numeric_features=numeric_features,
            categories=categories,
            unseen=unseen,
            class_prior=class_prior,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.equivalent_sample_size = equivalent_sample_size
        self.stubbornness = stubbornness
        self.edge_beliefs = edge_beliefs
        self.max_assignments = max_assignments
        self.n_trees = n_trees

    def _counting_rule(self) -> Callable[[Schema], Requirements]:
        return count_pairs

    def _fit_model(self, context: TrainingContext) -> FittedModel:
        size = check_number(self.equivalent_sample_size, "equivalent_sample_size")
        stubbornness = None if self.stubbornness is None else check_number(self.stubbornness, "stubbornness")
        weights = read_edge_weights(self.edge_beliefs, context.feature_names)
        prior = context.class_prior
        if not _PROVEN_SIZES[0] <= size <= _PROVEN_SIZES[1]:
            return self._fit_with_mpmath(context, size, stubbornness, weights)
        core = _core.Tbmatan(
            context.counts, size, stubbornness, weights, prior, self.max_assignments, self.n_trees, context.threads
        )
        return FittedModel(core, _core.TbmatanPredictor(core), context.counts)

    def _fit_with_mpmath(
        self, context: TrainingContext, size: float, stubbornness: float | None, weights: Floats | None
    ) -> FittedModel:
        warn_user(
            f"equivalent_sample_size={size:g} is outside the range from {_PROVEN_SIZES[0]:g} to {_PROVEN_SIZES[1]:g} for which "
            "fast predictions have proven error bounds; falling back to mpmath, which is thousands of times slower",
            FallbackWarning,
        )
        core = MpAverage(context.counts, size, stubbornness, weights, context.class_prior or None, self.max_assignments)
        return FittedModel(core, cast(_core.Predictor, MpPredictor(core)), context.counts)

    def _attributes(
        self, fitted: FittedModel, schema: Schema, encoder: Encoder, classes: npt.NDArray[Any]
    ) -> dict[str, Any]:
        posterior = TreePosterior(
            fitted.core, encoder, schema.feature_names, schema.class_name, classes, self._threads()
        )
        return {"posterior_": posterior}

    def _describe(self) -> ModelDescription:
        self._check_fitted()
        return TbmatanDescription(self._core_model, self.posterior_)

    @classmethod
    def _restored(cls, model: _core.Model) -> FittedModel:
        core = cast(_core.Tbmatan, model.classifier)
        return FittedModel(core, model.predictor, core.counts)

    def _separate_counts(self) -> _core.CountSet | None:
        return None  # the model holds them itself

    def _model_html(self) -> str:
        return str(self.posterior_._repr_html_()) if self._is_fitted() else ""

    def _count_estimates(self, columns: list[Codes], n_rows: int) -> int:
        return _count_estimated(self._core_model, columns, n_rows)

    def _announce(self, core: Any, columns: list[Codes], n_rows: int) -> None:
        estimated = _count_estimated(core, columns, n_rows)
        if estimated:
            warn_user(
                f"{estimated:,} of {n_rows:,} rows have missing values with more than max_assignments="
                f"{core.max_assignments:,} possible combinations; their predictions are averages over {core.n_trees:,} sampled "
                f"trees. Increase max_assignments (up to {_MAX_ASSIGNMENTS:,}) to make them exact, or n_trees to make them more "
                "accurate",
                EstimateWarning,
            )

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number(self.equivalent_sample_size, "equivalent_sample_size", above=0, finite=True)
        if self.stubbornness is not None:
            check_number(self.stubbornness, "stubbornness", above=0, maximum=_MAX_STUBBORNNESS)
        check_int(self.max_assignments, "max_assignments", minimum=1, maximum=_MAX_ASSIGNMENTS)
        check_int(self.n_trees, "n_trees", minimum=1, maximum=_MAX_TREES)


def _count_estimated(core: _core.Tbmatan | MpAverage, columns: list[Codes], n_rows: int) -> int:
    """Count the rows with more combinations of their missing values than are summed over."""
    if isinstance(core, MpAverage):
        return 0  # it is always exact
    most = core.max_assignments
    if math.prod(core.cardinalities) <= most:
        return 0
    assignments = np.ones(n_rows)
    with np.errstate(over="ignore"):
        for column, n_values in zip(columns, core.cardinalities, strict=True):
            missing = column == missing_code(column)
            if n_values > 1 and missing.any():
                assignments[missing] *= n_values
    return int(np.count_nonzero(assignments > most))


class TbmatanDescription(ModelDescription):
    """An average over all trees."""

    def __init__(self, core: _core.Tbmatan | MpAverage, posterior: TreePosterior) -> None:
        self._core = core
        self.posterior = posterior
        self.kind = "Bayesian average over TAN models (TBMATAN)"
        self.is_storable = not isinstance(core, MpAverage)
        n_features, n_classes = len(core.cardinalities), core.n_classes
        self.one_line = f"{self.kind}, {plural(n_features, 'feature')}, {plural(n_classes, 'class')}"

    @property
    def shown_network(self) -> Network | None:
        """The most probable tree."""
        network: Network = self.posterior.map_tree
        return network

    def class_probabilities(self) -> list[float] | None:
        """Return P(class)."""
        return [float(p) for p in self._core.class_probabilities]

    def information(self) -> list[float]:
        """Return the mutual information of every feature and the class, in the most probable tree."""
        return network_information(self.posterior.map_tree)


def read_edge_weights(value: Any, names: list[str]) -> Floats | None:
    """Return ``edge_beliefs`` as a symmetric matrix with zeros on the diagonal; None stays None."""
    if value is None:
        return None
    matrix = _from_pairs(value, names) if isinstance(value, Mapping) else _from_matrix(value, len(names))
    np.fill_diagonal(matrix, 0.0)
    bad = ~((matrix >= 0) & (matrix < np.inf))
    if bad.any():
        u, v = np.argwhere(bad)[0]
        raise ValueError(
            f"edge_beliefs: expected finite, non-negative numbers, got {matrix[u, v]:g} for the edge between {names[u]!r} and "
            f"{names[v]!r}"
        )
    unequal = matrix != matrix.T
    if unequal.any():
        u, v = np.argwhere(unequal)[0]
        raise ValueError(
            f"edge_beliefs: expected a symmetric matrix, got {matrix[u, v]:g} from {names[u]!r} to {names[v]!r} and "
            f"{matrix[v, u]:g} back"
        )
    return matrix


def _from_matrix(value: Any, n: int) -> Floats:
    try:
        matrix = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError("edge_beliefs: expected a dict or a matrix of numbers, got values of another type") from None
    if matrix.shape != (n, n):
        raise ValueError(
            f"edge_beliefs: expected a row and a column for each of the {n} features, got shape {matrix.shape}"
        )
    return matrix


def _from_pairs(value: Mapping[Any, Any], names: list[str]) -> Floats:
    matrix = np.ones((len(names), len(names)))
    position = {name: i for i, name in enumerate(names)}
    given: dict[tuple[int, int], float] = {}
    for pair, weight in value.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"edge_beliefs: expected pairs of names as keys, got {pair!r}")
        unknown = [name for name in pair if name not in position]
        if unknown:
            raise ValueError(f"edge_beliefs names {unknown[0]!r}, but the features are {join_names(names)}")
        u, v = sorted(position[name] for name in pair)
        if u == v:
            raise ValueError(f"edge_beliefs: expected pairs of different features, got {pair[0]!r} twice")
        number = check_number(weight, f"edge_beliefs of {pair!r}")
        if (u, v) in given and given[u, v] != number:
            raise ValueError(f"edge_beliefs has two different weights for the edge between {pair[0]!r} and {pair[1]!r}")
        given[u, v] = matrix[u, v] = matrix[v, u] = number
    return matrix
