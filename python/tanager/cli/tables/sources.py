"""Tables of any format in batches: CSV, Parquet, Arrow, folders of them, and standard input."""

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

from ..errors import THREADS, InputError, other_delimiter, reading
from ..terminal import Tell
from .csv_reader import MISSING_MARKERS, CsvSource
from .formats import DASH, Format, ending_format, input_format, standard_input
from .spool import KeptFile

_FEWEST_ROWS, _MOST_ROWS = 1 << 10, 1 << 18


class ArrowSource:
    """A table whose columns have types of their own: a Parquet or Arrow file, or an Arrow stream.

    Parameters
    ----------
    name : str
        Path, or "-" for a stream on standard input.
    kind : {"parquet", "arrow", "arrow-stream"}
    memory : int
        Bytes that batches may take.
    """

    def __init__(self, name: str, kind: Format, memory: int) -> None:
        self.name = name
        self.shown = "standard input" if name == DASH else name
        self.kind = kind
        self.n_rows: int | None = None
        self._stream: Any = None
        self._kept: Any = None
        if name == DASH and kind != "arrow-stream":
            raise InputError(f"a {kind} file cannot be read from standard input; use CSV or an Arrow stream")
        with reading(self.shown):
            self.schema = self._read_schema()
        self._rows = max(_FEWEST_ROWS, min(_MOST_ROWS, memory // (64 * (len(self.schema) + 4))))
        self.names: list[str] = list(self.schema.names)
        twice = {column for column, times in Counter(self.names).items() if times > 1}
        if twice:
            raise InputError(f"{self.shown} has more than one column named {min(twice)!r}")

    def repeatable(self) -> None:
        """Let standard input be read several times: it is copied to a temporary file first."""
        if self._stream is None:
            return
        self._kept = KeptFile()  # lives as long as this object
        with reading(self.shown), pa.ipc.new_stream(self._kept.file, self.schema) as copy:
            for batch in self._stream:
                copy.write_batch(batch)
        self._kept.file.flush()
        self.name, self._stream = self._kept.name, None

    def read(self, columns: Sequence[str], tell: Tell | None = None, coded: Sequence[str] = ()) -> Iterator[Any]:
        """Yield record batches of some columns; strings in `coded` may come as dictionaries, where that is cheaper."""
        done = 0
        with reading(self.shown):
            for batch in self._batches(columns, coded):
                for start in range(0, batch.num_rows, self._rows):
                    part = batch.slice(start, self._rows)
                    done += part.num_rows
                    if tell is not None:
                        tell(part.num_rows, done / self.n_rows if self.n_rows else None)
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
    """Open the table that the options name."""
    return open_sources(
        options.data,
        asked_for=options.format,
        delimiter=options.delimiter,
        missing=options.missing,
        header=not options.no_header,
        memory=options.memory,
    )


def open_sources(
    name: str,
    *,
    asked_for: str | None = None,
    delimiter: str | None = None,
    missing: Sequence[str] | None = None,
    header: bool = True,
    memory: int,
) -> list[Source]:
    """Open a file, all files of a folder in the order of their names, or standard input.

    Returns
    -------
    list of CsvSource or list of ArrowSource
        At least one; all of the same columns.
    """
    sources: list[Source] = []
    for path in _files(name, asked_for):
        kind = input_format(path, asked_for)
        if kind == "model":
            raise InputError(f"a table was expected, but {path} is a model file")
        if kind == "csv":
            markers = MISSING_MARKERS if missing is None else missing
            sources.append(CsvSource(path, delimiter=delimiter, missing=markers, header=header, memory=memory))
        else:
            sources.append(ArrowSource(path, kind, memory))
    first = sources[0]
    for source in sources[1:]:
        if source.names != first.names:
            raise InputError(f"{source.shown} has other columns than {first.shown}: {_difference(source, first)}")
        if type(source) is not type(first):
            raise InputError(f"{source.shown} and {first.shown} are of different formats; a folder may hold one only")
        if isinstance(source, ArrowSource) and not source.schema.equals(first.schema):  # type: ignore[union-attr]
            raise InputError(f"{source.shown} has columns of other types than {first.shown}")
    return sources


def _files(name: str, asked_for: str | None) -> list[str]:
    if name == DASH:
        return [name]
    path = Path(name)
    if not path.exists():
        raise InputError(f"there is no file {name}")
    if not path.is_dir():
        return [name]
    # As pyarrow, pandas and Spark do: files that begin with a dot or an underscore are none of the table.
    found = [file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith((".", "_"))]
    found = [file for file in found if asked_for or ending_format(file.name) not in (None, "model")]
    if not found:
        raise InputError(f"the folder {name} holds no CSV, Parquet or Arrow files")
    return [str(file) for file in found]


def _difference(source: Source, first: Source) -> str:
    ours, theirs = set(source.names), set(first.names)
    if ours == theirs:
        return "they are in another order"
    column = min(ours ^ theirs)
    return f"{column!r} is only in the {'former' if column in ours else 'latter'}"


def no_column(shown: str, name: str, names: Sequence[str], what: str) -> InputError:
    """Say that a column is absent, and which there are."""
    some = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return InputError(f"{shown} has no column {name!r} ({what}); it has {some}{other_delimiter(names)}")


def total_rows(sources: Sequence[Source]) -> int | None:
    """Return the number of rows of all sources, if their files tell it."""
    numbers = [source.n_rows if isinstance(source, ArrowSource) else None for source in sources]
    return None if None in numbers else sum(number for number in numbers if number is not None)


def ahead(batches: Callable[[], Iterator[Any]] | Iterator[Any], depth: int = 2) -> Iterator[Any]:
    """Yield what an iterator yields, which runs in a thread of its own, a few items ahead."""
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
        except BaseException as error:  # noqa: BLE001  # raised again where the batches are used
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
        thread.join(1.0)  # it may wait for standard input, which nobody can end
