"""Read data of any format in batches: CSV, Parquet, Arrow, folders of them, and standard input."""

from __future__ import annotations

import argparse
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import THREADS, InputError, delimiter_hint, reading
from ..terminal import RowProgress
from .csv_reader import MISSING_MARKERS, CsvSource
from .formats import DASH, Format, ending_format, input_format, standard_input
from .spool import TemporaryFile

_MIN_ROWS, _MAX_ROWS = 1 << 10, 1 << 18


class ArrowSource:
    """Data with typed columns: a Parquet or Arrow file, or an Arrow stream.

    Parameters
    ----------
    name : str
        Path, or "-" for a stream on standard input.
    kind : {"parquet", "arrow", "arrow-stream"}
    memory : int
        Approximate memory of batches in bytes.
    """

    def __init__(self, name: str, kind: Format, memory: int) -> None:
        self.name = name
        self.display_name = "standard input" if name == DASH else name
        self.kind = kind
        self.n_rows: int | None = None
        self._stream: Any = None
        self._copy: Any = None
        if name == DASH and kind != "arrow-stream":
            raise InputError(f"cannot read a {kind} file from standard input; use CSV or an Arrow stream")
        with reading(self.display_name):
            self.schema = self._read_schema()
        self._rows = max(_MIN_ROWS, min(_MAX_ROWS, memory // (64 * (len(self.schema) + 4))))
        self.names: list[str] = list(self.schema.names)
        twice = {column for column, times in Counter(self.names).items() if times > 1}
        if twice:
            raise InputError(f"{self.display_name} has duplicate columns named {min(twice)!r}")

    def repeatable(self) -> None:
        """Copy standard input to a temporary file, to read it several times."""
        if self._stream is None:
            return
        self._copy = TemporaryFile()  # lives as long as this object
        with reading(self.display_name), pa.ipc.new_stream(self._copy.file, self.schema) as copy:
            for batch in self._stream:
                copy.write_batch(batch)
        self._copy.file.flush()
        self.name, self._stream = self._copy.name, None

    def read(
        self, columns: Sequence[str], advance: RowProgress | None = None, coded: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield record batches of some columns; strings in `coded` may be dictionary-encoded, where that is cheaper."""
        done = 0
        with reading(self.display_name):
            for batch in self._batches(columns, coded):
                for start in range(0, batch.num_rows, self._rows):
                    part = batch.slice(start, self._rows)
                    done += part.num_rows
                    if advance is not None:
                        advance(part.num_rows, done / self.n_rows if self.n_rows else None)
                    yield part.select(list(columns))

    def _read_schema(self) -> Any:
        if self.kind == "parquet":
            with pq.ParquetFile(self.name) as file:
                self.n_rows = file.metadata.num_rows
                return file.schema_arrow
        if self.kind == "arrow":
            with pa.OSFile(self.name) as raw, pa.ipc.open_file(raw) as file:
                return file.schema
        if self.name == DASH:
            self._stream = pa.ipc.open_stream(standard_input())
            return self._stream.schema
        with pa.OSFile(self.name) as raw, pa.ipc.open_stream(raw) as stream:
            return stream.schema

    def _batches(self, columns: Sequence[str], coded: Sequence[str]) -> Iterator[Any]:
        if self.kind == "parquet":
            text = [name for name in coded if pa.types.is_string(self.schema.field(name).type)]
            with pq.ParquetFile(self.name, read_dictionary=text, pre_buffer=False) as file:
                yield from file.iter_batches(batch_size=self._rows, columns=list(columns))
        elif self.kind == "arrow":
            with pa.OSFile(self.name) as raw, pa.ipc.open_file(raw) as file:
                for i in range(file.num_record_batches):
                    yield file.get_batch(i)
        elif self._stream is not None:
            stream, self._stream = self._stream, None
            yield from stream
        elif self.name == DASH:
            raise InputError("standard input can be read only once")
        else:
            with pa.OSFile(self.name) as raw, pa.ipc.open_stream(raw) as stream:
                yield from stream


Source = CsvSource | ArrowSource


def open_data(options: argparse.Namespace) -> list[Source]:
    """Open the data given by the options."""
    return open_sources(
        options.data,
        requested=options.format,
        delimiter=options.delimiter,
        missing=options.missing,
        header=not options.no_header,
        memory=options.memory,
    )


def open_sources(
    name: str,
    *,
    requested: str | None = None,
    delimiter: str | None = None,
    missing: Sequence[str] | None = None,
    header: bool = True,
    memory: int,
) -> list[Source]:
    """Open a file, all files of a folder in alphabetical order, or standard input.

    Returns
    -------
    list of CsvSource or list of ArrowSource
        At least one; all with the same columns.
    """
    sources: list[Source] = []
    for path in _files(name, requested):
        kind = input_format(path, requested)
        if kind == "model":
            raise InputError(f"expected data, but {path} is a model file")
        if kind == "csv":
            markers = MISSING_MARKERS if missing is None else missing
            sources.append(CsvSource(path, delimiter=delimiter, missing=markers, header=header, memory=memory))
        else:
            sources.append(ArrowSource(path, kind, memory))
    first = sources[0]
    for source in sources[1:]:
        if source.names != first.names:
            raise InputError(
                f"{source.display_name} and {first.display_name} have different columns: {_difference(source, first)}"
            )
        if type(source) is not type(first):
            raise InputError(
                f"{source.display_name} and {first.display_name} have different formats; use one format per folder"
            )
        if isinstance(source, ArrowSource) and not source.schema.equals(first.schema):  # type: ignore[union-attr]
            raise InputError(f"{source.display_name} and {first.display_name} have different column types")
    return sources


def _files(name: str, requested: str | None) -> list[str]:
    if name == DASH:
        return [name]
    path = Path(name)
    if not path.exists():
        raise InputError(f"file not found: {name}")
    if not path.is_dir():
        return [name]
    # Like pyarrow, pandas and Spark, skip files whose names begin with a dot or an underscore.
    found = [file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith((".", "_"))]
    found = [file for file in found if requested or ending_format(file.name) not in (None, "model")]
    if not found:
        raise InputError(f"the folder {name} contains no CSV, Parquet or Arrow files")
    return [str(file) for file in found]


def _difference(source: Source, first: Source) -> str:
    ours, theirs = set(source.names), set(first.names)
    if ours == theirs:
        return "their order differs"
    column = min(ours ^ theirs)
    return f"{column!r} is only in {(source if column in ours else first).display_name}"


def no_column(shown: str, name: str, names: Sequence[str], what: str) -> InputError:
    """Return the error about a missing column, with those that exist."""
    columns = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return InputError(f"{shown} has no column {name!r} ({what}); its columns are {columns}{delimiter_hint(names)}")


def total_rows(sources: Sequence[Source]) -> int | None:
    """Return the number of rows of all sources, or None if unknown."""
    numbers = [source.n_rows if isinstance(source, ArrowSource) else None for source in sources]
    return None if None in numbers else sum(number for number in numbers if number is not None)


def read_ahead(batches: Callable[[], Iterator[Any]] | Iterator[Any], depth: int = 2) -> Iterator[Any]:
    """Yield the items of an iterator that runs in a background thread, a few items ahead."""
    items: queue.Queue[tuple[bool, Any]] = queue.Queue(depth)
    stopped = threading.Event()

    def put(item: tuple[bool, Any]) -> bool:
        while not stopped.is_set():
            try:
                items.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            source = batches() if callable(batches) else batches
            with closing(source):  # type: ignore[type-var]
                for batch in source:
                    if not put((True, batch)):
                        return
            put((False, None))
        except BaseException as error:  # noqa: BLE001  # re-raised in the consumer
            put((False, error))

    thread = threading.Thread(target=work, name=f"{THREADS}reader", daemon=True)
    thread.start()
    try:
        while True:
            more, item = items.get()
            if more:
                yield item
            elif item is None:
                return
            else:
                raise item
    finally:
        stopped.set()
        thread.join(1.0)  # it may block on standard input, which cannot be interrupted
