"""Classifiers that are not one structure but an average over many."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.encoder import Encoder
from .._encoding.schema import Schema
from .._learning.contract import FittedModel, Requirements, TrainingContext
from .._utils.typing import missing_code
from .._utils.validation import check_number, is_integer
from .._utils.warnings import warn_user
from ..classifiers._base import BaseClassifier
from ..exceptions import EstimateWarning, FallbackWarning
from ._edge_beliefs import read_beliefs
from ._mp import MpAverage, MpPredictor
from ._posterior import TreePosterior


class AODEClassifier(BaseClassifier):
    """Averaged one-dependence estimators.

    Every feature is once the super-parent: in its model, it and the class are the parents of all other features. The
    prediction is the average of what these models say. Choose it where naive Bayes is too simple and a search for the
    right structure too slow or too unstable: nothing is selected, one pass over the rows is all the learning there is,
    and `partial_fit` goes on with more rows at any time. Memory grows with the square of the number of values.

    A missing cell is summed out of every model exactly, the super-parent's own included.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every count, those of the classes included. Zero gives maximum likelihood.
    min_count : float, default=0
        A feature is super-parent for a row only if its value is known there and was seen in at least so many training
        rows (or rows of this weight); a row without any such feature is left to naive Bayes. The paper uses 1 and its
        authors later 30; zero lets every feature take part.
    discretizer, numeric_features, categories, unseen, class_prior, n_jobs, random_state, verbose
        As in `BayesNetClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_parameters_ : int
        Number of free parameters of all models together.
    categories_ : list of ndarray
        The values of every feature, in the order of their codes; intervals for features that were cut.
    counts_ : CountSet
        What it was learned from; `partial_fit` adds to it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the table had some.

    References
    ----------
    Webb, Boughton and Wang (2005), Not so naive Bayes: aggregating one-dependence estimators. Machine Learning 58.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.AODEClassifier().fit(data.X, data.y)
    >>> round(clf.score(data.X, data.y), 2)
    0.77
    >>> clf.predict_proba(data.X[:1]).round(3)
    array([[0.518, 0.482]])
    """

    n_parameters_: int
    _core_type = _core.Aode

    def __init__(
        self,
        alpha: float = 1.0,
        min_count: float = 0,
        *,
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
        self.alpha = alpha
        self.min_count = min_count

    def _requirements(self, schema: Schema) -> Requirements:  # noqa: ARG002
        return "pairs", []

    def _fit_model(self, context: TrainingContext) -> FittedModel:
        alpha, min_count = check_number(self.alpha, "alpha"), check_number(self.min_count, "min_count")
        core = _core.learn_aode(context.counts, alpha, min_count, context.class_prior)
        return FittedModel(core, _core.AodePredictor(core), context.counts)

    def _attributes(
        self,
        learned: FittedModel,
        schema: Schema,  # noqa: ARG002
        encoder: Encoder,  # noqa: ARG002
        classes: npt.NDArray[Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        return {"n_parameters_": learned.core.n_parameters}

    def _model_html(self) -> str:
        if "_core_model" not in self.__dict__:
            return ""
        from ._html import aode_html

        return aode_html(self._core_model, self._schema.feature_names, self.classes_.tolist())

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number(self.alpha, "alpha")
        check_number(self.min_count, "min_count")


#: The core proves its results for these; see `TBMATANClassifier`.
_PROVEN_SIZES = (1e-120, 1e120)
_MOST_ASSIGNMENTS = 2**22
_MOST_TREES = 100_000
_MOST_STUBBORN = 300


class TBMATANClassifier(BaseClassifier):
    """The Bayesian average over all tree-augmented naive Bayes models (TBMATAN).

    Every tree over the features is a model, and there are n to the power of n - 2 of them. Each has its posterior
    probability given the training rows, its parameters are integrated out under Dirichlet priors, and the prediction is the
    average over all trees: exact, in closed form, and fast. Choose it over `TANClassifier` where
    rows are few or probabilities matter, since one tree is then a guess among many; with many rows the average comes down
    to a single tree, found by the Bayesian score. Learning is counting pairs of features once, so `partial_fit` and
    `merge` go on with more rows at any time. ``posterior_`` tells how sure the structure is.

    A training row with missing cells counts in the tables of those features that it has. Tables of a feature and different
    partners then rest on different rows and need not agree in what they say of it: probabilities of all possible rows sum
    to one only nearly, and averages over sampled trees, however many, come only near to the exact sum over missing values.

    Parameters
    ----------
    equivalent_sample_size : float, default=10.0
        The prior weighs as much as so many rows, spread evenly over the cells of every table. Between 1e-120 and 1e120 all
        is computed by the fast core, with proven error bounds; beyond, mpmath does it, thousands of times slower, after a
        `FallbackWarning`.
    stubbornness : float or None, default=None
        Confines the factors by which the rows change the belief in edges to the range from 10 to the power of minus this,
        to 1: a structure posterior that is never too sure of itself. ``stubbornness=5`` is SSTBMATAN.
    edge_beliefs : array-like of shape (n_features, n_features), dict of (name, name) to float, or None, default=None
        An expert's prior belief in every edge, up to a common factor, 0 for an edge that cannot be; a dict names single
        edges and leaves the others at 1. A tree's prior is proportional to the product over its edges.
    max_assignments : int, default=4096
        The missing cells of a row are summed over all values they can have while these are at most so many; that is exact.
    n_trees : int, default=200
        Beyond, predictions are averages over so many trees drawn from the posterior, each of which sums missing cells out
        exactly; an `EstimateWarning` tells for how many rows.
    discretizer, numeric_features, categories, unseen, class_prior, n_jobs, random_state, verbose
        As in `BayesNetClassifier`.

    Attributes
    ----------
    posterior_ : TreePosterior
        What is known of the structure: probabilities of edges, the most probable tree as a network, its probability, the
        entropy over trees, and trees drawn at random.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    categories_ : list of ndarray
        The values of every feature, in the order of their codes; intervals for features that were cut.
    counts_ : CountSet
        What it was learned from; `partial_fit` adds to it. A model file always holds it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the table had some.

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

    def _requirements(self, schema: Schema) -> Requirements:  # noqa: ARG002
        return "pairs", []

    def _fit_model(self, context: TrainingContext) -> FittedModel:
        size = check_number(self.equivalent_sample_size, "equivalent_sample_size")
        stubbornness = None if self.stubbornness is None else check_number(self.stubbornness, "stubbornness")
        beliefs = read_beliefs(self.edge_beliefs, context.feature_names)
        prior = context.class_prior
        if not _PROVEN_SIZES[0] <= size <= _PROVEN_SIZES[1]:
            return self._learn_slowly(context, size, stubbornness, beliefs)
        core = _core.Tbmatan(
            context.counts, size, stubbornness, beliefs, prior, self.max_assignments, self.n_trees, context.threads
        )
        return FittedModel(core, _core.TbmatanPredictor(core), context.counts)

    def _learn_slowly(
        self,
        context: TrainingContext,
        size: float,
        stubbornness: float | None,
        beliefs: npt.NDArray[np.float64] | None,
    ) -> FittedModel:
        warn_user(
            f"equivalent_sample_size is {size:g}, but the error bounds of fast predictions are proven from "
            f"{_PROVEN_SIZES[0]:g} to {_PROVEN_SIZES[1]:g}: mpmath predicts instead, some rows per second where features "
            "and classes are few, and seconds per row where they are many",
            FallbackWarning,
        )
        core = MpAverage(context.counts, size, stubbornness, beliefs, context.class_prior or None, self.max_assignments)
        return FittedModel(core, cast(_core.AnyPredictor, MpPredictor(core)), context.counts)

    def _attributes(
        self, learned: FittedModel, schema: Schema, encoder: Encoder, classes: npt.NDArray[Any]
    ) -> dict[str, Any]:
        posterior = TreePosterior(
            learned.core, encoder, schema.feature_names, schema.class_name, classes, self._threads()
        )
        return {"posterior_": posterior}

    def _model_html(self) -> str:
        posterior = self.__dict__.get("posterior_")
        return "" if posterior is None else str(posterior._repr_html_())

    def _count_estimates(self, columns: list[npt.NDArray[Any]], n_rows: int) -> int:
        core = self._core_model
        return 0 if isinstance(core, MpAverage) else _count_estimated(core, columns, n_rows)

    def _announce(self, core: Any, columns: list[npt.NDArray[Any]], n_rows: int) -> None:
        if isinstance(core, MpAverage):
            return
        estimated = _count_estimated(core, columns, n_rows)
        if not estimated:
            return
        most = f"more than max_assignments={core.max_assignments:,} values"
        warn_user(
            f"{estimated:,} of {n_rows:,} rows have missing cells that can have {most}, so that their predictions are "
            f"averages over {core.n_trees:,} sampled trees: a larger max_assignments (up to {_MOST_ASSIGNMENTS:,}) makes "
            "them exact, a larger n_trees better",
            EstimateWarning,
        )

    def _check_settings(self) -> None:
        super()._check_settings()
        size = check_number(self.equivalent_sample_size, "equivalent_sample_size")
        if not 0 < size < math.inf:
            raise ValueError(f"equivalent_sample_size must be positive and finite, but is {size:g}")
        if self.stubbornness is not None:
            stubbornness = check_number(self.stubbornness, "stubbornness")
            if not 0 < stubbornness <= _MOST_STUBBORN:
                raise ValueError(f"stubbornness must be positive and at most {_MOST_STUBBORN}, but is {stubbornness:g}")
        for name, most in (("max_assignments", _MOST_ASSIGNMENTS), ("n_trees", _MOST_TREES)):
            value = getattr(self, name)
            if not is_integer(value) or not 1 <= value <= most:
                raise ValueError(f"{name} must be a whole number from 1 to {most:,}, but is {value!r}")


def _count_estimated(core: _core.Tbmatan, columns: list[npt.NDArray[Any]], n_rows: int) -> int:
    """Count the rows with more values for their missing cells than are summed over."""
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
