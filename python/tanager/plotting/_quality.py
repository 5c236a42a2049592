"""Plots of predictive quality: reliability diagrams and ROC curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._utils.text import distinct_labels, plural
from .._utils.validation import check_int
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
    """Plot a reliability diagram: observed frequencies against predicted probabilities.

    A calibrated classifier lies on the diagonal. Every point is a bin with about the same number of rows; error bars are
    95% confidence intervals of the observed frequency. The bars at the bottom are a histogram of the predictions.

    Parameters
    ----------
    clf : fitted classifier, or Reliability
        Any classifier with ``predict_proba``; or the result of `tanager.evaluation.reliability`, without `X` and `y`.
    X : table of shape (n_rows, n_features)
        Held-out data.
    y : array-like of shape (n_rows,)
        True classes.
    of : class label or None, default=None
        Class whose probability to plot. None means the second class if there are two, and the predicted class if there
        are more.
    n_bins : int, default=10
        Number of bins.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure.

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
        raise TypeError("X, y and of: expected only with a classifier, not with a Reliability")
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
        f"histogram of predictions, maximum {most:,}", (0.985, 0.16), ha="right", va="bottom", color=gray(ax, 0.55),
        fontsize=FONT_SIZE * 0.8,
    )  # fmt: skip
    of_what = clf.of if clf.of == "the predicted class" else short(clf.of)
    title = f"expected calibration error {clf.calibration_error:.3f}, {plural(int(clf.n.sum()), 'row')}"
    titled(ax, title, f"predicted probability of {of_what}", "observed frequency")
    return ax


def plot_roc(clf: Any, X: Any = None, y: Any = None, *, max_classes: int = 6, ax: Any = None) -> Any:
    """Plot ROC curves: of the second of two classes, or of each class against the rest.

    Parameters
    ----------
    clf : fitted classifier, RocCurve, or dict of name to either
        Any classifier with ``predict_proba``; or the result of `tanager.evaluation.roc_curve`, without `X` and `y`. A dict
        compares several classifiers, which must have two classes.
    X : table of shape (n_rows, n_features)
        Held-out data.
    y : array-like of shape (n_rows,)
        True classes.
    max_classes : int, default=6
        Maximum number of classes with a color, those with the most rows; the others are gray.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure.

    Returns
    -------
    matplotlib Axes
        The legend shows the areas under the curves (AUC), and the title their mean if there are several classes.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> clf = tg.TANClassifier().fit(data.X[::2], data.y[::2])
    >>> ax = tg.plotting.plot_roc(clf, data.X[1::2], data.y[1::2])
    """
    check_matplotlib()
    check_int(max_classes, "max_classes", minimum=1, maximum=len(COLORS))
    curves, rest, title = _curves_of(clf, X, y, int(max_classes))
    against = "AUC, one vs. rest" if title.startswith("mean") else "AUC"
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
    titled(ax, title, "false positive rate", "true positive rate")
    return ax


def _predicted(clf: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return the probabilities and the classes of a fitted classifier."""
    if not hasattr(clf, "predict_proba") or not hasattr(clf, "classes_"):
        raise TypeError(f"clf: expected a fitted classifier with predict_proba, got {type(clf).__name__}")
    if X is None or y is None:
        raise TypeError("X and y: required to evaluate a classifier")
    return clf.predict_proba(X), clf.classes_


def _curves_of(clf: Any, X: Any, y: Any, most: int) -> tuple[list[tuple[str, RocCurve]], list[RocCurve], str]:
    """Return the curves with a color and their names, the gray curves, and the title."""
    if isinstance(clf, RocCurve):
        clf = {clf.of: clf}
    if isinstance(clf, Mapping):
        if not 1 <= len(clf) <= len(COLORS):
            raise ValueError(f"clf: expected from 1 to {len(COLORS)} classifiers or curves, got {len(clf)}")
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
            f"clf: expected classifiers with two classes, got {len(classes)}; to compare classifiers for one of the classes, "
            "pass curves: {name: evaluation.roc_curve(y, clf.predict_proba(X), clf.classes_, of=label)}"
        )
    return roc_curve(y, proba, classes)


def _finite(curves: list[tuple[str, RocCurve]]) -> list[tuple[str, RocCurve]]:
    """Return the curves that are defined: those of classes that some rows have and some do not."""
    finite = [(name, curve) for name, curve in curves if np.isfinite(curve.auc)]
    if not finite:
        raise ValueError("y: expected rows of at least two classes to plot a ROC curve")
    return finite


def _square(ax: Any) -> None:
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.set_aspect("equal")
    quiet(ax)
