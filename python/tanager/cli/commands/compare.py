"""``tanager compare``: cross-validate many classifiers and rank them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from ..options import add_columns, add_data, add_folds, add_json, add_running, add_settings, positive

HELP = """
Cross-validate many classifiers on the same folds and print them, best first:
accuracy, log loss (the mean of -ln P(true class); smaller is better), seconds
for all folds, and the number of parameters when fitted on all rows. A mark
shows scores that are significantly worse than the best of their column:
p < 0.05 in the corrected resampled t-test, which allows for training rows that
folds share.

Methods that fail or exceed --limit are listed below the table.

examples:
  tanager compare weather.csv --class play
  tanager compare sales.parquet --class bought --ignore id --by log_loss
  tanager compare iris.csv --class species --methods naive tan tan+elr aode
"""

#: The default methods, from fast to slow.
METHODS = (
    *("naive", "tan", "tan-aic", "tan-bic", "acll-tree", "kdb", "aode", "tbmatan", "sstbmatan"),
    *("naive+data-temperature", "naive+model-averaged", "naive+attribute-weighted", "tan+softened"),
    *("tan+data-temperature", "acll-tree+acll-optimal", "naive+wanbia", "naive+elr", "tan+elr", "tan-bic+elr"),
    *("forward-join", "backward-join", "super-parent", "hill-climb", "pc", "three-phase"),
)
#: Added by default if values are missing; otherwise they equal other methods.
FOR_MISSING_VALUES = ("naive+em", "tan+em")
DEFAULT_LIMIT = 30.0
ALPHA = 0.05


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_data(parser)
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help="structure or structure+parameters, by the names listed in 'tanager fit --help' (default: "
        f"{', '.join(METHODS)}; with missing values also {', '.join(FOR_MISSING_VALUES)})",
    )
    add_folds(parser)
    parser.add_argument(
        "--by", choices=("accuracy", "log_loss"), default="accuracy", help="score to sort by (default: accuracy)"
    )
    parser.add_argument(
        "--limit",
        metavar="SECONDS",
        type=positive,
        help=f"time limit per method (default: {DEFAULT_LIMIT:g}; none for methods given by --methods)",
    )
    add_json(parser)
    add_columns(parser)
    add_settings(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Cross-validate all methods and print the ranking."""
    from ..learners import build, parse_method
    from ..tables.training import LabeledTable
    from ..trials import try_methods

    names = list(dict.fromkeys(options.methods or METHODS))
    pairs = {name: parse_method(name) for name in names}
    if not options.methods and options.settings:
        raise ValueError("--set requires --methods, because the default methods have different settings")
    X, y, weights = LabeledTable(options).arrays()
    if not options.methods and any(column.null_count for column in X.columns):
        pairs |= {name: parse_method(name) for name in FOR_MISSING_VALUES}
    classifiers = {name: build(*pair, options) for name, pair in pairs.items()}
    limit = options.limit or (None if options.methods else DEFAULT_LIMIT)
    with _bar(len(classifiers)) as advance:
        trials = list(try_methods(classifiers, X, y, weights, options.folds, options.seed, limit, advance))
    done, failed = ranked(trials, options.by)
    if options.json:
        json.dump([trial.as_json() for trial in [*done, *failed]], sys.stdout, indent=2)
        print()  # noqa: T201
    else:
        _show(done, failed, f"{X.num_rows:,} rows, {X.num_columns:,} features, {options.folds} folds", options.by)
    if not done:
        raise ValueError("no method could be evaluated")


def ranked(trials: Sequence[Any], by: str) -> tuple[list[Any], list[Any]]:
    """Return the successful trials, best first, with significant differences marked; and the failed ones."""
    from ...evaluation import compare
    from ...evaluation._result import CrossValidation

    done = [trial for trial in trials if trial.result is not None]
    failed = [trial for trial in trials if trial.result is None]
    if not done:
        return [], failed
    other = "log_loss" if by == "accuracy" else "accuracy"
    done.sort(key=lambda trial: (trial.sort_key(by), trial.sort_key(other)))
    joined = CrossValidation.joined([trial.result for trial in done])
    for score in ("accuracy", "log_loss"):
        best = min(done, key=lambda trial: trial.sort_key(score))
        best.best_in.add(score)
        if len(done) > 1:
            for test in compare(joined, score, baseline=best.name):
                if test.corrected_t_p < ALPHA:
                    next(trial for trial in done if trial.name == test.first).worse_in.add(score)
    return done, failed


def _bar(total: int) -> Any:
    from ..terminal import on_terminal, steps_bar

    return steps_bar(total) if on_terminal() else nullcontext(lambda _name: None)


def _show(done: Sequence[Any], failed: Sequence[Any], title: str, by: str) -> None:
    from rich.text import Text

    from ..terminal import make_console, plain_table, print_table

    console = make_console()
    table = plain_table(title=title)
    table.add_column("method", no_wrap=True)
    for heading in ("accuracy %", "log loss", "seconds", "parameters"):
        table.add_column(heading, justify="right", no_wrap=True)
    for trial in done:
        cells = [trial.cell("accuracy", 100, 1), trial.cell("log_loss", 1, 3)]
        texts = [
            Text(text, style="bold" if score in trial.best_in else "")
            for text, score in zip(cells, ("accuracy", "log_loss"), strict=True)
        ]
        parameters = "–" if trial.n_parameters is None else f"{trial.n_parameters:,}"
        table.add_row(trial.name, *texts, trial.shown_seconds, parameters)
    if done:
        print_table(console, table)
    width = max([len(trial.name) for trial in done], default=20)
    for trial in failed:
        console.print(Text(f"{trial.name:{width}}  {trial.failure}"), style="dim")
    marked = any(trial.worse_in for trial in done)
    order = {"accuracy": "accuracy", "log_loss": "log loss"}[by]
    legend = f"sorted by {order}; mean ± standard deviation over the folds"
    console.print(
        Text(
            legend
            + (f"\n▾ significantly worse than the best of its column (corrected t-test, p < {ALPHA})" if marked else "")
        )
    )
