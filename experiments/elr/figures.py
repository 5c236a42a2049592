"""Figures 8, 11 and 12 of Greiner, Su, Shen and Zhou (2005): structures that are too simple, and such that are too rich.

All variables are binary. In figure 8 the class and five features are those of equation 14, P(c) = 0.9, P(e|c) = 0.2 and
P(e|not c) = 0.8, except that the first m features are one and the same; 400 rows, of which (b) half of all cells are removed;
naive Bayes learns them. In figures 11 and 12 the truth is simpler than the model: (a) the class is the first of six features
(or agrees with it in 96 or 80 % of all rows, which is how the paper's correlations of 0.96 and 0.80 are read), the others are coins, and naive Bayes learns it; (b) the truth is naive Bayes as
above, and a chain through all features learns it. In figure 12 a fifth of all cells is removed. Error rates are exact sums over
all rows there are, so that only the training rows are drawn.

ELR is shown twice: as in the paper, which stops after the median of the iterations with least error in five folds, and as
tanager does it by itself, by the likelihood of the rows held out. The former is judged, strictly: by means, without allowance for
chance; the latter is reported. Several iterations may have the least error in a fold, and the paper does not say which of them
counts. Here the start is left only for what is better, and the last of equally good iterations taken once it is left; in
figure 8(a) the first of them is shown, too, to see what hangs on it. Where the model is too
rich and rows are complete, two more tell what comes of not stopping at all: ELR until nothing more can be gained (or 1,000
iterations), and scikit-learn's logistic regression without penalty, which maximizes the same likelihood for naive Bayes by
another program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from experiments import style
from experiments.elr.experiment import LIKELIHOOD, OTHER_RULE
from experiments.elr.truths import Truth, equal_features, first_feature
from experiments.page import Page
from experiments.paired import ROUNDING, Paired, compare
from experiments.runner import Floats, Part, Results

VERSION = 3
EQUAL = range(6)  # features that are the same, in figure 8: none or one, two, ..., five
FIGURE_8_ROWS, SIZES = 400, (10, 20, 30, 50, 100, 200)
CORRELATIONS = (1.0, 0.96, 0.8)
ELR, OWN = "ELR", LIKELIHOOD  # with the paper's stopping rule, and with tanager's
FIRST = "ELR (first of equal)"  # with the paper's, and the first of several iterations that are equally good in a fold
TO_THE_END, LOGISTIC = "ELR to the end", "logistic regression"
#: Colors and markers.
LOOKS = {**style.LOOKS, OWN: 2, FIRST: 3, TO_THE_END: 3, LOGISTIC: 4}
DRAWS, QUICK_DRAWS = 100, 5
QUICK_SIZES, QUICK_EQUAL = (10, 50), (0, 4, 5)
CHAIN = "chain"
ERROR = "error"


#: What the paper says of generative parameters beside ELR in figures 11 and 12, by distribution.
PRINTED: dict[tuple[bool, str], dict[str, str]] = {
    (False, "agreement 1"): {"OFE": "better, p < 0.002"},
    (False, "agreement 0.96"): {"OFE": "better, p < 0.001"},
    (False, "agreement 0.8"): {"OFE": "better, p < 0.001"},
    (False, CHAIN): {"OFE": "not significant"},
    (True, "agreement 1"): {"APN": "better, p < 0.02", "EM": "better, p < 0.015"},
    (True, "agreement 0.96"): {"APN": "not shown", "EM": "not shown"},
    (True, "agreement 0.8"): {"APN": "not shown", "EM": "not shown"},
    (True, CHAIN): {"APN": "better, p < 0.025", "EM": "better, p < 0.05"},
}


def learners(incomplete: bool) -> dict[str, Any]:
    from tanager import parameters as pr

    generative = {"APN": pr.APN(), "EM": pr.EM()} if incomplete else {"OFE": pr.Dirichlet()}
    return {**generative, ELR: pr.ELR(tune_by="error", tune_rule="median"), OWN: pr.ELR()}


def is_naive_and_rich(data: str, missing: float) -> bool:
    """Whether figure 11(a) is about it, where what comes of not stopping is shown, too."""
    return data.startswith("agreement") and not missing


def is_simple(data: str, missing: float) -> bool:
    """Whether figure 8(a) is about it, where what hangs on equally good iterations is shown, too."""
    return data.startswith("equal") and not missing


def methods(data: str, missing: float) -> tuple[str, ...]:
    more = (TO_THE_END, LOGISTIC) if is_naive_and_rich(data, missing) else (FIRST,) if is_simple(data, missing) else ()
    return (*learners(missing > 0), *more)


def truth_of(data: str) -> Truth:
    """Return the distribution that a name stands for: a kind and a number."""
    kind, _, number = data.partition(" ")
    return first_feature(float(number)) if kind == "agreement" else equal_features(int(number or 0))


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: a distribution and a number of rows each, with all draws."""
    splits = tuple(range(QUICK_DRAWS if quick else DRAWS))
    wanted = [
        (f"equal {m}", FIGURE_8_ROWS, missing) for missing in (0.0, 0.5) for m in (QUICK_EQUAL if quick else EQUAL)
    ]
    studies = [*(f"agreement {share:g}" for share in CORRELATIONS), CHAIN]
    sizes = QUICK_SIZES if quick else SIZES
    wanted += [(study, n, missing) for missing in (0.0, 0.2) for study in studies for n in sizes]
    return [
        Part(
            "elr_figures",
            data,
            methods(data, missing),
            splits,
            missing=missing,
            settings=(("rows", n),),
            seed=seed,
        )
        for data, n, missing in wanted
    ]


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    """Return error rates of all learners, each with the same training rows."""
    import tanager as tg

    truth, n = truth_of(part.data), part["rows"]
    k = truth.rows.shape[1]
    arcs = [(i - 1, i) for i in range(1, k)] if part.data == CHAIN else []
    for number in part.splits:
        rng = part.random(number)
        X, y = truth.draw(rng, n, part.missing)
        while len(np.unique(y)) < 2:
            X, y = truth.draw(rng, n, part.missing)
        cells = X.astype(object)
        cells[X < 0] = None
        for name, learner in learners(part.missing > 0).items():
            structure = tg.structure.FixedStructure(arcs)
            clf = tg.BayesNetClassifier(structure, learner, categories=[[0, 1]] * k, random_state=number)
            error = truth.error(clf.fit(cells, y).predict(truth.rows.astype(object)))
            yield name, f"{ERROR}, {n} rows", number, error
            if name == ELR and is_simple(part.data, part.missing):
                sooner = tg.parameters.ELR(tune_by=None, max_iter=first_of_equal(clf.parameter_trace_.fold_error))
                clf = tg.BayesNetClassifier(structure, sooner, categories=[[0, 1]] * k).fit(cells, y)
                yield FIRST, f"{ERROR}, {n} rows", number, truth.error(clf.predict(truth.rows.astype(object)))
        if is_naive_and_rich(part.data, part.missing):
            for name, clf in unstopped(k, number).items():
                error = truth.error(clf.fit(X, y).predict(truth.rows))
                yield name, f"{ERROR}, {n} rows", number, error


def first_of_equal(fold_errors: Any) -> int:
    """Return the median over folds (rows) of the first iteration (column) that has the least error in a fold."""
    errors = np.asarray(fold_errors)
    return int(np.median(np.argmax(errors <= errors.min(axis=1, keepdims=True) + ROUNDING, axis=1)))


def unstopped(k: int, seed: int) -> dict[str, Any]:
    """Return what goes on until conditional likelihood is greatest."""
    from sklearn.linear_model import LogisticRegression

    import tanager as tg

    parameters = tg.parameters.ELR(tune_by=None, max_iter=1000)
    elr = tg.BayesNetClassifier(parameters=parameters, categories=[[0, 1]] * k, random_state=seed)
    return {TO_THE_END: elr, LOGISTIC: LogisticRegression(C=np.inf, max_iter=1000)}


Lines = Mapping[str, Floats]  # errors by method: rows are points, columns draws


def lines_of(results: Results, points: list[tuple[str, int]], missing: float) -> Lines:
    """Return the errors of every method at some points, each a distribution and a number of rows."""
    return {
        method: np.array([results.values(data, method, f"{ERROR}, {n} rows", missing=missing) for data, n in points])
        for method in methods(points[0][0], missing)
    }


def table(page: Page, title: str, what: str, points: list[Any], lines: Lines, best: list[float]) -> None:
    """Show the mean error of every method at every point, with its standard error."""
    rows = []
    for k, point in enumerate(points):
        cells = [f"{e[k].mean():.2f} ± {e[k].std(ddof=1) / np.sqrt(len(e[k])):.2f}" for e in lines.values()]
        rows.append([str(point), *cells, f"{best[k]:.2f}"])
    page.text(f"{title}: error in percent, mean over draws ± standard error")
    page.table([what, *lines, "least possible"], rows)


def draw(panel: Any, title: str, what: str, points: list[Any], lines: Lines, best: list[float]) -> None:
    style.curves(panel, points, lines, looks=LOOKS)
    panel.plot(range(len(points)), best, color=style.BLACK, ls=":", label="least possible")
    panel.set_ylim(bottom=min(0, -0.03 * panel.get_ylim()[1]))
    panel.set_title(title)
    panel.set_xlabel(what)
    panel.set_ylabel("error in percent")
    panel.legend()


def figure_8_claims(page: Page, lines: Lines, points: list[int], best: list[float]) -> None:
    """Judge the paper's rule to stop, and report the others."""
    line, last = "ELR, figure 8", points.index(5)
    ofe = float(lines["OFE"][last].mean())
    page.claim(line, "at m = 5 the error of OFE is above 18 %", "in a picture", f"{ofe:.2f}", ofe > 18)
    for name in (ELR, FIRST, OWN):
        value = float(lines[name][last].mean())
        above = lines[name].mean(axis=1) - best
        worst = int(above.argmax())
        error = lines[name][worst].std(ddof=1) / np.sqrt(lines[name].shape[1])
        far = (lines[name][worst] - best[worst] > 1).mean()
        reason = (
            f"at m = {points[worst]} it ends more than a point above the least possible error in {far:.0%} of the draws"
        )
        if name != ELR:
            reason = f"{OTHER_RULE}; {reason}"
        below, near = value < 11, bool(above.max() <= 0.6)
        page.claim(
            line,
            f"at m = 5 the error of {name} is below 11 %",
            "in a picture",
            f"{value:.2f}",
            below if name == ELR else None,
            reason,
        )
        page.claim(
            line,
            f"{name} within 0.6 of the least possible error for all m",
            "in a picture",
            f"at most {above.max():.2f} ± {error:.2f} above (m = {points[worst]})",
            near if name == ELR else None,
            reason,
        )


def figure_8(page: Page, results: Results) -> None:
    """Naive Bayes where features repeat each other."""
    names = [name for name in results.data() if name.startswith("equal")]
    points = [int(name.partition(" ")[2]) for name in names]
    best = [truth_of(name).best_error() for name in names]
    figure, axes = style.panels(2, height=2.9)
    for panel, title, missing in zip(axes, ("(a) complete", "(b) half of the cells missing"), (0.0, 0.5), strict=True):
        lines = lines_of(results, [(name, FIGURE_8_ROWS) for name in names], missing)
        table(page, f"Figure 8{title}", "equal features", points, lines, best)
        draw(panel, title, "equal features", points, lines, best)
        if not missing:
            figure_8_claims(page, lines, points, best)
    page.figure(
        "elr-figure-8", f"ELR, figure 8: naive Bayes, {FIGURE_8_ROWS} rows, some of five features equal", figure
    )


def why_better(lines: Lines, method: str, found: Paired) -> str:
    """Say what is known where ELR is better although the model is too rich."""
    if found.mean >= 0:
        return ""
    chance = "which may be chance" if found.p_less > 0.05 else "which is more than chance"
    reason = f"ELR is better by {-found.mean:.2f} points, {chance} (one-sided p {found.p_less:.2g})"
    if LOGISTIC not in lines:
        return reason
    rest = {name: float((lines[name] - lines[method]).mean()) for name in (TO_THE_END, LOGISTIC)}
    reason += "; not stopped at all, " + " and ".join(
        f"{name} is {value:+.2f} from {method}" for name, value in rest.items()
    )
    if max(rest.values()) < 0:
        reason += (
            ": whoever maximizes conditional likelihood predicts better here, and only a rule that stops early, such as the "
            "paper's, leaves OFE as good"
        )
    return reason


def too_rich(page: Page, results: Results, number: int, missing: float) -> None:
    """Figures 11 and 12."""
    sizes = sorted({part["rows"] for part, _ in results.rows if part.data == CHAIN})
    titles = {f"agreement {share:g}": f"(a) naive Bayes; C = E1 in {100 * share:g} %" for share in CORRELATIONS} | {
        CHAIN: "(b) a chain; truth: naive Bayes"
    }
    figure, axes = style.panels(4)
    for panel, (data, title) in zip(axes, titles.items(), strict=True):
        lines = lines_of(results, [(data, n) for n in sizes], missing)
        best = [truth_of(data).best_error()] * len(sizes)
        table(page, f"Figure {number}{title}", "rows", sizes, lines, best)
        draw(panel, title, "training rows", sizes, lines, best)
        for method in (name for name in lines if name not in (ELR, OWN, TO_THE_END, LOGISTIC)):
            for name in (ELR, OWN):
                found = compare(lines[name].ravel(), lines[method].ravel())
                reasons = [OTHER_RULE if name == OWN else "", why_better(lines, method, found)]
                page.claim(
                    "ELR, figures 11 and 12",
                    f"figure {number}{title}: {method} at least as good as {name}",
                    PRINTED[missing > 0, data][method],
                    f"error of {name} {found.mean:+.2f} ± {found.interval:.2f}, p {found.p_greater:.2g}",
                    found.mean >= 0 if name == ELR else None,
                    "; ".join(filter(None, reasons)),
                )
    cells = "complete rows" if not missing else f"{100 * missing:g} % of the cells missing"
    page.figure(f"elr-figure-{number}", f"ELR, figure {number}: models that are too rich, {cells}", figure)


def report(results: Results, page: Page) -> None:
    page.heading("Structures that are too simple, and such that are too rich", 3)
    page.text((__doc__ or "").partition("\n\n")[2])
    figure_8(page, results)
    too_rich(page, results, 11, 0.0)
    too_rich(page, results, 12, 0.2)
