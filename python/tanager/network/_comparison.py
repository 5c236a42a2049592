"""What two networks have in common, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._utils.optional import import_optional
from .._utils.text import display_label, plural

if TYPE_CHECKING:
    import pandas as pd

    from . import Network

Arc = tuple[str, str]


@dataclass(frozen=True, repr=False)
class NetworkComparison:
    """The structures of two networks side by side; made by ``network.compare(other)``.

    The class is one variable in both, whatever it is called, and has the first network's name here.

    Attributes
    ----------
    both : list of (str, str)
        The arcs that both networks have, as (parent, child).
    only_first, only_second : list of (str, str)
        The arcs of one network that join variables which the other does not join.
    turned : list of (str, str)
        The arcs that both networks have, but in opposite directions; as in the first.
    shared_features : list of str
        The features that both networks have.
    features_only_first, features_only_second : list of str
        Those that only one has: it has no such column, or leaves it out.
    distance : int
        The structural Hamming distance: how many arcs must be added, removed or turned to make one of the other.
    is_equivalent : bool
        Whether both have the same variables, the same skeleton (arcs without directions) and the same colliders: they can then
        represent the same distributions, such as trees that differ in their roots.
    """

    both: list[Arc]
    only_first: list[Arc]
    only_second: list[Arc]
    turned: list[Arc]
    shared_features: list[str]
    features_only_first: list[str]
    features_only_second: list[str]
    is_equivalent: bool
    distance: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", len(self.only_first) + len(self.only_second) + len(self.turned))

    @property
    def is_same(self) -> bool:
        """Whether both have the same features and arcs."""
        return not self.distance and not self.features_only_first and not self.features_only_second

    @property
    def skeleton_both(self) -> list[Arc]:
        """The pairs of variables that both networks join, in whatever direction."""
        return [*self.both, *self.turned]

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row per arc: "parent", "child" and where it "is" (both, first, second, turned)."""
        pd = import_optional("pandas", "to_frame")
        groups = (
            ("both", self.both),
            ("turned", self.turned),
            ("first", self.only_first),
            ("second", self.only_second),
        )
        rows = [(parent, child, where) for where, arcs in groups for parent, child in arcs]
        return pd.DataFrame(rows, columns=["parent", "child", "is"])

    def __repr__(self) -> str:
        if self.is_same:
            return f"the same {plural(len(self.both), 'arc')} between the same {plural(len(self.shared_features), 'feature')}"
        head = (
            f"{plural(len(self.both), 'arc')} in both, {len(self.turned)} turned, {len(self.only_first)} only in the "
        )
        lines = [
            f"{head}first, {len(self.only_second)} only in the second; structural Hamming distance {self.distance}"
        ]
        if self.is_equivalent:
            lines.append("equivalent: both can represent the same distributions")
        parts: list[tuple[str, list[Any]]] = [
            ("turned", [f"{display_label(a)} → {display_label(b)}" for a, b in self.turned]),
            ("only in the first", [f"{display_label(a)} → {display_label(b)}" for a, b in self.only_first]),
            ("only in the second", [f"{display_label(a)} → {display_label(b)}" for a, b in self.only_second]),
            ("features only in the first", list(map(display_label, self.features_only_first))),
            ("features only in the second", list(map(display_label, self.features_only_second))),
        ]
        lines += [f"{name}: {', '.join(items)}" for name, items in parts if items]
        return "\n".join(lines)


def compare_networks(first: Network, second: Network) -> NetworkComparison:
    """Compare the structures of two networks."""
    arcs = first.arcs
    name = {second.class_name: first.class_name}
    others = [(name.get(a, a), name.get(b, b)) for a, b in second.arcs]
    of_first, of_second = set(arcs), set(others)
    features, other_features = first.features, second.features
    same_variables = set(features) == set(other_features)
    joined = {frozenset(arc) for arc in arcs}
    return NetworkComparison(
        both=[arc for arc in arcs if arc in of_second],
        only_first=[(a, b) for a, b in arcs if (a, b) not in of_second and (b, a) not in of_second],
        only_second=[(a, b) for a, b in others if (a, b) not in of_first and (b, a) not in of_first],
        turned=[(a, b) for a, b in arcs if (b, a) in of_second],
        shared_features=[f for f in features if f in set(other_features)],
        features_only_first=[f for f in features if f not in set(other_features)],
        features_only_second=[f for f in other_features if f not in set(features)],
        is_equivalent=same_variables
        and joined == {frozenset(arc) for arc in others}
        and _colliders(arcs, joined) == _colliders(others, joined),
    )


def _colliders(arcs: list[Arc], joined: set[frozenset[str]]) -> set[tuple[frozenset[str], str]]:
    """Return all pairs of parents that no arc joins, with their common child."""
    parents: dict[str, list[str]] = {}
    for parent, child in arcs:
        parents.setdefault(child, []).append(parent)
    return {
        (frozenset((a, b)), child)
        for child, found in parents.items()
        for i, a in enumerate(found)
        for b in found[:i]
        if frozenset((a, b)) not in joined
    }
