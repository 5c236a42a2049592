"""``tanager report``: a report on a model, with scores on held-out data."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..options import add_data, add_running

HELP = """
Write a report on a model as a single self-contained HTML file: its type and
settings, an interactive plot of the network, and a panel to set evidence and
watch the probabilities change. With --data, the report also evaluates the model
on that data: accuracy, log loss and AUC with confidence intervals and a
baseline, a confusion matrix, scores per class, and calibration. The Markdown
report is the same without plot and panel.

examples:
  tanager report weather.tng
  tanager report sales.tng --data held-out.parquet --output sales.html
  tanager report sales.tng --data held-out.parquet --output -
"""

_MARKDOWN = (".md", ".markdown", ".txt")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", help="the model file, or - for standard input")
    add_data(parser, positional=False, what="held-out data with true classes")
    parser.add_argument(
        "--class",
        dest="class_name",
        metavar="NAME",
        help="column of true classes (default: its name in the training data)",
    )
    parser.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="output file, or - for standard output (default: MODEL with .html instead of .tng)",
    )
    parser.add_argument(
        "--output-format",
        choices=("auto", "html", "markdown"),
        default="auto",
        help="auto (the default) writes Markdown for .md, .markdown, .txt and standard output, HTML otherwise",
    )
    add_running(parser, seed=False)


def run(options: argparse.Namespace) -> None:
    """Write the report."""
    from ..model_facts import open_predictor
    from ..tables.formats import DASH
    from ..tables.writers import output_file

    content, clf = open_predictor(options, "data")
    output, form = _target(options)
    with output_file(output) as file:
        scores = None if options.data is None else evaluate(options, content, clf)
        file.write(_text(options, form, content, clf, scores).encode())
    if options.output is None and output != DASH:
        print(output)  # noqa: T201


def _target(options: argparse.Namespace) -> tuple[str, str]:
    """Return the output file and its format."""
    from ..errors import InputError
    from ..tables.formats import DASH

    output, form = options.output, options.output_format
    if output is None:
        ending = ".md" if form == "markdown" else ".html"
        output = DASH if options.model == DASH else options.model.removesuffix(".tng") + ending
    for what, source in (("model", options.model), ("data", options.data)):
        if DASH not in (output, source) and source is not None and _same(output, source):
            raise InputError(f"the report would overwrite the {what} {source}; choose another file with --output")
    if form == "auto":
        form = "markdown" if output == DASH or output.lower().endswith(_MARKDOWN) else "html"
    return output, form


def _same(output: str, source: str) -> bool:
    return Path(output).exists() and Path(source).exists() and Path(output).samefile(source)


def _text(options: argparse.Namespace, form: str, content: Any, clf: Any, scores: Any) -> str:
    from ..tables.formats import DASH

    if form == "html":
        from ..._report import report_html

        return report_html(clf, scores, None if options.model == DASH else Path(options.model).name)
    from ..model_facts import facts, file_facts
    from ..report_markdown import report_text

    return report_text({"file": file_facts(options.model, content), **facts(clf)}, scores)


def evaluate(options: argparse.Namespace, content: Any, clf: Any) -> Any:
    """Evaluate the model on data with known classes; only codes and probabilities are kept in memory."""
    import numpy as np

    from ...evaluation._held_out import HeldOutScores
    from ..errors import InputError
    from ..tables.model_rows import ModelRows
    from ..tables.predictions import predict_batches
    from ..tables.sources import no_column, open_data
    from ..terminal import rows_bar

    sources = open_data(options)
    name = options.class_name or clf._schema.class_name
    if name not in sources[0].names:
        raise no_column(sources[0].display_name, name, sources[0].names, "the class; set it with --class")
    rows = ModelRows(clf, sources, [name])
    truth, proba, predicted = [], [], []
    with rows_bar("evaluating") as advance:
        for kept, part, classes in predict_batches(clf, rows.batches(advance)):
            truth.append(_class_codes(kept.column(0), content, name, getattr(sources[0], "missing", [])))
            proba.append(part)
            predicted.append(classes)
    if not truth:
        raise InputError(f"{sources[0].display_name} has no rows")
    labels = [content.class_name(i) for i in range(len(content.classes))]
    return HeldOutScores(options.data, labels, *map(np.concatenate, (truth, proba, predicted)))


def _class_codes(column: Any, content: Any, name: str, missing: Sequence[str]) -> Any:
    """Return the position of each true class among those of the model; -1 for an unknown class."""
    import numpy as np
    import pyarrow as pa

    from ..errors import InputError

    texts = [content.class_name(i) for i in range(len(content.classes))]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    known = {text: position for position, text in enumerate(texts)}
    codes = []
    for value in column.dictionary.to_pylist():
        text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
        codes.append(-2 if value is None or text in missing else known.get(text, known.get(_as_integer(text), -1)))
    positions = np.array([*codes, -2], dtype=np.int64)[column.indices.fill_null(len(codes)).to_numpy()]
    if (positions == -2).any():
        raise InputError(f"the class {name!r} is missing in {int((positions == -2).sum()):,} rows; remove them")
    return positions


def _as_integer(text: str) -> str:
    """Return 3 for 3.0, as integers are read."""
    return text.removesuffix(".0")
