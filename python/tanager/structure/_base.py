"""The base class of all structure learners."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .._learning.contract import FittedStructure, Requirements, TrainingContext
from .._learning.settings import Settings


class StructureLearner(Settings, ABC):
    """Base class of all structure learners; `tanager._learning.contract` describes the contract."""

    #: Whether the learner needs the rows themselves, not only counts.
    _needs_rows = False

    @property
    def _passes(self) -> int | None:
        """Number of passes over a stream of rows; None if the learner needs all rows in memory."""
        return None if self._needs_rows else 1

    @abstractmethod
    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:
        """Check the settings, and return what must be counted before `_learn` is called."""

    @abstractmethod
    def _learn(self, context: TrainingContext) -> FittedStructure:
        """Return the structure."""
