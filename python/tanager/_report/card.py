"""The model card (method, settings, training data, classes) and the table of features."""

from __future__ import annotations

import math
from typing import Any

from sklearn import config_context

from .._utils.text import distinct_labels, html_label, plural
from ..classifiers._base import BaseClassifier
from ..parameters import resolve_parameters
from .html import bar, name, table, tile

_MAX_VALUES = 12  # of a feature
_MAX_FEATURES = 500
_MAX_CLASSES = 100


def card_html(clf: BaseClassifier) -> str:
    """Return key figures, settings and classes of the model."""
    counts: Any = clf.counts_
    tiles = [tile("Features", f"{clf.n_features_in_:,}", _left_out(clf)), tile("Classes", f"{len(clf.classes_):,}")]
    if counts is not None:
        tiles.insert(0, tile("Training data", _amount(counts.n_rows), "rows"))
    description = clf._describe()
    number = description.n_parameters
    if number is not None:
        tiles.append(tile("Parameters", f"{number:,}", "free parameters"))
    tiles += _tree_tiles(clf)
    settings = [("method", html_label(description.kind)), ("classifier", f"<code>{type(clf).__name__}</code>")]
    settings += [(html_label(key), f"<code>{html_label(value)}</code>") for key, value in _settings(clf)]
    return (
        f'<div class="tiles">{"".join(tiles)}</div><div class="halves"><div><h3>Method and settings</h3>'
        f"{table(['setting', 'value'], settings)}</div><div><h3>Classes</h3>{_classes(clf)}</div></div>"
    )


def _settings(clf: BaseClassifier) -> list[tuple[str, str]]:
    """Return all settings of a model, including resolved defaults."""
    settings = clf.get_params(deep=False)
    if "structure" in settings:
        settings["structure"] = clf._structure_learner()
    if "parameters" in settings:
        settings["parameters"] = resolve_parameters(settings["parameters"])
    run_settings = {"n_jobs", "verbose"}
    with config_context(print_changed_only=False):
        return [(key, repr(value)) for key, value in settings.items() if value is not None and key not in run_settings]


def _left_out(clf: BaseClassifier) -> str:
    network = clf._describe().network
    return f"{len(network.left_out):,} left out" if network is not None and network.left_out else ""


def _amount(rows: float) -> str:
    return f"{int(rows):,}" if rows == int(rows) else f"{rows:,.1f}"


def _tree_tiles(clf: BaseClassifier) -> list[str]:
    posterior = clf._describe().posterior
    if posterior is None:
        return []
    best = posterior.log_map_probability
    shown = f"{math.exp(best):.3g}" if best > -690 else f"10<sup>{best / math.log(10):.0f}</sup>"
    entropy = float(posterior.entropy)
    trees = (
        f"{float(f'{math.exp(entropy):.3g}'):,.6g}" if entropy < 13 else f"10<sup>{entropy / math.log(10):.0f}</sup>"
    )
    return [
        tile("Most probable tree", shown, "posterior probability"),
        tile("Effective trees", trees, "exp(posterior entropy)"),
    ]


def _classes(clf: BaseClassifier) -> str:
    labels = distinct_labels(clf.classes_.tolist())
    shares = clf._describe().class_probabilities()
    learned: Any = clf.counts_  # None for a model saved without counts
    counts = None if learned is None else learned.class_counts
    headings = [name(clf._schema.class_name), *(["rows"] if counts is not None else [])]
    headings += ["probability", ""] if shares is not None else []
    rows = []
    for i, label in enumerate(labels[:_MAX_CLASSES]):
        row = [name(label)]
        if counts is not None:
            row.append(_amount(float(counts[i])))
        if shares is not None:
            row += [f"{shares[i]:.4f}", bar(shares[i] / max(shares))]
        rows.append(row)
    many = len(labels) - _MAX_CLASSES
    more = f"<p>… and {plural(many, 'more class')}</p>" if many > 0 else ""
    return table(headings, rows, numbers=(1, 2) if counts is not None else (1,), kind="classes") + more


def features_html(clf: BaseClassifier) -> str:
    """Return the table of features: values, parents and mutual information with the class."""
    description = clf._describe()
    network = description.network
    # Computing the information of more features than the table shows would take too long in a network.
    is_large = description.shown_network is not None and clf.n_features_in_ > _MAX_FEATURES
    information = [math.nan] * clf.n_features_in_ if is_large else description.information()
    weights = [
        (title, getattr(clf, attribute))
        for title, attribute in (("weight", "feature_weights_"), ("arc probability", "arc_probabilities_"))
        if hasattr(clf, attribute)
    ]
    headings = ["feature", "values", "labels", *(["parents"] if network is not None else [])]
    headings += ["information", "", *(title for title, _ in weights)]
    most = max((x for x in information if not math.isnan(x)), default=0.0) or 1.0
    rows = []
    columns = zip(clf._schema.feature_names, clf._encoder.columns, strict=True)
    for f, (feature, column) in enumerate(columns):
        if f == _MAX_FEATURES:
            break
        row = [name(feature), f"{column.cardinality:,}", _values(column)]
        if network is not None:
            row.append(_parents(network, feature))
        x = information[f]
        row += ["", ""] if math.isnan(x) else [f"{x:.4f}", bar(x / most)]
        row += ["" if math.isnan(values[f]) else f"{values[f]:.4f}" for _, values in weights]
        rows.append(row)
    first = headings.index("information")
    numbers = (1, first, *range(first + 2, len(headings)))
    many = clf.n_features_in_ - _MAX_FEATURES
    more = f"<p>… and {plural(many, 'more feature')}</p>" if many > 0 else ""
    return table(headings, rows, numbers=numbers, kind="features") + more


def _values(column: Any) -> str:
    labels = distinct_labels(column.labels())
    shown = ", ".join(map(name, labels[:_MAX_VALUES]))
    return f"{shown}, … {len(labels) - _MAX_VALUES:,} more" if len(labels) > _MAX_VALUES else shown


def _parents(network: Any, feature: str) -> str:
    if feature in network.left_out:
        return "<em>left out</em>"
    return ", ".join(map(name, network.parents(feature))) or "none"
