"""``tanager fit``: learn a classifier and write a model file."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ..options import add_columns, add_data, add_learner, add_running

HELP = """
Learn a classifier from a table and write a model file.

Learners that count read the table in batches, whatever its size; searches and
learners that go through the rows again and again read it whole. CSV files are
read once before that, to find the types of columns from all rows.

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
        "--output", "-o", metavar="MODEL", required=True, help="the model file to write, or - for standard output"
    )
    parser.add_argument(
        "--with-counts",
        action="store_true",
        help="keep the counts in the model file, so that Python can add rows to it",
    )
    add_columns(parser)
    add_learner(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Learn and save."""
    from ..._model_file import to_model
    from ..column_warnings import say_doubts
    from ..learners import make_classifier
    from ..tables.formats import DASH
    from ..tables.training import LabeledTable
    from ..tables.writers import check_other_file, whole_file

    clf = make_classifier(options)
    check_other_file(options.output, options.data, "the table to learn from")
    with whole_file(options.output) as file:  # a folder that cannot be written to is found before the work
        start = time.perf_counter()
        data = LabeledTable(options)
        learn(clf, data)
        clf.set_params(n_jobs=None, verbose=0)  # of this run and not of the model
        file.write(to_model(clf, with_counts=options.with_counts).to_bytes())
    say_doubts(clf, clf.counts_.n_rows)
    if options.output != DASH:
        _say_done(clf, data, options.output, time.perf_counter() - start)


def learn(clf: Any, data: Any) -> None:
    """Fit a classifier on all rows of a table, in batches where it can.

    Ctrl-C is an interrupt also where a search would return what it has.
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


def _say_done(clf: Any, data: Any, name: str, seconds: float) -> None:
    from ...classifiers._summary import one_line

    rows = "" if data.n_rows is None else f" from {data.n_rows:,} rows"
    print(f"{name}: {one_line(clf)}; learned{rows} in {seconds:.3g} s")  # noqa: T201
