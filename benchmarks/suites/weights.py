"""Weights of features, whole fits on chess: beside R's WANBIA, and beside naive Bayes."""

from __future__ import annotations

from functools import partial

from benchmarks.estimates import race_calls
from benchmarks.options import Options
from benchmarks.report import Report, Row
from benchmarks.searches import table_for

#: CPU seconds that bnclassify 0.4.8 (R 4.2.2) needs for WANBIA on this table with smoothing 1, measured once.
R_SECONDS = 32.0
#: What is promised, of that.
PROMISED = 50.0


def weights(report: Report, options: Options) -> None:
    """Times of fits, and the conditional log-likelihood that they reach."""
    import tanager as tg
    from tanager import parameters as pr

    table = table_for(report, options, "feature weights", "chess")
    if table is None:
        return
    learners = {
        "Dirichlet": pr.Dirichlet(),
        "AttributeWeighted": pr.AttributeWeighted(),
        "Wanbia": pr.Wanbia(),
        "Wanbia, renormalized": pr.Wanbia(renormalize=True),
        "Wanbia, squared error": pr.Wanbia(objective="mse"),
    }
    made = {name: tg.BayesNetClassifier(parameters=learner, random_state=0) for name, learner in learners.items()}
    times = race_calls({name: partial(clf.fit, table.X, table.y) for name, clf in made.items()}, options)
    fits = {name: clf.network_.conditional_log_likelihood(table.X, table.y) for name, clf in made.items()}
    rows = [Row(name, timing, f"CLL {fits[name]:.1f}") for name, timing in times.items()]
    report.table("fit, naive structure", rows)
    for name in ("Wanbia", "Wanbia, renormalized"):
        report.figure(f"{name}, times faster than R", R_SECONDS / times[name].cpu, "x", at_least=PROMISED)
