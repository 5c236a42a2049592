"""Features and arcs as users name them, and feature names in errors of the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import _core
from .._utils.graphs import check_cycles
from .._utils.text import join_names
from .._utils.validation import is_integer


class Arcs(NamedTuple):
    """Arcs with features by position."""

    between_features: list[tuple[int, int]]
    class_parents: list[int]
    class_children: list[int]


def read_arcs(given: Any, feature_names: list[str], class_name: str, what: str, class_anywhere: bool = False) -> Arcs:
    """Return arcs with features by position.

    Unless `class_anywhere`, the class is a parent of every feature: arcs from it are ignored, and arcs to it rejected.
    """
    arcs = Arcs([], [], [])
    for arc in _check_list(given, what, "pairs (parent, child)"):
        if isinstance(arc, str) or not isinstance(arc, Iterable) or len(pair := tuple(arc)) != 2:
            raise ValueError(f"{what}: expected pairs (parent, child), got {arc!r}")
        parent, child = pair
        names_class = [end == class_name and class_name not in feature_names for end in pair]
        if all(names_class):
            raise ValueError(f"{what}: expected arcs between two variables, got {pair!r} from the class to itself")
        if names_class[1]:
            if not class_anywhere:
                raise ValueError(f"{what}: expected no arcs to the class, which has no parents here, got {pair!r}")
            arcs.class_parents.append(feature_position(parent, feature_names, what))
        elif names_class[0]:
            position = feature_position(child, feature_names, what)
            if class_anywhere:
                arcs.class_children.append(position)
        else:
            position = feature_position(child, feature_names, what)
            arcs.between_features.append((feature_position(parent, feature_names, what), position))
            if arcs.between_features[-1] == (position, position):
                raise ValueError(f"{what}: expected arcs between two variables, got {pair!r} from a feature to itself")
    return arcs


def check_arcs(arcs: Arcs, feature_names: list[str], class_name: str, what: str) -> None:
    """Raise ValueError with the names of the variables if an arc between features is given twice or arcs form a cycle."""
    parents: dict[str, list[str]] = {name: [] for name in feature_names}
    for parent, child in arcs.between_features:
        parents[feature_names[child]].append(feature_names[parent])
    if arcs.class_parents:
        parents[class_name] = [feature_names[parent] for parent in arcs.class_parents]
    for name, given in parents.items():
        if len(set(given)) < len(given):
            twice = next(parent for i, parent in enumerate(given) if parent in given[:i])
            raise ValueError(f"{what}: expected every arc once, got {(twice, name)!r} twice")
    if arcs.class_parents:
        for child in arcs.class_children:
            parents[feature_names[child]].append(class_name)
    check_cycles(parents)


def read_features(given: Any, feature_names: list[str], what: str) -> list[int]:
    """Return features by position; None means no features."""
    features = () if given is None else _check_list(given, what, "names or positions")
    return [feature_position(feature, feature_names, what) for feature in features]


def _check_list(given: Any, what: str, items: str) -> Iterable[Any]:
    if isinstance(given, (str, Iterator)) or not isinstance(given, Iterable):
        raise TypeError(f"{what}: expected a list of {items}, got {type(given).__name__}")
    return given


def feature_position(feature: Any, feature_names: list[str], what: str) -> int:
    """Return the position of a feature given by name or position; `what` names the setting in messages."""
    if isinstance(feature, str):
        if feature not in feature_names:
            raise ValueError(f"{what}: expected one of the features {join_names(feature_names)}, got {feature!r}")
        return feature_names.index(feature)
    if not is_integer(feature) or not 0 <= feature < len(feature_names):
        raise ValueError(f"{what}: expected a feature name or a position below {len(feature_names)}, got {feature!r}")
    return int(feature)


def named_error(error: _core.CliqueTooLarge, names: Sequence[str]) -> ValueError:
    """Return the error of an inference that needs too much memory with the names of the features that cause it."""
    features: list[int] = getattr(error, "features", [])
    positions, labels = ", ".join(map(str, features)), ", ".join(repr(names[f]) for f in features)
    return ValueError(str(error).replace(f"the features {positions} have", f"the features {labels} have"))


@contextmanager
def naming_features(names: Sequence[str]) -> Iterator[None]:
    """Give errors of inferences that need too much memory the names of the features that cause it."""
    try:
        yield
    except _core.CliqueTooLarge as error:
        raise named_error(error, names) from None
