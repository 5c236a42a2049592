"""The scores section: scores of held-out data as HTML."""

from __future__ import annotations

import math

from .._utils.text import plural
from ..evaluation._curves import Reliability
from ..evaluation._held_out import HeldOutScores, Interval
from .html import name, table, tile

_MAX_CLASSES = 40  # in a confusion matrix
_SHADES = 8


def scores_html(scores: HeldOutScores) -> str:
    """Return the scores with intervals and baseline, calibration, scores per class and the confusion matrix."""
    notes = {
        "accuracy": _interval(scores.accuracy_interval, 3),
        "log loss": ", ".join(filter(None, [_interval(scores.log_loss_interval, 3), "smaller is better"])),
        "AUC": "area under the ROC curve",
    }
    tiles = [tile(what[0].upper() + what[1:], _number(value), notes[what]) for what, value, _, _ in scores.summary()]
    tiles.append(
        tile("Calibration error", _number(scores.reliability.calibration_error), "expected calibration error (ECE)")
    )
    rows = [
        (what, _number(value), _interval(interval), _number(baseline))
        for what, value, interval, baseline in scores.summary()
    ]
    unknown = ""
    if scores.n_unknown:
        unknown = (
            f"<p>{plural(scores.n_unknown, 'row')} of classes that the model does not know; they count as errors.</p>"
        )
    return (
        f'<section id="scores" aria-labelledby="scores-heading"><h2 id="scores-heading">Scores</h2>'
        f"<p>On {plural(scores.n_rows, 'row')}: {name(scores.name)}. Ranges are 95% confidence intervals: Wilson’s for "
        f"accuracy, and from the standard error over rows for log loss.</p>{unknown}"
        f'<div class="tiles">{"".join(tiles)}</div><div class="halves"><div><h3>Compared with predicting class '
        f"frequencies</h3>{table(['', 'model', '95% interval', 'frequencies'], rows, numbers=(1, 2, 3))}"
        f"{_per_class(scores)}</div><div><h3>Calibration</h3>{_calibration(scores.reliability)}</div></div>"
        f"{_confusion(scores)}</section>"
    )


def _number(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    return "∞" if math.isinf(value) else f"{value:.4f}"


def _interval(interval: Interval | None, digits: int = 4) -> str:
    return "" if interval is None else f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}"


def _per_class(scores: HeldOutScores) -> str:
    rows = [
        (name(label), f"{n:,}", "" if math.isnan(p) else f"{p:.4f}", "" if math.isnan(r) else f"{r:.4f}")
        for label, n, p, r in scores.per_class()
    ]
    return f"<h3>Scores per class</h3>{table(['class', 'rows', 'precision', 'recall'], rows, numbers=(1, 2, 3))}"


def _confusion(scores: HeldOutScores) -> str:
    if len(scores.labels) > _MAX_CLASSES:
        return f"<p>The confusion matrix is omitted: the model has {len(scores.labels):,} classes.</p>"
    totals = scores.confusion.sum(axis=1)
    rows = []
    for i, (label, row, total) in enumerate(
        zip(scores.labels, scores.confusion.tolist(), totals.tolist(), strict=True)
    ):
        cells = [_shaded(n, total, own=i == j) for j, n in enumerate(row)]
        rows.append(f'<tr><th scope="row">{name(label)}</th>{"".join(cells)}</tr>')
    head = "".join(f'<th class="n" scope="col">{name(label)}</th>' for label in scores.labels)
    return (
        "<h3>Confusion matrix</h3><p>Rows: true class. Columns: predicted class.</p>"
        f'<div class="scroll" tabindex="0"><table class="confusion"><thead><tr><th>true \\ predicted</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _shaded(n: int, total: int, *, own: bool) -> str:
    shade = math.ceil(_SHADES * n / total) if total else 0
    return f'<td class="n {"right" if own else "wrong"} s{shade}">{n:,}</td>'


def _calibration(curve: Reliability) -> str:
    """Return the reliability diagram of `tanager.plotting.plot_reliability` as SVG."""
    size, margin = 260, 34

    def x(p: float) -> str:
        return f"{margin + p * size:.1f}"

    def y(p: float) -> str:
        return f"{8 + (1 - p) * size:.1f}"

    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<path class="grid" d="M{x(tick)} {y(0)}V{y(1)}M{x(0)} {y(tick)}H{x(1)}"/>')
        parts.append(f'<text class="tick middle" x="{x(tick)}" y="{8 + size + 16}">{tick:g}</text>')
        parts.append(f'<text class="tick end" x="{margin - 6}" y="{float(y(tick)) + 4:.1f}">{tick:g}</text>')
    bars, most = len(curve.histogram), curve.histogram.max()
    for i, n in enumerate(curve.histogram.tolist()):
        tall = 0.14 * n / most
        box = f'x="{float(x(i / bars)) + 1:.1f}" y="{y(tall)}" width="{size / bars - 2:.1f}" height="{tall * size:.1f}"'
        title = f"<title>{plural(n, 'row')} from {i / bars:.2f} to {(i + 1) / bars:.2f}</title>"
        parts.append(f'<rect class="rows" {box}>{title}</rect>' if n else "")
    parts.append(f'<path class="ideal" d="M{x(0)} {y(0)}L{x(1)} {y(1)}"/>')
    columns = (curve.predicted, curve.observed, curve.low, curve.high, curve.n)
    bins = list(zip(*(column.tolist() for column in columns), strict=True))
    parts.append(f'<path class="curve" d="M{"L".join(f"{x(mean)} {y(share)}" for mean, share, *_ in bins)}"/>')
    for mean, share, low, high, n in bins:
        title = (
            f"<title>predicted {mean:.3f}, observed {share:.3f} ({low:.3f} to {high:.3f}), {plural(n, 'row')}</title>"
        )
        parts.append(f'<path class="interval" d="M{x(mean)} {y(low)}V{y(high)}"/>')
        parts.append(f'<circle class="dot" cx="{x(mean)}" cy="{y(share)}" r="4">{title}</circle>')
    width, height = margin + size + 12, size + 46
    parts.append(f'<text class="axis middle" x="{x(0.5)}" y="{height - 4}">predicted probability</text>')
    label = f"Reliability diagram, expected calibration error {curve.calibration_error:.3f}"
    return (
        f'<svg class="reliability" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
        f"<p>Observed frequency (vertical, with 95% intervals) against the predicted probability of {name(curve.of)}, in "
        f"{plural(len(bins), 'bin')} with about the same number of rows. A calibrated model lies on the dashed line. Bars "
        "show how many rows have each probability.</p>"
    )
