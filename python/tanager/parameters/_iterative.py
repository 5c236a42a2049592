"""Iterative parameter learners: maximum likelihood with missing values (EM, APN), conditional likelihood (ELR)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from .. import _core
from .._learning.contract import FittedParameters, TrainingContext
from .._learning.folds import fold_of_row
from .._learning.names import naming_features
from .._learning.settings import MAX_LIMIT
from .._learning.traces import FitTrace
from .._utils.progress import Show, live_bar, stop_callback
from .._utils.validation import check_choice, check_int, check_max_cells, check_number
from .._utils.warnings import warn_user
from ._base import ParameterLearner

__all__ = ["APN", "ELR", "EM"]

_OPTIMIZERS = ("cg", "lbfgs")


def _reporter(name: str, max_iter: int, show: Show | None) -> Callable[[bool, int, float], None] | None:
    check_stop = stop_callback()

    def report(held_out: bool, iterations: int, value: float) -> None:
        if check_stop is not None:
            check_stop()
        if show is not None:
            show(f"{name}: {'tuning, ' if held_out else ''}iteration {iterations}, {value:.6g}", iterations, max_iter)

    return None if show is None and check_stop is None else report


class _RowLearner(ParameterLearner):
    """Base of the iterative learners, which need the rows and return a trace."""

    _needs_rows = True

    max_iter: int
    tol: float
    max_cells: int

    def _run(
        self, context: TrainingContext, estimate: Callable[..., dict[str, Any]], *, warn: bool = True, **settings: Any
    ) -> FittedParameters:
        """Call a function of the core with the common settings; `warn` if it reaches the limit of iterations."""
        dataset, name = context.require_rows(self), type(self).__name__
        max_iter = min(check_int(self.max_iter, "max_iter", minimum=0), MAX_LIMIT)
        with live_bar(context.verbose) as show, naming_features(context.feature_names):
            result = estimate(
                dataset,
                class_prior=context.class_prior,
                tol=check_number(self.tol, "tol"),
                max_iter=max_iter,
                max_cells=check_max_cells(self.max_cells),
                report=_reporter(name, max_iter, show),
                threads=context.threads,
                **settings,
            )
        trace = FitTrace(
            result["training"],
            result["stopped"],
            result["held_out"] if len(result["held_out"]) else None,
            result["held_out_error"],
            result["fold_held_out"],
            result["fold_error"],
        )
        if warn and trace.stopped == "iteration limit":
            warn_user(
                f"{name} did not converge within max_iter={trace.n_iter} iterations (tol={self.tol:g}); increase max_iter "
                "or tol",
                ConvergenceWarning,
            )
        return FittedParameters(result["network"], trace=trace)


class EM(_RowLearner):
    """Maximum likelihood from incomplete data by expectation-maximization (EM).

    Each iteration replaces missing values by their expectations under the current tables, and re-estimates the tables from
    them; the likelihood never decreases. Choose it when values are missing and the structure has arcs between features:
    `Dirichlet` then uses only the rows where a feature and all of its parents are observed. For naive Bayes, and without
    missing values, both give the same tables.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every expected count, including those of the classes. Zero gives maximum likelihood.
    max_iter : int, default=200
        Maximum number of iterations; a warning is issued if they do not suffice.
    tol : float, default=1e-6
        Stop when the objective, averaged over rows, increases by no more than this.
    max_cells : int, default=2**24
        Limit of exact inference about missing values, as `Network.max_cells`. Only structures in which features have several
        feature parents can exceed it.

    Notes
    -----
    The initial estimate is that of ``Dirichlet(alpha)``, from available cases. The objective is the log-likelihood of the
    classes and the observed features, plus alpha times the sum of the logarithms of all parameters. Its values are in the
    classifier's ``parameter_trace_``. The class is known in every row; with ``class_prior``, its distribution is fixed and
    omitted from the objective. Inference is exact for any structure. Missing features without observed descendants do not
    contribute to the counts of a row, which does not change the optimum and takes fewer iterations.

    References
    ----------
    Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm. Journal of the Royal
    Statistical Society B 39.
    Lauritzen (1995), The EM algorithm for graphical association models with missing data. Computational Statistics and
    Data Analysis 19.

    Examples
    --------
    >>> import numpy as np
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> X = np.where(np.random.default_rng(0).random(data.X.shape) < 0.3, None, data.X)
    >>> clf = tg.BayesNetClassifier(structure="tan", parameters=tg.parameters.EM()).fit(X, data.y)
    >>> bool((np.diff(clf.parameter_trace_.training) >= -1e-9).all())
    True
    """

    def __init__(self, alpha: float = 1.0, max_iter: int = 200, tol: float = 1e-6, max_cells: int = 2**24):
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.max_cells = max_cells

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        alpha = check_number(self.alpha, "alpha")
        return self._run(context, partial(_core.estimate_em, structure), alpha=alpha)


class APN(_RowLearner):
    """Maximum likelihood from incomplete data by gradient ascent in softmax parameters (APN).

    It maximizes the objective of `EM`. Choose it instead of `EM` when many values are missing and EM converges slowly:
    near the optimum, gradient methods are faster.

    Parameters
    ----------
    alpha : float, default=1.0
        As in `EM`.
    optimizer : {"cg", "lbfgs"}, default="cg"
        Conjugate gradients (Polak-Ribière, with Brent's line search), or limited-memory BFGS.
    max_iter : int, default=200
        Maximum number of iterations; a warning is issued if they do not suffice.
    tol : float, default=1e-6
        Stop when no component of the gradient of the objective, averaged over rows, is larger than this.
    max_cells : int, default=2**24
        As in `EM`.

    Notes
    -----
    As in `EM`. Softmax parameters stay within 40 of their initial values, so probabilities stay positive.

    References
    ----------
    Binder, Koller, Russell and Kanazawa (1997), Adaptive probabilistic networks with hidden variables. Machine Learning
    29.
    Greiner, Su, Shen and Zhou (2005), Structural extension to logistic regression: discriminative parameter learning of
    belief net classifiers. Machine Learning 59.

    Examples
    --------
    >>> import numpy as np
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> X = np.where(np.random.default_rng(0).random(data.X.shape) < 0.3, None, data.X)
    >>> clf = tg.BayesNetClassifier(structure="tan", parameters=tg.parameters.APN(optimizer="lbfgs")).fit(X, data.y)
    >>> clf.parameter_trace_.stopped
    'converged'
    """

    def __init__(
        self,
        alpha: float = 1.0,
        optimizer: str = "cg",
        max_iter: int = 200,
        tol: float = 1e-6,
        max_cells: int = 2**24,
    ):
        self.alpha = alpha
        self.optimizer = optimizer
        self.max_iter = max_iter
        self.tol = tol
        self.max_cells = max_cells

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        alpha = check_number(self.alpha, "alpha")
        optimizer = check_choice(self.optimizer, "optimizer", _OPTIMIZERS)
        return self._run(context, partial(_core.estimate_apn, structure), alpha=alpha, optimizer=optimizer)


class ELR(_RowLearner):
    """Discriminative parameters: extended logistic regression for any structure (ELR).

    Starts from the estimates of `Dirichlet` and increases the conditional likelihood of the classes given the features.
    It stops after the number of iterations that is best for held-out rows. For naive Bayes this is logistic regression
    with early stopping; it also supports any other structure, and missing values. Choose it when prediction matters most
    and there are enough rows: it compensates for structures that are too simple, and gains most for naive Bayes. For
    structures that are richer than needed, or a few dozen rows, `Dirichlet` predicts better.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing of the initial estimate; must be positive.
    optimizer : {"cg", "lbfgs"}, default="cg"
        Conjugate gradients (Polak-Ribière, with Brent's line search), as in the paper, or limited-memory BFGS, which
        converges faster.
    max_iter : int, default=100
        Maximum number of iterations.
    tune_by : {"cll", "error"} or None, default="cll"
        How the number of iterations is chosen from held-out rows: by their conditional log-likelihood, or by their error
        rate, as in the paper. Both give the same accuracy on average; "cll" is more stable on small datasets and gives
        better probabilities. Of several iterations with the same error rate, the last one is used, unless the initial
        estimate is among them. None disables tuning: iterations stop at `tol` or `max_iter`.
    tune_rule : {"mean", "median"}, default="mean"
        Use the iteration where the mean over the folds is best, or, as in the paper, the median of the best iterations of
        the folds, which is less stable for small folds.
    cv : int, array-like of shape (n_rows,) or splitter, default=5
        The folds for tuning: their number, stratified and drawn with the classifier's ``random_state``; or the fold of each
        row; or a scikit-learn splitter whose test sets partition the rows.
    patience : int, default=20
        Tuning stops after this many iterations without improvement.
    l2 : float, default=0.0
        Subtracts l2 / 2 times the squared distance of the softmax parameters from their initial values from the objective:
        a smooth alternative to early stopping.
    tol : float, default=1e-6
        Stop when no component of the gradient of the objective, averaged over rows, is larger than this.
    max_cells : int, default=2**24
        As in `EM`.

    Notes
    -----
    Training and held-out values of all iterations are in the classifier's ``parameter_trace_`` (also available as
    ``search_trace_``, unless the structure learner searched). Missing values are marginalized out exactly, in training and
    in prediction. With ``class_prior``, the class distribution is fixed; rows of a class with prior zero have no
    influence. Softmax parameters stay within 40 of their initial values, so classes that are perfectly separable do not
    drive probabilities to zero.

    References
    ----------
    Greiner, Su, Shen and Zhou (2005), Structural extension to logistic regression: discriminative parameter learning of
    belief net classifiers. Machine Learning 59.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.BayesNetClassifier(parameters=tg.parameters.ELR(), random_state=0).fit(data.X, data.y)
    >>> naive = tg.NaiveBayesClassifier().fit(data.X, data.y)
    >>> bool(clf.score(data.X, data.y) > naive.score(data.X, data.y) + 0.2)
    True
    """

    def __init__(
        self,
        alpha: float = 1.0,
        optimizer: str = "cg",
        max_iter: int = 100,
        tune_by: str | None = "cll",
        tune_rule: str = "mean",
        cv: Any = 5,
        patience: int = 20,
        l2: float = 0.0,
        tol: float = 1e-6,
        max_cells: int = 2**24,
    ):
        self.alpha = alpha
        self.optimizer = optimizer
        self.max_iter = max_iter
        self.tune_by = tune_by
        self.tune_rule = tune_rule
        self.cv = cv
        self.patience = patience
        self.l2 = l2
        self.tol = tol
        self.max_cells = max_cells

    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        settings: dict[str, Any] = {
            "alpha": check_number(self.alpha, "alpha"),
            "optimizer": check_choice(self.optimizer, "optimizer", _OPTIMIZERS),
            "tune_rule": check_choice(self.tune_rule, "tune_rule", ("mean", "median")),
            "patience": min(check_int(self.patience, "patience", minimum=0), MAX_LIMIT),
            "l2": check_number(self.l2, "l2"),
        }
        if self.tune_by is not None:
            settings["tune_by"] = check_choice(self.tune_by, "tune_by", ("cll", "error"))

        def estimate(dataset: _core.Dataset, **more: Any) -> dict[str, Any]:
            if self.tune_by is not None:
                more["fold_of_row"] = self._folds(context, dataset)
            return _core.estimate_elr(structure, dataset, **more)

        # Without tuning and penalty there may be no optimum to converge to.
        return self._run(context, estimate, warn=self.tune_by is None and self.l2 > 0, **settings)

    def _folds(self, context: TrainingContext, dataset: _core.Dataset) -> npt.NDArray[np.uint32]:
        if dataset.n_rows < 2:
            raise ValueError("ELR needs at least two rows for its folds, got one sample")
        return fold_of_row(self.cv, dataset.target, dataset.n_classes, None, context.draw_seed, context.row_mask)[0]
