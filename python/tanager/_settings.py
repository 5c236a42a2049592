"""What structure and parameter learners share: they are settings objects that scikit-learn can clone and search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from . import _core

Parents = list[list[int]]


@dataclass(frozen=True)
class Learning:
    """All that a learner may look at: the counts always, the rows only where they are all at hand."""

    counts: _core.CountSet
    dataset: _core.Dataset | None
    feature_names: list[str]
    class_name: str
    class_prior: list[float]
    threads: int
    random_state: Any
    verbose: int

    def draw_seed(self) -> int:
        """Return the seed of a learner that draws at random; others leave NumPy's global generator alone."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))


class Settings(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """A learner's settings: ``get_params``, ``set_params``, ``clone`` and ``repr`` as everywhere in scikit-learn."""


S = TypeVar("S", bound=Settings)


def resolve(value: object, kind: type[S], by_name: Mapping[str, Callable[[], S]], default: str, parameter: str) -> S:
    """Turn None, a name of the command line or a settings object into a settings object."""
    if value is None:
        return by_name[default]()
    if isinstance(value, str):
        if value not in by_name:
            raise ValueError(f"{parameter} must be one of {', '.join(sorted(by_name))}, but is {value!r}")
        return by_name[value]()
    if isinstance(value, kind):
        return value
    raise TypeError(f"{parameter} must be a name, an object of tanager.{parameter} or None, but is {_describe(value)}")


def as_number(value: Any, parameter: str) -> float:
    """Return a setting as a float, or say that it is not a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{parameter} must be a number, but is {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{parameter} must be finite, but is too large for a float") from None


def _describe(value: Any) -> str:
    return f"the class {value.__name__} (call it)" if isinstance(value, type) else f"of type {type(value).__name__}"
