"""Approximate conditional log-likelihood (aCLL): its constants, exact and by Monte Carlo, and its settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._utils.typing import Floats
from .._utils.validation import check_choice, check_int, check_number

#: Draws joint probabilities of a row with each class: (generator, size) -> array of shape (size, n_classes).
Sampler = Callable[[np.random.Generator, int], Any]

ASSUMPTIONS = ("uniform", "dirichlet")
# Numbers to draw at a time.
_DRAWN_AT_ONCE = 1 << 20


class AcllConstants(NamedTuple):
    """The constants of the approximate conditional log-likelihood; see `acll_constants`.

    Attributes
    ----------
    beta : float
        Weight of the log-probabilities of all classes; negative.
    gamma : float
        Constant per row, the same for all structures and parameters.
    """

    beta: float
    gamma: float


class AcllEstimate(NamedTuple):
    """Monte Carlo estimates of the constants of `AcllConstants`; see `estimate_acll_constants`.

    Attributes
    ----------
    beta, gamma : float
        The estimates.
    beta_error, gamma_error : float
        Their standard errors.
    """

    beta: float
    gamma: float
    beta_error: float
    gamma_error: float


def acll_constants(
    n_classes: int, assumption: str = "uniform", a: float = 1.0, b: float | None = None, p: float | None = None
) -> AcllConstants:
    """Return the exact constants of the approximate conditional log-likelihood (aCLL).

    With U_c the joint probability of a row and class c, ln P(c | row) is approximated by
    ``ln U_c + beta * (ln U_1 + ... + ln U_s) + gamma``. Among the approximations of this form, it is unbiased and has the
    smallest squared error if U is distributed as assumed.

    Parameters
    ----------
    n_classes : int
        The number s of classes. For one class, beta is -1 and gamma is 0 under any assumption, since ln P(c | row) is zero.
    assumption : {"uniform", "dirichlet"}, default="uniform"
        U is uniform on [0, p]^s, or U and the remaining probability have the Dirichlet distribution with parameters
        a, ..., a, b.
    a : float, default=1.0
        Parameter of the Dirichlet assumption.
    b : float or None, default=None
        Parameter of the Dirichlet assumption; the paper uses the number of rows. None means the limit for many rows: beta
        hardly changes above a thousand, but gamma grows with ln b and is infinite in the limit.
    p : float or None, default=None
        Parameter of the uniform assumption, above 0 and at most 1; None means 1. It affects only gamma, and not which
        model maximizes the score.

    Returns
    -------
    AcllConstants
        The pair (beta, gamma), in nats.

    Notes
    -----
    The Dirichlet constants are computed from digamma and trigamma functions, the uniform ones from integrals of the Laplace
    transform of the sum of U, to about 1e-15. The paper estimates them by Monte Carlo, as `estimate_acll_constants` does.

    References
    ----------
    Carvalho, Adão and Mateus (2013), Efficient approximation of the conditional relative entropy with applications to
    discriminative learning of Bayesian network classifiers. Entropy 15.

    Examples
    --------
    >>> import tanager as tg
    >>> beta, gamma = tg.acll_constants(2)
    >>> round(beta, 6)
    -0.338766
    >>> beta, gamma = tg.acll_constants(3, "dirichlet", b=1000)
    >>> round(beta, 6), round(gamma, 6)
    (-0.239921, 0.598261)
    """
    check_int(n_classes, "n_classes", minimum=1)
    check_choice(assumption, "assumption", ASSUMPTIONS)
    if assumption == "uniform":
        return AcllConstants(*_core.uniform_acll_constants(int(n_classes), 1.0 if p is None else check_number(p, "p")))
    rows = math.inf if b is None else check_number(b, "b")
    return AcllConstants(*_core.dirichlet_acll_constants(int(n_classes), check_number(a, "a"), rows))


def estimate_acll_constants(sampler: Sampler, n_samples: int = 100_000, random_state: Any = None) -> AcllEstimate:
    """Estimate the constants of the approximate conditional log-likelihood for any symmetric distribution.

    The Monte Carlo method of the paper (algorithm 1): draw joint probabilities U, and fit a line to the points
    (ln U_1 + ... + ln U_s, -ln(U_1 + ... + U_s)). For the two assumptions of the paper `acll_constants` is exact.

    Parameters
    ----------
    sampler : callable
        ``sampler(rng, size)`` returns an array of positive numbers of shape (size, n_classes), drawn from the NumPy
        generator ``rng``. Rows must be independent, with a distribution that is symmetric in the classes.
        `dirichlet_sampler` and `uniform_sampler` return such functions.
    n_samples : int, default=100_000
        Number of rows to draw.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or generator.

    Returns
    -------
    AcllEstimate
        beta and gamma with heteroscedasticity-robust standard errors.

    Examples
    --------
    >>> from tanager.scores import acll_constants, dirichlet_sampler, estimate_acll_constants
    >>> estimate = estimate_acll_constants(dirichlet_sampler(2, a=1, b=1000), random_state=1)
    >>> abs(estimate.beta - acll_constants(2, "dirichlet", b=1000).beta) < 4 * estimate.beta_error
    True
    """
    if not callable(sampler):
        raise TypeError(f"sampler: expected a function of (rng, size), got {type(sampler).__name__}")
    check_int(n_samples, "n_samples", minimum=3)
    rng = np.random.default_rng(random_state)
    sums, logs, left, n_classes = [], [], int(n_samples), None
    while left > 0:
        size = min(left, 1024 if n_classes is None else max(1, _DRAWN_AT_ONCE // n_classes))
        drawn = _checked_draw(sampler(rng, size), size, n_classes)
        n_classes = drawn.shape[1]
        left -= size
        largest = drawn.max(axis=1, keepdims=True)  # avoids overflow of the sum
        sums.append(-(np.log(largest[:, 0]) + np.log((drawn / largest).sum(axis=1))))
        logs.append(np.log(drawn).sum(axis=1))
    return _fit_line(np.concatenate(logs), np.concatenate(sums))


def uniform_sampler(n_classes: int, p: float = 1.0) -> Sampler:
    """Return a sampler of the uniform distribution on [0, p]^n_classes, for `estimate_acll_constants`.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    p : float, default=1.0
        Upper bound of the probabilities, above 0 and at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.scores import uniform_sampler
    >>> uniform_sampler(3)(np.random.default_rng(0), 2).shape
    (2, 3)
    """
    check_int(n_classes, "n_classes", minimum=1)
    scale = check_number(p, "p", above=0, maximum=1)
    # 1 - u is never zero.
    return lambda rng, size: scale * (1 - rng.random((size, n_classes)))


def dirichlet_sampler(n_classes: int, a: float = 1.0, b: float = 1000.0) -> Sampler:
    """Return a sampler of Dir(a, ..., a, b) without its last component, for `estimate_acll_constants`.

    Draws gamma variates and divides them by their sum, as in algorithm 2 of the paper.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    a, b : float
        The parameters of the distribution, as in `acll_constants`; positive.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.scores import dirichlet_sampler
    >>> dirichlet_sampler(3, b=10)(np.random.default_rng(0), 2).shape
    (2, 3)
    """
    check_int(n_classes, "n_classes", minimum=1)
    of_class, rest = check_number(a, "a", above=0, finite=True), check_number(b, "b", above=0, finite=True)

    def draw(rng: np.random.Generator, size: int) -> Floats:
        classes = rng.gamma(of_class, size=(size, n_classes))
        drawn: Floats = classes / (classes.sum(axis=1) + rng.gamma(rest, size=size))[:, None]
        return drawn

    return draw


def _checked_draw(drawn: Any, size: int, n_classes: int | None) -> Floats:
    """Check the array that a sampler returned; the first one determines the number of classes."""
    values = np.asarray(drawn)
    n_columns = values.shape[1] if values.ndim == 2 and len(values) == size else 0
    if n_columns == 0 or n_classes not in (None, n_columns):
        expected = f"({size}, {'n_classes' if n_classes is None else n_classes})"
        raise ValueError(f"sampler: expected it to return an array of shape {expected}, got shape {values.shape}")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"sampler: expected it to return real numbers, got {values.dtype}")
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise ValueError(f"sampler: expected it to return positive finite numbers, got {values[wrong][0]}")
    return values.astype(np.float64)


def _fit_line(x: Floats, y: Floats) -> AcllEstimate:
    """Fit a line by least squares, with heteroscedasticity-robust standard errors."""
    mean_x, mean_y = x.mean(), y.mean()
    off = x - mean_x
    spread = float(off @ off)
    if not spread > 0:
        raise ValueError("sampler: expected it to return varying numbers, got the same product in all rows")
    slope = float(off @ y) / spread
    rest = (y - mean_y) - slope * off
    of_slope = off * rest / spread
    of_intercept = rest / len(x) - mean_x * of_slope
    errors = (float(np.sqrt(influence @ influence)) for influence in (of_slope, of_intercept))
    return AcllEstimate(slope, float(mean_y - slope * mean_x), *errors)


def acll_settings(assumption: Any, a: Any, b: Any, pseudo_counts: Any) -> tuple[str, float, float | None, float]:
    """Return the settings of the score, checked, as the core takes them."""
    check_choice(assumption, "assumption", ASSUMPTIONS)
    return (
        assumption,
        check_number(a, "a", above=0),
        None if b is None else check_number(b, "b", above=0),
        check_number(pseudo_counts, "pseudo_counts", above=0),
    )
