"""Averaged one-dependence estimators (AODE)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.encoder import Encoder
from .._encoding.schema import Schema
from .._learning.contract import FittedModel, Requirements, TrainingContext
from .._utils.text import plural
from .._utils.validation import check_number
from ..classifiers._base import BaseClassifier
from ..classifiers._description import ModelDescription
from ..network._summary import mutual_information
from ._html import aode_html


def count_pairs(schema: Schema) -> Requirements:  # noqa: ARG001
    """Return that all pairs of features must be counted."""
    return "pairs", []


class AODEClassifier(BaseClassifier):
    """Averaged one-dependence estimators.

    Each feature is the super-parent of one model, in which it and the class are the parents of all other features; the
    prediction is the average of these models. Choose it if naive Bayes is too simple and structure search is too slow or too
    unstable: nothing is selected, fitting takes one pass over the rows, and `partial_fit` can update the model at any time.
    Memory grows with the square of the number of values.

    Missing values are marginalized out of every model exactly, also if the super-parent is missing.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every count, including the class counts. Zero gives maximum likelihood.
    min_count : float, default=0
        Minimum number (or weight) of training rows with the value of the super-parent. For each row, only features whose value
        is known and reaches it are super-parents; a row without such a feature is predicted by naive Bayes. The paper uses 1,
        its authors later 30; zero uses all features.
    discretizer, numeric_features, categories, unseen, class_prior, n_jobs, random_state, verbose
        As in `BayesNetClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_parameters_ : int
        Number of free parameters of all models together.
    categories_ : list of ndarray
        The values of every feature, in the order of their codes; intervals for discretized features.
    counts_ : CountSet
        The counts that the model was fitted from; `partial_fit` adds to them.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

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

    def _counting_rule(self) -> Callable[[Schema], Requirements]:
        return count_pairs

    def _fit_model(self, context: TrainingContext) -> FittedModel:
        alpha, min_count = self._numbers()
        core = _core.learn_aode(context.counts, alpha, min_count, context.class_prior)
        return FittedModel(core, _core.AodePredictor(core), context.counts)

    def _attributes(
        self,
        fitted: FittedModel,
        schema: Schema,  # noqa: ARG002
        encoder: Encoder,  # noqa: ARG002
        classes: npt.NDArray[Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        return {"n_parameters_": fitted.core.n_parameters}

    def _describe(self) -> ModelDescription:
        self._check_fitted()
        return AodeDescription(self._core_model)

    def _model_html(self) -> str:
        if not self._is_fitted():
            return ""
        return aode_html(self._core_model, self._schema.feature_names, self.classes_.tolist())

    def _check_settings(self) -> None:
        super()._check_settings()
        self._numbers()

    def _numbers(self) -> tuple[float, float]:
        return (
            check_number(self.alpha, "alpha", minimum=0, finite=True),
            check_number(self.min_count, "min_count", minimum=0, finite=True),
        )


class AodeDescription(ModelDescription):
    """An average of one-dependence estimators."""

    def __init__(self, core: _core.Aode) -> None:
        self._core = core
        self.kind = "averaged one-dependence estimators (AODE)"
        self.n_parameters = int(core.n_parameters)
        self.one_line = (
            f"{self.kind}, {plural(core.n_features, 'feature')}, {plural(core.n_classes, 'class')}, "
            f"{plural(self.n_parameters, 'parameter')}"
        )

    def class_probabilities(self) -> list[float] | None:
        """Return P(class)."""
        return [float(p) for p in self._core.class_probabilities]

    def information(self) -> list[float]:
        """Return the mutual information of every feature and the class."""
        prior = np.asarray(self._core.class_probabilities)
        return [mutual_information(np.asarray(self._core.single(f)) * prior) for f in range(self._core.n_features)]
