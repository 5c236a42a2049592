"""Structure learners based on independence tests: the PC algorithm given the class, and the three-phase algorithm."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable

from .. import _core
from .._learning.contract import FittedStructure, Requirements, TrainingContext
from .._learning.settings import MAX_LIMIT
from .._utils.progress import check_stopping
from .._utils.validation import check_choice, check_number, check_optional_int
from ._base import StructureLearner


class ConstraintSearch(StructureLearner):
    """Base of the constraint-based learners; `ConstraintAugmented` documents the parameters."""

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
        self._core_threshold()
        self._limit("max_parents")
        self._limit("max_conditioning")
        self._check_min_rows()
        return "singles", []

    def _core_threshold(self) -> float | None:
        """Return the threshold of dependence as the core takes it; None for "auto"."""
        if check_choice(self.test, "test", ("mutual-information", "g2")) == "g2":
            if self.significance == "auto":
                return None
            level = 0.0 if isinstance(self.significance, str) else check_number(self.significance, "significance")
            if not 0 < level < 1:
                raise ValueError(
                    f"significance: expected 'auto' or a number between 0 and 1, got {self.significance!r}"
                )
            return -math.log(level)
        if self.threshold == "auto":
            return None
        value = math.nan if isinstance(self.threshold, str) else check_number(self.threshold, "threshold")
        if not 0 <= value < math.inf:
            raise ValueError(f"threshold: expected 'auto' or a finite number >= 0, got {self.threshold!r}")
        return value

    def _limit(self, name: str) -> int | None:
        value = check_optional_int(getattr(self, name), name, minimum=0)
        return None if value is None else min(value, MAX_LIMIT)

    def _check_min_rows(self) -> float:
        return check_number(self.min_rows, "min_rows", minimum=0, finite=True)

    def _search(
        self, core: Callable[..., tuple[_core.Structure, float, int]], context: TrainingContext
    ) -> FittedStructure:
        check_stopping()  # the core looks every 50 ms only
        names, given = context.feature_names, self._core_threshold()
        structure, threshold, _ = core(
            context.require_rows(self),
            test=self.test,
            threshold=given,
            max_parents=self._limit("max_parents") if given is None else None,  # else checked below, with names
            max_conditioning=self._limit("max_conditioning"),
            min_rows=self._check_min_rows(),
            tie_order=sorted(range(len(names)), key=names.__getitem__),
            threads=context.threads,
        )
        if given is not None:
            for name, n_parents in zip([*names, context.class_name], self._n_parents(structure), strict=True):
                self._check_n_parents(name, n_parents)
        return FittedStructure(structure, threshold=threshold)

    @abstractmethod
    def _n_parents(self, structure: _core.Structure) -> list[int]:
        """Return the number of parents that `max_parents` limits, of each feature and of the class."""

    def _check_n_parents(self, name: str, n_parents: int) -> None:
        limit = self._limit("max_parents")
        if limit is None or n_parents <= limit:
            return
        setting = "significance" if self.test == "g2" else "threshold"
        raise ValueError(
            f"{name!r} would have {n_parents} parents at {setting}={getattr(self, setting)!r}, but max_parents is {limit}; "
            f"{'decrease' if self.test == 'g2' else 'increase'} {setting}, set {setting}='auto' or increase max_parents"
        )


class ConstraintAugmented(ConstraintSearch):
    """General augmented naive Bayes (GAN): the PC algorithm over the features, given the class.

    Two features get an edge unless they are independent given the class and some neighbors of one of them; then edges are
    directed. The class is a parent of every feature. Choose it when features depend on each other in more ways than a
    tree can express, and there are many rows. It does not evaluate predictions, so it is faster than the wrapper
    searches.

    Parameters
    ----------
    test : {"mutual-information", "g2"}, default="mutual-information"
        When two features count as independent: if their conditional mutual information is at most `threshold`, in nats;
        or if the p-value of a likelihood-ratio (G²) test is at least `significance`.
    threshold : float or "auto", default="auto"
        "auto" decreases the threshold along a fixed grid, ten values per factor of ten from 8 to 0.0001, as long as no
        feature has more than `max_parents` parents and all tables together have at most 4,194,304 cells, and uses the
        last such value. It stops after two values in a row that exceed a limit, or when a graph is so dense that its
        edges would need more than 262,144 conditioning sets of one size. Smaller thresholds might meet the limits by
        chance, but would take almost all of the time. The result is in the classifier's ``dependence_threshold_``.
    significance : float or "auto", default="auto"
        "auto" increases the significance level in the same way up to 0.05, on a grid of its logarithm.
    max_parents : int or None, default=5
        Maximum number of feature parents per feature. It is an error if a given `threshold` or `significance` leads to
        more.
    max_conditioning : int or None, default=3
        Maximum number of features in a conditioning set, besides the class. The time grows steeply with it.
    min_rows : float, default=5.0
        Minimum average number of rows per observed combination of values of the conditioning set and the class. A test
        given other features with fewer rows is skipped, and no independence is concluded from it: if almost every row has
        its own combination, even identical features look independent.

    Notes
    -----
    The result does not depend on the order of the columns. Edges are tested by increasing size of the conditioning sets,
    each size on the graph as it was before that size (PC-stable). A common neighbor of two non-adjacent features is a
    collider if it is in fewer than half of the smallest sets that separate them; edges that get both directions, or are
    part of a directed cycle, get none from this rule. Meek's rules follow. All graphs that remain fit the data equally
    well with the same number of parameters. An edge that is still undirected starts at the feature with more information
    about the class; ties are broken by greater entropy, fewer values, the smaller code in the first row where the
    features differ, and the first name. If every direction adds a collider, the one with the fewest parameters is used.

    A test uses the rows in which all its features are observed. Sample weights count as frequencies. Of two identical
    features, neither gets an edge to a third one, since each makes the other redundant.

    Missing values are marginalized out exactly at prediction time; a row that would need too much memory is rejected.

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

    def _n_parents(self, structure: _core.Structure) -> list[int]:
        return [len(parents or ()) for parents in structure.parents] + [0]


class ThreePhase(ConstraintSearch):
    """General Bayesian network by the three-phase algorithm of Cheng et al. (PowerConstructor).

    The class is a variable like any other: it may have parents, and features need not be its children. Three phases find
    the edges: drafting connects the strongest dependences to a tree, thickening adds edges between variables that no test
    separates, and thinning removes edges between variables that a test does separate. Then edges are directed. Choose it
    to describe the data, or to see which features the class depends on directly. For prediction, `ConstraintAugmented`
    and `ChowLiu` are usually better, since features outside the Markov blanket of the class do not contribute.

    Parameters
    ----------
    test : {"mutual-information", "g2"}, default="mutual-information"
        When two variables count as independent: if their conditional mutual information is at most `threshold`, in nats;
        or if the p-value of a likelihood-ratio (G²) test is at least `significance`.
    threshold, significance
        As in `ConstraintAugmented`.
    max_parents : int or None, default=5
        Maximum number of parents per variable, including the class. It is an error if a given `threshold` or
        `significance` leads to more.
    max_conditioning : int or None, default=3
        Maximum number of variables in a conditioning set.
    min_rows : float, default=5.0
        Minimum average number of rows per observed combination of values of the conditioning set; a conditional test with
        fewer rows is skipped.

    Notes
    -----
    The result does not depend on the order of the columns: pairs of equal dependence are processed together, so a draft
    may have more edges than a tree. The authors shrink the set that might separate a pair under an assumption (dependence
    grows with every open path) that distributions need not satisfy; here that is only a first attempt, and thinning ends
    with all sets of neighbors of up to `max_conditioning` variables. Edges are directed as in `ConstraintAugmented`; an
    edge of the class that is still undirected starts at the class.

    Features without an edge stay in the model with their marginal distribution and do not affect predictions. Complete
    rows are predicted from the Markov blanket of the class alone, others by exact inference.

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

    def _n_parents(self, structure: _core.Structure) -> list[int]:
        of_features = zip(structure.parents, structure.class_children, strict=True)
        return [len(parents or ()) + is_child for parents, is_child in of_features] + [len(structure.class_parents)]
