"""Learners are settings objects that scikit-learn can clone and search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sklearn.base import BaseEstimator


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


def _describe(value: Any) -> str:
    return f"the class {value.__name__} (call it)" if isinstance(value, type) else f"of type {type(value).__name__}"
