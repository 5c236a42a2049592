"""The contract between classifiers and learners: what learners get, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.random import draw_seed
from .._utils.validation import check_table_sizes
from .traces import FitTrace, SearchTrace

#: The feature parents of every feature; None for a feature that the model leaves out. The class is a parent of all
#: others; where that is not so, a structure is given as the core's own object.
Parents = list[list[int] | None]

#: What to count for a learner: "singles" or "pairs", and further families as (child, parents).
Requirements = tuple[str, list[tuple[int, list[int]]]]


@dataclass(frozen=True)
class TrainingContext:
    """All that a learner may look at: the counts always, the rows only where they are all at hand.

    `kept` marks these rows among those given to ``fit``, where some had weight zero.
    """

    counts: _core.CountSet
    rows: Callable[[], _core.Dataset] | None
    kept: npt.NDArray[np.bool_] | None
    feature_names: list[str]
    class_name: str
    class_prior: list[float]
    threads: int
    random_state: Any
    verbose: int
    #: Counts families in another pass over a stream, where there is one.
    recount: Callable[[list[tuple[int, list[int]]]], _core.CountSet] | None = None

    @property
    def dataset(self) -> _core.Dataset | None:
        """The rows, where they are all at hand; folds of a cross-validation put them together only if asked."""
        return None if self.rows is None else self.rows()

    def draw_seed(self) -> int:
        """Return the seed of a learner that draws at random; others leave NumPy's global generator alone."""
        return draw_seed(self.random_state)

    def with_counts_for(self, structure: _core.Structure) -> TrainingContext:
        """Return the same with counts of the families of a structure, counted now where they were not yet."""
        families = structure.counted_families
        if all(starmap(self.counts.can_answer, families)):
            return self
        dataset, recount = self.dataset, self.recount
        check_table_sizes(self.feature_names, self.counts.cardinalities, self.counts.n_classes, families)
        if dataset is not None:
            return replace(self, counts=self.counts.with_families(dataset, families, self.threads))
        if recount is None:
            raise ValueError("a structure whose tables were not counted before needs all rows at once: use fit")
        return replace(self, counts=recount(families))


@dataclass(frozen=True)
class FittedStructure:
    """What a structure learner found, and, if it searched, how; and by which threshold of dependence, if by one."""

    parents: Parents | _core.Structure
    trace: SearchTrace | None = None
    threshold: float | None = None

    @property
    def structure(self) -> _core.Structure:
        """The same as the core knows it."""
        return self.parents if isinstance(self.parents, _core.Structure) else _core.Structure(self.parents)


#: What a parameter learner found on its way, one number per feature, by the name of the fitted attribute that shows it.
ExtraAttributes = dict[str, npt.NDArray[np.float64]]

#: The fitted attributes that exist only where a learner has them to show; the first ones are those of `ExtraAttributes`.
FEATURE_ATTRIBUTES = frozenset({"feature_weights_", "arc_probabilities_"})
EXTRA_ATTRIBUTES = FEATURE_ATTRIBUTES | {"search_trace_", "parameter_trace_", "dependence_threshold_"}


@dataclass(frozen=True)
class FittedParameters:
    """What a parameter learner made: the network, and what it found on its way."""

    core: _core.Network
    shown: ExtraAttributes = field(default_factory=dict)
    trace: FitTrace | None = None


class Predictor(Protocol):
    """What is asked of a predictor: those of the core, and what stands in for them."""

    def predict(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, output: str, threads: int = 1
    ) -> npt.NDArray[np.float64]: ...
    def predict_classes(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, threads: int = 1
    ) -> npt.NDArray[np.uint32]: ...


@dataclass(frozen=True)
class FittedModel:
    """A model ready to predict, with the counts that `partial_fit` would go on from."""

    core: Any
    predictor: Predictor
    counts: _core.CountSet | None
    trace: SearchTrace | None = None
    shown: ExtraAttributes = field(default_factory=dict)
    parameter_trace: FitTrace | None = None
    threshold: float | None = None
