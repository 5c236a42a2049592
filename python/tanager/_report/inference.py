"""What a page needs to predict as the model does, where both its numbers and the work are few enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._utils.graphs import maximum_spanning_tree
from ..averaging._mp import MpAverage
from ..classifiers._base import BaseClassifier
from ..explain._explanation import chain_order
from ..network import Network
from .numbers import is_whole, packed, packed_counts

#: How many numbers a page holds at most: some megabytes of text.
MOST_NUMBERS = 1_000_000
#: Operations for one answer with its contributions: a second or two where it comes to the worst.
MOST_OPERATIONS = 600_000_000
#: Features beyond which a panel is of no use, and planning would last.
MOST_FEATURES = 500
#: Values of all features together that a panel lets one choose from.
MOST_VALUES = 20_000
# A sum on the log scale takes about as long as so many products.
_LOG_SUM = 10


class Absent(Exception):  # it is no error
    """Says in a sentence why a page does without something."""


def inference_of(clf: BaseClassifier) -> dict[str, Any]:
    """Return what the page's inference reads; tables of a network are those that the drawing shows.

    Raises
    ------
    Absent
        Where the model is too large for a page.
    """
    core = clf._core_model
    n = clf.n_features_in_
    if n > MOST_FEATURES:
        raise Absent(f"the model has {n:,} features, and this panel takes at most {MOST_FEATURES:,}")
    n_values = sum(clf._encoder.cardinalities)
    if n_values > MOST_VALUES:
        raise Absent(f"the features have {n_values:,} values together, and this panel takes at most {MOST_VALUES:,}")
    if isinstance(core, MpAverage):
        raise Absent("only numbers of more digits than a page computes with can predict with such a prior")
    if isinstance(core, _core.Aode):
        return _aode(core)
    if isinstance(core, _core.Tbmatan):
        return _tbmatan(core, clf._predictor)
    return _network(clf.network_)


def _check(n_numbers: int, n_operations: float) -> None:
    if n_numbers > MOST_NUMBERS:
        raise Absent(f"the model has {n_numbers:,} numbers, and a page holds at most {MOST_NUMBERS:,}")
    if n_operations > MOST_OPERATIONS:
        raise Absent(
            f"an answer would take {n_operations:.2g} operations, and a page does at most {MOST_OPERATIONS:.2g} at once"
        )


# -- networks


def network_numbers(network: Network) -> int:
    """Return how many numbers all tables of a network hold."""
    core = network._core
    sizes = [core.table(f).size for f, parents in enumerate(core.parents) if parents is not None]
    return sum(sizes) + int(core.class_table.size)


def _network(network: Network) -> dict[str, Any]:
    core = network._core
    n_numbers = network_numbers(network)
    _check(n_numbers, 0)
    scopes = [[*parents, f] for f, parents in enumerate(core.parents) if parents is not None]
    order, cells = elimination([*scopes, core.structure.class_parents], core.cardinalities)
    _check(n_numbers, float(cells) * core.n_classes * (len(order) + 1) * _LOG_SUM)
    return {"kind": "network", "elimination": order, "order": chain_order(network)}


def elimination(scopes: Sequence[Sequence[int]], cardinalities: Sequence[int]) -> tuple[list[int], int]:
    """Return an order to sum features out that keeps tables small, and how many cells they have together.

    Evidence only removes features, so that no evidence takes more work than this.
    """
    neighbors: dict[int, set[int]] = {f: set() for scope in scopes for f in scope}
    for scope in scopes:
        for f in scope:
            neighbors[f].update(scope)
    for f, found in neighbors.items():
        found.discard(f)
    weights = {f: math.prod(cardinalities[g] for g in found) * cardinalities[f] for f, found in neighbors.items()}
    order, cells = [], 0
    while neighbors:
        f = min(neighbors, key=lambda g: (weights[g], g))
        order.append(f)
        cells += weights.pop(f)
        found = neighbors.pop(f)
        for g in found:
            neighbors[g] |= found
            neighbors[g] -= {f, g}
            weights[g] = math.prod(cardinalities[h] for h in neighbors[g]) * cardinalities[g]
    return order, cells


# -- averages


def _aode(core: _core.Aode) -> dict[str, Any]:
    cards, n, s = core.cardinalities, core.n_features, core.n_classes
    n_values = sum(cards)
    _check(s * (1 + n_values + n_values**2 - sum(r**2 for r in cards)), s * n * n_values * (n + 1))
    eligible = None
    if core.min_count > 0:
        eligible = [(core.value_counts(f) >= core.min_count).astype(int).tolist() for f in range(n)]
    return {
        "kind": "aode",
        "order": list(range(n)),
        "prior": packed(core.class_probabilities),
        "singles": [packed(core.single(f)) for f in range(n)],
        "pairs": [None if p == i else packed(core.pair(p, i)) for p in range(n) for i in range(n)],
        "eligible": eligible,
    }


def _tbmatan(core: _core.Tbmatan, predictor: Any) -> dict[str, Any]:
    cards, n, s = core.cardinalities, core.n_features, core.n_classes
    if predictor.method == "exact":
        raise Absent("the weights of its trees are too far apart for the numbers that a page computes with")
    n_assignments = math.prod(cards)
    summed = min(n_assignments, core.max_assignments)
    n_trees = core.n_trees if n_assignments > core.max_assignments else 0
    # Of arcs between features only those are summed over of which neither end is known, and something below is.
    tree_cells = n * max(cards) ** 2 * s * (n + 1) * n_trees / 3
    n_cells = s * (sum(cards) + (sum(cards) ** 2 - sum(r**2 for r in cards)) // 2)
    _check(n_cells, summed * s * (n**3 / 6 + n**2 / 2) + tree_cells)
    singles = [core.counts.single(f) for f in range(n)]
    pairs = [core.counts.pair(u, v) for u in range(n) for v in range(u + 1, n)]
    whole = all(map(is_whole, [*singles, *pairs]))  # weights of rows need not be
    pack = packed_counts if whole else packed
    exponents, weights = relative_weights(*core.edge_weights)
    above = np.triu_indices(n, 1)
    return {
        "kind": "tbmatan",
        "order": list(range(n)),
        "prior": packed(core.class_probabilities),
        "size": core.equivalent_sample_size,
        "mostAssignments": core.max_assignments,
        "nTrees": core.n_trees,
        "whole": whole,
        "singles": [pack(cells) for cells in singles],
        "pairs": [pack(cells) for cells in pairs],
        "weights": packed(weights[above]),
        "exponents": exponents[above].tolist(),
        "trees": _sampled_trees(core) if n_trees else [],
    }


def relative_weights(mantissas: Any, exponents: Any) -> tuple[Any, Any]:
    """Return weights of edges as powers of two that bound them, and what is left.

    The bound of an edge is the weakest edge of the strongest path between its ends: with weights relative to it, sums over
    trees are found by elimination without leaving the range of doubles.
    """
    n = len(mantissas)
    with np.errstate(divide="ignore"):
        logs = np.log2(mantissas) + exponents
    bounds = np.zeros((n, n))
    inside = [0]
    for link, v in maximum_spanning_tree(logs):
        for u in inside:
            through = logs[v, link] if u == link else min(logs[v, link], bounds[u, link])
            bounds[u, v] = bounds[v, u] = through
        inside.append(v)
    powers = np.round(bounds).astype(np.int64)
    return powers, np.ldexp(mantissas, np.clip(exponents - powers, -2000, 2000).astype(np.int32))


def _sampled_trees(core: _core.Tbmatan) -> list[dict[str, Any]]:
    """Return the trees that the library averages over where too much is missing, with their shares."""
    weights = _core.EdgeWeights.from_parts(*core.edge_weights)
    drawn = _core.sample_trees(weights, core.n_trees, _core.TREE_SEED)
    times: dict[tuple[tuple[int, int], ...], int] = {}
    for tree in drawn.tolist():
        edges = tuple(sorted((min(edge), max(edge)) for edge in tree))
        times[edges] = times.get(edges, 0) + 1
    found = []
    for edges, count in times.items():
        parents = [-1 if not above else above[0] for above in core.network_of(edges).parents]
        found.append({"share": count / len(drawn), "parents": parents, "order": _leaves_first(parents)})
    return found


def _leaves_first(parents: list[int]) -> list[int]:
    def depth(f: int) -> int:
        steps = 0
        while parents[f] >= 0:
            f, steps = parents[f], steps + 1
        return steps

    return sorted(range(len(parents)), key=lambda f: (-depth(f), f))
