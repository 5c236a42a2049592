"""What the parts of a stream know of the classifier that is fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._encoding.encoder import EncodingSettings
from .._encoding.schema import Schema
from .._learning.contract import Requirements, check_requirements


@dataclass(frozen=True)
class StreamPlan:
    """How to read and count the batches of a stream. It is pickled with every part, and therefore small.

    Attributes
    ----------
    encoding : EncodingSettings
    requirements : callable
        Returns what to count for given columns; can be pickled.
    threads : int
    random_state : int, RandomState or None
        For discretizers that need a sample of the rows.
    """

    encoding: EncodingSettings
    requirements: Callable[[Schema], Requirements]
    threads: int = 1
    random_state: Any = None

    def check(self, schema: Schema, sizes: list[int], n_classes: int) -> Requirements:
        """Return what to count; raise if one of its tables would be too large."""
        return check_requirements(self.requirements(schema), schema.feature_names, sizes, n_classes)
