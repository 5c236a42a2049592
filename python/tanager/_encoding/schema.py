"""Names of the columns and of the class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Schema:
    """Names of the columns, if they have some, their number, and the name of the class."""

    names: list[str] | None
    n_features: int
    class_name: str

    @cached_property
    def feature_names(self) -> list[str]:
        """The names, or x0, x1, ... in their place."""
        return [f"x{i}" for i in range(self.n_features)] if self.names is None else self.names
