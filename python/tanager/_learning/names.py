"""Features and arcs as users name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import _core
from .._utils.validation import is_integer


class Arcs(NamedTuple):
    """Arcs as a user lists them, with features by position."""

    between_features: list[tuple[int, int]]
    class_parents: list[int]
    class_children: list[int]


def read_arcs(given: Any, feature_names: list[str], class_name: str, what: str, class_anywhere: bool = False) -> Arcs:
    """Return arcs by position. Unless the class may stand anywhere, arcs from it are left out and arcs to it refused."""
    arcs = Arcs([], [], [])
    for arc in _listed(given, what, "pairs (parent, child)"):
        if isinstance(arc, str) or not isinstance(arc, Iterable) or len(pair := tuple(arc)) != 2:
            raise ValueError(f"every arc must be a pair (parent, child), but one is {arc!r}")
        parent, child = pair
        names_class = [end == class_name and class_name not in feature_names for end in pair]
        if all(names_class):
            raise ValueError(f"an arc must join two variables, but {pair!r} joins the class to itself")
        if names_class[1]:
            if not class_anywhere:
                raise ValueError(f"the class has no parents here, but the arc {pair!r} points to it")
            arcs.class_parents.append(feature_position(parent, feature_names, "parent"))
        elif names_class[0]:
            position = feature_position(child, feature_names, "child")
            if class_anywhere:
                arcs.class_children.append(position)
        else:
            position = feature_position(child, feature_names, "child")
            arcs.between_features.append((feature_position(parent, feature_names, "parent"), position))
    return arcs


def read_features(given: Any, feature_names: list[str], what: str) -> list[int]:
    """Return features by position; None means none."""
    listed = () if given is None else _listed(given, what, "names or positions")
    return [feature_position(feature, feature_names, f"every feature in {what}") for feature in listed]


def _listed(given: Any, what: str, items: str) -> Iterable[Any]:
    if isinstance(given, (str, Iterator)) or not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a list of {items}, but is of type {type(given).__name__}")
    return given


def feature_position(feature: Any, feature_names: list[str], what: str) -> int:
    """Return the position of a feature given by name or position."""
    if isinstance(feature, str):
        if feature not in feature_names:
            raise ValueError(f"{what} must be one of the features {_shown(feature_names)}, but is {feature!r}")
        return feature_names.index(feature)
    if not is_integer(feature) or not 0 <= feature < len(feature_names):
        raise ValueError(f"{what} must be a name or a position below {len(feature_names)}, but is {feature!r}")
    return int(feature)


def _shown(names: list[str], most: int = 10) -> str:
    return ", ".join(map(repr, names[:most])) + (f", ... ({len(names)} in all)" if len(names) > most else "")


def named_refusal(error: _core.CliqueTooLarge, names: Sequence[str]) -> ValueError:
    """Return what refuses an inference that is too large, with the features to blame by their names."""
    features: list[int] = getattr(error, "features", [])
    numbers, found = ", ".join(map(str, features)), ", ".join(repr(names[f]) for f in features)
    return ValueError(str(error).replace(f"the features {numbers} have", f"the features {found} have"))


@contextmanager
def naming_features(names: Sequence[str]) -> Iterator[None]:
    """Let the refusal of an inference that is too large name the features to blame."""
    try:
        yield
    except _core.CliqueTooLarge as error:
        raise named_refusal(error, names) from None
