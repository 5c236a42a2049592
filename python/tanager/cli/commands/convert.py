"""``tanager convert``: data, model files and networks in another format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..options import add_data, add_output_format

if TYPE_CHECKING:
    from ...network import Network

HELP = """
Convert data between CSV, Parquet and Arrow, a model file to the newest format
version, or a network to and from BIF and XMLBIF and to ONNX.

A CSV column becomes an integer or float column if all its values are; a leading
zero, as in 007, keeps it text, and so does --text. Data are read in batches. A
model file keeps its counts, if any, unless --without-counts drops them to save
space. BIF and XMLBIF files do not specify which variable is the class: name it
with --class.

examples:
  tanager convert sales.csv sales.parquet
  tanager convert sales/ sales.csv.gz --ignore comment
  tanager convert old.tng new.tng --without-counts
  tanager convert model.tng model.bif
  tanager convert asia.bif asia.tng --class lung
"""

_ENDINGS = {".bif": "bif", ".xml": "xmlbif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif", ".onnx": "onnx"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_data(parser, what="input: a model file, a .bif or .xml network, or data")
    parser.add_argument(
        "output",
        metavar="OUTPUT",
        help="output: .csv, .csv.gz, .parquet, .arrow, .arrows, .tng, .bif, .xml, .onnx, or - for standard output",
    )
    add_output_format(parser, "CSV for standard output")
    parser.add_argument("--ignore", metavar="COLUMN", nargs="+", action="extend", default=[], help="columns to drop")
    parser.add_argument(
        "--text", metavar="COLUMN", nargs="+", action="extend", default=[], help="CSV columns to keep as text"
    )
    parser.add_argument(
        "--class", dest="class_name", metavar="NAME", help="the class variable of a BIF or XMLBIF network"
    )
    parser.add_argument("--without-counts", action="store_true", help="drop the counts of a model file")


def run(options: argparse.Namespace) -> None:
    """Convert a network, a model file or data."""
    from ..tables.formats import DASH, input_format

    if _network_format(options.data) or _network_format(options.output):
        _convert_network(options)
        return
    is_file = options.data == DASH or Path(options.data).is_file()
    if is_file and input_format(options.data, options.format) == "model":
        _convert_model(options)
    else:
        _convert_table(options)


def _convert_model(options: argparse.Namespace) -> None:
    from ..._model_file import from_model, to_model
    from ..errors import InputError
    from ..model_facts import read_model
    from ..tables.formats import DASH, ending_format
    from ..tables.writers import output_file

    if options.output != DASH and ending_format(options.output) not in (None, "model"):
        raise InputError(
            f"cannot convert the model file {options.data} to {options.output}; use .tng, .bif, .xml or .onnx"
        )
    content = read_model(options.data)
    keep = content.counts is not None and not options.without_counts
    with output_file(options.output) as file:
        file.write(to_model(from_model(content), with_counts=keep).to_bytes())


def _convert_table(options: argparse.Namespace) -> None:
    import pyarrow as pa

    from ..errors import InputError
    from ..tables.formats import DASH, output_format
    from ..tables.sources import no_column, open_data
    from ..tables.training import TypedTable
    from ..tables.writers import table_writer
    from ..terminal import rows_bar

    form = output_format(options.output, options.output_format, "csv" if options.output == DASH else None)
    if form == "model":
        raise InputError(f"cannot convert the data {options.data} to a model; train one with 'tanager fit'")
    sources = open_data(options)
    names = sources[0].names
    for name in [*options.ignore, *options.text]:
        if name not in names:
            raise no_column(sources[0].display_name, name, names, "--ignore" if name in options.ignore else "--text")
    columns = [name for name in names if name not in options.ignore]
    if not columns:
        raise InputError("--ignore drops all columns; there is nothing to write")
    if form == "csv" and _is_csv(sources[0]) and not options.missing:
        table: Any = _VerbatimText(sources, columns)  # text to text: no types needed
    else:
        table = TypedTable(sources, columns, text=options.text)
    schema = pa.schema(list(table.types.items()))
    with (
        table_writer(options.output, form, schema, delimiter=options.delimiter or ",") as writer,
        rows_bar("converting") as advance,
    ):
        for batch in table.batches(advance):
            writer.write(batch)


def _is_csv(source: Any) -> bool:
    from ..tables.csv_reader import CsvSource

    return isinstance(source, CsvSource)


class _VerbatimText:
    """The fields of CSV files, unchanged, including markers of missing values."""

    def __init__(self, sources: Any, columns: list[str]) -> None:
        from ..tables.csv_reader import CODED_TEXT

        self._sources = sources
        self.types = dict.fromkeys(columns, CODED_TEXT)

    def batches(self, advance: Any) -> Any:
        """Yield record batches of text."""
        for source in self._sources:
            yield from source.read(self.types, advance)


def _network_format(name: str) -> str | None:
    """Return the network format of a file name, or None."""
    return _ENDINGS.get(Path(name).suffix.lower())


def _convert_network(options: argparse.Namespace) -> None:
    """Convert a network between model files, BIF, XMLBIF and ONNX."""
    from ..._model_file import to_model
    from ..errors import InputError
    from ..tables.formats import ending_format
    from ..tables.writers import output_file

    form = _network_format(options.output)
    if form is None and ending_format(options.output) != "model":
        raise InputError(
            f"cannot convert the network {options.data} to {options.output}; use .tng, .bif, .xml or .onnx"
        )
    network = _read_network(options.data, options.class_name)
    if form is None:
        data = to_model(network.to_classifier(), with_counts=False).to_bytes()
    elif form == "onnx":
        data = _onnx_bytes(network)
    else:
        data = ((network.to_bif() if form == "bif" else network.to_xmlbif()) or "").encode()
    with output_file(options.output) as file:
        file.write(data)


def _read_network(name: str, class_name: str | None) -> Network:
    from ..._model_file import from_model
    from ...interop import read_bif, read_xmlbif
    from ..errors import InputError
    from ..model_facts import read_model

    form = _network_format(name)
    if form == "onnx":
        raise InputError(f"cannot read {name}: ONNX is supported as an output format only")
    if form is not None:
        try:
            return (read_bif if form == "bif" else read_xmlbif)(Path(name), class_name)
        except ValueError as error:
            raise InputError(str(error).replace("class_name:", "--class:")) from None
    network = from_model(read_model(name))._describe().network
    if network is None:
        raise InputError(
            f"cannot export {name}: it contains an average of many networks, which only model files support"
        )
    if class_name not in (None, network.class_name):
        raise InputError(f"expected --class {network.class_name!r}, the class of {name}, got {class_name!r}")
    return network


def _onnx_bytes(network: Network) -> bytes:
    from ...interop import to_onnx
    from ..errors import InputError

    try:
        made = to_onnx(network)
    except ImportError:
        raise InputError("onnx is required to write .onnx files: pip install 'tanager[onnx]'") from None
    data: bytes = made.SerializeToString()
    return data
