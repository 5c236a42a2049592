"""HTML of averages over models, which have no single network to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._utils.text import display_label, html_label, plural
from ..network._html import foldable
from ..network._summary import MAX_ROWS, mutual_information

if TYPE_CHECKING:
    from ._posterior import TreePosterior

#: Edge probabilities take cubic time in the number of features; more features would block a notebook.
_MAX_FEATURES = 200
_MAX_EDGES = 12


def posterior_html(posterior: TreePosterior) -> str:
    """Return the most probable edges and the most probable tree of a posterior."""
    n = len(posterior.feature_names)
    head = (
        f"average over all trees of {plural(n, 'feature')}; the most probable tree has probability "
        f"{posterior.display_probability()}"
    )
    body = ""
    if 2 <= n <= _MAX_FEATURES:
        body = (
            f"<p>as uncertain as {posterior.n_effective_trees:,.3g} equally probable trees</p>{_edges_html(posterior)}"
        )
    tree = posterior.map_tree._repr_html_()
    return foldable(head, f"{body}<details><summary>the most probable tree</summary>{tree}</details>")


def _edges_html(posterior: TreePosterior) -> str:
    edges = posterior.edge_probabilities.most_probable(_MAX_EDGES)
    rows = "".join(
        f'<tr><td>{html_label(u)}</td><td>{html_label(v)}</td><td class="n bar" style="--p:{100 * p:.1f}%">{p:.4f}</td></tr>'
        for u, v, p in edges
    )
    n = len(posterior.feature_names)
    rest = n * (n - 1) // 2 - len(edges)
    more = f"<p>… and {plural(rest, 'less probable edge')}</p>" if rest else ""
    return (
        f"<table><thead><tr><th>edge between</th><th>and</th><th class=n>probability</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{more}"
    )


def aode_html(core: _core.Aode, feature_names: list[str], classes: list[Any]) -> str:
    """Return the features of averaged one-dependence estimators with their mutual information with the class."""
    prior = np.asarray(core.class_probabilities)
    information = [mutual_information(np.asarray(core.single(f)) * prior) for f in range(core.n_features)]
    order = sorted(range(core.n_features), key=lambda f: -round(information[f], 9))
    rows = "".join(
        f"<tr><td>{html_label(feature_names[f])}</td><td class=n>{core.cardinalities[f]:,}</td>"
        f"<td class=n>{information[f]:.4f}</td></tr>"
        for f in order[:MAX_ROWS]
    )
    n_more = core.n_features - MAX_ROWS
    more = f"<p>… and {plural(n_more, 'less informative feature')}</p>" if n_more > 0 else ""
    shares = ", ".join(f"{display_label(label)} ({p:.3g})" for label, p in list(zip(classes, prior, strict=True))[:20])
    many = f", and {len(classes) - 20:,} more" if len(classes) > 20 else ""
    head = (
        f"average of {plural(core.n_features, 'one-dependence model')}, each with a different super-parent, "
        f"{plural(len(classes), 'class')}, {plural(core.n_parameters, 'parameter')}"
    )
    return foldable(
        head,
        f"<div>classes: {html_label(shares)}{many}</div><table><thead><tr><th>feature</th><th class=n>values</th>"
        f"<th class=n>information</th></tr></thead><tbody>{rows}</tbody></table>{more}",
    )
