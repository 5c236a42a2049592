"""Plots of scores: search traces, cross-validation results and learning curves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .._learning.traces import OBJECTIVES, SEARCH_ENDS, FitTrace, SearchTrace
from .._utils.text import plural
from .._utils.typing import Floats
from .._utils.validation import check_choice
from ..evaluation._learning_curve import LearningCurve, learning_curve
from ..evaluation._result import CrossValidation
from ..explain._text import signed
from ._style import (
    COLORS,
    FONT_SIZE,
    FOR,
    INCH,
    LINE,
    check_matplotlib,
    distinct,
    gray,
    hue,
    legend,
    named_rows,
    new_axes,
    quiet,
    short,
    text_width,
    titled,
    within,
    write,
)

#: Maximum height of a figure in rows; more rows share it, and not all of them are labeled.
_MAX_ROWS = 40


def plot_search(trace: Any, ax: Any = None) -> Any:
    """Plot the steps of a structure search, with the score of every fold and the gain; or the iterations of a fit.

    Steps run from top to bottom. Large points are means over the folds, small points are single folds.

    Parameters
    ----------
    trace : SearchTrace, FitTrace or classifier fitted by a search
        ``search_trace_`` or ``parameter_trace_``; a classifier stands for its ``search_trace_``.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure of suitable size.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1", as_frame=True)
    >>> clf = tg.BayesNetClassifier("hill-climb", random_state=0).fit(data.X, data.y)
    >>> ax = tg.plotting.plot_search(clf)
    """
    check_matplotlib()
    found = getattr(trace, "search_trace_", trace)
    if isinstance(found, FitTrace):
        return _draw_iterations(found, ax)
    if not isinstance(found, SearchTrace):
        raise TypeError(
            f"trace: expected a SearchTrace, a FitTrace or a classifier fitted by a search, got {type(trace).__name__}"
        )
    labels = [" → ".join(short(name, 28) for name in step.change.split(" -> ")) for step in found]
    ax = _rows_of_points(ax, labels, found.fold_scores, found.scores, end=True)
    for y, (before, after) in enumerate(pairwise(found.scores), 1):
        if len(labels) <= _MAX_ROWS:
            _beside(ax, y, signed(float(after - before)))
    end = SEARCH_ENDS.get(found.stopped, found.stopped)
    place = {"transform": ax.get_yaxis_transform(), "in_layout": False}
    write(ax, 0.01, len(labels), end, fontsize=within(ax, end, FONT_SIZE * 0.9), color=gray(ax, 0.5), **place)
    steps, candidates = plural(len(found) - 1, "step"), plural(found.n_candidates, "candidate")
    folds = plural(found.fold_scores.shape[1], "fold")
    titled(ax, f"{steps}, {candidates}", f"{OBJECTIVES[found.objective]}, {folds} and mean")
    return ax


def plot_scores(result: CrossValidation, score: str | None = None, ax: Any = None) -> Any:
    """Plot a score of a cross-validation: all folds of every classifier, and the mean.

    Parameters
    ----------
    result : CrossValidation
        Result of `tanager.evaluation.cross_validate`.
    score : str or None, default=None
        Score to plot; None means the first.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure of suitable size.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> classifiers = {"naive": tg.NaiveBayesClassifier(), "TAN": tg.TANClassifier()}
    >>> result = tg.evaluation.cross_validate(classifiers, data.X, data.y, random_state=1)
    >>> ax = tg.plotting.plot_scores(result, "log_loss")
    """
    check_matplotlib()
    if not isinstance(result, CrossValidation):
        raise TypeError(f"result: expected a CrossValidation, got {type(result).__name__}")
    score = _chosen(score, result.scoring)
    folds = np.array([result.scores[name][score] for name in result.names])
    means = np.array([result.mean[name][score] for name in result.names])
    ax = _rows_of_points(ax, distinct(result.names, 44), folds, means, end=False)
    for y, mean in enumerate(means):
        if len(means) <= _MAX_ROWS:
            _beside(ax, y, f"{mean:.4g}")
    better = "larger is better" if result._greater_is_better[score] else "smaller is better"
    titled(ax, f"{plural(result.n_folds, 'fold')} and mean", f"{score.replace('_', ' ')} ({better})")
    return ax


def plot_learning_curve(
    clf: Any, X: Any = None, y: Any = None, *, score: str | None = None, ax: Any = None, **settings: Any
) -> Any:
    """Plot a learning curve: a score by the number of training rows.

    Parameters
    ----------
    clf : classifier, list or dict of classifiers, or LearningCurve
        Classifiers to evaluate; or the result of `tanager.evaluation.learning_curve`, without `X` and `y`.
    X, y
        As in ``fit``.
    score : str or None, default=None
        Score to plot; None means the first.
    ax : matplotlib Axes or None, default=None
        Axes to plot into; None creates a new figure.
    **settings
        Settings of `tanager.evaluation.learning_curve`: ``sizes``, ``n_splits``, ``test_size``, ``scoring``, ``random_state``,
        ``n_jobs``, ``verbose``.

    Returns
    -------
    matplotlib Axes
        Lines are means over the splits, and bands show one standard deviation on both sides. There is no line where a score
        is infinite.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> classifiers = {"naive": tg.NaiveBayesClassifier(), "TAN": tg.TANClassifier()}
    >>> ax = tg.plotting.plot_learning_curve(classifiers, data.X, data.y, n_splits=3, random_state=1)
    """
    check_matplotlib()
    if not isinstance(clf, LearningCurve):
        if X is None or y is None:
            raise TypeError("X and y: required to evaluate classifiers")
        if score is not None and "scoring" not in settings:
            settings["scoring"] = score
        clf = learning_curve(clf, X, y, **settings)
    elif X is not None or y is not None or settings:
        raise TypeError("X, y and other settings: expected only with classifiers, not with a LearningCurve")
    score = _chosen(score, clf.scoring)
    ax = new_axes(5.6, 3.8) if ax is None else ax
    mean, std = clf.mean, clf.std
    entries = []
    for i, (name, label) in enumerate(zip(clf.names, distinct(clf.names), strict=True)):
        middle = np.where(np.isfinite(mean[name][score]), mean[name][score], np.nan)
        color = hue(ax, COLORS[i % len(COLORS)])
        style = ("solid", (0, (4, 2)), (0, (1, 1)))[i // len(COLORS) % 3]
        ax.fill_between(
            clf.sizes, middle - std[name][score], middle + std[name][score], color=color, alpha=0.13, linewidth=0
        )
        lines = ax.plot(clf.sizes, middle, color=color, linewidth=1.6, linestyle=style, marker="o", markersize=3.5)
        entries.append((lines[0], label))
    _scale_of_sizes(ax, clf.sizes)
    quiet(ax)
    ax.grid(axis="y", color=gray(ax, 0.92), linewidth=0.7)
    ax.set_axisbelow(True)
    legend(ax, entries, loc="best")
    n_splits = next(iter(clf.scores.values()))[score].shape[1]
    title = f"mean and standard deviation of {plural(n_splits, 'split')}, {plural(clf.n_test, 'test row')}"
    titled(ax, title, "training rows", score.replace("_", " "))
    return ax


def _rows_of_points(ax: Any, labels: list[str], folds: Floats, means: Floats, *, end: bool) -> Any:
    """Plot a row of points for every label: small points for folds, and a large one for their mean.

    With `end`, for searches, means are connected, and an extra row leaves room for the reason why the search ended.
    """
    n = len(labels)
    if ax is None:
        width = max(map(text_width, labels)) * INCH + 4.2
        ax = new_axes(width, min(n + end, _MAX_ROWS) * LINE * INCH + 1.1)
    rows = np.repeat(np.arange(n), folds.shape[1])
    finite = np.isfinite(folds.reshape(-1))
    ax.scatter(folds.reshape(-1)[finite], rows[finite], s=9, color=gray(ax, 0.75), linewidths=0, zorder=2)
    shown = np.where(np.isfinite(means), means, np.nan)
    ax.plot(
        shown, np.arange(n), color=hue(ax, FOR), linewidth=1.2 if end else 0.0, marker="o", markersize=5.5, zorder=3
    )
    step = -(-n // _MAX_ROWS)
    quiet(ax, left=False)
    names = [label if i % step == 0 else "" for i, label in enumerate(labels)]
    named_rows(ax, [*names, "end"] if end else names, [*[False] * n, True] if end else None)
    ax.grid(axis="x", color=gray(ax, 0.92), linewidth=0.7)
    ax.set_axisbelow(True)
    return ax


def _beside(ax: Any, y: float, text: str) -> None:
    """Write text to the right of the axes."""
    write(
        ax,
        1.02,
        y,
        text,
        transform=ax.get_yaxis_transform(),
        fontsize=FONT_SIZE * 0.85,
        color=gray(ax, 0.25),
        ha="left",
    )


def _draw_iterations(trace: FitTrace, ax: Any) -> Any:
    """Plot the iterations of a parameter learner: the objective on held-out rows if tuned, else on the training rows."""
    ax = new_axes(5.6, 3.4) if ax is None else ax
    tuned = not np.isnan(trace.held_out).all()
    values = trace.held_out if tuned else trace.training
    numbers = np.arange(len(values))
    for fold in trace.fold_held_out if tuned else ():
        ax.plot(np.arange(len(fold)), fold, color=gray(ax, 0.82), linewidth=0.8, zorder=1)
    ax.plot(
        numbers,
        values,
        color=hue(ax, FOR),
        linewidth=1.6,
        marker="o" if len(values) <= 40 else None,
        markersize=3.5,
        zorder=3,
    )
    ax.axvline(trace.n_iter, color=gray(ax, 0.6), linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    quiet(ax)
    what = "mean ln P(class | features) on held-out rows" if tuned else "objective on the training rows"
    titled(ax, f"{plural(trace.n_iter, 'iteration')}; stopped: {trace.stopped}", "iteration", what)
    return ax


def _scale_of_sizes(ax: Any, sizes: npt.NDArray[np.int64]) -> None:
    from matplotlib.ticker import NullLocator

    if sizes[-1] >= 8 * sizes[0]:
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
    if len(sizes) <= 12:
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes.tolist()])


def _chosen(score: str | None, known: list[str]) -> str:
    return known[0] if score is None else check_choice(score, "score", known)
