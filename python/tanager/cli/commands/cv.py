"""``tanager cv``: cross-validate one classifier."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ..options import add_columns, add_data, add_folds, add_json, add_learner, add_running

HELP = """
Cross-validate one classifier: scores of each fold, mean and standard deviation.

Folds are stratified, and the same for all classifiers with the same --seed. In
each fold the classifier is fitted on the training rows alone: structure,
parameters, categories and cut points.

examples:
  tanager cv weather.csv --class play --structure tan
  tanager cv sales.parquet --class bought --folds 5 --score accuracy auc
"""

SCORES = ("accuracy", "log_loss", "cll", "auc")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_data(parser)
    add_folds(parser)
    parser.add_argument(
        "--score",
        nargs="+",
        choices=SCORES,
        default=["accuracy", "log_loss"],
        help="accuracy; log_loss, the mean of -ln P(true class), smaller is better; cll, the sum of ln P(true class); "
        "auc (default: accuracy log_loss)",
    )
    parser.add_argument(
        "--keep-structure",
        action="store_true",
        help="learn the structure once, on all rows, and refit only the parameters in each fold",
    )
    add_json(parser)
    add_columns(parser)
    add_learner(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Cross-validate and print the scores."""
    from ...evaluation import cross_validate
    from ..learners import make_classifier
    from ..tables.training import LabeledTable
    from ..terminal import on_terminal

    clf = make_classifier(options)
    X, y, weights = LabeledTable(options).arrays()
    result = cross_validate(
        {"it": clf},
        X,
        y,
        cv=options.folds,
        refit_structure=not options.keep_structure,
        scoring=list(dict.fromkeys(options.score)),
        sample_weight=weights,
        n_jobs=-1 if options.threads is None else options.threads,
        random_state=options.seed,
        verbose=int(on_terminal()),
    )
    if options.json:
        json.dump(as_json(result), sys.stdout, indent=2)
        print()  # noqa: T201
    else:
        _show(result, method_name(options))


def method_name(options: argparse.Namespace) -> str:
    """Return the method as structure or structure+parameters."""
    name: str = options.structure
    return name if options.parameters is None else f"{name}+{options.parameters}"


def as_json(result: Any) -> dict[str, Any]:
    """Return the scores of each fold and their means; infinite values, which JSON lacks, become null."""
    (name,) = result.names

    def finite(value: float) -> float | None:
        return float(value) if abs(value) < float("inf") else None

    return {
        "folds": [
            {
                "train_rows": int(result.n_train[i]),
                "test_rows": int(result.n_test[i]),
                **{score: finite(values[i]) for score, values in result.scores[name].items()},
                "fit_seconds": float(result.fit_seconds[name][i]),
                "predict_seconds": float(result.predict_seconds[name][i]),
            }
            for i in range(result.n_folds)
        ],
        "mean": {score: finite(value) for score, value in result.mean[name].items()},
        "std": {score: finite(value) for score, value in result.std[name].items()},
    }


def _show(result: Any, method: str) -> None:
    from ..terminal import make_console, plain_table, print_table

    (name,) = result.names
    table = plain_table(title=f"{method}, {result.n_folds}-fold cross-validation")
    for heading in ("fold", "rows", *(score.replace("_", " ") for score in result.scoring), "fit s", "predict s"):
        table.add_column(heading, justify="right")
    for i in range(result.n_folds):
        scores = [f"{result.scores[name][score][i]:.4f}" for score in result.scoring]
        seconds = [f"{part[name][i]:.3g}" for part in (result.fit_seconds, result.predict_seconds)]
        table.add_row(str(i + 1), f"{result.n_test[i]:,}", *scores, *seconds)
    table.add_section()
    means = [f"{result.mean[name][score]:.4f}" for score in result.scoring]
    stds = [f"{result.std[name][score]:.4f}" for score in result.scoring]
    seconds = [f"{part[name].mean():.3g}" for part in (result.fit_seconds, result.predict_seconds)]
    table.add_row("mean", "", *(f"[bold]{mean}[/bold]" for mean in means), *seconds)
    table.add_row("std", "", *stds, "", "")
    print_table(make_console(), table)
