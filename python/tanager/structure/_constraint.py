"""Structure learners that test for independence: the PC algorithm given the class, and the three-phase algorithm."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from threading import Event
from typing import Any

from .. import _core
from .._learning.contract import FittedStructure, Requirements, TrainingContext
from .._utils.progress import stopping
from .._utils.validation import check_number, is_integer
from ._base import StructureLearner

#: Limits may be any whole number; above this one, no search meets them.
_ENOUGH = 2**62


class ConstraintSearch(StructureLearner):
    """Search by tests of independence; a subclass says what is searched. `ConstraintAugmented` tells of parameters."""

    _needs_rows = True

    def __init__(
        self,
        test: str = "mutual-information",
        threshold: float | str = "auto",
        significance: float | str = "auto",
        max_parents: int | None = 5,
        max_conditioning: int | None = 3,
        min_rows: float = 5.0,
    ):
        self.test = test
        self.threshold = threshold
        self.significance = significance
        self.max_parents = max_parents
        self.max_conditioning = max_conditioning
        self.min_rows = min_rows

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:  # noqa: ARG002
        self._strength()
        self._limit("max_parents")
        self._limit("max_conditioning")
        self._checked_min_rows()
        return "singles", []

    def _strength(self) -> float | None:
        """Return the threshold as the core takes it; None where it is to be found."""
        if self.test not in ("mutual-information", "g2"):
            raise ValueError(f"test must be 'mutual-information' or 'g2', but is {self.test!r}")
        if self.test == "g2":
            if self.significance == "auto":
                return None
            level = _number_or_auto(self.significance, "significance")
            if not 0 < level < 1:
                raise ValueError(f"significance must be between 0 and 1 or 'auto', but is {self.significance!r}")
            return -math.log(level)
        if self.threshold == "auto":
            return None
        value = _number_or_auto(self.threshold, "threshold")
        if not 0 <= value < math.inf:
            raise ValueError(f"threshold must be finite and not negative or 'auto', but is {self.threshold!r}")
        return value

    def _limit(self, name: str) -> int | None:
        value = getattr(self, name)
        if value is None:
            return None
        if not is_integer(value) or value < 0:
            raise ValueError(f"{name} must be a whole number that is not negative or None, but is {value!r}")
        return min(int(value), _ENOUGH)

    def _checked_min_rows(self) -> float:
        value = check_number(self.min_rows, "min_rows")
        if not 0 <= value < math.inf:
            raise ValueError(f"min_rows must be finite and not negative, but is {self.min_rows!r}")
        return value

    def _search(
        self, core: Callable[..., tuple[_core.Structure, float, int]], context: TrainingContext
    ) -> FittedStructure:
        dataset = context.require_rows(self)
        names, given = context.feature_names, self._strength()
        structure, threshold, _ = core(
            dataset,
            test=self.test,
            threshold=given,
            max_parents=self._limit("max_parents") if given is None else None,  # otherwise names tell of too many
            max_conditioning=self._limit("max_conditioning"),
            min_rows=self._checked_min_rows(),
            tie_order=sorted(range(len(names)), key=names.__getitem__),
            report=_reporter(stopping.get()),
            threads=context.threads,
        )
        for name, n_parents in zip([*names, context.class_name], self._numbers_of_parents(structure), strict=True):
            self._check_parents(name, n_parents)
        return FittedStructure(structure, threshold=threshold)

    @abstractmethod
    def _numbers_of_parents(self, structure: _core.Structure) -> list[int]:
        """Return how many parents count of every feature and of the class."""

    def _check_parents(self, name: str, n_parents: int) -> None:
        most = self._limit("max_parents")
        if self._strength() is None or most is None or n_parents <= most:
            return
        setting = "significance" if self.test == "g2" else "threshold"
        raise ValueError(
            f"{name!r} would have {n_parents} parents at {setting}={getattr(self, setting)!r}, but max_parents is {most}: "
            f"{'lower' if self.test == 'g2' else 'raise'} {setting}, let {setting}='auto' find it, or allow more parents"
        )


def _number_or_auto(value: Any, name: str) -> float:
    if isinstance(value, str):
        raise ValueError(f"{name} must be a number or 'auto', but is {value!r}")  # noqa: TRY004
    return check_number(value, name)


def _reporter(stop: Event | None) -> Callable[[], None] | None:
    def report() -> None:
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt

    return None if stop is None else report


class ConstraintAugmented(ConstraintSearch):
    """Any acyclic graph over the features, found by tests of independence given the class (GAN by the PC algorithm).

    Two features get an edge unless they are independent given the class and some neighbors of one of them; then edges are
    directed. The class is a parent of every feature. Choose it where features depend on each other in more ways than a
    tree can show, and rows are many: unlike the searches it does not look at predictions, so that it takes less time.

    Parameters
    ----------
    test : {"mutual-information", "g2"}, default="mutual-information"
        What tells that two features are independent: a conditional mutual information of at most `threshold`, in nats; or
        a likelihood-ratio (G²) test whose p-value is not below `significance`.
    threshold : float or "auto", default="auto"
        "auto" lowers it along a fixed grid, ten steps per factor of ten from 8 to 0.0001, as long as no feature has more than
        `max_parents` parents and all tables together have at most 4,194,304 cells, and takes the last that meets that. It
        ends when two in a row do not, or where a graph is so dense that its edges would have to be judged by more than
        262,144 sets of one size: still lower ones might meet the limits by chance, but would take nearly all of the time.
        The classifier's ``dependence_threshold_`` tells what was found.
    significance : float or "auto", default="auto"
        "auto" raises it in the same way, up to 0.05, on a grid of its logarithm.
    max_parents : int or None, default=5
        The most feature parents of a feature. If a given `threshold` or `significance` leads to more, that is an error.
    max_conditioning : int or None, default=3
        The most features that a test is conditioned on, besides the class. The time grows steeply with it.
    min_rows : float, default=5.0
        Rows that a test given other features needs, on average, for every combination of values that occurs among them and
        the class. With fewer it is not made, and no independence is concluded: where nearly all combinations are different
        even equal features look independent.

    Notes
    -----
    The result does not depend on the order of the columns. Edges are judged size by size of the conditioning sets, by the
    graph as it is when a size begins (PC-stable). A common neighbor of two features without an edge is a collider if it is
    in fewer than half of the smallest sets that separate them; edges that are told both directions, or are part of a
    directed circle, get none from that. Meek's rules follow. All graphs that then remain fit the rows equally well and have
    as many parameters: a free direction is from the feature that tells more about the class; then from that of greater
    entropy, of fewer values, of the smaller code in the first row where they differ, and of the first name. Where every
    direction adds a collider, that of fewest parameters is taken.

    A test uses the rows in which all its features are observed. Weights of rows count as frequencies. Of two features that
    are equal, neither gets an edge to a third one, since each makes the other superfluous.

    Missing cells are summed out exactly in prediction; a row whose sums would be too large is refused.

    References
    ----------
    Isozaki, Kato and Ueno (2008), Minimum free energies with "data temperature" for parameter learning of Bayesian networks.
    IEEE international conference on tools with artificial intelligence.
    Spirtes, Glymour and Scheines (2000), Causation, prediction, and search. MIT Press.
    Colombo and Maathuis (2014), Order-independent constraint-based causal structure learning. Journal of Machine Learning
    Research 15.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> learner = tg.structure.ConstraintAugmented(test="g2", significance=0.01)
    >>> clf = tg.BayesNetClassifier(structure=learner).fit(data.X, data.y)
    >>> clf.network_.feature_arcs
    [('x0', 'x1')]
    >>> clf.set_params(structure=tg.structure.ConstraintAugmented(max_parents=1)).fit(data.X, data.y).dependence_threshold_
    0.0001
    """

    def _learn(self, context: TrainingContext) -> FittedStructure:
        return self._search(_core.learn_constraint_augmented, context)

    def _numbers_of_parents(self, structure: _core.Structure) -> list[int]:
        return [len(found or ()) for found in structure.parents] + [0]


class ThreePhase(ConstraintSearch):
    """Any acyclic graph over the features and the class, found by tests of independence (PowerConstructor).

    The class is a variable like any other: it may have parents, and features need not be its children. Three phases find
    which variables have an edge: a draft that joins the strongest dependences to a tree, thickening by edges whose ends no
    test separates, and thinning of edges whose ends a test does separate; then edges are directed. Choose it to describe
    the rows, or to see which features the class depends on directly. Where prediction counts, `ConstraintAugmented` and
    `ChowLiu` are mostly better, since a feature that the graph parts from the class tells nothing any more.

    Parameters
    ----------
    test : {"mutual-information", "g2"}, default="mutual-information"
        What tells that two variables are independent: a conditional mutual information of at most `threshold`, in nats; or
        a likelihood-ratio (G²) test whose p-value is not below `significance`.
    threshold, significance
        As in `ConstraintAugmented`.
    max_parents : int or None, default=5
        The most parents of a variable, the class among them. If a given `threshold` or `significance` leads to more, that is
        an error.
    max_conditioning : int or None, default=3
        The most variables that a test is conditioned on.
    min_rows : float, default=5.0
        Rows that a test given other variables needs, on average, for every combination of values that occurs among them.

    Notes
    -----
    The result does not depend on the order of the columns: pairs of equal dependence are judged at once, so that a draft
    may hold more edges than a tree. The authors shrink the set that might separate a pair by an assumption (that dependence
    grows with every open path) which distributions need not meet; here that is only a first try, and thinning ends with all
    sets of neighbors of up to `max_conditioning` variables. Directions are found as in `ConstraintAugmented`; where they are
    free, the class is rather a parent than any feature.

    Features without an edge stay in the model with their own distribution and do not change predictions. Complete rows are
    predicted by the class's Markov blanket alone, others by exact inference.

    References
    ----------
    Cheng, Greiner, Kelly, Bell and Liu (2002), Learning Bayesian networks from data: an information-theory based approach.
    Artificial Intelligence 137.
    Greiner, Su, Shen and Zhou (2005), Structural extension to logistic regression: discriminative parameter learning of belief
    net classifiers. Machine Learning 59.
    Chickering and Meek (2006), On the incompatibility of faithfulness and monotone DAG faithfulness. Artificial Intelligence
    170.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.ThreePhase(test="g2", significance=0.01)).fit(data.X, data.y)
    >>> clf.network_.arcs
    [('class', 'x4')]
    """

    def _learn(self, context: TrainingContext) -> FittedStructure:
        return self._search(_core.learn_three_phase, context)

    def _numbers_of_parents(self, structure: _core.Structure) -> list[int]:
        of_features = zip(structure.parents, structure.class_children, strict=True)
        return [len(found or ()) + is_child for found, is_child in of_features] + [len(structure.class_parents)]
