"""The section of Isozaki, Kato and Ueno (2008): tables 2 and 3, figures 3 and 4, and the claims."""

from __future__ import annotations

import numpy as np

from experiments import style
from experiments.mfe import experiment as mfe
from experiments.mfe.experiment import (
    BAYES,
    DEFAULTS,
    GRIDS,
    ML,
    ML_NOT_DIVIDED,
    PRINTED,
    PRINTED_RANGES,
    RANGES,
    SPARSER,
    STRUCTURES,
)
from experiments.page import Page
from experiments.runner import Floats, Results

TITLES = {"constraint-augmented": "general structures by the PC algorithm", "tan": "trees (TAN)"}
LINE = "MFE, tables 2 and 3"
SHORT = {"constraint-augmented": "GAN", "tan": "TAN", "naive": "naive Bayes"} | {
    name: f"GAN, {n} parent{'s' if n > 1 else ''} at most" for name, n in mfe.SPARSER.items() if n
}
DENSITY = "it depends on the density of the structure, of which the paper gives only the limit of five parents, not whether the class counts as one"
LEVEL = 1.0  # points within which accuracies count as equal


def best(results: Results, name: str, structure: str, degrees: str) -> str:
    """Return the method with the best n_c, as in the paper."""
    labels = [mfe.mfe(degrees, n_c) for n_c in GRIDS[degrees]]
    return max(labels, key=lambda label: results.mean(name, label, structure))


def table_2(page: Page, results: Results, structure: str) -> None:
    """Add accuracies and the paper's."""
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
        f"Table 2, {TITLES[structure]}: accuracy in percent, mean over samples ± standard error, the paper's in parentheses; "
        "the paper shows MFE with the n_c that was best on the test set, as in the last two columns."
    )
    page.table(["", *own, *(f"MFE {degrees}, best n_c" for degrees in GRIDS)], rows)


def shares(results: Results, name: str, structure: str, degrees: str) -> Floats:
    """Return the accuracies over the grid as fractions of the best."""
    means = np.array([results.mean(name, mfe.mfe(degrees, n_c), structure) for n_c in GRIDS[degrees]])
    return means / means.max()


def table_3(page: Page, results: Results, structure: str) -> None:
    """Add the ranges of n_c with 95 % of the best accuracy."""
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
    page.text(f"Table 3, {TITLES[structure]}: n_c with at least 95 % of the best accuracy, out of {tried}.")
    page.table(["", "linear", "paper", "log", "paper"], rows)


def figures(page: Page, results: Results, structure: str) -> None:
    """Plot figures 3 and 4: difference in accuracy from ML, by n_c."""
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
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=len(results.data()))
    caption = f"MFE, figures 3 and 4: differences in accuracy from ML, {TITLES[structure]}"
    page.figure(f"mfe-{structure}", caption, figure)


def leads(results: Results, structure: str, degrees: str, label: str, best_n_c: bool) -> dict[str, Floats]:
    """Return MFE's lead over another method by dataset and sample, with the default n_c or the best for each dataset."""
    found = {}
    for name in results.data():
        own = best(results, name, structure, degrees) if best_n_c else mfe.mfe(degrees, DEFAULTS[degrees])
        found[name] = results.values(name, own, structure) - results.values(name, label, structure)
    return found


def lead(results: Results, structure: str, degrees: str, label: str, best_n_c: bool) -> tuple[float, float]:
    """Return the mean lead over datasets and its standard error."""
    return mfe.pooled(list(leads(results, structure, degrees, label, best_n_c).values()))


def kept(results: Results, structure: str, degrees: str) -> tuple[float, str]:
    """Return the lowest fraction of the best accuracy over the recommended range of n_c, and its dataset."""
    low, high = RANGES[degrees]
    inside = [low <= n <= high for n in GRIDS[degrees]]
    least = {name: float(shares(results, name, structure, degrees)[inside].min()) for name in results.data()}
    name = min(least, key=lambda n: least[n])
    return least[name], name


def density(page: Page, results: Results) -> None:
    """Add the effect of the density of a structure."""
    rows = []
    for structure in (STRUCTURES[0], *SPARSER, "tan"):
        parents = float(np.mean([results.mean(n, mfe.N_PARENTS, structure) for n in results.data()]))
        ml = np.mean([results.mean(n, ML, structure) for n in results.data()])
        cells = [f"{parents:.2f}", f"{ml:.1f}"]
        for degrees in GRIDS:
            cells += [
                f"{lead(results, structure, degrees, label, True)[0]:+.2f}" for label in (ML, "Bayes 10", "Bayes 1")
            ]
            cells += [f"{100 * share:.1f} % ({name})" for share, name in [kept(results, structure, degrees)]]
        rows.append([SHORT.get(structure, structure), *cells])
    page.text(
        "Effect of the structure: mean number of parents of a feature, accuracy of ML, lead of MFE with the best n_c over ML and the Bayesian "
        "estimates, and the lowest fraction of the best accuracy over the recommended range of n_c; linear, then log"
    )
    header = ["lead over ML", "Bayes 10", "Bayes 1", "fraction of best"]
    page.table(["", "parents", "ML", *header, *header], rows)


def claims(page: Page, results: Results) -> None:
    """Evaluate every claim with general structures and trees, with the best n_c as in the paper and with the default."""
    for structure in STRUCTURES:
        for degrees in DEFAULTS:
            for best_n_c in (True, False):
                claims_of_leads(page, results, structure, degrees, best_n_c)
            share, name = kept(results, structure, degrees)
            bounds = "n_c from {:g} to {:g}".format(*RANGES[degrees])
            page.claim(
                LINE,
                f"{SHORT[structure]}: MFE {degrees}, {bounds} keeps 95 % of the best",
                "on all datasets",
                f"{100 * share:.1f} % at least ({name})",
                share >= 0.95,
                why_less(results, structure, degrees),
            )
        changes = {
            n: results.mean(n, ML_NOT_DIVIDED, structure) - results.mean(n, ML, structure) for n in results.data()
        }
        most = max(changes, key=lambda name: abs(changes[name]))
        page.claim(
            LINE,
            f"{SHORT[structure]}: effect of not normalizing ML after adding 0.0001",
            "not reported",
            f"ML changes by {np.mean(list(changes.values())):+.2f} on average, {changes[most]:+.1f} on {most}",
            None,
            "reported; not a claim of the paper",
        )


def claims_of_leads(page: Page, results: Results, structure: str, degrees: str, best_n_c: bool) -> None:
    """Evaluate MFE's lead over the others."""
    labels = (ML, *BAYES, "linear", "log")
    printed = {label: np.mean([row[k] for row in PRINTED.values()]) for k, label in enumerate(labels)}
    n_c = "best n_c" if best_n_c else f"n_c {DEFAULTS[degrees]:g}"
    for label, least in ((ML, 1.0), ("Bayes 10", 3.0), ("Bayes 1", None)):
        gain, error = lead(results, structure, degrees, label, best_n_c)
        how = f"equal to {label} (within {LEVEL:g})" if least is None else f"above {label} by more than {least:g}"
        page.claim(
            LINE,
            f"{SHORT[structure]}: MFE {degrees}, {n_c}, {how}",
            f"{printed[degrees] - printed[label]:+.1f}" if best_n_c else "not shown",
            f"{gain:+.2f} ± {error:.2f}",
            abs(gain) <= LEVEL if least is None else gain > least,
            why_off(results, structure, degrees, label, best_n_c),
        )


def why_off(results: Results, structure: str, degrees: str, label: str, best_n_c: bool) -> str:
    """Return the datasets with the largest leads, and the leads with other structures."""
    own = {n: float(gain.mean()) for n, gain in leads(results, structure, degrees, label, best_n_c).items()}
    named = ", ".join(f"{name} {gain:+.1f}" for name, gain in sorted(own.items(), key=lambda pair: -abs(pair[1]))[:3])
    others = [
        f"{SHORT.get(s, s)} {lead(results, s, degrees, label, best_n_c)[0]:+.2f}"
        for s in (*STRUCTURES, *SPARSER)
        if s != structure
    ]
    return f"MFE {degrees} vs. {label}, {SHORT[structure]}: largest on {named}; with other structures {'; '.join(others)}; {DENSITY}"


def why_less(results: Results, structure: str, degrees: str) -> str:
    """Return the datasets below 95 %, and the lowest fractions with other structures."""
    low, high = RANGES[degrees]
    inside = [low <= n <= high for n in GRIDS[degrees]]
    found = {n: float(shares(results, n, structure, degrees)[inside].min()) for n in results.data()}
    named = ", ".join(f"{name} {100 * share:.1f} %" for name, share in found.items() if share < 0.95)
    others = [
        f"{SHORT.get(s, s)} {100 * kept(results, s, degrees)[0]:.1f} %"
        for s in (*STRUCTURES, *SPARSER)
        if s != structure
    ]
    return f"MFE {degrees}, {SHORT[structure]}: less than 95 % on {named}; with other structures the minimum is {'; '.join(others)}; {DENSITY}"


def report(results: Results, page: Page) -> None:
    page.heading("Parameters from few rows: minimum free energy with data temperature (Isozaki, Kato and Ueno, 2008)")
    page.text(mfe.__doc__.partition("\n\n")[2])
    for structure in STRUCTURES:
        table_2(page, results, structure)
        table_3(page, results, structure)
        figures(page, results, structure)
    density(page, results)
    claims(page, results)
