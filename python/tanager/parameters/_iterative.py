"""Parameter learners that climb from row to row: likelihood with missing cells (EM, APN), conditional likelihood (ELR)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from .. import _core
from .._learning.contract import FittedParameters, TrainingContext
from .._learning.folds import fold_of_row
from .._learning.names import naming_features
from .._learning.traces import FitTrace
from .._utils.progress import Show, live_bar, stopping
from .._utils.validation import check_max_cells, check_number, is_integer
from .._utils.warnings import warn_user
from ._base import ParameterLearner

__all__ = ["APN", "ELR", "EM"]

# More iterations than anybody waits for; larger requests mean the same.
_ENOUGH = 2**31 - 1

_OPTIMIZERS = ("cg", "lbfgs")


def _not_negative(value: Any, parameter: str) -> int:
    if not is_integer(value) or value < 0:
        raise ValueError(f"{parameter} must be a whole number that is not negative, but is {value!r}")
    return min(int(value), _ENOUGH)


def _one_of(value: Any, parameter: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ValueError(f"{parameter} must be {' or '.join(map(repr, choices))}, but is {value!r}")
    return str(value)


def _reporter(name: str, most: int, show: Show | None, stop: Event | None) -> Callable[[bool, int, float], None] | None:
    def report(held_out: bool, iterations: int, value: float) -> None:
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt
        if show is not None:
            show(f"{name}: {'tuning, ' if held_out else ''}iteration {iterations}, {value:.6g}", iterations, most)

    return None if show is None and stop is None else report


class _RowLearner(ParameterLearner):
    """What the learners share: rows in, a network and its trace out."""

    _needs_rows = True

    max_iter: int
    tol: float
    max_cells: int

    def _run(self, context: TrainingContext, call: Callable[..., dict[str, Any]], **settings: Any) -> FittedParameters:
        dataset, name = context.require_rows(self), type(self).__name__
        most = _not_negative(self.max_iter, "max_iter")
        with live_bar(context.verbose) as show, naming_features(context.feature_names):
            found = call(
                dataset,
                class_prior=context.class_prior,
                tol=check_number(self.tol, "tol"),
                max_iter=most,
                max_cells=check_max_cells(self.max_cells),
                report=_reporter(name, most, show, stopping.get()),
                threads=context.threads,
                **settings,
            )
        trace = FitTrace(
            found["training"],
            found["stopped"],
            found["held_out"] if len(found["held_out"]) else None,
            found["held_out_error"],
            found["fold_held_out"],
            found["fold_error"],
        )
        return FittedParameters(found["network"], trace=trace)

    def _warned(self, made: FittedParameters) -> FittedParameters:
        """Tell of too few iterations, and hand on what they led to."""
        trace = made.trace
        if trace is not None and trace.stopped == "iteration limit":
            warn_user(
                f"{type(self).__name__} stopped after max_iter={trace.n_iter} iterations before the objective was at "
                f"its best to tol={self.tol:g}; raise one of them",
                ConvergenceWarning,
            )
        return made


class EM(_RowLearner):
    """Expectation maximization: the tables that make rows with missing cells most probable.

    Missing cells are replaced by their expectations under the present tables, the tables by those that suit these
    expectations best, again and again; the likelihood never falls. Choose it where cells are missing and the structure
    has arcs between features: `Dirichlet` then only looks at rows where a feature and all of its parents are observed. For
    naive structures, and where nothing is missing, both are the same.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every expected count, those of the classes included. Zero gives maximum likelihood.
    max_iter : int, default=200
        Iterations end after this many in any case, with a warning.
    tol : float, default=1e-6
        Iterations end when the objective, averaged over rows, rises by no more than this.
    max_cells : int, default=2**24
        The limit of exact inference about missing values, as `Network.max_cells`: only structures in which features have
        several feature parents can exceed it.

    Notes
    -----
    The start are estimates from available cases, those of ``Dirichlet(alpha)``. The objective is the logarithm of the
    likelihood of classes and observed features plus alpha times the sum of the logarithms of all parameters. Its value
    after every iteration is in the classifier's ``parameter_trace_``. The class is known in every row; with ``class_prior``
    its distribution stays as it is given, and the objective leaves out its logarithms, which do not change. Inference is
    exact, for any structure. A missing feature with nothing observed below it has no say in its row, which changes no
    optimum and takes fewer iterations.

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
        return self._warned(self._run(context, partial(_core.estimate_em, structure), alpha=alpha))


class APN(_RowLearner):
    """The objective of `EM`, climbed by gradients in softmax parameters (APN).

    Choose it in place of `EM` where much is missing and EM creeps: near the optimum gradients come forward faster.

    Parameters
    ----------
    alpha : float, default=1.0
        As in `EM`.
    optimizer : {"cg", "lbfgs"}, default="cg"
        Conjugate gradients (Polak-Ribière, with Brent's line search), or limited-memory BFGS.
    max_iter : int, default=200
        Iterations end after this many in any case, with a warning.
    tol : float, default=1e-6
        Iterations end when no parameter can improve the objective, averaged over rows, at a greater rate than this.
    max_cells : int, default=2**24
        As in `EM`.

    Notes
    -----
    As for `EM`. No softmax parameter goes farther than 40 from its start, so that probabilities stay above zero.

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
        optimizer = _one_of(self.optimizer, "optimizer", _OPTIMIZERS)
        call = partial(_core.estimate_apn, structure)
        return self._warned(self._run(context, call, alpha=alpha, optimizer=optimizer))


class ELR(_RowLearner):
    """Tables that predict best: those of greater conditional likelihood, for any structure (ELR).

    Climbs from the estimates of `Dirichlet` to tables that make the classes more probable given the features, and stops
    after as many iterations as were best for rows held out. For naive structures this is logistic regression, stopped
    early; it works with any other, and with missing cells. Choose it where prediction is all that counts and rows are many
    enough: it repairs what a structure that is too simple gets wrong, and gains most for naive Bayes. For structures
    richer than the truth, or a few dozen rows, `Dirichlet` predicts better.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing of the start; must be positive.
    optimizer : {"cg", "lbfgs"}, default="cg"
        Conjugate gradients (Polak-Ribière, with Brent's line search), as in the paper, or limited-memory BFGS, which is
        faster where one goes to the end.
    max_iter : int, default=100
        At most so many iterations.
    tune_by : {"cll", "error"} or None, default="cll"
        What tells how many iterations are best for rows held out: their conditional likelihood, or the share of them that
        is predicted wrongly, as in the paper. Both lead to the same accuracy on average; the first is steadier on small
        tables and gives better probabilities. Of iterations with equally many errors the last one that
        was tried counts, unless the start is among them: it is left only for what is better. None does not tune: iterations
        end at `tol` or `max_iter`.
    tune_rule : {"mean", "median"}, default="mean"
        Take the iteration at which the mean over all folds is best, or, as in the paper, the median of the best ones of
        every fold, which is less steady for small folds.
    cv : int, array-like of shape (n_rows,) or splitter, default=5
        The folds of tuning: how many, stratified and drawn with the classifier's ``random_state``; or the fold of each
        row; or a splitter of scikit-learn whose test sets share out the rows.
    patience : int, default=20
        Tuning ends when so many iterations brought nothing better.
    l2 : float, default=0.0
        Takes l2 / 2 times the squared distance of all softmax parameters from the start off the objective: a smooth
        alternative to stopping early.
    tol : float, default=1e-6
        Iterations end when no parameter can improve the objective, averaged over rows, at a greater rate than this.
    max_cells : int, default=2**24
        As in `EM`.

    Notes
    -----
    Training and held-out values of every iteration are in the classifier's ``parameter_trace_`` (also under the name
    ``search_trace_``, unless the structure learner searched). Missing cells are summed out exactly, in learning as in
    prediction. With ``class_prior`` the class distribution stays as it is given; rows of a class to which it gives no
    probability have no influence. No softmax parameter goes farther than 40 from its start, so that rows that can be told
    apart without error do not drive probabilities to zero.

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
            "optimizer": _one_of(self.optimizer, "optimizer", _OPTIMIZERS),
            "tune_rule": _one_of(self.tune_rule, "tune_rule", ("mean", "median")),
            "patience": _not_negative(self.patience, "patience"),
            "l2": check_number(self.l2, "l2"),
        }
        if self.tune_by is not None:
            settings["tune_by"] = _one_of(self.tune_by, "tune_by", ("error", "cll"))

        def call(dataset: _core.Dataset, **more: Any) -> dict[str, Any]:
            if self.tune_by is not None:
                more["fold_of_row"] = self._folds(context, dataset)
            return _core.estimate_elr(structure, dataset, **more)

        made = self._run(context, call, **settings)
        return self._warned(made) if self.tune_by is None and self.l2 > 0 else made

    def _folds(self, context: TrainingContext, dataset: _core.Dataset) -> npt.NDArray[np.uint32]:
        if dataset.n_rows < 2:
            raise ValueError("ELR needs two rows or more to have folds, but there is only one sample")
        return fold_of_row(self.cv, dataset.target, dataset.n_classes, None, context.draw_seed, context.row_mask)[0]
