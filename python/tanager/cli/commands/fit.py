"""``tanager fit``: train a classifier and write a model file."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ..options import add_columns, add_data, add_learner, add_running

HELP = """
Train a classifier on a dataset and write a model file.

Count-based learners read the data in batches, so datasets of any size work;
searches and iterative learners load all rows into memory. CSV files are read
once more before that, to infer the column types from all rows.

examples:
  tanager fit weather.csv --class play --output weather.tng
  tanager fit sales/ --class bought --ignore id --structure tan-bic -o sales.tng
  tanager fit iris.csv --class species --structure tan --parameters elr -o i.tng
  tanager fit y.parquet --class y --structure kdb --set structure.k=3 -o y.tng
  zcat log.csv.gz | tanager fit - --class status --structure tbmatan -o log.tng
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_data(parser)
    parser.add_argument(
        "--output", "-o", metavar="MODEL", required=True, help="model file to write, or - for standard output"
    )
    parser.add_argument(
        "--with-counts",
        action="store_true",
        help="store the counts in the model file, so partial_fit can update it in Python",
    )
    add_columns(parser)
    add_learner(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Fit and save."""
    from ..._model_file import to_model
    from ..column_warnings import warn_about_columns
    from ..learners import make_classifier
    from ..tables.formats import DASH
    from ..tables.training import LabeledTable
    from ..tables.writers import check_not_input, output_file

    clf = make_classifier(options)
    check_not_input(options.output, options.data, "the training data")
    with output_file(options.output) as file:  # fails early if the folder is not writable
        start = time.perf_counter()
        data = LabeledTable(options)
        fit_data(clf, data)
        clf.set_params(n_jobs=None, verbose=0)  # settings of this run, not of the model
        file.write(to_model(clf, with_counts=options.with_counts).to_bytes())
    warn_about_columns(clf, clf.counts_.n_rows)
    if options.output != DASH:
        _print_summary(clf, data, options.output, time.perf_counter() - start)


def fit_data(clf: Any, data: Any) -> None:
    """Fit a classifier on all rows, in batches where possible.

    Ctrl-C ends the command even during searches, which would otherwise return the best structure so far.
    """
    from ...evaluation._plain_folds import check_interrupted
    from ..learners import needs_all_rows
    from ..tables.training import NamedLabels
    from ..terminal import on_terminal

    clf.set_params(verbose=int(on_terminal()))
    if needs_all_rows(clf):
        X, y, weights = data.arrays()
        clf.fit(X, NamedLabels(y, data.class_name), weights)
    else:
        clf.fit_stream(data.labeled_batches, data.class_name, sample_weight=data.weight)
    for trace in ("search_trace_", "parameter_trace_"):
        check_interrupted(getattr(clf, trace, None))


def _print_summary(clf: Any, data: Any, name: str, seconds: float) -> None:
    rows = "" if data.n_rows is None else f" on {data.n_rows:,} rows"
    print(f"{name}: {clf._describe().one_line}; trained{rows} in {seconds:.3g} s")  # noqa: T201
