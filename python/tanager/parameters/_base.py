"""The base class of all parameter learners."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .. import _core
from .._learning.contract import FittedParameters, TrainingContext
from .._learning.settings import Settings


class ParameterLearner(Settings, ABC):
    """Base class of all parameter learners; `tanager._learning.contract` describes the contract."""

    #: Whether the learner needs the rows themselves, not only counts.
    _needs_rows = False

    @abstractmethod
    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        """Return the conditional probability tables of a structure."""
