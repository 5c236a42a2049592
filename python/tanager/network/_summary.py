"""A network at a glance: its kind, its families, how much every feature says of the class; as text, table and HTML."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.optional import import_pandas
from .._utils.text import display_label, html_label, plural
from .._utils.typing import Floats
from ._strengths import quick_joint

if TYPE_CHECKING:
    import pandas as pd

    from . import ConditionalTable, Network

#: Lines of tables that text and HTML show; cells of one conditional table, and tables, that HTML shows.
MOST_LINES, _MOST_CELLS, _MOST_TABLES = 60, 200, 60


def kind_of(network: Network) -> str:
    """Return the narrowest name that fits a structure."""
    if network.is_naive:
        return "naive Bayes"
    if network.is_tan:
        return "TAN"
    if network.is_one_dependence:
        return "one-dependence"
    if network.is_semi_naive:
        return "semi-naive Bayes"
    if not network.parents(network.class_name) and all(
        network.class_name in network.parents(f) for f in network.features
    ):
        return "augmented naive Bayes"
    return "general network"


def one_line(network: Network) -> str:
    """Return what a network is in a line."""
    left_out = f" ({plural(len(network.left_out), 'column')} left out)" if network.left_out else ""
    return (
        f"{kind_of(network)}, {plural(len(network.features), 'feature')}{left_out}, "
        f"{plural(len(network.classes), 'class')}, "
        f"{plural(len(network.feature_arcs), 'arc')} between features, {plural(network.n_parameters, 'parameter')}"
    )


class NetworkSummary:
    """A network at a glance; made by ``network.summary()``.

    Attributes
    ----------
    kind : str
        "naive Bayes", "TAN", "one-dependence", "semi-naive Bayes", "augmented naive Bayes" or "general network".
    n_values, n_parameters : dict of str to int
        How many values every variable has, and free parameters, those of the class last.
    parents : dict of str to list of str
        The parents of every variable.
    """

    def __init__(self, network: Network):
        self._network = network
        self.kind = kind_of(network)
        self.parents = network.families
        sizes = [*network._encoder.cardinalities, len(network.classes)]
        size_of = dict(zip([*network.feature_names, network.class_name], sizes, strict=True))
        self.n_values = {name: size_of[name] for name in self.parents}
        self.n_parameters = {
            name: (size_of[name] - 1) * math.prod(size_of[parent] for parent in parents)
            for name, parents in self.parents.items()
        }

    @cached_property
    def information(self) -> dict[str, float]:
        """The mutual information of every feature and the class, in nats: what it says of the class if known alone.

        NaN where features have so many parents that it would take long.
        """
        network = self._network
        joint, found = quick_joint(network), {}
        for name in network.features:
            together = joint([name, network.class_name])
            found[name] = float("nan") if together is None else mutual_information(together)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row per variable, the class last: values, parents, parameters, information."""
        pd = import_pandas()
        names = list(self.parents)
        columns = {
            "values": [self.n_values[name] for name in names],
            "parents": [", ".join(self.parents[name]) for name in names],
            "parameters": [self.n_parameters[name] for name in names],
            "information": [self.information.get(name, float("nan")) for name in names],
        }
        return pd.DataFrame(columns, index=pd.Index(names, name="variable"))

    def lines(self) -> tuple[list[list[str]], int]:
        """Return cells of the table of features, the most informative first, and how many do not fit."""
        # Rounded, so that the order does not come from rounding errors where there is nothing to tell.
        strength = {name: -1.0 if math.isnan(x) else round(x, 9) for name, x in self.information.items()}
        by_information = sorted(strength, key=lambda name: -strength[name])
        lines = [["feature", "values", "parameters", "information", "parents"]]
        for name in by_information[:MOST_LINES]:
            parents = ", ".join(map(display_label, self.parents[name])) or "-"
            information = "-" if strength[name] < 0 else f"{self.information[name]:.4f}"
            lines.append(
                [display_label(name), f"{self.n_values[name]:,}", f"{self.n_parameters[name]:,}", information, parents]
            )
        return lines, max(0, len(by_information) - MOST_LINES)

    def about_class(self) -> str:
        """Return the class, its parents and its probabilities before anything is known."""
        network = self._network
        labels = network.classes.tolist()
        try:
            shares = [
                f"{display_label(label)} ({p:.3g})" for label, p in zip(labels, network.posterior().values, strict=True)
            ]
        except ValueError:  # the class has so many ancestors that its probabilities are out of reach
            shares = list(map(display_label, labels))
        many = f", and {len(shares) - 20:,} more" if len(shares) > 20 else ""
        parents = self.parents[network.class_name]
        given = f"; depends on {', '.join(map(display_label, parents))}" if parents else ""
        return f"P({display_label(network.class_name)}): {', '.join(shares[:20])}{many}{given}"

    def __str__(self) -> str:
        network = self._network
        lines, n_more = self.lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:4], widths[1:4]), line[4]]).rstrip()
            for line in lines
        ]
        more = [f"... and {plural(n_more, 'feature')} that say less"] if n_more else []
        left_out = [f"left out: {', '.join(map(display_label, network.left_out))}"] if network.left_out else []
        return "\n".join([one_line(network), self.about_class(), *table, *more, *left_out])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return network_html(self._network)


def mutual_information(joint: Floats) -> float:
    """Return the mutual information of the two variables of a joint distribution, in nats."""
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    possible = joint > 0
    return max(0.0, float((joint[possible] * np.log(joint[possible] / independent[possible])).sum()))


_STYLE = (
    ".tanager-network{font-size:13px;margin:.5em 0}.tanager-network table{border-collapse:collapse;margin:.3em 0}"
    ".tanager-network td,.tanager-network th{padding:2px 8px;text-align:left;border-bottom:1px solid rgba(128,128,128,.3)}"
    ".tanager-network .n{text-align:right;font-variant-numeric:tabular-nums}.tanager-network summary{cursor:pointer}"
    ".tanager-network .bar{background:linear-gradient(90deg,rgba(33,90,158,.35) var(--p),transparent var(--p))}"
    ".tanager-network details{margin:.15em 0 .15em .5em}"
)


def network_html(network: Network) -> str:
    """Return a network as HTML: an overview, and tables that open by a click; nothing is loaded from anywhere."""
    summary = NetworkSummary(network)
    lines, n_more = summary.lines()
    head = "".join(f"<th>{cell}</th>" for cell in lines[0])
    body = "".join(
        f"<tr><td>{html_label(line[0])}</td>{''.join(f'<td class=n>{cell}</td>' for cell in line[1:4])}"
        f"<td>{html_label(line[4])}</td></tr>"
        for line in lines[1:]
    )
    more = f"<p>… and {plural(n_more, 'feature')} that say less</p>" if n_more else ""
    names = [network.class_name, *network.features]
    tables = "".join(_table_html(network.cpt(name)) for name in names[:_MOST_TABLES])
    if len(names) > _MOST_TABLES:
        tables += f"<p>… and {plural(len(names) - _MOST_TABLES, 'more table')}: network.cpt(name)</p>"
    body = (
        f"<div>{html_label(summary.about_class())}</div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        f"</table>{more}<details><summary>conditional probability tables</summary>{tables}</details>"
    )
    return boxed(one_line(network), body)


def boxed(head: str, body: str) -> str:
    """Return HTML below a line that opens and closes it."""
    return (
        f'<div class="tanager-network"><style>{_STYLE}</style><details open><summary><b>{html_label(head)}</b></summary>'
        f"{body}</details></div>"
    )


def table_html(table: ConditionalTable) -> str:
    """Return a conditional table as HTML, with bars behind its numbers."""
    return f'<div class="tanager-network"><style>{_STYLE}</style>{_table_html(table, is_open=True)}</div>'


def _table_html(table: ConditionalTable, *, is_open: bool = False) -> str:
    axis = table.names.index(table.variable)
    given = [name for name in table.names if name != table.variable]
    head = f"P({table.variable}{' | ' + ', '.join(given) if given else ''})"
    others = [labels for i, labels in enumerate(table.labels) if i != axis]
    values = np.moveaxis(table.values, axis, -1).reshape(-1, len(table.labels[axis]))
    n_lines = max(1, min(len(values), _MOST_CELLS // values.shape[1]))
    cells = [
        *(f"<th>{html_label(name)}</th>" for name in given),
        *(f"<th class=n>{html_label(v)}</th>" for v in table.labels[axis]),
    ]
    lines = [f"<tr>{''.join(cells)}</tr>"]
    for index, row in zip(np.ndindex(*map(len, others)), values[:n_lines], strict=False):
        parents = "".join(f"<td>{html_label(labels[i])}</td>" for labels, i in zip(others, index, strict=True))
        bars = "".join(f'<td class="n bar" style="--p:{100 * p:.1f}%">{p:.4g}</td>' for p in row)
        lines.append(f"<tr>{parents}{bars}</tr>")
    more = f"<p>… and {plural(len(values) - n_lines, 'more row')}</p>" if len(values) > n_lines else ""
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{html_label(head)}</summary><table>{''.join(lines)}</table>{more}</details>"


SEARCH_ENDS = {
    "no improvement": "no candidate was enough better",
    "nothing left": "no candidate was left",
    "perfect": "nothing can be better",
    "step limit": "it had taken as many steps as allowed",
    "time limit": "its time was over",
    "interrupted": "it was interrupted",
}


def search_text(trace: Any) -> str:
    """Return what a search did, as sentences and a line per step."""
    steps, scores = list(trace), trace.scores
    gained = float(scores[-1] - scores[0])
    objective = trace.objective.replace("_", " ")
    spread = float(trace.fold_scores[-1].std())
    end = SEARCH_ENDS.get(trace.stopped, trace.stopped)
    found = f"{plural(len(steps) - 1, 'step')} among {plural(trace.n_candidates, 'candidate')}"
    folds = f"{plural(trace.fold_scores.shape[1], 'fold')} with standard deviation {spread:.4f}"
    lines = [
        f"{found} in {trace.seconds:.3g} s; then {end}",
        f"{objective} {scores[0]:.4f} at the start, {scores[-1]:.4f} at the end ({gained:+.4f}), over {folds}",
    ]
    for number, (before, step) in enumerate(pairwise(steps), 1):
        better = sum(b > a for a, b in zip(before.fold_scores, step.fold_scores, strict=True))
        lines.append(
            f"{number:3}. {display_label(step.change)}: {step.score:.4f} ({step.score - before.score:+.4f}; better in {better} of "
            f"{len(step.fold_scores)} folds), best of {plural(step.n_candidates, 'candidate')}"
        )
    return "\n".join(lines)
