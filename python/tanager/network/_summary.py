"""Summaries of networks: kind, families, and the information of each feature about the class."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._utils.optional import import_optional
from .._utils.text import display_label, plural
from .._utils.typing import Floats
from ._html import network_html
from ._strengths import quick_joint

if TYPE_CHECKING:
    import pandas as pd

    from ._network import Network

#: Maximum number of features that text and HTML show.
MAX_ROWS = 60


def kind_of(network: Network) -> str:
    """Return the most specific term of the field for a structure; see `NetworkSummary.kind`."""
    if network.is_naive:
        return "naive Bayes"
    if network.is_tan:
        return "tree-augmented naive Bayes (TAN)"
    if network.is_one_dependence:
        return "forest-augmented naive Bayes"
    if network.is_semi_naive:
        return "semi-naive Bayes"
    parents = [network.parents(feature) for feature in network.features]
    if network.parents(network.class_name) or not all(network.class_name in names for names in parents):
        return "general Bayesian network"
    return f"{max(map(len, parents)) - 1}-dependence Bayesian classifier"


def one_line(network: Network) -> str:
    """Return the kind and size of a network in one line."""
    left_out = f" ({plural(len(network.left_out), 'column')} left out)" if network.left_out else ""
    return (
        f"{kind_of(network)}, {plural(len(network.features), 'feature')}{left_out}, "
        f"{plural(len(network.classes), 'class')}, "
        f"{plural(len(network.feature_arcs), 'arc')} between features, {plural(network.n_parameters, 'parameter')}"
    )


class NetworkSummary:
    """Summary of a network, returned by ``network.summary()``.

    Attributes
    ----------
    kind : str
        "naive Bayes", "tree-augmented naive Bayes (TAN)", "forest-augmented naive Bayes", "semi-naive Bayes",
        "k-dependence Bayesian classifier" with the maximum number k of feature parents, or "general Bayesian network"
        if the class has parents or is not a parent of every feature.
    one_line : str
        Kind and size of the network in one line.
    n_values, n_parameters : dict of str to int
        Number of values and of free parameters of each variable; the class is last.
    parents : dict of str to list of str
        The parents of each variable.
    """

    def __init__(self, network: Network):
        self._network = network
        self.kind = kind_of(network)
        self.one_line = one_line(network)
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
        """Mutual information of each feature with the class, in nats; NaN if it would take long to compute."""
        network, joint = self._network, quick_joint(self._network)
        joints = {name: joint([name, network.class_name]) for name in network.features}
        return {name: float("nan") if p is None else mutual_information(p) for name, p in joints.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per variable, the class last: values, parents, parameters, information."""
        pd = import_optional("pandas", "to_frame")
        names = list(self.parents)
        columns = {
            "values": [self.n_values[name] for name in names],
            "parents": [", ".join(self.parents[name]) for name in names],
            "parameters": [self.n_parameters[name] for name in names],
            "information": [self.information.get(name, float("nan")) for name in names],
        }
        return pd.DataFrame(columns, index=pd.Index(names, name="variable"))

    def feature_rows(self) -> tuple[list[list[str]], int]:
        """Return header and rows of the table of features, the most informative first, and how many are omitted."""
        # Rounded, so rounding errors do not determine the order of uninformative features.
        information = {name: -1.0 if math.isnan(x) else round(x, 9) for name, x in self.information.items()}
        names = sorted(information, key=lambda name: -information[name])
        rows = [["feature", "values", "parameters", "information", "parents"]]
        for name in names[:MAX_ROWS]:
            parents = ", ".join(map(display_label, self.parents[name])) or "-"
            number = "-" if information[name] < 0 else f"{self.information[name]:.4f}"
            rows.append(
                [display_label(name), f"{self.n_values[name]:,}", f"{self.n_parameters[name]:,}", number, parents]
            )
        return rows, max(0, len(names) - MAX_ROWS)

    def class_text(self) -> str:
        """Return the class with its marginal distribution and its parents."""
        network = self._network
        labels = network.classes.tolist()
        try:
            shares = [
                f"{display_label(label)} ({p:.3g})" for label, p in zip(labels, network.posterior().values, strict=True)
            ]
        except ValueError:  # the class has so many ancestors that inference exceeds its limit
            shares = list(map(display_label, labels))
        more = f", and {len(shares) - 20:,} more" if len(shares) > 20 else ""
        parents = self.parents[network.class_name]
        given = f"; depends on {', '.join(map(display_label, parents))}" if parents else ""
        return f"P({display_label(network.class_name)}): {', '.join(shares[:20])}{more}{given}"

    def __str__(self) -> str:
        network = self._network
        rows, n_more = self.feature_rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:4], widths[1:4]), row[4]]).rstrip()
            for row in rows
        ]
        more = [f"... and {plural(n_more, 'less informative feature')}"] if n_more else []
        left_out = [f"left out: {', '.join(map(display_label, network.left_out))}"] if network.left_out else []
        return "\n".join([self.one_line, self.class_text(), *table, *more, *left_out])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return network_html(self._network, self)


def mutual_information(joint: Floats) -> float:
    """Return the mutual information of the two variables of a joint distribution, in nats."""
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    possible = joint > 0
    return max(0.0, float((joint[possible] * np.log(joint[possible] / independent[possible])).sum()))
