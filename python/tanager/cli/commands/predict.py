"""``tanager predict``: the classes of a table's rows."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..options import add_data, add_output_format, add_running, at_least

if TYPE_CHECKING:
    from ... import _core

HELP = """
Predict the classes of a table's rows with a model file.

The output has the columns asked for with --keep, then 'predicted', then the
probability of every class as 'P(class)'. Columns are found by name, in any
order; further ones do no harm. Cells of CSV files are read as what the model
knows: 3 finds the whole number 3 in one model and the text "3" in another.
Rows go through in batches, so that their number does not matter.

examples:
  tanager predict weather.tng today.csv
  tanager predict sales.tng sales/ --keep id --output predicted.parquet
  zcat log.csv.gz | tanager predict log.tng - --keep all > predicted.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", help="the model file, or - for standard input")
    add_data(parser, what="the rows")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output", "-o", metavar="FILE", default="-", help="where to (default: -, that is standard output)"
    )
    add_output_format(group, "for standard output, Arrow streams if DATA is one, and otherwise CSV")
    group.add_argument(
        "--keep",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="columns of DATA to write before the predictions, or 'all'; those of CSV files are written as text",
    )
    group.add_argument(
        "--without-probabilities", action="store_true", help="write the predicted class only, and no probabilities"
    )
    parser.add_argument(
        "--ignore",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="columns that are no features; only for models that were learned without names of columns",
    )
    parser.add_argument(
        "--max-cells",
        metavar="N",
        type=at_least(1),
        help="limit of exact inference for rows with missing values (default: 16777216); the error message that names "
        "it says how many cells are needed",
    )
    add_running(parser, seed=False)


def run(options: argparse.Namespace) -> None:
    """Predict."""
    from ..errors import InputError
    from ..model_facts import open_predictor
    from ..tables.formats import DASH, Format, output_format
    from ..tables.model_rows import ModelRows
    from ..tables.predictions import predict_batches
    from ..tables.sources import ArrowSource, open_data
    from ..tables.writers import check_other_file, table_writer
    from ..terminal import rows_bar

    check_other_file(options.output, options.model, "the model")
    model, clf = open_predictor(options, "rows")
    if options.max_cells is not None and hasattr(clf, "network_"):
        clf.network_.max_cells = options.max_cells
    sources = open_data(options)
    first = sources[0]
    keep = first.names if options.keep == ["all"] and "all" not in first.names else options.keep
    rows = ModelRows(clf, sources, keep, options.ignore)
    streamed = isinstance(first, ArrowSource) and first.kind == "arrow-stream"
    default: Format | None = None
    if options.output == DASH:
        default = "arrow-stream" if streamed else "csv"
    form = output_format(options.output, options.output_format, default)
    if form == "model":
        raise InputError(
            f"a table cannot be written to {options.output!r}, which is the name of a model file: let it end in .csv, .csv.gz, "
            ".parquet, .arrow or .arrows, or give --output-format"
        )
    answers = Answers(model, clf, rows.kept_fields, with_probabilities=not options.without_probabilities)
    delimiter = options.delimiter or ","
    with (
        table_writer(options.output, form, answers.schema, delimiter=delimiter) as writer,
        rows_bar("predicting") as tell,
    ):
        for kept, proba, classes in predict_batches(clf, rows.batches(tell)):
            writer.write(answers.batch(kept, proba, classes, coded=form == "csv"))


class Answers:
    """Predictions as record batches."""

    def __init__(self, model: _core.Model, clf: Any, kept: list[Any], *, with_probabilities: bool) -> None:
        import pyarrow as pa

        from ..errors import InputError

        self._texts = [model.class_name(i) for i in range(len(model.classes))]
        self._names = pa.array(self._texts)
        try:
            self._labels = pa.array(clf.classes_.tolist())
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # classes of several types
            self._labels = self._names
        names = [f"P({text})" for text in self._texts] if with_probabilities else []
        self._with_probabilities = with_probabilities
        fields = [*kept, pa.field("predicted", self._labels.type), *(pa.field(name, pa.float64()) for name in names)]
        self.schema = pa.schema(fields)
        times = Counter(self.schema.names)
        for field in kept:
            if times[field.name] > 1:
                raise InputError(
                    f"the column {field.name!r} cannot be kept, since the predictions have one of that name"
                )

    def batch(self, kept: Any, proba: Any, classes: Any, *, coded: bool) -> Any:
        """Return the rows to write; `coded` leaves texts as numbers of distinct ones, which is quicker to write as CSV."""
        import pyarrow as pa

        codes = pa.array(classes, pa.int32())
        if coded:
            columns = [*kept.columns, pa.DictionaryArray.from_arrays(codes, self._names)]
        else:
            fields = [self.schema.field(i) for i in range(kept.num_columns)]
            columns = [column.cast(field.type) for column, field in zip(kept.columns, fields, strict=True)]
            columns.append(self._labels.take(codes))
        if self._with_probabilities:
            columns += [pa.array(proba[:, k]) for k in range(proba.shape[1])]
        if coded:
            return pa.RecordBatch.from_arrays(columns, self.schema.names)
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)
