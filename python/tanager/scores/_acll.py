"""The constants of the approximate conditional log-likelihood: exact ones, and estimates for any distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._utils.typing import Floats
from .._utils.validation import check_number, is_integer

#: Draws `size` times the joint probabilities of a row with every class: (generator, size) -> (size, n_classes).
Sampler = Callable[[np.random.Generator, int], Any]

ASSUMPTIONS = ("uniform", "dirichlet")
# How many numbers are drawn at a time.
_DRAWN_AT_ONCE = 1 << 20


class AcllConstants(NamedTuple):
    """The constants of the approximate conditional log-likelihood; see `acll_constants`.

    Attributes
    ----------
    beta : float
        By how much a row counts for the other classes: negative.
    gamma : float
        What is added for every row; the same for all structures and parameters.
    """

    beta: float
    gamma: float


class AcllEstimate(NamedTuple):
    """Estimates of the constants of `AcllConstants`; see `estimate_acll_constants`.

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
    """Return the constants of the approximate conditional log-likelihood, exactly.

    With U_c the joint probability of a row and class c, ln P(c | row) is approximated by
    ``ln U_c + beta * (ln U_1 + ... + ln U_s) + gamma``. Of all approximations of this form it has no bias and the least
    squared error, if U is distributed as assumed.

    Parameters
    ----------
    n_classes : int
        The number s of classes. For one class beta is -1 and gamma is 0, whatever is assumed: ln P(c | row) is zero.
    assumption : {"uniform", "dirichlet"}, default="uniform"
        That U is uniform on [0, p]^s, or that U and the rest of the probability have the Dirichlet distribution with
        parameters a, ..., a, b.
    a : float, default=1.0
        Of the Dirichlet assumption.
    b : float or None, default=None
        Of the Dirichlet assumption; the paper takes the number of rows. None means the limit for many rows: beta hardly
        changes from a thousand on, but gamma grows with ln b, and is infinite there.
    p : float or None, default=None
        Of the uniform assumption, above 0 and at most 1; None means 1. Only gamma depends on it, and what maximizes the
        score does not.

    Returns
    -------
    AcllConstants
        The pair (beta, gamma), in nats.

    Notes
    -----
    The Dirichlet constants are digamma and trigamma functions; the uniform ones are integrals over the Laplace transform
    of the sum of U, to about 1e-15. The paper draws them at random, as `estimate_acll_constants` does.

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
    _check_classes(n_classes)
    check_assumption(assumption)
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
        ``sampler(rng, size)`` returns an array of shape (size, n_classes) with positive numbers, drawn from the NumPy
        generator ``rng``. Rows are independent; their distribution should not change when classes change places.
        `dirichlet_sampler` and `uniform_sampler` make such functions.
    n_samples : int, default=100_000
        How many rows to draw.
    random_state : int, numpy.random.Generator or None, default=None
        Seed, or the generator itself.

    Returns
    -------
    AcllEstimate
        beta and gamma with their standard errors, which hold however the points lie about the line.

    Examples
    --------
    >>> from tanager.scores import acll_constants, dirichlet_sampler, estimate_acll_constants
    >>> found = estimate_acll_constants(dirichlet_sampler(2, a=1, b=1000), random_state=1)
    >>> abs(found.beta - acll_constants(2, "dirichlet", b=1000).beta) < 4 * found.beta_error
    True
    """
    if not callable(sampler):
        raise TypeError(f"sampler must be a function of (rng, size), but is of type {type(sampler).__name__}")
    if not is_integer(n_samples) or n_samples < 3:
        raise ValueError(f"n_samples must be a whole number of at least three, but is {n_samples!r}")
    rng = np.random.default_rng(random_state)
    sums, logs, left, n_classes = [], [], int(n_samples), None
    while left > 0:
        size = min(left, 1024 if n_classes is None else max(1, _DRAWN_AT_ONCE // n_classes))
        drawn = _checked_draw(sampler(rng, size), size, n_classes)
        n_classes = drawn.shape[1]
        left -= size
        largest = drawn.max(axis=1, keepdims=True)  # relative to it the sum cannot overflow
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
        The largest probability, above 0 and at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tanager.scores import uniform_sampler
    >>> uniform_sampler(3)(np.random.default_rng(0), 2).shape
    (2, 3)
    """
    _check_classes(n_classes)
    scale = check_number(p, "p")
    if not 0 < scale <= 1:
        raise ValueError(f"p must be above 0 and at most 1, but is {p!r}")
    # 1 - u is never zero.
    return lambda rng, size: scale * (1 - rng.random((size, n_classes)))


def dirichlet_sampler(n_classes: int, a: float = 1.0, b: float = 1000.0) -> Sampler:
    """Return a sampler of Dir(a, ..., a, b) without its last number, for `estimate_acll_constants`.

    Drawn by gamma variates divided by their sum, as in algorithm 2 of the paper.

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
    _check_classes(n_classes)
    of_class, rest = check_number(a, "a"), check_number(b, "b")
    if not (of_class > 0 and rest > 0 and math.isfinite(of_class + rest)):
        raise ValueError(f"a and b must be positive and finite, but are {a!r} and {b!r}")

    def draw(rng: np.random.Generator, size: int) -> Floats:
        classes = rng.gamma(of_class, size=(size, n_classes))
        drawn: Floats = classes / (classes.sum(axis=1) + rng.gamma(rest, size=size))[:, None]
        return drawn

    return draw


def check_assumption(assumption: Any) -> None:
    """Refuse what is no assumption."""
    if not isinstance(assumption, str) or assumption not in ASSUMPTIONS:
        raise ValueError(f"assumption must be 'uniform' or 'dirichlet', but is {assumption!r}")


def _check_classes(n_classes: Any) -> None:
    if not is_integer(n_classes) or n_classes < 1:
        raise ValueError(f"n_classes must be a whole number of at least one, but is {n_classes!r}")


def _checked_draw(drawn: Any, size: int, n_classes: int | None) -> Floats:
    """Return what a sampler returned, if it is what was asked for; the first draw tells the number of classes."""
    values = np.asarray(drawn)
    found = values.shape[1] if values.ndim == 2 and len(values) == size else 0
    if found == 0 or n_classes not in (None, found):
        expected = f"({size}, {'n_classes' if n_classes is None else n_classes})"
        raise ValueError(f"sampler must return an array of shape {expected}, but its shape is {values.shape}")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"sampler must return real numbers, but their type is {values.dtype}")
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise ValueError(f"sampler must return positive finite numbers, but one is {values[wrong][0]}")
    return values.astype(np.float64)


def _fit_line(x: Floats, y: Floats) -> AcllEstimate:
    """Least squares, with standard errors that do not take the variance about the line for constant."""
    mean_x, mean_y = x.mean(), y.mean()
    off = x - mean_x
    spread = float(off @ off)
    if not spread > 0:
        raise ValueError("sampler must return numbers that vary, but all rows have the same product")
    slope = float(off @ y) / spread
    rest = (y - mean_y) - slope * off
    of_slope = off * rest / spread
    of_intercept = rest / len(x) - mean_x * of_slope
    errors = (float(np.sqrt(influence @ influence)) for influence in (of_slope, of_intercept))
    return AcllEstimate(slope, float(mean_y - slope * mean_x), *errors)


def acll_settings(assumption: Any, a: Any, b: Any, pseudo_counts: Any) -> tuple[str, float, float | None, float]:
    """Return the settings of the score as the core takes them, or say what is wrong with one."""
    check_assumption(assumption)
    rows = None if b is None else check_number(b, "b")
    of_class, least = check_number(a, "a"), check_number(pseudo_counts, "pseudo_counts")
    for value, name in ((of_class, "a"), (rows, "b"), (least, "pseudo_counts")):
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, but is {value!r}")
    return assumption, of_class, rows, least
