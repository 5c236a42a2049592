"""Parameter learners that need counts only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._learning.contract import FittedParameters, TrainingContext
from .._learning.names import feature_position
from .._utils.validation import check_choice, check_number
from ._base import ParameterLearner


class MaximumLikelihood(ParameterLearner):
    """Maximum likelihood: relative frequencies, without smoothing.

    A combination that does not occur in the training data gets probability zero, and a parent configuration that does not
    occur a uniform distribution. Choose it to compare log-likelihoods; for prediction, some smoothing is almost always
    better.

    Examples
    --------
    >>> import tanager as tg
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.MaximumLikelihood())
    >>> clf.fit([["a"], ["a"], ["b"]], [0, 0, 1]).network_.cpt("x0").values
    array([[1., 0.],
           [0., 1.]])
    """

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        return FittedParameters(_core.estimate_dirichlet(structure, context.counts, 0.0, None, context.class_prior))


class Dirichlet(ParameterLearner):
    """Posterior means under a symmetric Dirichlet prior (Laplace smoothing).

    The default, and a good choice for most problems.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every count, including those of the classes. Zero gives maximum likelihood.
    equivalent_sample_size : float or None, default=None
        If given, replaces alpha: the total added to each table, spread evenly over its cells (BDeu), so tables with more
        parents are not smoothed more strongly.

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

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        alpha = check_number(self.alpha, "alpha")
        size = self.equivalent_sample_size
        if size is not None:
            size = check_number(size, "equivalent_sample_size")
        return FittedParameters(_core.estimate_dirichlet(structure, context.counts, alpha, size, context.class_prior))


class Softened(ParameterLearner):
    """Relative frequencies smoothed toward the marginal distribution of the feature (Friedman's smoothing).

    The probability of a value given its parents is (N_jk + n0 m_k) / (N_j + n0), where m_k is the relative frequency of
    the value in all rows: as if n0 additional rows with the marginal distribution had been seen for every parent
    configuration. Choose it for features with a few common and many rare values, to which Laplace smoothing gives too
    much probability.

    Parameters
    ----------
    n0 : float, default=5.0
        Number of rows that the marginal distribution counts for. Zero gives relative frequencies, except for parent
        configurations that do not occur, which always get the marginal distribution.

    Notes
    -----
    A value that does not occur in the training data (a declared category) gets probability zero for every class. The class
    has no parents, so its relative frequencies are used without smoothing. With missing values, m_k is computed from the
    rows in which the feature is observed.

    References
    ----------
    Friedman, Geiger and Goldszmidt (1997), Bayesian network classifiers. Machine Learning 29.
    Cerquides and López de Màntaras (2003), Tractable Bayesian learning of tree augmented naive Bayes models, equation 3.

    Examples
    --------
    >>> import tanager as tg
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.Softened(n0=1.0))
    >>> clf.fit([["a"], ["a"], ["b"]], [0, 0, 1]).network_.cpt("x0").values.round(3)
    array([[0.889, 0.333],
           [0.111, 0.667]])
    """

    def __init__(self, n0: float = 5.0):
        self.n0 = n0

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        n0 = check_number(self.n0, "n0")
        return FittedParameters(_core.estimate_softened(structure, context.counts, n0, context.class_prior))


class DataTemperature(ParameterLearner):
    """Minimum free energy with data temperature (MFE-EB): the more rows, the closer to relative frequencies.

    Probabilities estimated from N rows are proportional to f ** beta, where f are relative frequencies and
    beta = 1 - exp(-N / (degrees * n_c)). They are uniform without rows, and approach relative frequencies as N grows.
    Choose it for small samples and unevenly filled tables: unlike pseudo-counts, it hardly changes estimates from many
    rows, since beta approaches one exponentially fast.

    Parameters
    ----------
    degrees : {"log", "linear"}, default="log"
        Degrees of freedom of a feature with r values: ln r, or r - 1.
    n_c : float or None, default=None
        Number of rows per degree of freedom at which beta is 1 - 1/e. None means 2 for "log" and 1 for "linear", close to
        the best values of the authors on all of their datasets.
    added_frequency : float, default=1e-4
        Added to every relative frequency f before tempering, as in the experiments of the authors, so unseen values do not
        get probability zero. Zero is the plain equation: zero frequencies then stay zero once there is a row.

    Notes
    -----
    Whether frequencies are normalized after the addition makes no difference here, since tempered probabilities are
    normalized anyway. It does matter for the untempered frequencies that the authors compare with: without normalization,
    an unseen parent configuration gives every value 0.0001 instead of 1/r, which counts against the classes it was not
    seen with and can change accuracy by tens of points.

    With many rows, probabilities are (f + added_frequency) / (1 + r * added_frequency). A feature with one value has no
    degrees of freedom, and its value has probability one. The class distribution follows the same rule, as a variable
    without parents, unless ``class_prior`` is given.

    In a replication of the authors' experiment with trees, the default was 2 points more accurate than relative
    frequencies, 6 points more than ``Dirichlet(alpha=10)``, and about as accurate as ``Dirichlet(alpha=1)``. Denser
    structures need a larger n_c.

    References
    ----------
    Isozaki, Kato and Ueno (2008), Minimum free energies with "data temperature" for parameter learning of Bayesian
    networks. Proceedings of the 20th IEEE international conference on tools with artificial intelligence.

    Examples
    --------
    The same frequencies, three quarters "a", are kept with 40 rows of a class, and drawn to uniform with 4 rows:

    >>> import tanager as tg
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.DataTemperature())
    >>> clf.fit([["a"], ["a"], ["a"], ["b"]] * 11, [0] * 40 + [1] * 4).network_.cpt("x0").values.round(3)
    array([[0.75 , 0.738],
           [0.25 , 0.262]])
    """

    def __init__(self, degrees: str = "log", n_c: float | None = None, added_frequency: float = 1e-4):
        self.degrees = degrees
        self.n_c = n_c
        self.added_frequency = added_frequency

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        check_choice(self.degrees, "degrees", ("log", "linear"))
        n_c = None if self.n_c is None else check_number(self.n_c, "n_c")
        added = check_number(self.added_frequency, "added_frequency")
        core = _core.estimate_data_temperature(structure, context.counts, self.degrees, n_c, added, context.class_prior)
        return FittedParameters(core)


class ModelAveraged(ParameterLearner):
    """Exact Bayesian average of the naive Bayes models over all subsets of features (MANB).

    Each feature either depends on the class or does not. The 2 ** n models are weighted by their posterior probabilities,
    and their average is again a single naive Bayes model, computed from the counts in closed form. Choose it for many
    features of which only some are informative: the others are shrunk softly instead of being selected or dropped.
    Requires a structure without arcs between features.

    Parameters
    ----------
    arc_prior : float, list or dict, default=0.5
        Prior probability that a feature depends on the class: one for all features, a list with one per feature, or a
        dict by name or position, where features that are not listed have 0.5. Zero and one mean certainty.
    alpha : float, default=1.0
        Added to every count, including those of the classes; must be positive.

    Notes
    -----
    The classifier's ``arc_probabilities_`` has the posterior probability of each feature that it depends on the class; NaN
    for features that are not in the structure. With missing values, the rows in which a feature is observed are used.

    References
    ----------
    Dash and Cooper (2002), Exact model averaging with naive Bayesian classifiers. Proceedings of the 19th international
    conference on machine learning.
    Wei, Visweswaran and Cooper (2011), The application of naive Bayes model averaging to predict Alzheimer's disease from
    genome-wide data. Journal of the American Medical Informatics Association 18.
    Mihaljević, Bielza and Larrañaga (2018), bnclassify: learning Bayesian network classifiers. The R Journal 10.

    Examples
    --------
    The class depends on the first two of four features; the others are noise:

    >>> import tanager as tg
    >>> X = [[i % 2, i // 2 % 2, i // 4 % 2, i // 8 % 2] for i in range(64)]
    >>> y = [a & b for a, b, _, _ in X]
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.ModelAveraged()).fit(X, y)
    >>> clf.arc_probabilities_.round(3)
    array([1.   , 1.   , 0.256, 0.256])
    """

    def __init__(self, arc_prior: Any = 0.5, alpha: float = 1.0):
        self.arc_prior = arc_prior
        self.alpha = alpha

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        names = context.feature_names
        for child, parents in enumerate(structure.parents):
            if parents:
                raise ValueError(
                    "ModelAveraged needs a structure without arcs between features, got the arc "
                    f"{names[parents[0]]!r} -> {names[child]!r}"
                )
        prior, alpha = _arc_priors(self.arc_prior, names), check_number(self.alpha, "alpha")
        core, arcs = _core.estimate_model_averaged(structure, context.counts, prior, alpha, context.class_prior)
        return FittedParameters(core, {"arc_probabilities_": arcs})


def _arc_priors(given: Any, names: list[str]) -> list[float]:
    """Return the prior of each feature's arc, or a single one for all; the core checks that they are probabilities."""
    if isinstance(given, Mapping):
        priors = [0.5] * len(names)
        for feature, prior in given.items():
            position = feature_position(feature, names, "arc_prior")
            priors[position] = check_number(prior, f"arc_prior of {feature!r}")
        return priors
    several = given.ndim > 0 if isinstance(given, np.ndarray) else isinstance(given, Sequence)
    if isinstance(given, str) or not several:
        return [check_number(given, "arc_prior")]
    if len(given) != len(names):
        raise ValueError(f"arc_prior: expected {len(names)} probabilities, one per feature, got {len(given)}")
    return [check_number(prior, f"arc_prior of {name!r}") for name, prior in zip(names, given, strict=True)]
