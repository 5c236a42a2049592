"""Learners as objects with settings that scikit-learn can clone and search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

#: Replaces larger limits, such as numbers of iterations: no computation reaches it, and every integer type holds it.
MAX_LIMIT = 2**31 - 1


class Settings(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """Base of all learners: ``get_params``, ``set_params``, ``clone`` and ``repr`` of scikit-learn."""


S = TypeVar("S", bound=Settings)


def resolve(value: object, kind: type[S], by_name: Mapping[str, Callable[[], S]], default: str, parameter: str) -> S:
    """Return the learner that a setting stands for: a learner, the name of one, or None for the default."""
    if value is None:
        return by_name[default]()
    if isinstance(value, str):
        if value not in by_name:
            raise ValueError(f"{parameter}: expected one of {', '.join(sorted(by_name))}, got {value!r}")
        return by_name[value]()
    if isinstance(value, kind):
        return value
    raise TypeError(f"{parameter}: expected a name, a learner from tanager.{parameter} or None, got {_describe(value)}")


def _describe(value: Any) -> str:
    return f"the class {value.__name__} (call it)" if isinstance(value, type) else type(value).__name__
