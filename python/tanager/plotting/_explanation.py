"""Waterfall plots of the feature contributions of one prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.text import plural
from .._utils.validation import check_int
from ..explain import Explanation
from ..explain._text import probability_text, signed, sorted_contributions
from ._style import (
    AGAINST,
    FONT_SIZE,
    FOR,
    INCH,
    LINE,
    SUM,
    check_matplotlib,
    gray,
    hue,
    named_rows,
    new_axes,
    quiet,
    short,
    text_width,
    titled,
)


def plot_explanation(explanation: Explanation, of: Any = None, max_features: int = 20, ax: Any = None) -> Any:
    """Plot the feature contributions of one prediction as a waterfall, from the prior log-odds to the final log-odds.

    Bars to the right support the class, bars to the left are evidence against it. The largest contributions come first.
    Features with missing values have no bar.

    Parameters
    ----------
    explanation : Explanation
        Explanation of one row, such as ``clf.explain(X)[0]``.
    of : class label or None, default=None
        Class to explain; None means the predicted class.
    max_features : int, default=20
        Maximum number of bars for single features; the features with the smallest contributions are combined into one bar.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure of suitable size.

    Returns
    -------
    matplotlib Axes
    """
    check_matplotlib()
    if len(explanation) != 1:
        raise ValueError(f"explanation: expected a single row, such as explanation[0], got {len(explanation)} rows")
    check_int(max_features, "max_features", minimum=1)
    code = int(explanation.class_codes(of)[0])
    labels, sizes, gone = _waterfall_bars(explanation, code, max_features)
    starts, drawn = _waterfall_places(sizes)
    if ax is None:
        ax = new_axes(max(map(text_width, labels)) * INCH + 4.5, len(labels) * LINE * INCH + 1.0)
    for y, (start, size, is_gone) in enumerate(zip(starts, sizes, gone, strict=True)):
        is_sum = y in {0, len(sizes) - 1}
        color = gray(ax, SUM) if is_sum else hue(ax, FOR if size > 0 else AGAINST)
        ax.barh(y, drawn[y], left=start, height=0.62, color=color, zorder=2)
        if y < len(sizes) - 1:  # connects the running sum to the next bar
            ax.plot([start + drawn[y]] * 2, [y - 0.31, y + 1.31], color=gray(ax, 0.7), linewidth=0.6, zorder=1)
        if not is_gone:
            _draw_amount(ax, y, start, drawn[y], signed(size))
    ends = [0.0, *starts, *np.add(starts, drawn).tolist()]
    room = 0.16 * (max(ends) - min(ends) or 1.0)  # room for the numbers
    ax.set_xlim(min(ends) - room, max(ends) + room)
    _finish_waterfall(ax, explanation, code, labels, gone)
    return ax


def _waterfall_bars(explanation: Explanation, code: int, most: int) -> tuple[list[str], list[float], list[bool]]:
    """Return label, length and whether the value is missing of every bar; the first bar is the prior, the last the sum."""
    found = sorted_contributions(explanation, 0, code)
    known, missing = [item for item in found if not item[3]], [item for item in found if item[3]]
    rest = known[most:]
    labels = [f"{short(name)} = {short(value)}" for name, value, _, _ in known[:most]]
    sizes = [size for _, _, size, _ in known[:most]]
    if rest:
        labels.append(plural(len(rest), "other feature"))
        sizes.append(float(np.sum([size for _, _, size, _ in rest])))
    if len(missing) > 5:
        missing_labels = [f"{len(missing)} missing features"]
    else:
        missing_labels = [f"{short(name)} missing" for name, *_ in missing]
    gone = [False] * (len(labels) + 1) + [True] * len(missing_labels) + [False]
    labels = ["prior", *labels, *missing_labels, "sum"]
    sizes = [float(explanation.base[0, code]), *sizes, *[0.0] * len(missing_labels)]
    return labels, [*sizes, float(explanation.log_odds[0, code])], gone


def _waterfall_places(sizes: list[float]) -> tuple[list[float], list[float]]:
    """Return start and length of every bar; infinite bars extend beyond all others."""
    finite = [abs(size) for size in sizes if np.isfinite(size)]
    beyond = 1.5 * max(sum(finite[:-1]), 1.0)
    drawn = [float(size) if np.isfinite(size) else float(np.nan_to_num(np.sign(size)) * beyond) for size in sizes[:-1]]
    starts = [0.0, *np.cumsum(drawn).tolist()]
    return [*starts[:-1], 0.0], [*drawn, 0.0 if np.isnan(sizes[-1]) else starts[-1]]


def _draw_amount(ax: Any, y: float, start: float, size: float, text: str) -> None:
    """Write the contribution at the end of its bar."""
    right = size >= 0
    offset = (3, 0) if right else (-3, 0)
    ax.annotate(
        text, (start + size, y), xytext=offset, textcoords="offset points", fontsize=FONT_SIZE * 0.85, va="center",
        ha="left" if right else "right", color=gray(ax, 0.25),
    )  # fmt: skip


def _finish_waterfall(ax: Any, explanation: Explanation, code: int, labels: list[str], gone: list[bool]) -> None:
    ax.axvline(0, color=gray(ax, 0.5), linewidth=0.8, zorder=0)
    quiet(ax, left=False)
    named_rows(ax, labels, gone)
    own, rival = short(explanation.classes[code]), short(explanation.rivals[0, code])
    probability = explanation.probabilities[0, code]
    title = f"row {explanation.rows[0]}: {short(explanation.class_name)} = {own} with probability {probability_text(probability)}"
    titled(ax, title, f"log-odds of {own} against {rival}")
