"""Learners of the approximate conditional log-likelihood (aCLL): a tree of features, and parameters."""

from __future__ import annotations

from typing import Any

from . import _core
from ._acll_constants import check_assumption
from ._parameter_learner import ParameterLearner
from ._settings import LearnedParameters, LearnedStructure, Learning, Requirements, as_number
from ._structure_learner import StructureLearner, position_of


def acll_settings(assumption: Any, a: Any, b: Any, pseudo_counts: Any) -> tuple[str, float, float | None, float]:
    """Return the settings of the score as the core takes them, or say what is wrong with one."""
    check_assumption(assumption)
    rows = None if b is None else as_number(b, "b")
    of_class, least = as_number(a, "a"), as_number(pseudo_counts, "pseudo_counts")
    for value, name in ((of_class, "a"), (rows, "b"), (least, "pseudo_counts")):
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, but is {value!r}")
    return assumption, of_class, rows, least


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
            position_of(self.root, feature_names, "root")
        return "pairs", []

    def _learn(self, learning: Learning) -> LearnedStructure:
        root = None if self.root is None else position_of(self.root, learning.feature_names, "root")
        settings = acll_settings(self.assumption, self.a, self.b, self.pseudo_counts)
        return LearnedStructure(_core.learn_acll_tree(learning.counts, *settings, root, learning.threads))


class AcllOptimal(ParameterLearner):
    """The parameters that maximize the approximate conditional log-likelihood (aCLL), in closed form.

    A row counts for its own class, and a little against all others: the weight of a cell is N + beta times the count of
    all classes, where beta is negative (see `acll_constants`); weights below `pseudo_counts` are raised to it, and
    divided by their sum. Choose it to study the score: the approximation is coarse, and these parameters tend to
    exaggerate what tells classes apart, so that `Dirichlet` mostly predicts better, on the trees of `AcllTree`, too.

    Parameters
    ----------
    assumption : {"dirichlet", "uniform"}, default="dirichlet"
        What is assumed of the joint probabilities of a row with every class; see `acll_constants`.
    a : float, default=1.0
        Of the Dirichlet assumption.
    b : float or None, default=None
        Of the Dirichlet assumption; None means the number of rows (the sum of their weights, at least one).
    pseudo_counts : float, default=5.0
        The least that a cell of a table may count (N'). Must be positive.

    Notes
    -----
    No other parameters have a higher score among those in which a cell's probability is at least `pseudo_counts` over the
    sum of the raised weights of its distribution. The class distribution is made in the same way, from
    N_c + beta * N, unless ``class_prior`` gives it: it is sharper than the relative frequencies. With a single class
    every distribution is uniform, for nothing needs to be told apart.

    References
    ----------
    Carvalho, Adão and Mateus (2013), Efficient approximation of the conditional relative entropy with applications to
    discriminative learning of Bayesian network classifiers. Entropy 15, theorem 3.8.

    Examples
    --------
    >>> import tanager as tg
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.AcllOptimal(assumption="uniform", pseudo_counts=0.25))
    >>> clf.fit([["a"], ["a"], ["b"]], [0, 0, 1]).network_.cpt("x0").values.round(3)
    array([[0.841, 0.274],
           [0.159, 0.726]])
    """

    def __init__(
        self, assumption: str = "dirichlet", a: float = 1.0, b: float | None = None, pseudo_counts: float = 5.0
    ):
        self.assumption = assumption
        self.a = a
        self.b = b
        self.pseudo_counts = pseudo_counts

    def _estimate(self, learning: Learning, structure: _core.Structure) -> LearnedParameters:
        settings = acll_settings(self.assumption, self.a, self.b, self.pseudo_counts)
        return LearnedParameters(
            _core.estimate_acll_optimal(structure, learning.counts, *settings, learning.class_prior)
        )
