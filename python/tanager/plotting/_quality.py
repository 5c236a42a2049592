"""Pictures of how good predictions are: reliability diagrams and receiver operating characteristics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._utils.text import distinct_labels, plural
from .._utils.validation import is_integer
from ..evaluation._curves import Reliability, RocCurve, reliability, roc_curve
from ..evaluation._scoring import checked
from ._style import (
    COLORS,
    FONT_SIZE,
    FOR,
    OTHERS,
    background,
    check_matplotlib,
    distinct,
    gray,
    hue,
    legend,
    new_axes,
    quiet,
    short,
    titled,
)


def plot_reliability(
    clf: Any, X: Any = None, y: Any = None, *, of: Any = None, n_bins: int = 10, ax: Any = None
) -> Any:
    """Draw predicted probabilities against what came true: points on the diagonal can be taken at their word.

    Every point stands for equally many rows; its line is the interval of 95% of the share that came true. Below are the
    numbers of predictions in every twentieth of the range.

    Parameters
    ----------
    clf : fitted classifier, or Reliability
        Any classifier with ``predict_proba``; or what `tanager.evaluation.reliability` returns, without `X` and `y`.
    X : table of shape (n_rows, n_features)
        Rows that it did not learn from.
    y : array-like of shape (n_rows,)
        Their classes.
    of : class label or None, default=None
        Whose probability; None takes the second of two classes and, of more, the predicted one.
    n_bins : int, default=10
        How many points.
    ax : matplotlib Axes or None, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.TANClassifier().fit(data.X[::2], data.y[::2])
    >>> ax = tg.plotting.plot_reliability(clf, data.X[1::2], data.y[1::2])
    """
    check_matplotlib()
    if not isinstance(clf, Reliability):
        clf = reliability(y, *_predicted(clf, X, y), of=of, n_bins=n_bins)
    elif X is not None or y is not None or of is not None:
        raise TypeError("a Reliability is drawn as it is: X, y and of belong to a classifier")
    ax = new_axes(4.4, 4.4) if ax is None else ax
    most = clf.histogram.max()
    edges = np.linspace(0.0, 1.0, len(clf.histogram) + 1)
    pale, own = {"color": gray(ax, 0.9), "edgecolor": background(ax)}, hue(ax, FOR)
    ax.bar(edges[:-1], 0.14 * clf.histogram / most, width=np.diff(edges), align="edge", **pale)
    ax.plot([0, 1], [0, 1], color=gray(ax, 0.6), linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    below, above = clf.observed - clf.low, clf.high - clf.observed
    ax.errorbar(
        clf.predicted, clf.observed, yerr=[np.maximum(below, 0), np.maximum(above, 0)], color=own, ecolor=own,
        elinewidth=1.0, marker="o", markersize=4.5, linewidth=1.2, zorder=3,
    )  # fmt: skip
    _square(ax)
    ax.annotate(
        f"bars: predictions, {most:,} in the highest", (0.985, 0.16), ha="right", va="bottom", color=gray(ax, 0.55),
        fontsize=FONT_SIZE * 0.8,
    )  # fmt: skip
    of_what = clf.of if clf.of == "the predicted class" else short(clf.of)
    title = f"expected calibration error {clf.calibration_error:.3f}, {plural(int(clf.n.sum()), 'row')}"
    titled(ax, title, f"predicted probability of {of_what}", "share that came true")
    return ax


def plot_roc(clf: Any, X: Any = None, y: Any = None, *, max_classes: int = 6, ax: Any = None) -> Any:
    """Draw the receiver operating characteristic: of the second of two classes, or of each class against all others.

    Parameters
    ----------
    clf : fitted classifier, RocCurve, or dict of name to either
        Any classifier with ``predict_proba``; or what `tanager.evaluation.roc_curve` returns, without `X` and `y`. A dict
        compares several; classifiers in it must be of two classes.
    X : table of shape (n_rows, n_features)
        Rows that it did not learn from.
    y : array-like of shape (n_rows,)
        Their classes.
    max_classes : int, default=6
        Of more classes, those with most rows are told apart by color, and the others are gray.
    ax : matplotlib Axes or None, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The legend has the areas below the curves (AUC), and the title their mean if there are several classes.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.TANClassifier().fit(data.X[::2], data.y[::2])
    >>> ax = tg.plotting.plot_roc(clf, data.X[1::2], data.y[1::2])
    """
    check_matplotlib()
    if not is_integer(max_classes) or not 1 <= max_classes <= len(COLORS):
        raise ValueError(f"max_classes must be a whole number from 1 to {len(COLORS)}, but is {max_classes!r}")
    curves, rest, title = _curves_of(clf, X, y, int(max_classes))
    against = "AUC against all others" if title.startswith("mean") else "AUC"
    ax = new_axes(4.4, 4.4) if ax is None else ax
    ax.plot([0, 1], [0, 1], color=gray(ax, 0.6), linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    for curve in rest:
        (other,) = ax.plot(curve.false_positive, curve.true_positive, color=gray(ax, OTHERS), linewidth=0.8, zorder=2)
    areas = [curve.auc for curve in rest]
    entries = [(other, f"{plural(len(rest), 'other')}: {min(areas):.3f} to {max(areas):.3f}")] if rest else []
    for color, name, (_, curve) in zip(COLORS, distinct([name for name, _ in curves], 24), curves, strict=False):
        lines = ax.plot(curve.false_positive, curve.true_positive, color=hue(ax, color), linewidth=1.6, zorder=3)
        entries.append((lines[0], f"{name}: {curve.auc:.3f}"))
    _square(ax)
    legend(ax, entries, loc="lower right", title=against, title_fontsize=FONT_SIZE * 0.9)
    titled(ax, title, "share of other rows above the threshold", "share of rows of the class above it")
    return ax


def _predicted(clf: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return probabilities and classes, or say what is missing."""
    if not hasattr(clf, "predict_proba") or not hasattr(clf, "classes_"):
        raise TypeError(f"a fitted classifier with predict_proba was expected, but a {type(clf).__name__} came")
    if X is None or y is None:
        raise TypeError("a classifier is judged by rows: X and y are needed")
    return clf.predict_proba(X), clf.classes_


def _curves_of(clf: Any, X: Any, y: Any, most: int) -> tuple[list[tuple[str, RocCurve]], list[RocCurve], str]:
    """Return the curves that have a color, with their names, the others, and the title."""
    if isinstance(clf, RocCurve):
        clf = {clf.of: clf}
    if isinstance(clf, Mapping):
        if not 1 <= len(clf) <= len(COLORS):
            raise ValueError(f"from 1 to {len(COLORS)} classifiers or curves can be told apart, but {len(clf)} came")
        found = [
            (str(name), one if isinstance(one, RocCurve) else _curve_of_two(one, X, y)) for name, one in clf.items()
        ]
        whose = {curve.of for _, curve in found}
        return _finite(found), [], f"ROC of {short(whose.pop())}" if len(whose) == 1 else "ROC"
    proba, classes = _predicted(clf, X, y)
    labels = classes.tolist()
    names = distinct_labels(labels)
    if len(labels) == 2:
        curve = roc_curve(y, proba, classes)
        return _finite([(names[1], curve)]), [], f"ROC of {short(names[1])}, {plural(len(proba), 'row')}"
    asked = [(name, roc_curve(y, proba, classes, of=label)) for name, label in zip(names, labels, strict=True)]
    drawn = _finite(asked)
    _, truth = checked(y, proba, classes)
    counts = dict(zip(names, np.bincount(truth[truth < len(names)], minlength=len(names)).tolist(), strict=True))
    by_rows = sorted(drawn, key=lambda item: -counts[item[0]])
    kept = by_rows if len(by_rows) <= most else by_rows[: most - 1] if most > 1 else by_rows[:1]
    chosen = {name for name, _ in kept}
    title = f"mean AUC {np.mean([curve.auc for _, curve in drawn]):.3f}, {plural(len(proba), 'row')}"
    own = [(name, curve) for name, curve in drawn if name in chosen]
    return own, [curve for name, curve in drawn if name not in chosen], title


def _curve_of_two(clf: Any, X: Any, y: Any) -> RocCurve:
    proba, classes = _predicted(clf, X, y)
    if len(classes) != 2:
        raise ValueError(
            f"plot_roc compares classifiers of two classes, but there are {len(classes)}: choose one class and pass curves "
            "instead of classifiers, as in {name: evaluation.roc_curve(y, clf.predict_proba(X), clf.classes_, of=label)}"
        )
    return roc_curve(y, proba, classes)


def _finite(curves: list[tuple[str, RocCurve]]) -> list[tuple[str, RocCurve]]:
    """Return the curves that there are: a class without rows, or without rows of others, has none."""
    found = [(name, curve) for name, curve in curves if np.isfinite(curve.auc)]
    if not found:
        raise ValueError("a ROC curve needs rows of the class and rows of others, but y lacks the one or the other")
    return found


def _square(ax: Any) -> None:
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.set_aspect("equal")
    quiet(ax)
