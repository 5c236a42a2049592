"""The base class of all parameter learners."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .. import _core
from .._learning.contract import FittedParameters, TrainingContext
from .._learning.settings import Settings


class ParameterLearner(Settings, ABC):
    """Base of all parameter learners."""

    #: Whether the learner looks at the rows themselves, so that counts alone are not enough.
    _needs_rows = False

    @abstractmethod
    def _estimate(self, context: TrainingContext, structure: _core.Structure) -> FittedParameters:
        """Return the network with its tables, and what was found on the way."""
