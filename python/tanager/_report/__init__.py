"""A report on a model as one HTML file that needs nothing else: card, scores, drawing, what-if panel."""

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
from .inference import MOST_NUMBERS, Absent, inference_of
from .numbers import packed
from .scores import scores_html

__all__ = ["report_html", "write_report"]

#: Of a feature, or numbers of its table, in a page without a panel.
_MOST_LABELS = 2000
_SCRIPTS = ("inference.js", "averages.js", "drawing.js", "table.js", "panel.js")


def write_report(clf: BaseClassifier, path: str | os.PathLike[str], X: Any = None, y: Any = None) -> None:
    """Write a report, as ``clf.report`` says."""
    clf._check_fitted()
    if (X is None) != (y is None):
        raise ValueError("a report shows scores for X and y together, but only one of them came")
    scores = None if X is None else held_out_scores(clf, X, y)
    write_text(path, report_html(clf, scores))


def report_html(clf: BaseClassifier, scores: HeldOutScores | None = None, source: str | None = None) -> str:
    """Return the page; `source` is what the model's file is called. The same model always gives the same text."""
    model = _or_reason(inference_of, clf)
    whole = "absent" not in model
    payload: dict[str, Any] = {
        "className": display_label(clf._schema.class_name),
        "classes": distinct_labels(clf.classes_.tolist()),
        "features": _features(clf, whole=whole),
        "model": model,
        "drawing": _or_reason(drawing_of, clf),
        "tables": _tables(clf, whole=whole),
        "tableNote": _table_note(clf),
    }
    one_line = clf._describe().one_line
    parts = {
        "title": f"{display_label(clf._schema.class_name)}: report on a model",
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


def _features(clf: BaseClassifier, *, whole: bool) -> list[dict[str, Any]]:
    """Return names and labels; many labels are left out unless the panel needs them."""
    found = []
    for name, column in zip(clf._schema.feature_names, clf._encoder.columns, strict=True):
        n_values = column.cardinality
        labels = column.labels() if whole or n_values <= _MOST_LABELS else []
        found.append({"name": display_label(name), "nValues": n_values, "labels": distinct_labels(labels)})
    return found


def _tables(clf: BaseClassifier, *, whole: bool) -> list[dict[str, Any] | None]:
    """Return what a picked node shows: P(node | parents), the class last. Large tables are left out unless predictions need them."""
    n = clf.n_features_in_
    most = MOST_NUMBERS if whole else min(MOST_NUMBERS // (n + 1), _MOST_LABELS)
    network = getattr(clf, "network_", None)
    if hasattr(clf, "posterior_"):
        network = clf.posterior_.map_tree
    found: list[dict[str, Any] | None] = []
    for f in range(n + 1):
        if network is None:
            core = clf._core_model
            values = core.class_probabilities if f == n else core.single(f)
            parents, classed = [], f < n
        elif f == n:
            values, parents, classed = network._core.class_table, network._class_parents, False
        else:
            if network._parents[f] is None:
                found.append(None)
                continue
            values, parents, classed = network._core.table(f), network._parents[f], network._class_children[f]
        numbers = packed(values) if values.size <= most else None
        found.append({"parents": parents, "classed": bool(classed), "values": numbers})
    return found


def _table_note(clf: BaseClassifier) -> str:
    """Say what tables are in a model that is not one network."""
    if hasattr(clf, "posterior_"):
        return "In the most probable tree."
    return (
        ""
        if hasattr(clf, "network_")
        else "Given the class alone; its models also have every other feature as a parent."
    )


def _page(parts: dict[str, str], payload: dict[str, Any]) -> str:
    folder = files(__package__) / "assets"
    read = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.html", "style.css", *_SCRIPTS)}
    script = "\n".join(read[name] for name in _SCRIPTS)
    data = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    for character in "<>&":  # what could end the element; all beyond ASCII is escaped already
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
