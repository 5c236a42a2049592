"""Model reports: a self-contained HTML file with model card, network plot, what-if panel and scores."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from importlib.resources import files
from typing import Any

from .. import __version__
from .._utils.files import write_text
from .._utils.text import display_label, distinct_labels, html_label
from ..classifiers._base import BaseClassifier
from ..evaluation._held_out import HeldOutScores, held_out_scores
from .card import card_html, features_html
from .drawing import drawing_of
from .inference import MAX_ENTRIES, Absent, inference_of
from .numbers import packed
from .scores import scores_html

__all__ = ["report_html", "write_report"]

#: Maximum number of labels of a feature, and of values of its table, in a page without a panel.
_MAX_LABELS = 2000
_SCRIPTS = ("inference.js", "averages.js", "drawing.js", "table.js", "panel.js")


def write_report(clf: BaseClassifier, path: str | os.PathLike[str], X: Any = None, y: Any = None) -> None:
    """Write a report; see ``clf.report``."""
    clf._check_fitted()
    if (X is None) != (y is None):
        raise ValueError("X and y: expected both or neither, got only one of them")
    scores = None if X is None else held_out_scores(clf, X, y)
    write_text(path, report_html(clf, scores))


def report_html(clf: BaseClassifier, scores: HeldOutScores | None = None, source: str | None = None) -> str:
    """Return the page; `source` is the name of the model file. The same model always gives the same text."""
    model = _or_reason(inference_of, clf)
    complete = "absent" not in model
    payload: dict[str, Any] = {
        "className": display_label(clf._schema.class_name),
        "classes": distinct_labels(clf.classes_.tolist()),
        "features": _features(clf, complete=complete),
        "model": model,
        "drawing": _or_reason(drawing_of, clf),
        "tables": _tables(clf, complete=complete),
        "tableNote": _table_note(clf),
    }
    one_line = clf._describe().one_line
    parts = {
        "title": f"{display_label(clf._schema.class_name)}: model report",
        "heading": html_label(clf._schema.class_name),
        "summary": html_label(f"{one_line[0].upper()}{one_line[1:]}."),
        "source": "" if source is None else f"<p class=source>Model file <bdi>{html_label(source)}</bdi></p>",
        "card": card_html(clf),
        "scores": "" if scores is None else scores_html(scores),
        "scores_link": "" if scores is None else '<a href="#scores">Scores</a>',
        "features": features_html(clf),
        "version": __version__,
    }
    return _page(parts, payload)


def _or_reason(make: Any, clf: BaseClassifier) -> dict[str, Any]:
    try:
        found: dict[str, Any] = make(clf)
    except Absent as reason:
        return {"absent": f"{str(reason)[0].upper()}{str(reason)[1:]}."}
    return found


def _features(clf: BaseClassifier, *, complete: bool) -> list[dict[str, Any]]:
    """Return names and labels of all features; long lists of labels only if the panel needs them."""
    found = []
    for name, column in zip(clf._schema.feature_names, clf._encoder.columns, strict=True):
        n_values = column.cardinality
        labels = column.labels() if complete or n_values <= _MAX_LABELS else []
        found.append({"name": display_label(name), "nValues": n_values, "labels": distinct_labels(labels)})
    return found


def _tables(clf: BaseClassifier, *, complete: bool) -> list[dict[str, Any] | None]:
    """Return the conditional probability tables of all nodes, the class last; large ones only if the panel needs them."""
    n = clf.n_features_in_
    most = MAX_ENTRIES if complete else min(MAX_ENTRIES // (n + 1), _MAX_LABELS)
    network = clf._describe().shown_network
    found: list[dict[str, Any] | None] = []
    for f in range(n + 1):
        if network is None:
            core = clf._core_model
            values = core.class_probabilities if f == n else core.single(f)
            parents, classed = [], f < n
        elif f == n:
            values, parents, classed = network._core.class_table, network._class_parents, False
        else:
            feature_parents = network._parents[f]
            if feature_parents is None:
                found.append(None)
                continue
            values, parents, classed = network._core.table(f), feature_parents, network._class_children[f]
        numbers = packed(values) if values.size <= most else None
        found.append({"parents": parents, "classed": bool(classed), "values": numbers})
    return found


def _table_note(clf: BaseClassifier) -> str:
    """Return a note on the tables of a model that averages over many networks."""
    description = clf._describe()
    if description.network is not None:
        return ""
    if description.posterior is not None:
        return "In the most probable tree."
    return "Given the class only; each of the averaged models has one more feature as a parent."


def _page(parts: dict[str, str], payload: dict[str, Any]) -> str:
    folder = files(__package__) / "assets"
    read = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.html", "style.css", *_SCRIPTS)}
    script = "\n".join(read[name] for name in _SCRIPTS)
    data = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    for character in "<>&":  # could end the element; JSON has escaped everything beyond ASCII
        data = data.replace(character, f"\\u{ord(character):04x}")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(read['style.css'])}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        **parts,
        "title": html_label(parts["title"]),
        "policy": policy,
        "style": read["style.css"],
        "script": script,
        "data": data,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], read["page.html"])


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
