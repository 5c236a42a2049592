"""Structure learners that search: candidates are judged by cross-validated prediction (wrappers)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Event
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _core
from .._learning.contract import FittedStructure, Parents, Requirements, TrainingContext
from .._learning.folds import fold_of_row
from .._learning.names import naming_features, read_arcs
from .._learning.traces import SearchStep, SearchTrace
from .._utils.progress import Show, live_bar, stopping
from .._utils.validation import check_number, check_table_sizes, is_integer
from .._utils.warnings import warn_user
from ._base import StructureLearner

Arcs = Iterable[tuple[str | int, str | int]]

#: Limits may be any whole number; above this one, no search meets them.
_ENOUGH = 2**62


class WrapperSearch(StructureLearner):
    """Greedy search; a subclass names its method. `HillClimb` tells what the parameters mean."""

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
        if self.objective not in ("accuracy", "cll"):
            raise ValueError(f"objective must be 'accuracy' or 'cll', but is {self.objective!r}")
        check_number(self.epsilon, "epsilon")
        check_number(self.alpha, "alpha")
        if self.max_steps is not None and (not is_integer(self.max_steps) or self.max_steps < 0):
            raise ValueError(
                f"max_steps must be a whole number that is not negative or None, but is {self.max_steps!r}"
            )
        if self.time_limit is not None:
            check_number(self.time_limit, "time_limit")
        if not is_integer(self.memory_limit) or self.memory_limit < 0:
            raise ValueError(f"memory_limit must be a number of bytes, but is {self.memory_limit!r}")
        for what in ("start", "required", "forbidden"):
            self._arcs(what, feature_names, class_name)
        return "singles", []

    def _max_parents(self) -> int:
        return 1

    def _is_symmetric(self) -> bool:
        return False

    def _arcs(self, what: str, feature_names: list[str], class_name: str) -> list[tuple[int, int]]:
        given = getattr(self, what)
        return [] if given is None else read_arcs(given, feature_names, class_name, what).between_features

    def _start(self, context: TrainingContext) -> Parents | None:
        if self.start is None:
            return None
        parents: list[list[int]] = [[] for _ in context.feature_names]
        for parent, child in self._arcs("start", context.feature_names, context.class_name):
            parents[child].append(parent)
        return [*parents]

    def _check_start(self, context: TrainingContext) -> None:
        """Refuse tables of the start that are too large before they are made; those without arcs were counted already."""
        if self.start is None and self.required is None:
            return
        parents: list[set[int]] = [set() for _ in context.feature_names]
        for what in ("start", "required"):
            for parent, child in self._arcs(what, context.feature_names, context.class_name):
                parents[child].add(parent)
        families = [(child, sorted(found)) for child, found in enumerate(parents)]
        counts = context.counts
        check_table_sizes(context.feature_names, counts.cardinalities, counts.n_classes, families)

    def _learn(self, context: TrainingContext) -> FittedStructure:
        dataset = context.require_rows(self)
        if dataset.n_rows < 2:
            raise ValueError(
                f"{type(self).__name__} needs two rows or more to have folds, but there is only one sample"
            )
        names = context.feature_names
        self._check_start(context)
        folds, _ = fold_of_row(self.cv, dataset.target, dataset.n_classes, None, context.draw_seed, context.row_mask)
        with live_bar(context.verbose) as show, naming_features(names):
            found = _core.search_structure(
                dataset,
                folds,
                method=self._method,
                objective=self.objective,
                max_parents=self._max_parents(),
                symmetric=self._is_symmetric(),
                alpha=check_number(self.alpha, "alpha"),
                class_prior=context.class_prior,
                epsilon=check_number(self.epsilon, "epsilon"),
                start=self._start(context),
                required=self._arcs("required", names, context.class_name),
                forbidden=self._arcs("forbidden", names, context.class_name),
                max_steps=None if self.max_steps is None else min(int(self.max_steps), _ENOUGH),
                time_limit=None if self.time_limit is None else check_number(self.time_limit, "time_limit"),
                memory_limit=min(int(self.memory_limit), _ENOUGH),
                report=self._reporter(show, stopping.get()),
                threads=context.threads,
            )
        trace = self._trace(found, names)
        if trace.stopped in ("interrupted", "time limit"):
            warn_user(
                f"{type(self).__name__} was stopped ({trace.stopped}) after {len(trace) - 1} steps and {trace.seconds:.3g} "
                f"seconds; the structure is the best until then, with {self.objective} {trace[-1].score:.4g}",
                ConvergenceWarning,
            )
        return FittedStructure(found["structure"], trace)

    def _reporter(self, show: Show | None, stop: Event | None) -> Callable[[int, float, int, int], None] | None:
        def report(steps: int, score: float, done: int, batch: int) -> None:
            if stop is not None and stop.is_set():
                raise KeyboardInterrupt
            if show is not None:
                show(f"{type(self).__name__}: step {steps + 1}, {self.objective} {score:.4g}", done, batch)

        return None if show is None and stop is None else report

    def _trace(self, found: dict[str, Any], names: list[str]) -> SearchTrace:
        steps: list[SearchStep] = []
        parents: Parents = [None] * len(names)
        for changes, fold_scores, score, n_candidates, seconds in found["steps"]:
            text = describe(changes, parents, names) if steps else "initial structure"
            for feature, new in changes:
                parents[feature] = new
            steps.append(SearchStep(text, score, tuple(fold_scores), n_candidates, seconds))
        return SearchTrace(steps, self.objective, found["stopped"], found["n_candidates"], found["seconds"])


def describe(changes: list[tuple[int, list[int] | None]], before: Parents, names: list[str]) -> str:
    """Say in a few words what a step changed."""
    said = []
    for feature, after in changes:
        if after is None:
            said.append(f"drop {names[feature]}")
            continue
        old = before[feature]
        new = [names[p] for p in after if old is None or p not in old]
        if new:
            said.append(f"{', '.join(new)} -> {names[feature]}")
        elif old is None:
            said.append(f"add {names[feature]}")
    return "; ".join(said)


class HillClimb(WrapperSearch):
    """Add the arc that helps prediction most, again and again (TAN-HC; wrapper k-DB).

    Choose it when accuracy counts more than the time to learn, and there are rows enough to judge single arcs by.

    Parameters
    ----------
    max_parents : int, default=1
        Feature parents that a feature may have: 1 gives a forest (TAN-HC), more the wrapper k-DB.
    cv : int, array-like of shape (n_rows,) or splitter, default=5
        The folds: how many, stratified and drawn with the classifier's ``random_state``; or the fold of each row; or a
        splitter of scikit-learn whose test sets share out the rows.
    epsilon : float, default=0.01
        A step must raise the score by at least this much.
    alpha : float, default=1.0
        Smoothing of the tables that candidates are judged with; the final ones are made by the parameter learner.
    objective : {"accuracy", "cll"}, default="accuracy"
        What is averaged over the folds: the share of rows predicted rightly, as in the papers, or the mean of
        ln P(class | row), which is smoother and has fewer ties.
    symmetric : bool, default=False
        Of the two arcs between features without feature parents, try only that from the later to the earlier one, as
        bnclassify does. They predict the same only without smoothing.
    start, required, forbidden : list of (parent, child) or None, default=None
        Arcs to begin with; arcs that are there from the start and stay; arcs that never come about.
    max_steps : int or None, default=None
        Stop after this many accepted steps.
    time_limit : float or None, default=None
        Stop after this many seconds, with the best structure so far and a warning.
    memory_limit : int, default=2**30
        Bytes for tables that are kept. Less only costs time, except that candidates whose table alone is larger are not
        tried. More than 2**30 also raises the limit of exact inference about missing values (`Network.max_cells`), to
        ``memory_limit / 64``.

    Notes
    -----
    All steps are in the classifier's ``search_trace_``. Ctrl-C ends the search with the best structure so far and a
    warning. Ties go to the candidate that comes first. Missing cells are summed out exactly in every test row.

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

    def _max_parents(self) -> int:
        if not is_integer(self.max_parents) or self.max_parents < 1:
            raise ValueError(f"max_parents must be a whole number of at least 1, but is {self.max_parents!r}")
        return min(int(self.max_parents), _ENOUGH)

    def _is_symmetric(self) -> bool:
        if not isinstance(self.symmetric, (bool, np.bool_)):
            raise TypeError(f"symmetric must be True or False, but is {self.symmetric!r}")
        return bool(self.symmetric)

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:
        self._max_parents()
        self._is_symmetric()
        return super()._requirements(feature_names, class_name)


class SuperParent(WrapperSearch):
    """Find the feature that is the best parent of all, then its best child, again and again (TAN-HCSP).

    Far fewer candidates than `HillClimb`: choose it for many features.

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
    """Begin with the class alone; add a feature, or join it to a group of features (FSSJ).

    Features of a group are fully connected; between groups there are no arcs. Features that do not help are left out
    of the model, so choose it where many are irrelevant.

    Parameters
    ----------
    cv, epsilon, alpha, objective, start, required, forbidden, max_steps, time_limit, memory_limit
        As in `HillClimb`. Arcs in `start` and `required` must make fully connected groups; the features that they name
        are in the model from the beginning.

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

    def _start(self, context: TrainingContext) -> Parents | None:
        parents = super()._start(context)
        if parents is None:
            return None
        named = {feature for child, found in enumerate(parents) if found for feature in (child, *found)}
        return [found if child in named else None for child, found in enumerate(parents)]


class BackwardJoin(WrapperSearch):
    """Begin with naive Bayes; drop a feature, or join two groups of features (BSEJ).

    Features of a group are fully connected; between groups there are no arcs. Choose it where a few features act
    together: it finds interactions of any order, one join at a time.

    Parameters
    ----------
    cv, epsilon, alpha, objective, start, required, forbidden, max_steps, time_limit, memory_limit
        As in `HillClimb`. Arcs in `start` and `required` must make fully connected groups; features with a required
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
