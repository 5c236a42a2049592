"""Figure 3 of Greiner, Su, Shen and Zhou (2005): learning curves on chess.

As in the paper, 2,130 training rows and 1,066 test rows, sampled again for every repetition; parameters are fitted on growing parts
of the training rows. (a) and (b): naive Bayes, complete and with a quarter of all values removed; (c) the general network that the
three-phase algorithm finds in all 2,130 rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments import style
from experiments.elr import experiment as elr
from experiments.page import Page
from experiments.runner import Part, Results

VERSION = 2
TABLE, TRAIN = "chess", 2130
FRACTIONS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
DRAWS, QUICK_DRAWS = 5, 2
PANELS = (
    ("(a) naive Bayes", 0.0, ("NB+OFE", "NB+ELR")),
    ("(b) naive Bayes, missing values", elr.MISSING, ("NB+EM", "NB+APN", "NB+ELR")),
    ("(c) general network", 0.0, ("GBN+OFE", "GBN+ELR")),
)
ERROR = "error"


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: one panel, fraction and sample each."""
    fractions = FRACTIONS[1:4] if quick else FRACTIONS
    draws = QUICK_DRAWS if quick else DRAWS
    return [
        Part("elr_curves", TABLE, methods, (draw,), fraction, missing, sources=(TABLE,), seed=seed)
        for _, missing, methods in PANELS
        for fraction in fractions
        for draw in range(draws)
    ]


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    """Return the error in percent of every method."""
    import tanager as tg

    X, y, _ = elr.read(part.data)
    (draw,) = part.splits
    rng = part.random(draw)
    order = rng.permutation(len(y))
    train, test = order[:TRAIN], order[TRAIN:]
    values = X.copy()
    if part.missing:
        values[rng.random(X.shape) < part.missing] = None
    rows = train[: round(part.fraction * TRAIN)]
    structure: Any = "naive"
    if part.methods[0].startswith("GBN"):
        structure = elr.general(X[train], y[train], [])
    for method in part.methods:
        parameters = elr.learner(method.split("+")[1], short=False)
        clf = tg.BayesNetClassifier(structure, parameters, random_state=draw).fit(values[rows], y[rows])
        yield method, ERROR, draw, 100 * (1 - clf.score(values[test], y[test]))


def report(results: Results, page: Page) -> None:
    page.heading("Learning curves", 3)
    page.text((__doc__ or "").partition("\n\n")[2])
    fractions = sorted({part.fraction for part, _ in results.rows})
    figure, axes = style.panels(len(PANELS), columns=3, height=2.4)
    rows = []
    for panel, (title, missing, methods) in zip(axes, PANELS, strict=True):
        lines = {
            method: np.array([results.values(TABLE, method, ERROR, fraction=f, missing=missing) for f in fractions])
            for method in methods
        }
        looks = {method: style.LOOKS[method.split("+")[1]] for method in methods}
        style.curves(panel, [round(f * TRAIN) for f in fractions], lines, looks=looks)
        panel.set_title(title)
        panel.set_xlabel("training rows")
        panel.legend()
        rows += [[title, method, *(f"{v:.2f}" for v in values.mean(axis=1))] for method, values in lines.items()]
    axes[0].set_ylabel("error in percent")
    page.figure("elr-figure-3", "ELR, figure 3: learning curves on chess, with standard errors", figure)
    page.text("Error in percent by training rows")
    page.table(["", "", *(f"{round(f * TRAIN)}" for f in fractions)], rows, "ll" + "r" * len(fractions))
    for _, missing, methods in PANELS[:2]:
        worse = [
            round(f * TRAIN)
            for f in fractions
            for other in methods[:-1]
            if results.mean(TABLE, methods[-1], ERROR, fraction=f, missing=missing)
            > results.mean(TABLE, other, ERROR, fraction=f, missing=missing)
        ]
        page.claim(
            "ELR, figure 3",
            f"{methods[-1]} better than {' and '.join(methods[:-1])} for {'essentially ' if missing else ''}every size",
            "all" if not missing else "essentially all",
            f"{len(fractions) - len(set(worse))} of {len(fractions)} sizes",
            len(set(worse)) <= (1 if missing else 0),
            f"not with {', '.join(map(str, sorted(set(worse))))} rows",
        )
