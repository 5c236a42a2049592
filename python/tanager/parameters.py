"""Parameter learners: the conditional probability tables of a given structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import _core
from ._parameter_learner import ParameterLearner
from ._settings import LearnedParameters, Learning, Parents, as_number, resolve

__all__ = ["Dirichlet", "MaximumLikelihood", "ParameterLearner"]


class MaximumLikelihood(ParameterLearner):
    """Relative frequencies: what makes the data most probable.

    A combination never seen gets probability zero, and a parent configuration never seen a uniform distribution. Choose
    it to compare log-likelihoods; for prediction some smoothing is nearly always better.

    Examples
    --------
    >>> import tanager as tg
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.MaximumLikelihood())
    >>> clf.fit([["a"], ["a"], ["b"]], [0, 0, 1]).network_.cpt("x0").values
    array([[1., 0.],
           [0., 1.]])
    """

    def _estimate(self, learning: Learning, parents: Parents) -> LearnedParameters:
        return LearnedParameters(_core.estimate_dirichlet(parents, learning.counts, 0.0, None, learning.class_prior))


class Dirichlet(ParameterLearner):
    """Posterior means under a symmetric Dirichlet prior (Laplace smoothing).

    The default, and a good one.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every count, those of the classes included. Zero gives maximum likelihood.
    equivalent_sample_size : float or None, default=None
        If given, used in place of alpha: as much is added to every table as a whole, spread evenly over its cells
        (BDeu), so that tables with more parents are not smoothed more strongly.

    References
    ----------
    Mihaljević, Bielza and Larrañaga (2018), bnclassify, equations 1 and 3.
    Heckerman, Geiger and Chickering (1995), Learning Bayesian networks. Machine Learning 20.

    Examples
    --------
    >>> import tanager as tg
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.Dirichlet(alpha=0.5))
    >>> clf.fit([["a"], ["a"], ["b"]], [0, 0, 1]).network_.cpt("x0").values.round(3)
    array([[0.833, 0.25 ],
           [0.167, 0.75 ]])
    """

    def __init__(self, alpha: float = 1.0, equivalent_sample_size: float | None = None):
        self.alpha = alpha
        self.equivalent_sample_size = equivalent_sample_size

    def _estimate(self, learning: Learning, parents: Parents) -> LearnedParameters:
        alpha = as_number(self.alpha, "alpha")
        size = self.equivalent_sample_size
        if size is not None:
            size = as_number(size, "equivalent_sample_size")
        return LearnedParameters(_core.estimate_dirichlet(parents, learning.counts, alpha, size, learning.class_prior))


BY_NAME: Mapping[str, Callable[[], ParameterLearner]] = {
    "dirichlet": Dirichlet,
    "maximum-likelihood": MaximumLikelihood,
}


def resolve_parameters(value: object) -> ParameterLearner:
    """Turn what a user gives as ``parameters`` into a learner."""
    return resolve(value, ParameterLearner, BY_NAME, "dirichlet", "parameters")  # type: ignore[type-abstract]
