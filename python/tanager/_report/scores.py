"""How well the model predicts rows whose classes are known, as HTML."""

from __future__ import annotations

import math

from .._utils.text import plural
from ..evaluation._held_out import Interval, Judgment
from .html import name, table, tile

_MOST_CLASSES = 40  # in a confusion matrix
_SHADES = 8


def scores_html(judgment: Judgment) -> str:
    """Return scores with intervals beside those of class frequencies, the confusion matrix and calibration."""
    accuracy, log_score = judgment.frequencies
    tiles = [
        tile("Accuracy", _number(judgment.accuracy), _range(judgment.accuracy_interval)),
        tile("Log score", _number(judgment.log_score), _range(judgment.log_score_interval) + " less is better"),
        tile("AUC", _number(judgment.auc), "area under the ROC curve"),
        tile("Calibration error", _number(judgment.calibration_error), "probability less share that is right"),
    ]
    rows = [
        ("accuracy", _number(judgment.accuracy), _interval(judgment.accuracy_interval), _number(accuracy)),
        (
            "log score",
            _number(judgment.log_score),
            _interval(judgment.log_score_interval),
            _number(log_score),
        ),
        ("AUC", _number(judgment.auc), "", "0.5000"),
    ]
    unknown = ""
    if judgment.n_unknown:
        unknown = (
            f"<p>{plural(judgment.n_unknown, 'row')} of classes that the model does not know: they count as wrong.</p>"
        )
    return (
        f'<section id="scores" aria-labelledby="scores-heading"><h2 id="scores-heading">Scores</h2>'
        f"<p>On {plural(judgment.n_rows, 'row')}: {name(judgment.name)}. Ranges are 95 % intervals: Wilson’s for the "
        f"accuracy, and from the standard error over rows for the log score.</p>{unknown}"
        f'<div class="tiles">{"".join(tiles)}</div><div class="halves"><div><h3>Beside class frequencies alone</h3>'
        f"{table(['', 'model', '95 % interval', 'frequencies'], rows, numbers=(1, 2, 3))}{_per_class(judgment)}</div>"
        f"<div><h3>Can its probabilities be trusted?</h3>{_calibration(judgment)}</div></div>{_confusion(judgment)}</section>"
    )


def _number(value: float) -> str:
    if math.isnan(value):
        return "not defined"
    return "∞" if math.isinf(value) else f"{value:.4f}"


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"


def _range(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def _per_class(judgment: Judgment) -> str:
    rows = [
        (name(label), f"{n:,}", "" if math.isnan(p) else f"{p:.4f}", "" if math.isnan(r) else f"{r:.4f}")
        for label, n, p, r in judgment.per_class()
    ]
    return f"<h3>Class by class</h3>{table(['class', 'rows', 'precision', 'recall'], rows, numbers=(1, 2, 3))}"


def _confusion(judgment: Judgment) -> str:
    if len(judgment.labels) > _MOST_CLASSES:
        return f"<p>With {len(judgment.labels):,} classes there is no room for a confusion matrix.</p>"
    totals = judgment.confusion.sum(axis=1)
    rows = []
    for label, row, total in zip(judgment.labels, judgment.confusion.tolist(), totals.tolist(), strict=True):
        cells = [_shaded(n, total, own=judgment.labels.index(label) == j) for j, n in enumerate(row)]
        rows.append(f'<tr><th scope="row">{name(label)}</th>{"".join(cells)}</tr>')
    head = "".join(f'<th class="n" scope="col">{name(label)}</th>' for label in judgment.labels)
    return (
        "<h3>Which classes are taken for which</h3><p>Rows: the true class. Columns: the predicted one.</p>"
        f'<div class="scroll" tabindex="0"><table class="confusion"><thead><tr><th>true \\ predicted</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _shaded(n: int, total: int, *, own: bool) -> str:
    shade = math.ceil(_SHADES * n / total) if total else 0
    return f'<td class="n {"right" if own else "wrong"} s{shade}">{n:,}</td>'


def _calibration(judgment: Judgment) -> str:
    """Return a reliability diagram: what share of the answers was right, by how probable they were said to be."""
    size, margin = 260, 34
    bins = judgment.calibration()
    most = max(n for *_, n, _, _ in bins)

    def x(p: float) -> str:
        return f"{margin + p * size:.1f}"

    def y(p: float) -> str:
        return f"{8 + (1 - p) * size:.1f}"

    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<path class="grid" d="M{x(tick)} {y(0)}V{y(1)}M{x(0)} {y(tick)}H{x(1)}"/>')
        parts.append(f'<text class="tick middle" x="{x(tick)}" y="{8 + size + 16}">{tick:g}</text>')
        parts.append(f'<text class="tick end" x="{margin - 6}" y="{float(y(tick)) + 4:.1f}">{tick:g}</text>')
    for low, high, n, _, _ in bins:
        tall = 0.16 * n / most
        box = f'x="{float(x(low)) + 1:.1f}" y="{y(tall)}" width="{size * (high - low) - 2:.1f}" height="{tall * size:.1f}"'
        parts.append(f'<rect class="rows" {box}><title>{n:,} rows from {low:.1f} to {high:.1f}</title></rect>')
    parts.append(f'<path class="ideal" d="M{x(0)} {y(0)}L{x(1)} {y(1)}"/>')
    points = [(x(mean), y(share)) for *_, mean, share in bins]
    parts.append(f'<path class="curve" d="M{"L".join(" ".join(point) for point in points)}"/>')
    for (cx, cy), (*_, n, mean, share) in zip(points, bins, strict=True):
        radius = 3 + 4 * math.sqrt(n / most)
        title = f"<title>said {mean:.3f}, right {share:.3f}, {n:,} rows</title>"
        parts.append(f'<circle class="dot" cx="{cx}" cy="{cy}" r="{radius:.1f}">{title}</circle>')
    width, height = margin + size + 12, size + 46
    parts.append(f'<text class="axis middle" x="{x(0.5)}" y="{height - 4}">probability of the answer</text>')
    label = f"Reliability diagram: answers and probabilities are {judgment.calibration_error:.3f} apart on average"
    return (
        f'<svg class="reliability" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
        "<p>The share of answers that is right (upwards) for the probability they were given; on the dashed line a "
        f"probability means what it says. The mean distance is {judgment.calibration_error:.3f}. Bars: how many rows.</p>"
    )
