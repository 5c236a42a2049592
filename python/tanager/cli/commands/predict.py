"""``tanager predict``: predict the class of each row."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..options import add_data, add_output_format, add_running, at_least

if TYPE_CHECKING:
    from ... import _core

HELP = """
Predict the class of each row with a model file.

The output contains the columns named by --keep, then 'predicted', then the
probability of each class as 'P(class)'. Columns are matched by name, in any
order; other columns are ignored. CSV values are read with the types of the
model: 3 matches the integer 3 in one model and the text "3" in another. Rows
are processed in batches, so files of any size work.

examples:
  tanager predict weather.tng today.csv
  tanager predict sales.tng sales/ --keep id --output predicted.parquet
  zcat log.csv.gz | tanager predict log.tng - --keep all > predicted.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", help="the model file, or - for standard input")
    add_data(parser, what="the data")
    group = parser.add_argument_group("output")
    group.add_argument("--output", "-o", metavar="FILE", default="-", help="output file (default: -, standard output)")
    add_output_format(group, "for standard output an Arrow stream if DATA is one, otherwise CSV")
    group.add_argument(
        "--keep",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="columns of DATA to copy to the output, or 'all'; those of CSV files are copied as text",
    )
    group.add_argument("--without-probabilities", action="store_true", help="write only the predicted class")
    parser.add_argument(
        "--ignore",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="columns that are not features; only for models trained without column names",
    )
    parser.add_argument(
        "--max-cells",
        metavar="N",
        type=at_least(1),
        help="limit on the size of tables in exact inference for rows with missing values (default: 16777216); the error "
        "message shows how many cells are needed",
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
    from ..tables.writers import check_not_input, table_writer
    from ..terminal import rows_bar

    check_not_input(options.output, options.model, "the model")
    model, clf = open_predictor(options, "data")
    if options.max_cells is not None and (network := clf._describe().network) is not None:
        network.max_cells = options.max_cells
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
            f"cannot write predictions to the model file {options.output!r}; use a name that ends in .csv, .csv.gz, .parquet, "
            ".arrow or .arrows, or set --output-format"
        )
    table = PredictionTable(model, clf, rows.kept_fields, with_probabilities=not options.without_probabilities)
    delimiter = options.delimiter or ","
    with (
        table_writer(options.output, form, table.schema, delimiter=delimiter) as writer,
        rows_bar("predicting") as advance,
    ):
        for kept, proba, classes in predict_batches(clf, rows.batches(advance)):
            writer.write(table.batch(kept, proba, classes, coded=form == "csv"))


class PredictionTable:
    """Predictions as record batches."""

    def __init__(self, model: _core.Model, clf: Any, kept: list[Any], *, with_probabilities: bool) -> None:
        import pyarrow as pa

        from ..errors import InputError

        self._texts = [model.class_name(i) for i in range(len(model.classes))]
        self._names = pa.array(self._texts)
        try:
            self._labels = pa.array(clf.classes_.tolist())
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # classes of mixed types
            self._labels = self._names
        names = [f"P({text})" for text in self._texts] if with_probabilities else []
        self._with_probabilities = with_probabilities
        fields = [*kept, pa.field("predicted", self._labels.type), *(pa.field(name, pa.float64()) for name in names)]
        self.schema = pa.schema(fields)
        times = Counter(self.schema.names)
        for field in kept:
            if times[field.name] > 1:
                raise InputError(f"cannot keep the column {field.name!r}: the predictions have a column of that name")

    def batch(self, kept: Any, proba: Any, classes: Any, *, coded: bool) -> Any:
        """Return the rows to write; `coded` keeps text dictionary-encoded, which is faster to write as CSV."""
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
