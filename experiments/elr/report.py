"""The section of Greiner, Su, Shen and Zhou (2005) on real datasets: tables II to V, figures 4 to 7, 9 and 10, and the claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from experiments import style
from experiments.elr import experiment as elr
from experiments.elr.experiment import ACCURACY, AVAILABLE, ERROR_BAR, LIKELIHOOD, MISSING, OTHER_RULE
from experiments.elr.printed import COMPLETE, FIGURES, GAINS, INCOMPLETE, NOT_EVALUATED, PRINTED, TABLE_IV, TABLE_V
from experiments.page import Page
from experiments.paired import Paired, compare
from experiments.runner import Floats, Results


def both(results: Results, missing: float, first: str, second: str) -> tuple[Floats, Floats]:
    """Return mean accuracies of two methods on the datasets that both have."""
    pairs = [
        [results.mean(name, method, ACCURACY, missing=missing) for method in (first, second)]
        for name in results.data(missing=missing)
    ]
    found = np.array([pair for pair in pairs if not np.isnan(pair).any()]).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def tested(results: Results, missing: float, first: str, second: str) -> Paired:
    """Compare two methods over the datasets."""
    return compare(*both(results, missing, first, second))


def tested_in_print(missing: float, first: str, second: str) -> Paired:
    """Compare two methods by the published accuracies, over the datasets that both have."""
    methods = INCOMPLETE if missing else COMPLETE
    rows = np.array([printed.incomplete if missing else printed.complete for printed in PRINTED.values()])
    pairs = rows[:, [methods.index(first), methods.index(second)]]
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    return compare(pairs[:, 0], pairs[:, 1])


def arrow_of(found: Paired) -> str:
    """Return an arrow to the better of two (row or column) and its one-sided p-value."""
    return f"{'←' if found.mean > 0 else '↑'} {min(found.p_greater, found.p_less):.2g}"


def table_of_accuracies(page: Page, results: Results, missing: float, methods: Sequence[str]) -> None:
    """Add table II or III."""
    rows = []
    for name in results.data(missing=missing):
        printed = PRINTED[name].incomplete if missing else PRINTED[name].complete
        beside = dict(zip(methods, printed, strict=True))
        cells = []
        for method in methods:
            value = results.mean(name, method, ACCURACY, missing=missing)
            cells.append("-" if np.isnan(value) else f"{value:.2f} ({beside[method]:.2f})".replace("(nan)", "(-)"))
        rows.append([name, *cells])
    means = []
    for method in methods:
        own, _ = both(results, missing, method, method)
        means.append(f"{own.mean():.2f}" if len(own) else "-")
    page.text(
        f"Table {'III, a quarter of the values missing' if missing else 'II'}: accuracy in percent, mean over partitions; the "
        "paper's in parentheses"
    )
    page.table(["", *methods], [*rows, ["mean", *means]])


def other_tests(page: Page, results: Results) -> None:
    """Add the accuracies of general networks by the other kind of tests, on the partitions that both have."""
    names = [n for n in results.data(missing=0.0) if len(results.values(n, f"{elr.BY_THRESHOLD}+OFE", ACCURACY))]
    means = {}
    for parameters in ("OFE", "ELR"):
        for kind in elr.TESTS:
            method = f"{kind}+{parameters}"
            shared = (results.values(n, method, ACCURACY)[: elr.PARTITIONS[0.0][elr.BY_THRESHOLD]] for n in names)
            means[method] = float(np.mean([values.mean() for values in shared]))
        column = COMPLETE.index(f"GBN+{parameters}")
        means[f"paper+{parameters}"] = float(np.mean([PRINTED[n].complete[column] for n in names]))
    rows = [[kind, *(f"{means[f'{kind}+{p}']:.2f}" for p in ("OFE", "ELR"))] for kind in (*elr.TESTS, "paper")]
    page.text(f"General networks by either kind of tests: mean accuracy over {len(names)} datasets, in percent")
    titles = {
        "GBN": "G² tests, as in table II",
        elr.BY_THRESHOLD: "thresholds of mutual information",
        "paper": "the paper's",
    }
    page.table(["", "OFE", "ELR"], [[titles[kind], *cells] for kind, *cells in rows])


def table_of_tests(page: Page, results: Results, missing: float, printed: Mapping[str, Mapping[str, str]]) -> None:
    """Add table IV or V, and whether significant differences in the paper have the same sign here."""
    columns = list(dict.fromkeys(column for cells in printed.values() for column in cells))
    number, source = ("V", "III") if missing else ("IV", "II")
    rows, same, opposite, misprints = [], 0, [], []
    for first, cells in printed.items():
        line = [first]
        for second in columns:
            if second not in cells:
                line.append("")
                continue
            ours = arrow_of(tested(results, missing, first, second))
            paper = cells[second].replace("<", "←").replace("^", "↑")
            by_accuracies = arrow_of(tested_in_print(missing, first, second))
            line.append(f"{ours} ({paper})")
            if by_accuracies[0] != paper[0]:
                misprints.append(f"{first} and {second} ({by_accuracies})")
            if float(paper[2:]) < 0.05:
                if ours[0] == paper[0]:
                    same += 1
                else:
                    too = (
                        f", and {by_accuracies} by the paper's own table {source}"
                        if by_accuracies[0] == ours[0]
                        else ""
                    )
                    opposite.append(f"{first} and {second} ({ours}{too})")
        rows.append(line)
    n_general = len(both(results, missing, "GBN+ELR", "GBN+ELR")[0])
    where = f"; general networks have {n_general} datasets" if missing else ""
    page.text(
        f"Table {number}: paired t-tests over datasets; the arrow points to the better learner (← the row's, ↑ the column's), with "
        f"its one-sided p-value; the paper's in parentheses{where}"
    )
    page.table(["", *columns], rows, "l" * (len(columns) + 1))
    page.text(
        f"The same tests on the accuracies in the paper's table {source} give the opposite arrow to its table {number} for "
        f"{len(misprints)} pairs: {', '.join(misprints)}."
    )
    page.claim(
        "ELR, tables IV and V",
        f"table {number}: differences that are significant in the paper (p < 0.05) have the same sign",
        f"{same + len(opposite)} pairs",
        f"{same} of them",
        not opposite,
        f"the others: {', '.join(opposite)}; the paper's general networks come from another program{where}",
    )


def figures(page: Page, results: Results) -> None:
    """Plot figures 4 to 7, 9 and 10, one point per dataset."""
    for number, (missing, pairs) in FIGURES.items():
        figure, axes = style.panels(len(pairs), columns=len(pairs), height=7.2 / len(pairs) if len(pairs) > 2 else 3.5)
        for letter, panel, (own, other) in zip("abc", axes, pairs, strict=False):
            y, x = both(results, missing, own, other)
            if not len(x):
                continue
            names = [
                name
                for name in results.data(missing=missing)
                if not np.isnan([results.mean(name, m, ACCURACY, missing=missing) for m in (own, other)]).any()
            ]
            bars = [
                np.array([results.mean(name, method, ERROR_BAR, missing=missing) for name in names])
                for method in (other, own)
            ]
            style.scatter(panel, 100 - x, 100 - y, bars[0], bars[1], (other, own))
            panel.set_title(f"({letter})")
        rows = ", a quarter of the values missing" if missing else ""
        caption = f"ELR, figure {number}{rows}: below the diagonal the method of the vertical axis is better; bars are standard errors"
        page.figure(f"elr-figure-{number}", caption, figure)


def claims_about(page: Page, line: str, parameters: str) -> Callable[[str, str, str, bool], None]:
    """Return a function that adds claims: evaluated for the paper's ELR, reported for another stopping rule."""
    evaluated = parameters == "ELR"
    return lambda what, paper, ours, met: page.claim(
        line, what, paper, ours, met if evaluated else None, "" if evaluated else OTHER_RULE
    )


def claims_of_table_2(page: Page, results: Results, parameters: str = "ELR") -> None:
    """Add the claims about gains of ELR, or of another parameter learner in its place."""
    names = results.data(missing=0.0)
    claim = claims_about(page, "ELR, table II", parameters)
    naive, tree = f"NB+{parameters}", f"TAN+{parameters}"

    def printed(method: str, other: str) -> Floats:
        first, second = COMPLETE.index(method), COMPLETE.index(other)
        return np.array([PRINTED[n].complete[first] - PRINTED[n].complete[second] for n in names])

    nb, tan = printed("NB+ELR", "NB+OFE"), printed("TAN+ELR", "TAN+OFE")
    found = tested(results, 0.0, naive, "NB+OFE")
    claim(
        f"{naive} above NB+OFE by 1.5 to 3.5, p < 0.02",
        f"{nb.mean():+.2f}, p < 0.005",
        f"{found.mean:+.2f}, p {found.p_greater:.2g}",
        1.5 <= found.mean <= 3.5 and found.p_greater < 0.02,
    )
    own, other = both(results, 0.0, naive, "NB+OFE")
    r = float(np.corrcoef(own - other, nb)[0, 1])
    claim(f"correlation of {naive}'s gains with the paper's above 0.8", "1", f"{r:.2f}", r > 0.8)
    for name, least in GAINS.items():
        if name in names:
            k = names.index(name)
            gain = float(own[k] - other[k])
            claim(f"{naive} gains at least {least:g} on {name}", f"{nb[k]:+.2f}", f"{gain:+.2f}", gain >= least)
    found = tested(results, 0.0, tree, "TAN+OFE")
    claim(
        f"{tree} above TAN+OFE",
        f"{tan.mean():+.2f}, p < 0.025 or 0.12",
        f"{found.mean:+.2f}, p {found.p_greater:.2g}",
        found.mean > 0,
    )
    if "chess" in names:
        gain = results.mean("chess", tree, ACCURACY) - results.mean("chess", "TAN+OFE", ACCURACY)
        claim(f"{tree} gains more than 2.5 on chess", f"{tan[names.index('chess')]:+.2f}", f"{gain:+.2f}", gain > 2.5)


def claims_of_mofn(page: Page, results: Results) -> None:
    """Add the claims about the dataset whose split is known, where counts must be equal."""
    if "mofn-3-7-10" not in results.data(missing=0.0):
        return
    for method, right in (("NB+OFE", 888), ("TAN+OFE", 938), ("NB+ELR", 1024)):
        own_right = round(results.mean("mofn-3-7-10", method, ACCURACY) / 100 * 1024)
        what = f"mofn-3-7-10, rows 301 to 1324: correct predictions of {method} among 1024 rows"
        page.claim("ELR, table II, exact", what, f"{right}", f"{own_right}", own_right == right, always=True)


def claims_of_levels(page: Page, results: Results) -> None:
    """Add the accuracies on datasets with a known discretization; the others are reported."""
    line = "ELR, table II, levels"
    for i, method in ((0, "NB+OFE"), (2, "TAN+OFE")):
        off, others, n_evaluated = [], [], 0
        for name in results.data(missing=0.0):
            own = results.values(name, method, ACCURACY)
            n = len(own)
            error = np.hypot(PRINTED[name].errors[i], own.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0)
            difference = own.mean() - PRINTED[name].complete[i]
            if name not in NOT_EVALUATED:
                n_evaluated += 1
                if abs(difference) > 2 * error + 1e-9:
                    off.append(f"{name} ({difference:+.2f}, {abs(difference) / error:.1f} standard errors)")
            else:
                others.append(f"{name} {difference:+.2f}")
        page.claim(
            line,
            f"{method} within two combined standard errors of the paper's, on {n_evaluated} datasets",
            "-",
            f"{n_evaluated - len(off)} of {n_evaluated}",
            not off,
            f"{method} is off on {', '.join(off)}",
        )
        if others:
            what = f"{method} on the {len(others)} other datasets: differences from the paper's"
            page.claim(
                line,
                what,
                "-",
                ", ".join(others),
                None,
                "the discretization differs from the paper's and is probably coarser",
            )


def claims_of_table_3(page: Page, results: Results) -> None:
    line = "ELR, table III"
    for parameters in ("ELR", LIKELIHOOD):
        claim = claims_about(page, line, parameters)
        found = tested(results, MISSING, f"NB+{parameters}", "NB+EM")
        claim(
            f"NB+{parameters} above NB+EM by more than 0.3, p < 0.05",
            "p 0.015",
            f"{found.mean:+.2f}, p {found.p_greater:.2g}",
            found.mean > 0.3 and found.p_greater < 0.05,
        )
        for other, paper in (("TAN+EM", "0.25"), ("TAN+APN", "0.32")):
            found = tested(results, MISSING, f"TAN+{parameters}", other)
            claim(
                f"no difference between TAN+{parameters} and {other}",
                f"one-sided p {paper}",
                f"{found.mean:+.2f}, two-sided p {found.p_two_sided:.2g}",
                found.p_two_sided > 0.05,
            )
    for other in ("NB+APN", AVAILABLE):
        widest = float(np.abs(np.subtract(*both(results, MISSING, "NB+EM", other))).max())
        name = "available cases" if other == AVAILABLE else other
        what = f"NB+EM and {name} are the same (class observed)"
        page.claim(
            line,
            what,
            "p 0.2" if other == "NB+APN" else "-",
            f"at most {widest:.2f} points apart",
            widest < 1e-9,
            always=True,
        )


def report(results: Results, page: Page) -> None:
    page.heading("Discriminative parameters: ELR (Greiner, Su, Shen and Zhou, 2005)")
    page.text((elr.__doc__ or "").partition("\n\n")[2])
    for missing, methods in ((0.0, COMPLETE), (MISSING, INCOMPLETE)):
        table_of_accuracies(page, results, missing, methods)
        if not missing:
            other_tests(page, results)
    claims_of_table_2(page, results)
    claims_of_table_2(page, results, LIKELIHOOD)
    claims_of_mofn(page, results)
    claims_of_levels(page, results)
    claims_of_table_3(page, results)
    table_of_tests(page, results, 0.0, TABLE_IV)
    table_of_tests(page, results, MISSING, TABLE_V)
    figures(page, results)
