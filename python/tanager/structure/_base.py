"""The base class of all structure learners."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .._learning.contract import FittedStructure, Requirements, TrainingContext
from .._learning.settings import Settings


class StructureLearner(Settings, ABC):
    """Base of all structure learners."""

    #: Whether the learner looks at the rows themselves, so that counts alone are not enough.
    _needs_rows = False

    @property
    def _passes(self) -> int | None:
        """How many passes over a stream of rows learning takes; None if it must have the rows at hand."""
        return None if self._needs_rows else 1

    @abstractmethod
    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:
        """Say what must be counted before `_learn` is called."""

    @abstractmethod
    def _learn(self, context: TrainingContext) -> FittedStructure:
        """Return the feature parents of every feature."""
