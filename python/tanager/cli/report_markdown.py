"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._utils.text import display_label

if TYPE_CHECKING:
    from ..evaluation._held_out import Judgment

_MOST_CLASSES = 20  # in a confusion matrix
_MOST_VALUES = 12  # of a feature


def report_text(found: dict[str, Any], judgment: Judgment | None) -> str:
    """Return a report on a model, and on how it predicts a table if one is given."""
    parts = [_model(found)]
    if judgment is not None:
        parts += [_scores(judgment), _confusion(judgment), _calibration(judgment)]
    parts.append(_features(found))
    if "trees" in found:
        parts.append(_trees(found))
    return "\n".join(parts)


def _model(found: dict[str, Any]) -> str:
    file = found["file"]
    lines = [
        f"# {_text(file['name'])}",
        "",
        f"{found['summary'][0].upper()}{found['summary'][1:]}.",
        "",
        *_table(["setting", "value"], [(name, f"`{value}`") for name, value in found["settings"].items()]),
        "",
        f"Model file of format {file['format']}, {'with' if file['with_counts'] else 'without'} counts.",
        f"Report by tanager {__version__}.",
        "",
    ]
    return "\n".join(lines)


def _scores(judgment: Judgment) -> str:
    accuracy, log_score = judgment.frequencies
    rows = [
        ("accuracy", f"{judgment.accuracy:.4f}", _interval(judgment.accuracy_interval), f"{accuracy:.4f}"),
        (
            "log score (less is better)",
            f"{judgment.log_score:.4f}",
            _interval(judgment.log_score_interval),
            f"{log_score:.4f}",
        ),
        ("AUC", f"{judgment.auc:.4f}", "", "0.5000"),
    ]
    lines = [f"## Scores on {_text(judgment.name)}", "", f"{judgment.n_rows:,} rows.", ""]
    if judgment.n_unknown:
        lines += [f"{judgment.n_unknown:,} rows are of classes that the model does not know; they count as wrong.", ""]
    lines += _table(["", "model", "95 % interval", "class frequencies alone"], rows, right=True)
    per_class = [(_text(label), f"{n:,}", _number(p), _number(r)) for label, n, p, r in judgment.per_class()]
    lines += ["", *_table(["class", "rows", "precision", "recall"], per_class, right=True), ""]
    return "\n".join(lines)


def _confusion(judgment: Judgment) -> str:
    if len(judgment.labels) > _MOST_CLASSES:
        return f"With {len(judgment.labels)} classes there is no room for a confusion matrix.\n"
    rows = [
        (_text(label), *(f"**{n:,}**" if i == j else f"{n:,}" for j, n in enumerate(row)))
        for i, (label, row) in enumerate(zip(judgment.labels, judgment.confusion, strict=True))
    ]
    table = _table(["true \\ predicted", *map(_text, judgment.labels)], rows, right=True)
    return "\n".join(["## Which classes are taken for which", "", *table, ""])


def _calibration(judgment: Judgment) -> str:
    rows = [
        (f"{low:.1f} to {high:.1f}", f"{n:,}", f"{mean:.3f}", f"{share:.3f}")
        for low, high, n, mean, share in judgment.calibration()
    ]
    return "\n".join(
        [
            "## Whether probabilities can be trusted",
            "",
            "Rows by the probability of the predicted class. Where the two last columns agree, a probability means what it",
            f"says; over all rows they are {judgment.calibration_error:.3f} apart.",
            "",
            *_table(["probability", "rows", "mean probability", "share that is right"], rows, right=True),
            "",
        ]
    )


def _features(found: dict[str, Any]) -> str:
    has_parents = any("parents" in feature for feature in found["features"])
    extra = [name for name in ("feature_weights", "arc_probabilities") if name in found["features"][0]]
    rows = []
    for feature in found["features"]:
        values = ", ".join(map(_text, feature["values"][:_MOST_VALUES]))
        values += ", ..." if len(feature["values"]) > _MOST_VALUES else ""
        row = [_text(feature["name"]), f"{feature['cardinality']:,}", values]
        if has_parents:
            row.append("left out" if feature["parents"] is None else ", ".join(map(_text, feature["parents"])))
        rows.append([*row, *(_number(feature[name]) for name in extra)])
    headings = [
        "feature",
        "values",
        "which",
        *(["parents"] if has_parents else []),
        *(n.replace("_", " ") for n in extra),
    ]
    shares = found["class_probabilities"] or [None] * len(found["classes"])
    classes = [
        (_text(label), "" if share is None else f"{share:.4f}")
        for label, share in zip(found["classes"], shares, strict=True)
    ]
    lines = [f"## The class {_text(found['class'])}", "", *_table(["class", "probability"], classes), ""]
    return "\n".join([*lines, "## Features", "", *_table(headings, rows), ""])


def _trees(found: dict[str, Any]) -> str:
    trees = found["trees"]
    edges = [(_text(a), _text(b), f"{p:.3f}") for a, b, p in trees["most_probable_tree"]]
    return "\n".join(
        [
            "## The most probable tree",
            "",
            f"Its probability is {trees['probability']:.3g}; the entropy over all trees is {trees['entropy']:.3g}.",
            "",
            *_table(["feature", "feature", "probability of the edge"], edges),
            "",
        ]
    )


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: bool = False) -> list[str]:
    marks = ["---", *(["---:" if right else "---"] * (len(headings) - 1))]
    return [f"| {' | '.join(headings)} |", f"|{'|'.join(marks)}|", *(f"| {' | '.join(row)} |" for row in rows)]


def _text(value: Any) -> str:
    """Return a name or label so that Markdown shows it as it is."""
    text = display_label(value)
    for character in "\\|*_`<>[]&~$":
        text = text.replace(character, "\\" + character)
    return text


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"


def _number(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4f}"  # noqa: PLR0124  # NaN
