"""Figures 8, 11 and 12 of Greiner, Su, Shen and Zhou (2005): structures that are too simple or too complex.

All variables are binary. In figure 8 the class and five features follow equation 14, P(c) = 0.9, P(e|c) = 0.2 and
P(e|not c) = 0.8, except that the first m features are identical; 400 rows, with half of all values removed in (b);
the model is naive Bayes. In figures 11 and 12 the truth is simpler than the model: (a) the class equals the first of six features
(or agrees with it in 96 or 80 % of all rows, which is our reading of the paper's correlations of 0.96 and 0.80), the other features are coin flips, and the
model is naive Bayes; (b) the truth is naive Bayes as above, and the model is a chain through all features. In figure 12 a fifth of all values is removed.
Error rates are exact sums over all possible rows, so only the training rows are random.

ELR is shown with two stopping rules: the paper's, the median of the iterations with the lowest error in five folds, and
tanager's default, by the likelihood of held-out rows. Claims are evaluated with the former, strictly: by means, without allowance for
chance; the latter is reported. Several iterations may have the lowest error in a fold, and the paper does not specify which of them
counts. Here the initial parameters are kept unless an iteration is better, and otherwise the last of equally good iterations counts;
figure 8(a) also shows the first of them, to measure the effect. For complete rows and models that are too
complex, two more methods show the effect of not stopping at all: ELR until convergence (or 1,000
iterations), and scikit-learn's logistic regression without penalty, an independent implementation that maximizes the same likelihood
for naive Bayes.
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
EQUAL = range(6)  # identical features in figure 8: none or one, two, ..., five
FIGURE_8_ROWS, SIZES = 400, (10, 20, 30, 50, 100, 200)
CORRELATIONS = (1.0, 0.96, 0.8)
ELR, OWN = "ELR", LIKELIHOOD  # with the paper's stopping rule, and with tanager's
FIRST = "ELR (first of equal)"  # with the paper's rule, and the first of equally good iterations in a fold
TO_THE_END, LOGISTIC = "ELR to the end", "logistic regression"
#: Colors and markers.
LOOKS = {**style.LOOKS, OWN: 2, FIRST: 3, TO_THE_END: 3, LOGISTIC: 4}
DRAWS, QUICK_DRAWS = 100, 5
QUICK_SIZES, QUICK_EQUAL = (10, 50), (0, 4, 5)
CHAIN = "chain"
ERROR = "error"


#: The paper's comparison of generative parameters with ELR in figures 11 and 12, by distribution.
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


def is_naive_and_complex(data: str, missing: float) -> bool:
    """Whether it belongs to figure 11(a), which also shows the effect of not stopping."""
    return data.startswith("agreement") and not missing


def is_simple(data: str, missing: float) -> bool:
    """Whether it belongs to figure 8(a), which also shows the effect of equally good iterations."""
    return data.startswith("equal") and not missing


def methods(data: str, missing: float) -> tuple[str, ...]:
    more = (
        (TO_THE_END, LOGISTIC) if is_naive_and_complex(data, missing) else (FIRST,) if is_simple(data, missing) else ()
    )
    return (*learners(missing > 0), *more)


def truth_of(data: str) -> Truth:
    """Return the distribution of a name, which consists of a kind and a number."""
    kind, _, number = data.partition(" ")
    return first_feature(float(number)) if kind == "agreement" else equal_features(int(number or 0))


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: one distribution and number of rows each, with all samples."""
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
    """Return the error rates of all learners on the same training rows."""
    import tanager as tg

    truth, n = truth_of(part.data), part["rows"]
    k = truth.rows.shape[1]
    arcs = [(i - 1, i) for i in range(1, k)] if part.data == CHAIN else []
    for number in part.splits:
        rng = part.random(number)
        X, y = truth.sample(rng, n, part.missing)
        while len(np.unique(y)) < 2:
            X, y = truth.sample(rng, n, part.missing)
        values = X.astype(object)
        values[X < 0] = None
        for name, learner in learners(part.missing > 0).items():
            structure = tg.structure.FixedStructure(arcs)
            clf = tg.BayesNetClassifier(structure, learner, categories=[[0, 1]] * k, random_state=number)
            error = truth.error(clf.fit(values, y).predict(truth.rows.astype(object)))
            yield name, f"{ERROR}, {n} rows", number, error
            if name == ELR and is_simple(part.data, part.missing):
                sooner = tg.parameters.ELR(tune_by=None, max_iter=first_of_equal(clf.parameter_trace_.fold_error))
                clf = tg.BayesNetClassifier(structure, sooner, categories=[[0, 1]] * k).fit(values, y)
                yield FIRST, f"{ERROR}, {n} rows", number, truth.error(clf.predict(truth.rows.astype(object)))
        if is_naive_and_complex(part.data, part.missing):
            for name, clf in unstopped(k, number).items():
                error = truth.error(clf.fit(X, y).predict(truth.rows))
                yield name, f"{ERROR}, {n} rows", number, error


def first_of_equal(fold_errors: Any) -> int:
    """Return the median over folds (rows) of the first iteration (column) with the lowest error in a fold."""
    errors = np.asarray(fold_errors)
    return int(np.median(np.argmax(errors <= errors.min(axis=1, keepdims=True) + ROUNDING, axis=1)))


def unstopped(k: int, seed: int) -> dict[str, Any]:
    """Return the classifiers that maximize conditional likelihood without early stopping."""
    from sklearn.linear_model import LogisticRegression

    import tanager as tg

    parameters = tg.parameters.ELR(tune_by=None, max_iter=1000)
    elr = tg.BayesNetClassifier(parameters=parameters, categories=[[0, 1]] * k, random_state=seed)
    return {TO_THE_END: elr, LOGISTIC: LogisticRegression(C=np.inf, max_iter=1000)}


Lines = Mapping[str, Floats]  # errors by method: rows are points, columns samples


def lines_of(results: Results, points: list[tuple[str, int]], missing: float) -> Lines:
    """Return the errors of every method at points given by distribution and number of rows."""
    return {
        method: np.array([results.values(data, method, f"{ERROR}, {n} rows", missing=missing) for data, n in points])
        for method in methods(points[0][0], missing)
    }


def table(page: Page, title: str, what: str, points: list[Any], lines: Lines, best: list[float]) -> None:
    """Add the mean error of every method at every point, with its standard error."""
    rows = []
    for k, point in enumerate(points):
        cells = [f"{e[k].mean():.2f} ± {e[k].std(ddof=1) / np.sqrt(len(e[k])):.2f}" for e in lines.values()]
        rows.append([str(point), *cells, f"{best[k]:.2f}"])
    page.text(f"{title}: error in percent, mean over samples ± standard error")
    page.table([what, *lines, "lowest possible"], rows)


def plot(panel: Any, title: str, what: str, points: list[Any], lines: Lines, best: list[float]) -> None:
    style.curves(panel, points, lines, looks=LOOKS)
    panel.plot(range(len(points)), best, color=style.BLACK, ls=":", label="lowest possible")
    panel.set_ylim(bottom=min(0, -0.03 * panel.get_ylim()[1]))
    panel.set_title(title)
    panel.set_xlabel(what)
    panel.set_ylabel("error in percent")
    panel.legend()


def figure_8_claims(page: Page, lines: Lines, points: list[int], best: list[float]) -> None:
    """Evaluate the paper's stopping rule, and report the others."""
    line, last = "ELR, figure 8", points.index(5)
    ofe = float(lines["OFE"][last].mean())
    page.claim(line, "at m = 5 the error of OFE is above 18 %", "in a figure", f"{ofe:.2f}", ofe > 18)
    for name in (ELR, FIRST, OWN):
        value = float(lines[name][last].mean())
        above = lines[name].mean(axis=1) - best
        worst = int(above.argmax())
        error = lines[name][worst].std(ddof=1) / np.sqrt(lines[name].shape[1])
        far = (lines[name][worst] - best[worst] > 1).mean()
        reason = f"at m = {points[worst]} it is more than a point above the lowest possible error in {far:.0%} of the samples"
        if name != ELR:
            reason = f"{OTHER_RULE}; {reason}"
        below, near = value < 11, bool(above.max() <= 0.6)
        page.claim(
            line,
            f"at m = 5 the error of {name} is below 11 %",
            "in a figure",
            f"{value:.2f}",
            below if name == ELR else None,
            reason,
        )
        page.claim(
            line,
            f"{name} within 0.6 of the lowest possible error for all m",
            "in a figure",
            f"at most {above.max():.2f} ± {error:.2f} above (m = {points[worst]})",
            near if name == ELR else None,
            reason,
        )


def figure_8(page: Page, results: Results) -> None:
    """Add figure 8: naive Bayes with duplicated features."""
    names = [name for name in results.data() if name.startswith("equal")]
    points = [int(name.partition(" ")[2]) for name in names]
    best = [truth_of(name).best_error() for name in names]
    figure, axes = style.panels(2, height=2.9)
    for panel, title, missing in zip(axes, ("(a) complete", "(b) half of the values missing"), (0.0, 0.5), strict=True):
        lines = lines_of(results, [(name, FIGURE_8_ROWS) for name in names], missing)
        table(page, f"Figure 8{title}", "identical features", points, lines, best)
        plot(panel, title, "identical features", points, lines, best)
        if not missing:
            figure_8_claims(page, lines, points, best)
    page.figure(
        "elr-figure-8", f"ELR, figure 8: naive Bayes, {FIGURE_8_ROWS} rows, some of five features identical", figure
    )


def why_better(lines: Lines, method: str, found: Paired) -> str:
    """Return what is known where ELR is better although the model is too complex."""
    if found.mean >= 0:
        return ""
    chance = "which is not significant" if found.p_less > 0.05 else "which is significant"
    reason = f"ELR is better by {-found.mean:.2f} points, {chance} (one-sided p {found.p_less:.2g})"
    if LOGISTIC not in lines:
        return reason
    rest = {name: float((lines[name] - lines[method]).mean()) for name in (TO_THE_END, LOGISTIC)}
    reason += "; without early stopping, " + " and ".join(
        f"{name} is {value:+.2f} from {method}" for name, value in rest.items()
    )
    if max(rest.values()) < 0:
        reason += (
            ": maximizing conditional likelihood predicts better here, and OFE is only as good because of early stopping, as with "
            "the paper's rule"
        )
    return reason


def too_complex(page: Page, results: Results, number: int, missing: float) -> None:
    """Add figures 11 and 12."""
    sizes = sorted({part["rows"] for part, _ in results.rows if part.data == CHAIN})
    titles = {f"agreement {share:g}": f"(a) naive Bayes; C = E1 in {100 * share:g} %" for share in CORRELATIONS} | {
        CHAIN: "(b) a chain; truth: naive Bayes"
    }
    figure, axes = style.panels(4)
    for panel, (data, title) in zip(axes, titles.items(), strict=True):
        lines = lines_of(results, [(data, n) for n in sizes], missing)
        best = [truth_of(data).best_error()] * len(sizes)
        table(page, f"Figure {number}{title}", "rows", sizes, lines, best)
        plot(panel, title, "training rows", sizes, lines, best)
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
    rows = "complete rows" if not missing else f"{100 * missing:g} % of the values missing"
    page.figure(f"elr-figure-{number}", f"ELR, figure {number}: models that are too complex, {rows}", figure)


def report(results: Results, page: Page) -> None:
    page.heading("Structures that are too simple or too complex", 3)
    page.text((__doc__ or "").partition("\n\n")[2])
    figure_8(page, results)
    too_complex(page, results, 11, 0.0)
    too_complex(page, results, 12, 0.2)
