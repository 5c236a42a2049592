"""Conversion to networkx."""

from __future__ import annotations

from typing import Any

from .._utils.optional import import_optional
from ..network import Network
from ..network._strengths import arc_strength


def networkx_graph(network: Network, strengths: bool) -> Any:
    """Return a directed graph of networkx."""
    nx = import_optional("networkx", "to_networkx")
    graph = nx.DiGraph(class_name=network.class_name)
    for name in [*network.features, network.class_name]:
        cpt = network.cpt(name)
        kind = "class" if name == network.class_name else "feature"
        graph.add_node(name, kind=kind, labels=list(cpt.labels[cpt.names.index(name)]), table=cpt)
    for parent, child in network.arcs:
        graph.add_edge(parent, child, **({"strength": arc_strength(network, parent, child)} if strengths else {}))
    return graph
