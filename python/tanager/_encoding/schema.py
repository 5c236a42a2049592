"""Names of the columns and of the class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Schema:
    """Names of the columns, or None if they have no names; their number; and the name of the class."""

    names: list[str] | None
    n_features: int
    class_name: str

    @cached_property
    def feature_names(self) -> list[str]:
        """The names; x0, x1, ... if the columns have no names."""
        return [f"x{i}" for i in range(self.n_features)] if self.names is None else self.names
