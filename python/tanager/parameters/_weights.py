"""Parameter learners that weight features: tables taken to powers between zero and one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from .. import _core
from .._learning.contract import FittedParameters, TrainingContext
from .._utils.progress import stopping
from .._utils.typing import Floats
from .._utils.validation import check_number, is_integer
from .._utils.warnings import warn_user
from ._base import ParameterLearner

__all__ = ["AttributeWeighted", "Wanbia"]

# More levels or iterations than anybody waits for; larger requests mean the same.
_ENOUGH = 2**31 - 1

# Every tree's depths are kept until the last is grown.
_MOST_TREES = 1_000_000

# Iterations end as well when the objective falls by less than this share of itself: no more can be told from rounding.
_LEAST_GAIN = 1e-14


def _at_least_one(value: Any, parameter: str) -> int:
    if not is_integer(value) or value < 1:
        raise ValueError(f"{parameter} must be a whole number of at least 1, but is {value!r}")
    return min(int(value), _ENOUGH)


def _watch() -> Callable[[], None] | None:
    """Return what raises once the thread that this one works for wants it to end, or None if there is no such thread."""
    stop = stopping.get()
    if stop is None:
        return None

    def check() -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    return check


def _shown(weights: Floats, structure: _core.Structure) -> dict[str, Floats]:
    left_out = np.array([found is None for found in structure.parents], dtype=bool)
    return {"feature_weights_": np.where(left_out, np.nan, weights)}


class _OneBlasThread:
    """Keeps BLAS to one thread while anybody is inside.

    L-BFGS-B hands it matrices so small that threads only wait for each other, for most of the time on a busy machine.
    The limit holds for the whole process, so the last one to leave lifts what the first one set.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    @staticmethod
    @cache
    def _controller() -> Any:
        return ThreadpoolController()  # looks through all libraries of the process, once

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._limit = self._controller().limit(limits=1, user_api="blas")
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()


class AttributeWeighted(ParameterLearner):
    """Weights from trees: features that decision trees test early count fully, others less (AWNB).

    Every table of `Dirichlet` is taken to the power of its feature's weight and normalized again. The weight is the mean
    over bootstrapped trees of 1 / sqrt(depth), where depth is the least depth at which a tree tests the feature, the
    root being at depth one; a tree that does not test it adds zero. Choose it to see which features matter, and for
    structures other than naive Bayes with features that repeat each other or are irrelevant; for naive Bayes itself
    `Wanbia` mostly predicts better.

    Parameters
    ----------
    n_trees : int, default=10
        Number of trees.
    bootstrap : float, default=0.5
        Rows drawn for each tree, with replacement, as a share of all rows.
    alpha : float, default=1.0
        Added to every count, those of the classes included.
    max_depth : int or None, default=None
        Depth beyond which no tree tests a feature; None lets trees grow as deep as they go.

    Notes
    -----
    The weights are in the classifier's ``feature_weights_``, in the order of the features; NaN for features that the
    structure leaves out. Trees are not pruned. They ask whether a feature has one of its values or any other, and
    choose by information gain; ties go to the first feature, then the first value. A missing cell says nothing for or
    against a question, and its row goes where most rows go. Rows are drawn with probabilities proportional to their
    weights, as many whatever the weights. Trees are drawn with the classifier's ``random_state``, and the same for any
    number of threads. Works with any structure.

    References
    ----------
    Hall (2007), A decision tree-based attribute weighting filter for naive Bayes. Knowledge-Based Systems 20.
    Mihaljević, Bielza and Larrañaga (2018), bnclassify, section 5.2.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.AttributeWeighted(), random_state=0)
    >>> weights = clf.fit(data.X, data.y).feature_weights_
    >>> bool(weights[4] == weights.max())
    True
    """

    _needs_rows = True

    def __init__(self, n_trees: int = 10, bootstrap: float = 0.5, alpha: float = 1.0, max_depth: int | None = None):
        self.n_trees = n_trees
        self.bootstrap = bootstrap
        self.alpha = alpha
        self.max_depth = max_depth

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        n_trees = _at_least_one(self.n_trees, "n_trees")
        if n_trees > _MOST_TREES:
            raise ValueError(f"n_trees must be at most {_MOST_TREES:,}, but is {self.n_trees!r}")
        bootstrap, alpha = check_number(self.bootstrap, "bootstrap"), check_number(self.alpha, "alpha")
        depths = _core.tree_depths(
            structure,
            context.require_rows(self),
            n_trees=n_trees,
            bootstrap=bootstrap,
            max_depth=None if self.max_depth is None else _at_least_one(self.max_depth, "max_depth"),
            seed=context.draw_seed(),
            report=_watch(),
            threads=context.threads,
        )
        weights = _core.weights_from_depths(depths)
        core = _core.estimate_weighted(structure, context.counts, weights, alpha, context.class_prior)
        return FittedParameters(core, _shown(weights, structure))


class Wanbia(ParameterLearner):
    """Weights that predict best: those of naive Bayes that maximize conditional likelihood (WANBIA).

    One weight in [0, 1] per feature, found by L-BFGS-B with the exact gradient. Choose it where probabilities matter
    and features depend on each other: it repairs most of the overconfidence of naive Bayes, with as few parameters as
    there are features.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every count, those of the classes included; must be positive.
    objective : {"cll", "mse"}, default="cll"
        What the weights are to be best at: the conditional log-likelihood of the classes, or the squared error of
        their probabilities. Squared errors have several optima: two are tried, the nearest to naive Bayes and the nearest
        to the best weights for "cll".
    renormalize : bool, default=False
        False takes the powers as they are, as in the paper: the best weights for "cll" are then a global optimum, if no
        cell is missing. True normalizes tables again after the power is taken, as bnclassify does: class probabilities
        then stay what they are, and a missing cell says nothing.
    tol : float, default=1e-6
        Iterations end when no weight can improve the objective, averaged over rows, at a greater rate than this.
    max_iter : int, default=1000
        Iterations end after this many in any case, with a warning.

    Notes
    -----
    The weights are in the classifier's ``feature_weights_``, in the order of the features; NaN for features that the
    structure leaves out. The structure must be `NaiveBayes`, or naive with features left out.

    The model predicts exactly what the objective judged, missing cells included, which both sum out. Posteriors are
    proportional to P(c) times the powers of the tables, where P(c) is ``class_prior``, or smoothed frequencies. A network
    needs tables that are normalized, so its class probabilities are P(c) times all normalizers, and no longer the
    shares of the classes; a missing cell leaves its normalizer in the product. Tables are normalized after weighting
    their values by p^(1 - weight), with p the share of the value in all classes: no posterior of a complete row
    changes, a feature of weight zero gets the distribution that it has in all classes together, and normalizers stay
    close to one. With ``renormalize=True`` none of this is needed. Rows of a class to which ``class_prior`` gives no
    probability have no influence on the weights under "cll".

    References
    ----------
    Zaidi, Cerquides, Carman and Webb (2013), Alleviating naive Bayes attribute independence assumption by attribute
    weighting. Journal of Machine Learning Research 14.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.BayesNetClassifier(parameters="wanbia").fit(data.X, data.y)
    >>> naive = tg.NaiveBayesClassifier().fit(data.X, data.y)
    >>> better = clf.network_.conditional_log_likelihood(data.X, data.y)
    >>> bool(better > naive.network_.conditional_log_likelihood(data.X, data.y))
    True
    """

    _needs_rows = True

    def __init__(
        self,
        alpha: float = 1.0,
        objective: str = "cll",
        renormalize: bool = False,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ):
        self.alpha = alpha
        self.objective = objective
        self.renormalize = renormalize
        self.tol = tol
        self.max_iter = max_iter

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        if any(structure.parents):
            raise ValueError("Wanbia weights the features of naive Bayes, but the structure has arcs between features")
        self._check_settings()
        rows, alpha = context.require_rows(self), check_number(self.alpha, "alpha")

        def make(name: str) -> _core.WanbiaObjective:
            return _core.WanbiaObjective(
                structure,
                rows,
                context.counts,
                alpha=alpha,
                class_prior=context.class_prior,
                objective=name,
                renormalize=bool(self.renormalize),
            )

        objective = make(self.objective)
        weights, value = self._best_weights(objective, np.ones(structure.n_features), context.threads)
        if self.objective == "mse":
            # Where naive Bayes is certain and wrong, squared errors are flat; likelihoods lead out of there.
            start, _ = self._best_weights(make("cll"), weights, context.threads)
            other, other_value = self._best_weights(objective, start, context.threads)
            if other_value < value:
                weights = other
        return FittedParameters(objective.network(weights), _shown(weights, structure))

    def _check_settings(self) -> None:
        if self.objective not in ("cll", "mse"):
            raise ValueError(f"objective must be 'cll' or 'mse', but is {self.objective!r}")
        if not isinstance(self.renormalize, (bool, np.bool_)):
            raise TypeError(f"renormalize must be True or False, but is {self.renormalize!r}")
        if not 0 <= check_number(self.tol, "tol") < np.inf:
            raise ValueError(f"tol must be a number that is not negative, but is {self.tol!r}")
        _at_least_one(self.max_iter, "max_iter")

    def _best_weights(self, objective: _core.WanbiaObjective, start: Floats, threads: int) -> tuple[Floats, float]:
        total, watch = objective.total_weight, _watch()

        def judge(weights: Floats) -> tuple[float, Floats]:
            if watch is not None:
                watch()
            value, gradient = objective.evaluate(weights, threads)
            return value / total, gradient / total  # one over a tiny total would be infinite

        most = _at_least_one(self.max_iter, "max_iter")
        with _one_blas_thread():
            found = minimize(
                judge,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * len(start),
                options={
                    "gtol": float(self.tol),
                    "ftol": _LEAST_GAIN,
                    "maxcor": 20,
                    "maxiter": most,
                    "maxfun": _ENOUGH,
                },
            )
        if not found.success:
            warn_user(
                f"Wanbia stopped after {found.nit} iterations before its weights were best to {self.tol:g} ({found.message})",
                ConvergenceWarning,
            )
        best: Floats = np.clip(found.x, 0.0, 1.0)
        return best, float(found.fun)
