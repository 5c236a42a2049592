"""The methods of bnclassify on car and voting: one-dependence and richer structures, cross-validated on the same folds.

The two datasets are those of bnclassify's examples; of voting, only rows without missing values. Smoothing 1. Structures are fitted
in every fold. The golden tests, which are run here as well, check that structures, tables, scores and posteriors are the same as those
of bnclassify 0.4.8.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import tables
from benchmarks.harness.machine import ROOT
from experiments.page import Page
from experiments.paired import corrected_p
from experiments.runner import Part, Results

VERSION = 2
TABLES = {"car": "car", "vote": "voting, complete rows"}
REPEATS, QUICK_REPEATS, FOLDS = 5, 1, 10
ACCURACY, LOG_LOSS = "accuracy", "log loss"
GOLDENS, FILES = "goldens", ("classifiers/test_goldens.py", "evaluation/test_evaluation_goldens.py")
METHODS = (
    *("nb", "tan_cl loglik", "tan_cl aic", "tan_cl bic", "tan_hc", "tan_hcsp", "kdb 2", "aode", "fssj", "bsej"),
    *("nb, awnb", "nb, manb", "nb, wanbia", "tan_cl, awnb"),
)


def classifier(name: str, seed: int) -> Any:
    """Return the equivalent of bnclassify's function of that name."""
    import tanager as tg
    from tanager import parameters as pr
    from tanager import structure as st

    learned: dict[str, tuple[Any, Any]] = {
        "nb": ("naive", None),
        "tan_cl loglik": ("tan", None),
        "tan_cl aic": ("tan-aic", None),
        "tan_cl bic": ("tan-bic", None),
        "tan_hc": (st.HillClimb(), None),
        "tan_hcsp": (st.SuperParent(), None),
        "kdb 2": (st.KDB(2), None),
        "fssj": (st.ForwardJoin(), None),
        "bsej": (st.BackwardJoin(), None),
        "nb, awnb": ("naive", pr.AttributeWeighted()),
        "nb, manb": ("naive", pr.ModelAveraged()),
        "nb, wanbia": ("naive", pr.Wanbia()),
        "tan_cl, awnb": ("tan", pr.AttributeWeighted()),
    }
    if name == "aode":
        return tg.AODEClassifier()
    return tg.BayesNetClassifier(*learned[name], random_state=seed)


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: one dataset, method and repeat each, and the goldens."""
    found = [
        Part("bnc", name, (method,), (repeat,), sources=(name,), seed=seed)
        for name in TABLES
        for method in METHODS
        for repeat in range(QUICK_REPEATS if quick else REPEATS)
    ]
    return [*found, Part("bnc", GOLDENS, FILES, settings=(("code", digest_of_code()),), seed=seed)]


def digest_of_code() -> str:
    """Return a hash of the core, the golden tests and the goldens: a change of any of them repeats the tests."""
    import tanager as tg

    goldens = (
        Path(os.environ.get("TANAGER_SHARED") or ROOT.parent / "shared") / "goldens"
    )  # where the tests look for them
    files = [Path(tg._core.__file__), *(ROOT / "tests" / "python" / name for name in FILES)]
    files += sorted(path for path in goldens.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    """Return accuracy and log loss of every fold."""
    if part.data == GOLDENS:
        yield from run_goldens()
        return
    from tanager.evaluation import cross_validate

    cells = tables.read(part.data)
    cells = cells[(cells != "").all(axis=1)]
    (method,), (repeat,) = part.methods, part.splits
    seed = int(part.random(repeat).integers(2**31))
    found = cross_validate(classifier(method, seed), cells[:, :-1], cells[:, -1], cv=FOLDS, random_state=seed)
    for fold in range(FOLDS):
        yield method, ACCURACY, FOLDS * repeat + fold, 100 * float(found["accuracy"][fold])
        yield method, LOG_LOSS, FOLDS * repeat + fold, float(found["log_loss"][fold])


def run_goldens() -> Iterator[tuple[str, str, int, float]]:
    """Run the tests that compare with bnclassify, and count the outcomes."""
    files = [str(ROOT / "tests" / "python" / name) for name in FILES]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *files]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    for outcome in ("passed", "failed", "skipped", "error"):
        found = re.search(rf"(\d+) {outcome}", output)
        yield GOLDENS, outcome, 0, float(found.group(1)) if found else 0.0


def report(results: Results, page: Page) -> None:
    page.heading("bnclassify's methods")
    page.text((__doc__ or "").partition("\n\n")[2])
    for name, title in TABLES.items():
        rows = []
        for method in METHODS:
            accuracy = results.values(name, method, ACCURACY)
            difference = accuracy - results.values(name, "nb", ACCURACY)
            loss = results.values(name, method, LOG_LOSS)
            rows.append(
                [
                    method,
                    f"{accuracy.mean():.2f} ± {accuracy.std(ddof=1) / np.sqrt(len(accuracy)):.2f}",
                    "" if method == "nb" else f"{difference.mean():+.2f}",
                    "" if method == "nb" else f"{corrected_p(difference, FOLDS):.1g}",
                    f"{loss.mean():.4f}",
                ]
            )
        page.text(
            f"{title}: means of {len(results.values(name, 'nb', ACCURACY))} folds, with t-tests corrected for shared training "
            "rows (Nadeau and Bengio, 2003)"
        )
        page.table(("", "accuracy in percent", "difference from nb", "two-sided p", "log loss"), rows)
    counts = {o: int(results.mean(GOLDENS, GOLDENS, o)) for o in ("passed", "failed", "skipped", "error")}
    page.claim(
        "bnclassify",
        "same structures, tables, scores and posteriors as bnclassify 0.4.8 (goldens)",
        "bnclassify's",
        f"{counts['passed']} tests pass, {counts['failed'] + counts['error']} fail, {counts['skipped']} are skipped",
        counts["passed"] > 0 and not counts["failed"] + counts["error"] + counts["skipped"],
        "a failed test means a difference from bnclassify, a skipped one missing golden files",
        always=True,
    )
