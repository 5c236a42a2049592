"""Structural comparison of two networks."""

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
    """Structural comparison of two networks, returned by ``network.compare(other)``.

    The class counts as the same variable in both, and has the name of the first network here.

    Attributes
    ----------
    both : list of (str, str)
        The arcs of both networks, as (parent, child).
    only_first, only_second : list of (str, str)
        The arcs of one network between variables that are not adjacent in the other.
    reversed : list of (str, str)
        The arcs of both networks with opposite directions; as in the first.
    shared_features : list of str
        The features of both networks.
    features_only_first, features_only_second : list of str
        The features of only one network; the other one has no such column, or leaves it out.
    distance : int
        Structural Hamming distance: the number of arcs to add, remove or reverse to turn one network into the other.
    is_equivalent : bool
        Whether the networks are Markov equivalent: they have the same variables, skeleton and colliders, and can represent
        the same distributions. Trees that differ only in their roots are an example.
    """

    both: list[Arc]
    only_first: list[Arc]
    only_second: list[Arc]
    reversed: list[Arc]
    shared_features: list[str]
    features_only_first: list[str]
    features_only_second: list[str]
    is_equivalent: bool
    distance: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", len(self.only_first) + len(self.only_second) + len(self.reversed))

    @property
    def is_same(self) -> bool:
        """Whether both networks have the same features and arcs."""
        return not self.distance and not self.features_only_first and not self.features_only_second

    @property
    def skeleton_both(self) -> list[Arc]:
        """The pairs of variables that are adjacent in both networks, in either direction."""
        return [*self.both, *self.reversed]

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per arc: "parent", "child" and "is" (both, first, second or reversed)."""
        pd = import_optional("pandas", "to_frame")
        groups = (
            ("both", self.both),
            ("reversed", self.reversed),
            ("first", self.only_first),
            ("second", self.only_second),
        )
        rows = [(parent, child, where) for where, arcs in groups for parent, child in arcs]
        return pd.DataFrame(rows, columns=["parent", "child", "is"])

    def __repr__(self) -> str:
        if self.is_same:
            return f"the same {plural(len(self.both), 'arc')} between the same {plural(len(self.shared_features), 'feature')}"
        head = f"{plural(len(self.both), 'arc')} in both, {len(self.reversed)} reversed, {len(self.only_first)} only in the "
        lines = [
            f"{head}first, {len(self.only_second)} only in the second; structural Hamming distance {self.distance}"
        ]
        if self.is_equivalent:
            lines.append("Markov equivalent: both can represent the same distributions")
        parts: list[tuple[str, list[Any]]] = [
            ("reversed", [f"{display_label(a)} → {display_label(b)}" for a, b in self.reversed]),
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
        reversed=[(a, b) for a, b in arcs if (b, a) in of_second],
        shared_features=[f for f in features if f in set(other_features)],
        features_only_first=[f for f in features if f not in set(other_features)],
        features_only_second=[f for f in other_features if f not in set(features)],
        is_equivalent=same_variables
        and joined == {frozenset(arc) for arc in others}
        and _colliders(arcs, joined) == _colliders(others, joined),
    )


def _colliders(arcs: list[Arc], joined: set[frozenset[str]]) -> set[tuple[frozenset[str], str]]:
    """Return all pairs of non-adjacent parents, with their common child."""
    parents: dict[str, list[str]] = {}
    for parent, child in arcs:
        parents.setdefault(child, []).append(parent)
    return {
        (frozenset((a, b)), child)
        for child, names in parents.items()
        for i, a in enumerate(names)
        for b in names[:i]
        if frozenset((a, b)) not in joined
    }
