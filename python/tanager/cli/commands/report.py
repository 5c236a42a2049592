"""``tanager report``: a report on a model, with its scores on a table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..options import add_data, add_running

HELP = """
Write a report on a model as one HTML file that needs nothing else: what it is
and how it was learned, its network as a drawing to move about in, and a panel
in which one picks what is known and watches the probabilities change. With
--data, also how well it predicts that table: accuracy, log score and AUC, with
intervals, beside those of always saying how frequent the classes are, a
confusion matrix, every class, and how far probabilities can be trusted. As
Markdown, the same without drawing and panel.

examples:
  tanager report weather.tng
  tanager report sales.tng --data held-out.parquet --output sales.html
  tanager report sales.tng --data held-out.parquet --output -
"""

_MARKDOWN = (".md", ".markdown", ".txt")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", help="the model file, or - for standard input")
    add_data(parser, positional=False, what="a table with true classes to judge the model by")
    parser.add_argument(
        "--class", dest="class_name", metavar="NAME", help="the column of true classes (default: as in learning)"
    )
    parser.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="where to; - is standard output (default: MODEL with the ending .html in place of .tng)",
    )
    parser.add_argument(
        "--output-format",
        choices=("auto", "html", "markdown"),
        default="auto",
        help="auto is Markdown for .md, .markdown, .txt and standard output, and HTML for all else (default: auto)",
    )
    add_running(parser, seed=False)


def run(options: argparse.Namespace) -> None:
    """Write the report."""
    from ..model_facts import open_predictor
    from ..tables.formats import DASH
    from ..tables.writers import whole_file

    content, clf = open_predictor(options, "table")
    output, form = _target(options)
    with whole_file(output) as file:
        outcome = None if options.data is None else judge(options, content, clf)
        file.write(_text(options, form, content, clf, outcome).encode())
    if options.output is None and output != DASH:
        print(output)  # noqa: T201


def _target(options: argparse.Namespace) -> tuple[str, str]:
    """Return where the report goes, and its format."""
    from ..errors import InputError
    from ..tables.formats import DASH

    output, form = options.output, options.output_format
    if output is None:
        ending = ".md" if form == "markdown" else ".html"
        output = DASH if options.model == DASH else options.model.removesuffix(".tng") + ending
    for what, source in (("model", options.model), ("table", options.data)):
        if DASH not in (output, source) and source is not None and _same(output, source):
            raise InputError(f"the report would replace the {what} {source}; name another file with --output")
    if form == "auto":
        form = "markdown" if output == DASH or output.lower().endswith(_MARKDOWN) else "html"
    return output, form


def _same(output: str, source: str) -> bool:
    return Path(output).exists() and Path(source).exists() and Path(output).samefile(source)


def _text(options: argparse.Namespace, form: str, content: Any, clf: Any, outcome: Any) -> str:
    from ..tables.formats import DASH

    if form == "html":
        from ..._report import report_html

        return report_html(clf, outcome, None if options.model == DASH else Path(options.model).name)
    from ..model_facts import facts, file_facts
    from ..report_markdown import report_text

    return report_text({"file": file_facts(options.model, content), **facts(clf)}, outcome)


def judge(options: argparse.Namespace, content: Any, clf: Any) -> Any:
    """Predict a table whose classes are known; only codes and probabilities of the rows stay in memory."""
    import numpy as np

    from ...evaluation._held_out import Judgment
    from ..errors import InputError
    from ..tables.model_rows import ModelRows
    from ..tables.predictions import predict_batches
    from ..tables.sources import no_column, open_data
    from ..terminal import rows_bar

    sources = open_data(options)
    name = options.class_name or clf._schema.class_name
    if name not in sources[0].names:
        raise no_column(sources[0].shown, name, sources[0].names, "the class; --class names another")
    rows = ModelRows(clf, sources, [name])
    truth, proba, answers = [], [], []
    with rows_bar("judging") as tell:
        for kept, part, classes in predict_batches(clf, rows.batches(tell)):
            truth.append(_class_codes(kept.column(0), content, name, getattr(sources[0], "missing", [])))
            proba.append(part)
            answers.append(classes)
    if not truth:
        raise InputError(f"{sources[0].shown} has no rows")
    labels = [content.class_name(i) for i in range(len(content.classes))]
    return Judgment(options.data, labels, *map(np.concatenate, (truth, proba, answers)))


def _class_codes(column: Any, content: Any, name: str, missing: Sequence[str]) -> Any:
    """Return the position of every true class among those of the model; -1 for a class that it does not know."""
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
        codes.append(-2 if value is None or text in missing else known.get(text, known.get(_as_whole(text), -1)))
    found = np.array([*codes, -2], dtype=np.int64)[column.indices.fill_null(len(codes)).to_numpy()]
    if (found == -2).any():
        raise InputError(f"the class {name!r} is missing in {int((found == -2).sum()):,} rows; leave them out")
    return found


def _as_whole(text: str) -> str:
    """Return 3 for 3.0, as whole numbers are read."""
    return text.removesuffix(".0")
