"""Data for exact inference in the page, if the model is small enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._utils.graphs import maximum_spanning_tree
from ..classifiers._base import BaseClassifier
from ..explain._explanation import chain_order
from ..network import Network
from .numbers import are_counts, packed, packed_counts

#: Maximum number of table entries in a page: some megabytes of text.
MAX_ENTRIES = 1_000_000
#: Maximum number of operations for a prediction with its contributions: a second or two in the worst case.
MAX_OPERATIONS = 600_000_000
#: Maximum number of features in the what-if panel.
MAX_FEATURES = 500
#: Maximum number of values of all features together in the what-if panel.
MAX_LABELS = 20_000
# Operations of a sum of logarithms.
_LOG_SUM = 10


class Absent(Exception):
    """Raised with the reason why a part of the page is left out; not an error."""


def inference_of(clf: BaseClassifier) -> dict[str, Any]:
    """Return the data for inference in the page; the tables of a network are stored with the network plot.

    Raises
    ------
    Absent
        If the model is too large for a page.
    """
    n = clf.n_features_in_
    if n > MAX_FEATURES:
        raise Absent(f"the model has {n:,} features, more than the limit of {MAX_FEATURES:,}")
    n_values = sum(clf._encoder.cardinalities)
    if n_values > MAX_LABELS:
        raise Absent(f"the features have {n_values:,} values in total, more than the limit of {MAX_LABELS:,}")
    description = clf._describe()
    if not description.is_storable:
        raise Absent("predictions with this prior need more precision than JavaScript numbers have")
    if description.network is not None:
        return _network(description.network)
    if description.posterior is not None:
        return _tbmatan(clf._core_model, clf._predictor)
    return _aode(clf._core_model)


def _check(n_entries: int, n_operations: float) -> None:
    if n_entries > MAX_ENTRIES:
        raise Absent(f"the model has {n_entries:,} table entries, more than the limit of {MAX_ENTRIES:,}")
    if n_operations > MAX_OPERATIONS:
        raise Absent(
            f"a prediction would take {n_operations:.2g} operations, more than the limit of {MAX_OPERATIONS:.2g}"
        )


# -- networks


def network_entries(network: Network) -> int:
    """Return the number of entries of all tables of a network."""
    core = network._core
    sizes = [core.table(f).size for f, parents in enumerate(core.parents) if parents is not None]
    return sum(sizes) + int(core.class_table.size)


def _network(network: Network) -> dict[str, Any]:
    core = network._core
    n_entries = network_entries(network)
    _check(n_entries, 0)
    scopes = [[*parents, f] for f, parents in enumerate(core.parents) if parents is not None]
    order, cells = elimination([*scopes, core.structure.class_parents], core.cardinalities)
    _check(n_entries, float(cells) * core.n_classes * (len(order) + 1) * _LOG_SUM)
    return {"kind": "network", "elimination": order, "order": chain_order(network)}


def elimination(scopes: Sequence[Sequence[int]], cardinalities: Sequence[int]) -> tuple[list[int], int]:
    """Return an elimination order of the features with small tables, and the total size of these tables.

    Evidence only removes features, so no evidence takes more work.
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
        raise Absent("the weights of its trees differ too much for JavaScript numbers")
    n_assignments = math.prod(cards)
    summed = min(n_assignments, core.max_assignments)
    n_trees = core.n_trees if n_assignments > core.max_assignments else 0
    # Sums only run over arcs with both ends unknown and evidence below them: about a third.
    tree_cells = n * max(cards) ** 2 * s * (n + 1) * n_trees / 3
    n_cells = s * (sum(cards) + (sum(cards) ** 2 - sum(r**2 for r in cards)) // 2)
    _check(n_cells, summed * s * (n**3 / 6 + n**2 / 2) + tree_cells)
    singles = [core.counts.single(f) for f in range(n)]
    pairs = [core.counts.pair(u, v) for u in range(n) for v in range(u + 1, n)]
    whole = all(map(are_counts, [*singles, *pairs]))  # sample weights may be fractions
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
    """Return edge weights as powers of two that bound them, and the remaining factors.

    The bound of an edge is the weakest edge of the strongest path between its ends. With weights relative to it, sums over
    trees are computed by elimination without overflow or underflow.
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
    """Return the sampled trees, with their shares, that the library averages over if too many values are missing."""
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
