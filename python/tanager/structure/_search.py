"""Structure learners that search by cross-validated prediction (wrapper methods)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .. import _core
from .._learning.contract import FittedStructure, Parents, Requirements, TrainingContext
from .._learning.folds import fold_of_row
from .._learning.names import naming_features, read_arcs
from .._learning.settings import MAX_LIMIT
from .._learning.traces import OBJECTIVES, SearchStep, SearchTrace
from .._utils.progress import Show, live_bar, stop_callback
from .._utils.text import plural
from .._utils.validation import (
    check_bool,
    check_choice,
    check_int,
    check_number,
    check_optional_int,
    check_table_sizes,
)
from .._utils.warnings import warn_user
from ._base import StructureLearner

Arcs = Iterable[tuple[str | int, str | int]]


class WrapperSearch(StructureLearner):
    """Base of the greedy searches; `HillClimb` documents the parameters. A subclass names the method of the core."""

    _needs_rows = True
    _method = ""

    def __init__(
        self,
        cv: Any = 5,
        epsilon: float = 0.01,
        alpha: float = 1.0,
        objective: str = "accuracy",
        start: Arcs | None = None,
        required: Arcs | None = None,
        forbidden: Arcs | None = None,
        max_steps: int | None = None,
        time_limit: float | None = None,
        memory_limit: int = 2**30,
    ):
        self.cv = cv
        self.epsilon = epsilon
        self.alpha = alpha
        self.objective = objective
        self.start = start
        self.required = required
        self.forbidden = forbidden
        self.max_steps = max_steps
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:
        self._core_settings()
        for what in ("start", "required", "forbidden"):
            self._arcs(what, feature_names, class_name)
        return "singles", []

    def _core_settings(self) -> dict[str, Any]:
        """Return the settings that need no names, checked, as the core takes them."""
        max_steps = check_optional_int(self.max_steps, "max_steps", minimum=0)
        return {
            "objective": check_choice(self.objective, "objective", OBJECTIVES),
            "max_parents": 1,
            "symmetric": False,
            "alpha": check_number(self.alpha, "alpha"),
            "epsilon": check_number(self.epsilon, "epsilon"),
            "max_steps": None if max_steps is None else min(max_steps, MAX_LIMIT),
            "time_limit": None if self.time_limit is None else check_number(self.time_limit, "time_limit"),
            "memory_limit": min(check_int(self.memory_limit, "memory_limit", minimum=0), sys.maxsize),
        }

    def _arcs(self, what: str, feature_names: list[str], class_name: str) -> list[tuple[int, int]]:
        given = getattr(self, what)
        return [] if given is None else read_arcs(given, feature_names, class_name, what).between_features

    def _initial_parents(self, context: TrainingContext) -> Parents | None:
        if self.start is None:
            return None
        parents: list[list[int]] = [[] for _ in context.feature_names]
        for parent, child in self._arcs("start", context.feature_names, context.class_name):
            parents[child].append(parent)
        return [*parents]

    def _check_initial_tables(self, context: TrainingContext) -> None:
        """Reject an initial structure whose tables are too large; those without feature parents are already counted."""
        if self.start is None and self.required is None:
            return
        parents: list[set[int]] = [set() for _ in context.feature_names]
        for what in ("start", "required"):
            for parent, child in self._arcs(what, context.feature_names, context.class_name):
                parents[child].add(parent)
        families = [(child, sorted(of_child)) for child, of_child in enumerate(parents)]
        counts = context.counts
        check_table_sizes(context.feature_names, counts.cardinalities, counts.n_classes, families)

    def _learn(self, context: TrainingContext) -> FittedStructure:
        dataset, names = context.require_rows(self), context.feature_names
        if dataset.n_rows < 2:
            raise ValueError(f"{type(self).__name__} needs at least two rows for its folds, got one sample")
        self._check_initial_tables(context)
        folds, _ = fold_of_row(self.cv, dataset.target, dataset.n_classes, None, context.draw_seed, context.row_mask)
        with live_bar(context.verbose) as show, naming_features(names):
            result = _core.search_structure(
                dataset,
                folds,
                method=self._method,
                class_prior=context.class_prior,
                start=self._initial_parents(context),
                required=self._arcs("required", names, context.class_name),
                forbidden=self._arcs("forbidden", names, context.class_name),
                report=self._reporter(show),
                threads=context.threads,
                **self._core_settings(),
            )
        trace = self._trace(result, names)
        if trace.stopped in ("interrupted", "time limit"):
            warn_user(
                f"{type(self).__name__} stopped early ({trace.stopped}) after {plural(len(trace) - 1, 'step')} "
                f"({trace.seconds:.3g} s); returning the best structure so far ({self.objective} {trace[-1].score:.4g})",
                ConvergenceWarning,
            )
        return FittedStructure(result["structure"], trace)

    def _reporter(self, show: Show | None) -> Callable[[int, float, int, int], None] | None:
        check_stop = stop_callback()

        def report(steps: int, score: float, done: int, batch: int) -> None:
            if check_stop is not None:
                check_stop()
            if show is not None:
                show(f"{type(self).__name__}: step {steps + 1}, {self.objective} {score:.4g}", done, batch)

        return None if show is None and check_stop is None else report

    def _trace(self, result: dict[str, Any], names: list[str]) -> SearchTrace:
        steps: list[SearchStep] = []
        parents: Parents = [None] * len(names)
        for changes, fold_scores, score, n_candidates, seconds in result["steps"]:
            text = describe_changes(changes, parents, names) if steps else "initial structure"
            for feature, new in changes:
                parents[feature] = new
            steps.append(SearchStep(text, score, tuple(fold_scores), n_candidates, seconds))
        return SearchTrace(steps, self.objective, result["stopped"], result["n_candidates"], result["seconds"])


def describe_changes(changes: list[tuple[int, list[int] | None]], before: Parents, names: list[str]) -> str:
    """Return the changes of a step as text, such as "maint -> buying"."""
    texts = []
    for feature, after in changes:
        if after is None:
            texts.append(f"drop {names[feature]}")
            continue
        old = before[feature]
        new = [names[p] for p in after if old is None or p not in old]
        if new:
            texts.append(f"{', '.join(new)} -> {names[feature]}")
        elif old is None:
            texts.append(f"add {names[feature]}")
    return "; ".join(texts)


class HillClimb(WrapperSearch):
    """Greedy hill climbing on cross-validated prediction (TAN-HC; with several parents, wrapper k-DB).

    Each step adds the arc that improves the objective most. Choose it when predictive performance matters more than
    training time, and there are enough rows to measure the effect of a single arc.

    Parameters
    ----------
    max_parents : int, default=1
        Maximum number of feature parents per feature: 1 gives a forest (TAN-HC), more gives the wrapper k-DB.
    cv : int, array-like of shape (n_rows,) or splitter, default=5
        The folds: their number, stratified and drawn with the classifier's ``random_state``; or the fold of each row; or a
        scikit-learn splitter whose test sets partition the rows.
    epsilon : float, default=0.01
        Minimum improvement of the objective per step.
    alpha : float, default=1.0
        Smoothing of the tables that candidates are scored with. The tables of the final model are estimated by the
        parameter learner.
    objective : {"accuracy", "cll"}, default="accuracy"
        What is averaged over the folds and maximized: accuracy, as in the papers, or "cll", the mean conditional
        log-likelihood ln P(class | row) of the test rows, which is smoother and has fewer ties.
    symmetric : bool, default=False
        Of the two arcs between features without feature parents, try only the one from the later to the earlier feature,
        as bnclassify does. Both predict the same only without smoothing.
    start : list of (parent, child) or None, default=None
        Arcs of the initial structure; None starts from naive Bayes.
    required, forbidden : list of (parent, child) or None, default=None
        Arcs that the initial structure contains and that are never removed, and arcs that are never added.
    max_steps : int or None, default=None
        Maximum number of accepted steps.
    time_limit : float or None, default=None
        Maximum number of seconds; then the search stops with the best structure so far and a warning.
    memory_limit : int, default=2**30
        Bytes for cached tables. A lower limit only costs time, except that candidates whose table alone exceeds it are
        not tried. A limit above 2**30 also raises the limit of exact inference about missing values
        (`Network.max_cells`), to ``memory_limit / 64``.

    Notes
    -----
    All steps are in the classifier's ``search_trace_``. Ctrl-C stops the search with the best structure so far and a
    warning. Ties go to the first candidate. Missing values in test rows are marginalized out exactly.

    References
    ----------
    Keogh and Pazzani (2002), Learning the structure of augmented Bayesian classifiers. International Journal on
    Artificial Intelligence Tools 11.
    Mihaljević, Bielza and Larrañaga (2018), bnclassify: learning Bayesian network classifiers. The R Journal 10.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.HillClimb(), random_state=0).fit(data.X, data.y)
    >>> clf.search_trace_.stopped
    'no improvement'
    >>> bool(clf.search_trace_[-1].score > clf.search_trace_[0].score)
    True
    """

    _method = "hill-climb"

    def __init__(
        self,
        max_parents: int = 1,
        cv: Any = 5,
        epsilon: float = 0.01,
        alpha: float = 1.0,
        objective: str = "accuracy",
        symmetric: bool = False,
        start: Arcs | None = None,
        required: Arcs | None = None,
        forbidden: Arcs | None = None,
        max_steps: int | None = None,
        time_limit: float | None = None,
        memory_limit: int = 2**30,
    ):
        super().__init__(cv, epsilon, alpha, objective, start, required, forbidden, max_steps, time_limit, memory_limit)
        self.max_parents = max_parents
        self.symmetric = symmetric

    def _core_settings(self) -> dict[str, Any]:
        return {
            **super()._core_settings(),
            "max_parents": min(check_int(self.max_parents, "max_parents", minimum=1), MAX_LIMIT),
            "symmetric": check_bool(self.symmetric, "symmetric"),
        }


class SuperParent(WrapperSearch):
    """Greedy super-parent search on cross-validated prediction (TAN-HCSP).

    Each step finds the feature that is the best parent of all others, then keeps the arc to its best child. It scores far
    fewer candidates than `HillClimb`: choose it for many features.

    Parameters
    ----------
    cv, epsilon, alpha, objective, start, required, forbidden, max_steps, time_limit, memory_limit
        As in `HillClimb`.

    References
    ----------
    Keogh and Pazzani (2002), Learning the structure of augmented Bayesian classifiers. International Journal on
    Artificial Intelligence Tools 11.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.BayesNetClassifier(structure="super-parent", random_state=0).fit(data.X, data.y)
    >>> clf.network_.is_one_dependence
    True
    """

    _method = "super-parent"


class ForwardJoin(WrapperSearch):
    """Semi-naive Bayes by forward sequential selection and joining (FSSJ).

    Starts with the class alone; each step adds a feature to the model, or joins it to a group of features. The features of
    a group are fully connected, and there are no arcs between groups. Features that do not help stay out of the model:
    choose it when many features are irrelevant.

    Parameters
    ----------
    cv, epsilon, alpha, objective, start, required, forbidden, max_steps, time_limit, memory_limit
        As in `HillClimb`. The arcs in `start` and `required` must form fully connected groups; the features that they
        name are in the initial structure.

    References
    ----------
    Pazzani (1996), Constructive induction of Cartesian product attributes. Information, Statistics and Induction in
    Science.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.ForwardJoin(epsilon=0.0), random_state=0)
    >>> clf.fit(data.X, data.y).network_.features
    ['x0', 'x1', 'x4']
    """

    _method = "forward-join"

    def _initial_parents(self, context: TrainingContext) -> Parents | None:
        parents = super()._initial_parents(context)
        if parents is None:
            return None
        named = {feature for child, of_child in enumerate(parents) if of_child for feature in (child, *of_child)}
        return [of_child if child in named else None for child, of_child in enumerate(parents)]


class BackwardJoin(WrapperSearch):
    """Semi-naive Bayes by backward sequential elimination and joining (BSEJ).

    Starts with naive Bayes; each step drops a feature, or joins two groups of features. The features of a group are fully
    connected, and there are no arcs between groups. Choose it when a few features interact: it finds interactions of any
    order, one join at a time.

    Parameters
    ----------
    cv, epsilon, alpha, objective, start, required, forbidden, max_steps, time_limit, memory_limit
        As in `HillClimb`. The arcs in `start` and `required` must form fully connected groups; features with a required
        arc are not dropped.

    References
    ----------
    Pazzani (1996), Constructive induction of Cartesian product attributes. Information, Statistics and Induction in
    Science.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(structure="backward-join", random_state=0).fit(data.X, data.y)
    >>> [step.change for step in clf.search_trace_]
    ['initial structure', 'x1 -> x0']
    """

    _method = "backward-join"
