"""Parameters that maximize the approximate conditional log-likelihood (aCLL)."""

from __future__ import annotations

from .. import _core
from .._learning.contract import FittedParameters, TrainingContext
from ..scores._acll import acll_settings
from ._base import ParameterLearner


class AcllOptimal(ParameterLearner):
    """Parameters that maximize the approximate conditional log-likelihood (aCLL), in closed form.

    A row counts for its own class, and a little against all others: the weight of a cell is N + beta times the count over
    all classes, where beta is negative (see `acll_constants`). Weights below `pseudo_counts` are raised to it and then
    normalized. Choose it to study the score: the approximation is coarse and tends to exaggerate differences between
    classes, so `Dirichlet` usually predicts better, also with `AcllTree`.

    Parameters
    ----------
    assumption : {"dirichlet", "uniform"}, default="dirichlet"
        The assumed distribution of the joint probabilities of a row with each class; see `acll_constants`.
    a : float, default=1.0
        Parameter of the Dirichlet assumption.
    b : float or None, default=None
        Parameter of the Dirichlet assumption; None means the number of rows (the sum of their weights, at least one).
    pseudo_counts : float, default=5.0
        Lower bound N' on the weight of a cell. Must be positive.

    Notes
    -----
    These parameters have the highest score among all in which the probability of a cell is at least `pseudo_counts`
    divided by the sum of the raised weights of its distribution. The class distribution is estimated in the same way, from
    N_c + beta * N, unless ``class_prior`` is given; it is more extreme than the relative frequencies. With a single class,
    all distributions are uniform.

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

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        settings = acll_settings(self.assumption, self.a, self.b, self.pseudo_counts)
        return FittedParameters(_core.estimate_acll_optimal(structure, context.counts, *settings, context.class_prior))
