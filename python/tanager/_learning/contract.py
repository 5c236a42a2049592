"""The contract between classifiers and learners.

``fit`` encodes the data, counts what the structure learner requires, and passes a `TrainingContext` on:

1. ``StructureLearner._requirements`` checks the settings and returns what to count (`Requirements`).
2. ``StructureLearner._learn(context)`` returns a `FittedStructure`.
3. ``ParameterLearner._estimate(context, structure)`` returns `FittedParameters`, with counts for all families of the
   structure available in ``context.counts``.
4. The classifier combines both into a `FittedModel`.

A learner that works with counts alone also supports ``partial_fit``, ``fit_stream`` and cross-validation from shared
counts. A learner that needs the rows sets ``_needs_rows = True`` and calls ``context.require_rows(self)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import starmap
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.random import draw_seed
from .._utils.validation import check_table_sizes
from .traces import FitTrace, SearchTrace

#: The feature parents of every feature; None for a feature that is not in the model. The class is a parent of every
#: feature; any other position of the class needs a `_core.Structure`.
Parents = list[list[int] | None]

#: What to count for a learner: "singles" or "pairs", and further families as (child, parents).
Requirements = tuple[str, list[tuple[int, list[int]]]]


def check_requirements(
    requirements: Requirements, feature_names: list[str], sizes: list[int], n_classes: int
) -> Requirements:
    """Return the requirements; raise if one of their tables would be too large."""
    scope, families = requirements
    largest = nlargest(2 if scope == "pairs" else 1, range(len(sizes)), key=sizes.__getitem__)
    check_table_sizes(feature_names, sizes, n_classes, [(largest[0], largest[1:]), *families])
    return requirements


@dataclass(frozen=True)
class TrainingContext:
    """Everything a learner may use: counts, names, settings of the classifier and, in `fit`, the rows.

    Attributes
    ----------
    counts : CountSet
        Weighted counts of what the structure learner required.
    load_rows : callable or None
        Returns the encoded rows; None if only counts are available (`partial_fit`, `fit_stream`). Learners use
        `require_rows`.
    row_mask : ndarray of bool or None
        Which of the rows passed to ``fit`` are in the dataset, if rows of weight zero were dropped.
    feature_names : list of str
    class_name : str
    class_prior : list of float
        The class probabilities; empty if they are to be estimated.
    threads : int
    random_state : int, RandomState or None
    verbose : int
    recount : callable or None, default=None
        Counts further families in another pass over a stream.
    """

    counts: _core.CountSet
    load_rows: Callable[[], _core.Dataset] | None
    row_mask: npt.NDArray[np.bool_] | None
    feature_names: list[str]
    class_name: str
    class_prior: list[float]
    threads: int
    random_state: Any
    verbose: int
    recount: Callable[[list[tuple[int, list[int]]]], _core.CountSet] | None = None

    def require_rows(self, learner: object) -> _core.Dataset:
        """Return the encoded rows, or raise if the learner was called without them."""
        if self.load_rows is None:
            raise ValueError(f"{type(learner).__name__} needs all rows at once: use fit")
        return self.load_rows()

    def draw_seed(self) -> int:
        """Return a seed; only learners that use randomness may call it, since it can advance a shared generator."""
        return draw_seed(self.random_state)

    def with_counts_for(self, structure: _core.Structure) -> TrainingContext:
        """Return a context whose counts cover all families of a structure, counting those that are missing."""
        families = structure.counted_families
        if all(starmap(self.counts.can_answer, families)):
            return self
        check_table_sizes(self.feature_names, self.counts.cardinalities, self.counts.n_classes, families)
        if self.load_rows is not None:
            return replace(self, counts=self.counts.with_families(self.load_rows(), families, self.threads))
        if self.recount is None:
            raise ValueError("the tables of this structure were not counted, which needs all rows at once: use fit")
        return replace(self, counts=self.recount(families))


@dataclass(frozen=True)
class FittedStructure:
    """The result of a structure learner.

    Attributes
    ----------
    parents : list or Structure
        See `Parents`.
    trace : SearchTrace or None
        The steps of a search.
    threshold : float or None
        The dependence threshold of a constraint-based learner.
    """

    parents: Parents | _core.Structure
    trace: SearchTrace | None = None
    threshold: float | None = None

    @property
    def structure(self) -> _core.Structure:
        """The structure as the core represents it."""
        return self.parents if isinstance(self.parents, _core.Structure) else _core.Structure(self.parents)


#: Fitted attributes with one number per feature, such as ``feature_weights_``, by name.
ExtraAttributes = dict[str, npt.NDArray[np.float64]]

#: The names that `ExtraAttributes` may have.
FEATURE_ATTRIBUTES = frozenset({"feature_weights_", "arc_probabilities_"})

#: All fitted attributes of a classifier that exist only with some learners.
EXTRA_ATTRIBUTES = FEATURE_ATTRIBUTES | {"search_trace_", "parameter_trace_", "dependence_threshold_"}


@dataclass(frozen=True)
class FittedParameters:
    """The result of a parameter learner.

    Attributes
    ----------
    core : Network
        The structure with its conditional probability tables.
    attributes : dict
        Further fitted attributes of the classifier.
    trace : FitTrace or None
        The iterations of an iterative learner.
    """

    core: _core.Network
    attributes: ExtraAttributes = field(default_factory=dict)
    trace: FitTrace | None = None


class Predictor(Protocol):
    """The interface of predictors: those of the core, and their substitutes in Python."""

    def predict(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, output: str, threads: int = 1
    ) -> npt.NDArray[np.float64]: ...
    def predict_classes(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, threads: int = 1
    ) -> npt.NDArray[np.uint32]: ...


@dataclass(frozen=True)
class FittedModel:
    """A fitted model of any kind, as classifiers store it.

    Attributes
    ----------
    core : object
        The model in the core: a network, or an average of networks.
    predictor : Predictor
    counts : CountSet or None
        The counts that `partial_fit` continues from.
    trace, attributes, parameter_trace, threshold
        See `FittedStructure` and `FittedParameters`.
    """

    core: Any
    predictor: Predictor
    counts: _core.CountSet | None
    trace: SearchTrace | None = None
    attributes: ExtraAttributes = field(default_factory=dict)
    parameter_trace: FitTrace | None = None
    threshold: float | None = None
