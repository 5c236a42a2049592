"""Naive Bayes, trees and k-dependence structures, learned from counts."""

from __future__ import annotations

from .. import _core
from .._learning.contract import FittedStructure, Requirements, TrainingContext
from .._learning.names import feature_position
from .._utils.validation import check_choice, check_int, is_integer
from ..scores._acll import acll_settings
from ._base import StructureLearner


class NaiveBayes(StructureLearner):
    """Naive Bayes: no arcs between features, which are independent given the class.

    The fastest choice, and hard to beat with few rows.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.NaiveBayes()).fit(data.X, data.y)
    >>> clf.network_.is_naive
    True
    """

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:  # noqa: ARG002
        return "singles", []

    def _learn(self, context: TrainingContext) -> FittedStructure:
        return FittedStructure([[] for _ in context.feature_names])


class ChowLiu(StructureLearner):
    """Tree-augmented naive Bayes (TAN) by the Chow-Liu algorithm; forest-augmented under AIC or BIC (CL-ODE).

    A maximum spanning tree over the features, each pair weighted by its conditional mutual information given the class.
    It is the optimal structure with at most one feature parent per feature. Choose it when features depend on each other.
    With a penalized score, only arcs that outweigh the penalty for their parameters are kept.

    Parameters
    ----------
    score : {"loglik", "aic", "bic"}, default="loglik"
        "loglik" (joint log-likelihood) gives one tree over all features (TAN). "aic" and "bic" omit arcs whose gain in
        log-likelihood is smaller than the penalty for the parameters they add, which gives a forest.
    root : str, int or None, default=None
        Name or position of the root of its tree; all other trees are rooted at their first feature. The root determines
        the conditional probability tables, but not the predictions of maximum-likelihood parameters.

    References
    ----------
    Friedman, Geiger and Goldszmidt (1997), Bayesian network classifiers. Machine Learning 29.
    Mihaljević, Bielza and Larrañaga (2018), bnclassify: learning Bayesian network classifiers. The R Journal 10.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.ChowLiu(score="bic")).fit(data.X, data.y)
    >>> clf.network_.feature_arcs
    [('x0', 'x1')]
    """

    def __init__(self, score: str = "loglik", root: str | int | None = None):
        self.score = score
        self.root = root

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:  # noqa: ARG002
        check_choice(self.score, "score", ("loglik", "aic", "bic"))
        if self.root is not None:
            feature_position(self.root, feature_names, "root")
        return "pairs", []

    def _learn(self, context: TrainingContext) -> FittedStructure:
        root = None if self.root is None else feature_position(self.root, context.feature_names, "root")
        return FittedStructure(_core.learn_chow_liu(context.counts, self.score, root, context.threads))


class AcllTree(StructureLearner):
    """Tree-augmented naive Bayes (TAN) that maximizes the approximate conditional log-likelihood (aCLL).

    Like `ChowLiu`, but the score measures how well arcs discriminate the classes instead of how well they describe the
    data. The score depends on the direction of an arc, so the best tree is an optimal branching, found in O(n²) after
    counting. Choose it when cross-validation prefers it to `ChowLiu`: the paper reports higher conditional likelihoods,
    while on most datasets of tanager's benchmarks those of `ChowLiu` are higher. `AcllOptimal` gives the parameters that
    maximize the score.

    Parameters
    ----------
    assumption : {"dirichlet", "uniform"}, default="dirichlet"
        The assumed distribution of the joint probabilities of a row with each class; see `acll_constants`.
    a : float, default=1.0
        Parameter of the Dirichlet assumption.
    b : float or None, default=None
        Parameter of the Dirichlet assumption; None means the number of rows (the sum of their weights, at least one).
    pseudo_counts : float, default=5.0
        Lower bound N' on the weight of a cell, which keeps probabilities away from zero. Must be positive.
    root : str, int or None, default=None
        Name or position of the root; None means the root of the best tree. Unlike in `ChowLiu`, it changes the score.

    Notes
    -----
    Ties between roots and between parents go to the first feature. With missing values, the gain of an arc is computed from
    the rows where both features are observed and scaled to the number of all rows. With a single class, all trees have the
    same score.

    References
    ----------
    Carvalho, Adão and Mateus (2013), Efficient approximation of the conditional relative entropy with applications to
    discriminative learning of Bayesian network classifiers. Entropy 15.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.AcllTree()).fit(data.X, data.y)
    >>> ("x0", "x1") in clf.network_.feature_arcs or ("x1", "x0") in clf.network_.feature_arcs
    True
    """

    def __init__(
        self,
        assumption: str = "dirichlet",
        a: float = 1.0,
        b: float | None = None,
        pseudo_counts: float = 5.0,
        root: str | int | None = None,
    ):
        self.assumption = assumption
        self.a = a
        self.b = b
        self.pseudo_counts = pseudo_counts
        self.root = root

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:  # noqa: ARG002
        acll_settings(self.assumption, self.a, self.b, self.pseudo_counts)
        if self.root is not None:
            feature_position(self.root, feature_names, "root")
        return "pairs", []

    def _learn(self, context: TrainingContext) -> FittedStructure:
        root = None if self.root is None else feature_position(self.root, context.feature_names, "root")
        settings = acll_settings(self.assumption, self.a, self.b, self.pseudo_counts)
        return FittedStructure(_core.learn_acll_tree(context.counts, *settings, root, context.threads))


class KDB(StructureLearner):
    """k-dependence Bayesian classifier (KDB): every feature has at most k feature parents.

    Features are ranked by their mutual information with the class, I(X;C). Each feature gets as parents the k
    earlier-ranked features with the highest conditional mutual information I(X;Y|C). Choose it over TAN when features
    depend on several others at once, and there are enough rows for the larger tables. With k=0 it is naive Bayes.

    Parameters
    ----------
    k : int, default=2
        Maximum number of feature parents per feature. From one less than the number of features on, the features are fully
        connected. The size of tables is exponential in k; tables that are too large are rejected.

    Notes
    -----
    Ties in the ranking go to the first feature, and ties between parents to the one ranked first; values that differ only
    by rounding count as ties. With missing values, each mutual information is computed from the rows where its features
    are observed. `partial_fit` supports k up to 1 only: with more parents, the tables to count are known only after all
    rows have been seen. For the same reason, `fit_stream` then takes two passes.

    Missing values are marginalized out exactly at prediction time. With k above 1, this enumerates the joint values of the
    missing features that matter in a row; a row with more than 4,194,304 of them is rejected.

    References
    ----------
    Sahami (1996), Learning limited dependence Bayesian classifiers. Proceedings of the second international conference
    on knowledge discovery and data mining.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.KDB(k=2)).fit(data.X, data.y)
    >>> clf.network_.parents("x1")
    ['x0', 'x4', 'class']
    """

    def __init__(self, k: int = 2):
        self.k = k

    @property
    def _needs_rows(self) -> bool:  # type: ignore[override]
        return is_integer(self.k) and self.k > 1  # other values are rejected when they are used

    @property
    def _passes(self) -> int:
        return 2 if self._needs_rows else 1  # pairs, then the tables of the chosen parents

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:  # noqa: ARG002
        return "pairs" if check_int(self.k, "k", minimum=0) > 0 else "singles", []

    def _learn(self, context: TrainingContext) -> FittedStructure:
        k = min(check_int(self.k, "k", minimum=0), len(context.feature_names))  # more parents do not exist
        return FittedStructure(_core.learn_kdb(context.counts, k, context.threads))
