"""Classifiers that are not one structure but an average over many."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from . import _core
from ._base import BaseClassifier, Schema
from ._encoding import Encoder
from ._settings import Learned, Learning, Requirements, as_number

__all__ = ["AODEClassifier"]


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

    def _learn(self, learning: Learning) -> Learned:
        alpha, min_count = as_number(self.alpha, "alpha"), as_number(self.min_count, "min_count")
        core = _core.learn_aode(learning.counts, alpha, min_count, learning.class_prior)
        return Learned(core, _core.AodePredictor(core), learning.counts)

    def _attributes(
        self,
        learned: Learned,
        schema: Schema,  # noqa: ARG002
        encoder: Encoder,  # noqa: ARG002
        classes: npt.NDArray[Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        return {"n_parameters_": learned.core.n_parameters}

    def _check_settings(self) -> None:
        super()._check_settings()
        as_number(self.alpha, "alpha")
        as_number(self.min_count, "min_count")
