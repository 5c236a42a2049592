"""Classifiers with a fixed structure learner: naive Bayes, TAN and KDB."""

from __future__ import annotations

from typing import Any

from .. import structure as st
from .._utils.validation import check_choice
from ..parameters import ParameterLearner
from ._bayes_net import BaseNetworkClassifier

__all__ = ["KDBClassifier", "NaiveBayesClassifier", "TANClassifier"]


class NaiveBayesClassifier(BaseNetworkClassifier):
    """Naive Bayes for categorical and numeric features and missing values.

    Equivalent to ``BayesNetClassifier(structure=NaiveBayes())``; see there for the attributes.

    Parameters
    ----------
    parameters, discretizer, numeric_features, categories, unseen, class_prior, n_jobs, random_state, verbose
        As in `BayesNetClassifier`.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> round(tg.NaiveBayesClassifier().fit(data.X, data.y).score(data.X, data.y), 2)
    0.7
    """

    def _structure_learner(self) -> st.StructureLearner:
        return st.NaiveBayes()


class TANClassifier(BaseNetworkClassifier):
    """Tree-augmented naive Bayes: every feature depends on the class and on at most one other feature.

    Equivalent to ``BayesNetClassifier(structure=ChowLiu(score=structure_score, root=root))``; see there for the attributes.

    Parameters
    ----------
    structure_score : {"loglik", "aic", "bic"}, default="loglik"
        "loglik" gives a tree over all features, "aic" and "bic" a forest of the arcs that improve the penalized score.
    root : str, int or None, default=None
        Name or position of the feature that is the root of its tree.
    parameters, discretizer, numeric_features, categories, unseen, class_prior, n_jobs, random_state, verbose
        As in `BayesNetClassifier`.

    References
    ----------
    Friedman, Geiger and Goldszmidt (1997), Bayesian network classifiers. Machine Learning 29.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.TANClassifier().fit(data.X, data.y)
    >>> clf.network_.is_tan
    True
    """

    def __init__(
        self,
        structure_score: str = "loglik",
        root: str | int | None = None,
        parameters: ParameterLearner | str | None = None,
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
            parameters,
            discretizer=discretizer,
            numeric_features=numeric_features,
            categories=categories,
            unseen=unseen,
            class_prior=class_prior,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.structure_score = structure_score
        self.root = root

    def _structure_learner(self) -> st.StructureLearner:
        check_choice(self.structure_score, "structure_score", ("loglik", "aic", "bic"))
        return st.ChowLiu(self.structure_score, self.root)


class KDBClassifier(BaseNetworkClassifier):
    """k-dependence classifier: every feature depends on the class and on at most k other features.

    Equivalent to ``BayesNetClassifier(structure=KDB(k=k))``; see there for the attributes. Prefer it to TAN if features depend
    on several others at once and there are enough rows to estimate the larger tables.

    Parameters
    ----------
    k : int, default=2
        Maximum number of feature parents per feature.
    parameters, discretizer, numeric_features, categories, unseen, class_prior, n_jobs, random_state, verbose
        As in `BayesNetClassifier`.

    References
    ----------
    Sahami (1996), Learning limited dependence Bayesian classifiers. Proceedings of the second international conference
    on knowledge discovery and data mining.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> round(tg.KDBClassifier(k=2).fit(data.X, data.y).score(data.X, data.y), 2)
    0.83
    """

    def __init__(
        self,
        k: int = 2,
        parameters: ParameterLearner | str | None = None,
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
            parameters,
            discretizer=discretizer,
            numeric_features=numeric_features,
            categories=categories,
            unseen=unseen,
            class_prior=class_prior,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.k = k

    def _structure_learner(self) -> st.StructureLearner:
        return st.KDB(self.k)
