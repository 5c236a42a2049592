"""The section beyond the papers: measures of all classifiers, their ranks, and significant differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.report import number
from experiments import style
from experiments.beyond import experiment as beyond
from experiments.beyond.experiment import ACCURACY, CALIBRATION, LEARNING, LOG_LOSS, PREDICTION, ROWS, SIZE, TANAGER
from experiments.page import Page, anchor, markdown
from experiments.paired import Ranks, ranks
from experiments.runner import Floats, Results

HEADING = "Beyond the papers: all classifiers on all datasets"
SMALL = 1000  # rows
MEASURES = ((ACCURACY, True), (LOG_LOSS, False), (CALIBRATION, False))


def by_table(results: Results, method: str, measure: str) -> Floats:
    """Return the means over folds by dataset; NaN where a part failed."""
    return np.array([results.mean(name, method, measure) for name in results.data()])


def ranked(results: Results, methods: list[str], measure: str, higher: bool) -> Ranks:
    """Rank methods that have results on all datasets."""
    return ranks({method: by_table(results, method, measure) for method in methods}, higher)


def overview(page: Page, results: Results, methods: list[str], placed: dict[str, Ranks]) -> None:
    """Add one row per method, in the order of ranks by log loss; methods without results on some datasets last."""
    order = sorted(methods, key=lambda method: placed[LOG_LOSS].mean[method])
    rows = []
    for method in [*order, *(m for m in results.methods() if m not in methods)]:
        found = {m: by_table(results, method, m) for m in (ACCURACY, LOG_LOSS, CALIBRATION, LEARNING, SIZE)}
        values = {m: v[~np.isnan(v)] for m, v in found.items()}
        tested = sum(float(results.values(n, method, ROWS).sum()) for n in results.data())
        seconds = sum(float(results.values(n, method, PREDICTION).sum()) for n in results.data())
        full = method in methods
        means = (
            f"{values[ACCURACY].mean():.2f}",
            f"{values[LOG_LOSS].mean():.4f}",
            f"{values[CALIBRATION].mean():.4f}",
        )
        rows.append(
            [
                f"**{method}**" if method in TANAGER else method,
                f"{len(values[ACCURACY])}",
                *(means if full else ("-", "-", "-")),
                *(f"{placed[m].mean[method]:.2f}" if full else "-" for m, _ in MEASURES),
                f"{1000 * float(np.median(values[LEARNING])):.3g}",
                f"{values[LEARNING].sum():.3g}",
                number(float(f"{tested / max(seconds, 1e-9):.3g}")),
                f"{float(np.median(values[SIZE])) / 1000:.3g}",
            ]
        )
    header = ["", "datasets", "accuracy", "log loss", "calibration error", "rank: accuracy", "log loss", "calibration"]
    header += ["fit time, median ms", "all datasets, s", "rows/s predicted", "size, median kB"]
    page.table(header, rows)


def summary(page: Page, results: Results, methods: list[str], placed: dict[str, Ranks]) -> None:
    """Write the summary: a short table of all methods."""
    sizes = {n: float(results.values(n, methods[0], ROWS).mean()) * beyond.FOLDS for n in results.data()}
    small = [name for name, rows in sizes.items() if rows < SMALL]
    large = [name for name in sizes if name not in small]
    of_some = {
        size: ranks({m: np.array([results.mean(n, m, LOG_LOSS) for n in names]) for m in methods}, False)
        for size, names in (("small", small), ("large", large))
        if names
    }
    rows = []
    for method in sorted(methods, key=lambda m: placed[LOG_LOSS].mean[m]):
        seconds = float(np.median(by_table(results, method, LEARNING)))
        by_size = [f"{of_some[size].mean[method]:.1f}" if size in of_some else "-" for size in ("small", "large")]
        overall = [f"{placed[measure].mean[method]:.1f}" for measure in (LOG_LOSS, ACCURACY)]
        name = f"**{method}**" if method in TANAGER else method
        rows.append([name, f"`{beyond.code(method)}`", overall[0], *by_size, overall[1], f"{1000 * seconds:.3g}"])
    header = ("method", "", "probabilities", f"below {SMALL:,} rows", f"{SMALL:,} or more", "accuracy", "fit time, ms")
    titles = {"small": "smaller", "large": "larger"}
    critical = [f"{found.critical:.1f} on the {titles[size]} datasets" for size, found in of_some.items()]
    about = (
        f"Average ranks of {len(methods)} classifiers over {len(sizes)} datasets (1 is best): by predicted probabilities (log loss) on all datasets, on the "
        f"{len(small)} smaller and on the {len(large)} larger ones, and by accuracy; then the median fit time. Differences below "
        f"{placed[LOG_LOSS].critical:.1f} ({', '.join(critical)}) are not significant. tanager's methods are bold; [the details](#{anchor(HEADING)}) have more measures."
    )
    page.summary = [
        "## Summary",
        "",
        about,
        "",
        *markdown(header, rows, "llrrrrr"),
        "",
    ]


def per_table(page: Page, results: Results, measure: str, digits: int) -> None:
    """Add one row per dataset, one column per method."""
    methods = results.methods()
    rows = []
    for name in results.data():
        values = [results.mean(name, method, measure) for method in methods]
        rows.append([name, *("-" if np.isnan(value) else f"{value:.{digits}f}" for value in values)])
    page.text(f"{measure.capitalize()} by dataset, mean over folds")
    page.table(["", *methods], rows)


def cliques(placed: Ranks) -> list[tuple[float, float]]:
    """Return the widest ranges of ranks that are within the critical difference."""
    values = sorted(placed.mean.values())
    ends = [max(v for v in values if v - low <= placed.critical) for low in values]
    found: list[tuple[float, float]] = []
    for low, high in zip(values, ends, strict=True):
        if high > low and (not found or high > found[-1][1]):
            found.append((low, high))
    return found


def critical_difference(axes: Any, title: str, placed: Ranks) -> None:
    """Plot average ranks on a line, best to the left; bars join methods that do not differ significantly."""
    order = sorted(placed.mean, key=lambda method: placed.mean[method])
    n, half = len(order), (len(order) + 1) // 2
    bars = cliques(placed)
    step, top = 1.0, 1.2 + 0.45 * len(bars)
    axes.set_xlim(0.5 - 0.30 * n, n + 0.5 + 0.30 * n)
    axes.set_ylim(-(top + step * half) - 0.5, 2.4)
    axes.axis("off")
    axes.plot([1, n], [0, 0], color=style.BLACK, lw=1)
    for tick in range(1, n + 1):
        axes.plot([tick, tick], [0, 0.25], color=style.BLACK, lw=0.8)
        axes.text(tick, 0.4, f"{tick}", ha="center", va="bottom", fontsize=6.5)
    axes.plot([1, 1 + placed.critical], [1.7, 1.7], color=style.RED, lw=2)
    axes.text(1 + placed.critical + 0.2, 1.7, f"critical difference {placed.critical:.2f}", va="center", fontsize=7)
    for k, (low, high) in enumerate(bars):
        axes.plot([low - 0.05, high + 0.05], [-0.5 - 0.45 * k] * 2, color=style.RED, lw=2.5, solid_capstyle="butt")
    for k, method in enumerate(order):
        left = k < half
        y = -(top + step * (k if left else n - 1 - k))
        end = 0.6 if left else n + 0.4
        color = style.BLUE if method in TANAGER else style.BLACK
        axes.plot([placed.mean[method]] * 2, [0, y], color="0.6", lw=0.7, zorder=0)
        axes.plot([placed.mean[method], end], [y, y], color="0.6", lw=0.7, zorder=0)
        text = f"{method}  {placed.mean[method]:.2f}" if left else f"{placed.mean[method]:.2f}  {method}"
        axes.text(
            end - 0.1 if left else end + 0.1,
            y,
            text,
            ha="right" if left else "left",
            va="center",
            color=color,
            fontsize=7.5,
        )
    axes.set_title(title)


def report(results: Results, page: Page) -> None:
    page.heading(HEADING)
    page.text((beyond.__doc__ or "").partition("\n\n")[2])
    methods = [m for m in results.methods() if not np.isnan(by_table(results, m, ACCURACY)).any()]
    placed = {measure: ranked(results, methods, measure, higher) for measure, higher in MEASURES}
    page.text(
        f"Means over {len(results.data())} datasets, and average ranks of the {len(methods)} methods with results on all of them (1 is best). "
        f"Friedman's test: p {placed[ACCURACY].p_friedman:.1g} by accuracy, {placed[LOG_LOSS].p_friedman:.1g} by log loss; Nemenyi's "
        f"critical difference of ranks at 5 % is {placed[ACCURACY].critical:.2f}. tanager's methods are bold."
    )
    summary(page, results, methods, placed)
    overview(page, results, methods, placed)
    for measure in (ACCURACY, LOG_LOSS):
        figure, axes = style.panels(1, columns=1, height=3.3)
        critical_difference(axes[0], f"average rank by {measure}", placed[measure])
        caption = f"Average ranks by {measure}, best to the left; red bars join methods that do not differ significantly, tanager's are blue"
        page.figure(f"beyond-{measure.replace(' ', '-')}", caption, figure)
    per_table(page, results, ACCURACY, 1)
    per_table(page, results, LOG_LOSS, 3)
