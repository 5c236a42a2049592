"""Parameter learners that weight features: each table is raised to the power of its feature's weight."""

from __future__ import annotations

from collections.abc import Iterator
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
from .._learning.settings import MAX_LIMIT
from .._utils.progress import check_stopping, stop_callback
from .._utils.text import plural
from .._utils.typing import Floats
from .._utils.validation import check_bool, check_choice, check_int, check_number, check_optional_int
from .._utils.warnings import warn_user
from ._base import ParameterLearner

__all__ = ["AttributeWeighted", "Wanbia"]

# The depths of all trees are kept in memory until the last one is grown.
_MAX_TREES = 1_000_000

# L-BFGS-B also stops when the relative decrease of the objective is below this, since it could be rounding.
_MIN_RELATIVE_DECREASE = 1e-14


def _feature_weights(weights: Floats, structure: _core.Structure) -> dict[str, Floats]:
    left_out = np.array([parents is None for parents in structure.parents], dtype=bool)
    return {"feature_weights_": np.where(left_out, np.nan, weights)}


class _OneBlasThread:
    """Limits BLAS to one thread while any thread is inside the context.

    The matrices of L-BFGS-B are so small that threads of BLAS mostly wait for each other. The limit applies to the whole
    process: the first thread to enter sets it, and the last one to leave restores it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    @staticmethod
    @cache
    def _controller() -> Any:
        return ThreadpoolController()  # searches all libraries of the process, so it is created once

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
    """Attribute-weighted naive Bayes: features that decision trees test early get larger weights (AWNB).

    Each table of `Dirichlet` is raised to the power of its feature's weight and normalized. The weight is the mean over
    bootstrapped trees of 1 / sqrt(depth), where depth is the minimum depth at which a tree tests the feature, with the
    root at depth one; a tree that does not test it contributes zero. Choose it to see which features matter, and for
    structures other than naive Bayes with redundant or irrelevant features; for naive Bayes itself, `Wanbia` usually
    predicts better.

    Parameters
    ----------
    n_trees : int, default=10
        Number of trees.
    bootstrap : float, default=0.5
        Number of rows drawn for each tree, with replacement, as a fraction of all rows.
    alpha : float, default=1.0
        Added to every count, including those of the classes.
    max_depth : int or None, default=None
        Maximum depth of the trees; None means no limit.

    Notes
    -----
    The weights are in the classifier's ``feature_weights_``, in the order of the features; NaN for features that are not in
    the structure. Trees are not pruned. Their splits test whether a feature has a certain value and are chosen by
    information gain; ties go to the first feature, then the first value. A row whose value is missing does not count in a
    split, and goes to the larger branch. Rows are drawn with probabilities proportional to their weights; the weights do
    not change how many are drawn. Trees are drawn with the classifier's ``random_state``; they do not depend on the number
    of threads. Works with any structure.

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
        check_stopping()  # the core looks every 50 ms only
        max_depth = check_optional_int(self.max_depth, "max_depth", minimum=1)
        depths = _core.tree_depths(
            structure,
            context.require_rows(self),
            n_trees=check_int(self.n_trees, "n_trees", minimum=1, maximum=_MAX_TREES),
            bootstrap=check_number(self.bootstrap, "bootstrap"),
            max_depth=None if max_depth is None else min(max_depth, MAX_LIMIT),
            seed=context.draw_seed(),
            threads=context.threads,
        )
        alpha, weights = check_number(self.alpha, "alpha"), _core.weights_from_depths(depths)
        core = _core.estimate_weighted(structure, context.counts, weights, alpha, context.class_prior)
        return FittedParameters(core, _feature_weights(weights, structure))


class Wanbia(ParameterLearner):
    """Naive Bayes with discriminative feature weights, which maximize conditional likelihood (WANBIA).

    One weight in [0, 1] per feature, optimized by L-BFGS-B with the exact gradient. Choose it when probabilities matter and
    features depend on each other: it removes most of the overconfidence of naive Bayes, with one parameter per feature.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every count, including those of the classes; must be positive.
    objective : {"cll", "mse"}, default="cll"
        What the weights optimize: the conditional log-likelihood of the classes, or the mean squared error of their
        probabilities. The squared error has several optima; two are tried, the nearest one to naive Bayes and the nearest
        one to the best weights for "cll".
    renormalize : bool, default=False
        False uses the powers without normalization, as in the paper: without missing values, the weights for "cll" are then
        a global optimum. True normalizes the tables after taking powers, as bnclassify does: class probabilities then stay
        unchanged, and a missing value carries no information.
    tol : float, default=1e-6
        Stop when no component of the projected gradient of the objective, averaged over rows, is larger than this.
    max_iter : int, default=1000
        Maximum number of iterations; a warning is issued if they do not suffice.

    Notes
    -----
    The weights are in the classifier's ``feature_weights_``, in the order of the features; NaN for features that are not in
    the structure. The structure must be `NaiveBayes`, or naive Bayes without some features.

    The predictions of the model are exactly those that the objective evaluates, including missing values, which both
    marginalize out. Posteriors are proportional to P(c) times the powers of the tables, where P(c) is ``class_prior`` or
    smoothed frequencies. A network needs normalized tables, so its class probabilities are P(c) times all normalizers, and
    no longer the class frequencies; a missing value leaves its normalizer in the product. Tables are normalized after
    multiplying the probability of each value by p^(1 - weight), where p is its frequency in all classes. This changes no
    posterior of a complete row, gives a feature of weight zero its marginal distribution, and keeps normalizers close to
    one. With ``renormalize=True``, none of this is needed. Rows of a class with prior zero have no influence on the weights
    under "cll".

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
            raise ValueError("Wanbia needs a structure without arcs between features")
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
            # Squared errors are flat where naive Bayes is certain and wrong; likelihoods are not.
            start, _ = self._best_weights(make("cll"), weights, context.threads)
            other, other_value = self._best_weights(objective, start, context.threads)
            if other_value < value:
                weights = other
        return FittedParameters(objective.network(weights), _feature_weights(weights, structure))

    def _check_settings(self) -> None:
        check_choice(self.objective, "objective", ("cll", "mse"))
        check_bool(self.renormalize, "renormalize")
        check_number(self.tol, "tol", minimum=0, finite=True)
        check_int(self.max_iter, "max_iter", minimum=1)

    def _best_weights(self, objective: _core.WanbiaObjective, start: Floats, threads: int) -> tuple[Floats, float]:
        total, check_stop = objective.total_weight, stop_callback()

        def evaluate(weights: Floats) -> tuple[float, Floats]:
            if check_stop is not None:
                check_stop()
            value, gradient = objective.evaluate(weights, threads)
            return value / total, gradient / total  # the inverse of a tiny total would be infinite

        with _one_blas_thread():
            result = minimize(
                evaluate,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * len(start),
                options={
                    "gtol": float(self.tol),
                    "ftol": _MIN_RELATIVE_DECREASE,
                    "maxcor": 20,
                    "maxiter": min(int(self.max_iter), MAX_LIMIT),
                    "maxfun": MAX_LIMIT,
                },
            )
        if not result.success:
            warn_user(
                f"Wanbia did not converge within {plural(result.nit, 'iteration')} (tol={self.tol:g}): {result.message}; "
                "increase max_iter or tol",
                ConvergenceWarning,
            )
        best: Floats = np.clip(result.x, 0.0, 1.0)
        return best, float(result.fun)
