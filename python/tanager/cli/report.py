"""``tanager report``: a report on a model, with its scores on a table."""

from __future__ import annotations

import argparse
from typing import Any

from ._options import add_data, add_running

HELP = """
Write a report on a model as Markdown: what it is and how it was learned, its
features and arcs, and, with --data, how well it predicts that table: accuracy,
log score and AUC beside those of always saying how frequent the classes are, a
confusion matrix, every class, and how far probabilities can be trusted.

examples:
  tanager report weather.tng
  tanager report sales.tng --data held-out.parquet --output sales.md
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", help="the model file, or - for standard input")
    add_data(parser, positional=False, what="a table with true classes to judge the model by")
    parser.add_argument(
        "--class", dest="class_name", metavar="NAME", help="the column of true classes (default: as in learning)"
    )
    parser.add_argument(
        "--output", "-o", metavar="FILE", default="-", help="where to (default: -, that is standard output)"
    )
    add_running(parser, seed=False)


def run(options: argparse.Namespace) -> None:
    """Write the report."""
    from ._model_facts import facts, file_facts
    from ._models import open_predictor
    from ._output import whole_file
    from ._report_text import report_text

    content, clf = open_predictor(options, "table")
    with whole_file(options.output) as file:
        found = {"file": file_facts(options.model, content), **facts(clf)}
        outcome = None if options.data is None else judge(options, content, clf)
        file.write(report_text(found, outcome).encode())


def judge(options: argparse.Namespace, content: Any, clf: Any) -> Any:
    """Predict a table whose classes are known; only codes and probabilities of the rows stay in memory."""
    import numpy as np

    from ._errors import InputError
    from ._judgment import Judgment, class_codes
    from ._model_rows import ModelRows
    from ._progress_rows import rows_bar
    from ._training import no_column, open_data
    from .predict import predicted

    sources = open_data(options)
    name = options.class_name or clf._schema.class_name
    if name not in sources[0].names:
        raise no_column(sources[0].shown, name, sources[0].names, "the class; --class names another")
    rows = ModelRows(content, clf, sources, [name])
    truth, proba, answers = [], [], []
    with rows_bar("judging") as tell:
        for kept, part, classes in predicted(clf, rows.batches(tell)):
            truth.append(class_codes(kept.column(0), content, name, getattr(sources[0], "missing", [])))
            proba.append(part)
            answers.append(classes)
    if not truth:
        raise InputError(f"{sources[0].shown} has no rows")
    labels = [content.class_name(i) for i in range(len(content.classes))]
    return Judgment(options.data, labels, *map(np.concatenate, (truth, proba, answers)))
