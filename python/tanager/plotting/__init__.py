"""Plots of models, explanations and scores, with matplotlib (``pip install 'tanager[plot]'``).

Every function plots into the given axes, or into a new figure of suitable size, and returns the axes.
"""

from __future__ import annotations

from .._utils.public import set_public_path
from ._explanation import plot_explanation
from ._network import plot_network
from ._quality import plot_reliability, plot_roc
from ._scores import plot_learning_curve, plot_scores, plot_search
from ._trees import plot_edges, plot_map_tree

__all__ = [
    "plot_edges",
    "plot_explanation",
    "plot_learning_curve",
    "plot_map_tree",
    "plot_network",
    "plot_reliability",
    "plot_roc",
    "plot_scores",
    "plot_search",
]

set_public_path(__name__, globals())
