"""Naive Bayes, trees and k-dependence structures, learned from counts."""

from __future__ import annotations

from .. import _core
from .._learning.contract import FittedStructure, Requirements, TrainingContext
from .._learning.names import feature_position
from .._utils.validation import is_integer
from ..scores._acll import acll_settings
from ._base import StructureLearner


class NaiveBayes(StructureLearner):
    """No arcs between features: they are independent given the class.

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
    """The best structure in which every feature has at most one feature parent (CL-ODE; TAN).

    A maximum spanning tree over the features, each pair weighted by its mutual information given the class. Choose it
    when features depend on each other; under a penalty only the arcs that pay for their parameters are kept.

    Parameters
    ----------
    score : {"loglik", "aic", "bic"}, default="loglik"
        "loglik" gives one tree over all features (TAN); "aic" and "bic" leave out arcs whose gain in log-likelihood is
        smaller than the penalty for the parameters they add, which gives a forest.
    root : str, int or None, default=None
        Name or position of the feature to be the root of its tree; otherwise each tree is rooted at its first feature.
        The root changes which conditional tables are shown, not what maximum-likelihood parameters predict.

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
        if self.score not in ("loglik", "aic", "bic"):
            raise ValueError(f"score must be 'loglik', 'aic' or 'bic', but is {self.score!r}")
        if self.root is not None:
            feature_position(self.root, feature_names, "root")
        return "pairs", []

    def _learn(self, context: TrainingContext) -> FittedStructure:
        root = None if self.root is None else feature_position(self.root, context.feature_names, "root")
        return FittedStructure(_core.learn_chow_liu(context.counts, self.score, root, context.threads))


class AcllTree(StructureLearner):
    """The best tree over all features (TAN) by approximate conditional log-likelihood (aCLL).

    Like `ChowLiu`, but it looks for what tells the classes apart rather than for what describes the rows. The score
    depends on the direction of an arc, so the best tree is an optimal branching, found in O(n²) after counting. Choose it
    where cross-validation finds it better than `ChowLiu`: the paper found higher conditional likelihoods on its tables;
    on most of those that come with the benchmarks `ChowLiu` has them. `AcllOptimal` gives the parameters of the score.

    Parameters
    ----------
    assumption : {"dirichlet", "uniform"}, default="dirichlet"
        What is assumed of the joint probabilities of a row with every class; see `acll_constants`.
    a : float, default=1.0
        Of the Dirichlet assumption.
    b : float or None, default=None
        Of the Dirichlet assumption; None means the number of rows (the sum of their weights, at least one).
    pseudo_counts : float, default=5.0
        The least that a cell of a table may count (N'), which keeps probabilities away from zero. Must be positive.
    root : str, int or None, default=None
        Name or position of the feature to be the root; otherwise that of the best tree. Unlike in `ChowLiu` it changes
        the score.

    Notes
    -----
    Equally good roots go to the first feature, and equally good parents to the first of them. Where cells are missing, the
    gain of an arc is that of the rows where both features are observed, times the number of all rows over theirs. With a
    single class every tree is equally good.

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
    """The k-dependence structure: every feature has at most k feature parents.

    Features are ranked by what they tell about the class, I(X;C), and each takes as parents the up to k earlier-ranked
    ones that tell most about it given the class, I(X;Y|C). Choose it over TAN when features depend on several others at
    once and there are enough rows to fill the larger tables; with k=0 it is naive Bayes.

    Parameters
    ----------
    k : int, default=2
        The most feature parents of a feature. From one less than the number of features on, all features depend on each
        other. Tables grow by a factor with every parent; those that are too large are refused.

    Notes
    -----
    Ties in the ranking go to the first feature, and ties among parents to the one ranked first; informations that
    rounding alone can tell apart are tied. Where cells are missing, each information is that of the rows where the
    features it is about are observed. `partial_fit` can add parts only with k up to 1: with more parents the tables to
    count are known only when all rows have been seen. For the same reason `fit_stream` then takes two passes.

    Missing cells are summed out exactly in prediction. With k above 1 this goes through the joint values of the missing
    features that matter in a row; a row with more than 4,194,304 of them is refused.

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
        return is_integer(self.k) and self.k > 1  # anything else is refused when it is used

    @property
    def _passes(self) -> int:
        return 2 if self._needs_rows else 1  # pairs, then the tables of the parents chosen

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:  # noqa: ARG002
        return "pairs" if self._checked_k() > 0 else "singles", []

    def _learn(self, context: TrainingContext) -> FittedStructure:
        # More parents than features mean the same as all of them.
        k = min(self._checked_k(), len(context.feature_names))
        return FittedStructure(_core.learn_kdb(context.counts, k, context.threads))

    def _checked_k(self) -> int:
        if not is_integer(self.k) or self.k < 0:
            raise ValueError(f"k must be a whole number of at least zero, but is {self.k!r}")
        return int(self.k)
