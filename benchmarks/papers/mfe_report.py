"""The pages of Isozaki, Kato and Ueno (2008): tables 2 and 3, figures 3 and 4, and what is claimed."""

from __future__ import annotations

import numpy as np

from benchmarks.papers import mfe, style
from benchmarks.papers.mfe import (
    BAYES,
    DEFAULTS,
    GRIDS,
    ML,
    ML_NOT_DIVIDED,
    PRINTED,
    PRINTED_RANGES,
    RANGES,
    STRUCTURES,
)
from benchmarks.papers.page import Page
from benchmarks.papers.runner import Floats, Results

TITLES = {"constraint-augmented": "general structures by the PC algorithm", "tan": "trees (TAN)"}
LINE = "MFE, tables 2 and 3"


def best(results: Results, name: str, structure: str, degrees: str) -> str:
    """Return the method with the best n_c, as the paper shows it."""
    labels = [mfe.mfe(degrees, n_c) for n_c in GRIDS[degrees]]
    return max(labels, key=lambda label: results.mean(name, label, structure))


def table_2(page: Page, results: Results, structure: str) -> None:
    """Accuracies beside the paper's."""
    own = [ML, ML_NOT_DIVIDED, *BAYES, *(mfe.mfe(degrees, n_c) for degrees, n_c in DEFAULTS.items())]
    rows = []
    for name in results.data():
        printed = dict(zip((ML, *BAYES, "linear", "log"), PRINTED[name], strict=True))
        cells = []
        for label in own:
            beside = f" ({printed[label]:.1f})" if label in printed else ""
            cells.append("{:.1f} ± {:.1f}".format(*mfe.mean_error(results.values(name, label, structure))) + beside)
        for degrees in GRIDS:
            value = results.mean(name, best(results, name, structure, degrees), structure)
            cells.append(f"{value:.1f} ({printed[degrees]:.1f})")
        rows.append([name, *cells])
    means = [mfe.pooled([results.values(n, label, structure) for n in results.data()]) for label in own]
    ends = [
        np.mean([results.mean(n, best(results, n, structure, degrees), structure) for n in results.data()])
        for degrees in GRIDS
    ]
    rows.append(["mean", *("{:.2f} ± {:.2f}".format(*mean) for mean in means), *(f"{end:.2f}" for end in ends)])
    page.text(
        f"Table 2, {TITLES[structure]}: accuracy in percent, mean over draws ± standard error, and the paper's in brackets; "
        "the paper shows MFE with the n_c that was best on the test set, the last two columns."
    )
    page.table(["", *own, *(f"MFE {degrees}, best n_c" for degrees in GRIDS)], rows)


def shares(results: Results, name: str, structure: str, degrees: str) -> Floats:
    """Return the accuracies over the grid in parts of the best."""
    means = np.array([results.mean(name, mfe.mfe(degrees, n_c), structure) for n_c in GRIDS[degrees]])
    return means / means.max()


def table_3(page: Page, results: Results, structure: str) -> None:
    """Ranges of n_c that keep 95 % of the best accuracy."""
    rows = []
    for name in results.data():
        cells = []
        for k, (degrees, grid) in enumerate(GRIDS.items()):
            good = [
                n for n, share in zip(grid, shares(results, name, structure, degrees), strict=True) if share >= 0.95
            ]
            cells += [f"{min(good):g} to {max(good):g}", PRINTED_RANGES[name][k]]
        rows.append([name, *cells])
    tried = " and ".join(f"{grid[0]:g} to {grid[-1]:g} ({degrees})" for degrees, grid in GRIDS.items())
    page.text(f"Table 3, {TITLES[structure]}: n_c with at least 95 % of the best accuracy; tried are {tried}.")
    page.table(["", "linear", "paper", "log", "paper"], rows)


def figures(page: Page, results: Results, structure: str) -> None:
    """Draw figures 3 and 4: accuracy less that of ML, by n_c."""
    figure, axes = style.panels(2, height=3.0)
    for panel, (number, degrees) in zip(axes, ((3, "linear"), (4, "log")), strict=True):
        lines = {}
        for name in results.data():
            gains = [
                results.values(name, mfe.mfe(degrees, n_c), structure) - results.values(name, ML, structure)
                for n_c in GRIDS[degrees]
            ]
            lines[name] = np.array(gains)
        style.curves(panel, GRIDS[degrees], lines, spread=False)
        panel.axhline(0, color=style.BLACK, lw=0.8)
        panel.set_title(f"figure {number}: {degrees}-state")
        panel.set_xlabel("n_c")
    axes[0].set_ylabel("accuracy less that of ML, points")
    axes[1].legend()
    caption = f"MFE, figures 3 and 4: differences in accuracy from ML, {TITLES[structure]}"
    page.figure(f"mfe-{structure}", caption, figure)


def judged(results: Results, structure: str) -> list[tuple[str, str, str, bool]]:
    """Return every claim with the default n_c: what, the paper's, ours, and whether it is met."""
    labels = (ML, *BAYES, "linear", "log")
    printed = {label: np.mean([row[k] for row in PRINTED.values()]) for k, label in enumerate(labels)}
    found = []
    for degrees, n_c in DEFAULTS.items():
        own = mfe.mfe(degrees, n_c)
        for label, least in ((ML, 1.0), ("Bayes 10", 3.0), ("Bayes 1", None)):
            gain, error = mfe.pooled(mfe.differences(results, structure, own, label))
            what = (
                f"{own} level with {label} (within 1)"
                if least is None
                else f"{own} above {label} by more than {least:g}"
            )
            met = abs(gain) <= 1 if least is None else gain > least
            paper = f"{printed[degrees] - printed[label]:+.1f} (best n_c)"
            found.append((what, paper, f"{gain:+.2f} ± {error:.2f}", met))
        low, high = RANGES[degrees]
        inside = [low <= n <= high for n in GRIDS[degrees]]
        share = min(float(shares(results, name, structure, degrees)[inside].min()) for name in results.data())
        what = f"MFE {degrees}: n_c from {low:g} to {high:g} keeps 95 % of the best accuracy"
        found.append((what, "on all seven tables", f"{100 * share:.1f} % at least", share >= 0.95))
    return found


def claims(page: Page, results: Results) -> None:
    """Judge every claim with general structures and with trees; where they disagree, each tells of the other."""
    lines = {structure: f"{LINE}, {short}" for structure, short in zip(STRUCTURES, ("GAN", "TAN"), strict=True)}
    found = {structure: judged(results, structure) for structure in STRUCTURES}
    for structure, other in zip(STRUCTURES, reversed(STRUCTURES), strict=True):
        for (what, paper, ours, met), (_, _, beside, others) in zip(found[structure], found[other], strict=True):
            reason = (
                f"with {TITLES[other]} it is {beside}{', which meets it' if others else ''}: it depends on how dense the "
                "structure is, and the paper does not tell the thresholds of its own"
            )
            page.claim(lines[structure], what, paper, ours, met, reason)
        changes = {
            n: results.mean(n, ML_NOT_DIVIDED, structure) - results.mean(n, ML, structure) for n in results.data()
        }
        most = max(changes, key=lambda name: abs(changes[name]))
        page.claim(
            lines[structure],
            "whether 0.0001 added is renormalized is stated",
            "not said",
            f"if not, ML changes by {np.mean(list(changes.values())):+.2f} on average, {changes[most]:+.1f} on {most}",
            True,
        )


def report(results: Results, page: Page) -> None:
    page.heading("Parameters from few rows: minimum free energy with data temperature (Isozaki, Kato and Ueno, 2008)")
    page.text(mfe.__doc__.partition("\n\n")[2])
    for structure in STRUCTURES:
        table_2(page, results, structure)
        table_3(page, results, structure)
        figures(page, results, structure)
    claims(page, results)
