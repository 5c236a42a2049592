"""Atomic output files, standard output, and writers of data."""

from __future__ import annotations

import gzip
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..._utils.files import atomic_write
from ..errors import InputError, ReadFailure
from .formats import DASH, Format, is_gzip_name, standard_output


@contextmanager
def output_file(name: str) -> Iterator[Any]:
    """Yield a binary file that is written atomically; "-" is standard output."""
    if name == DASH:
        yield standard_output()
        standard_output().flush()
        return
    try:
        with atomic_write(name) as file:
            yield file
    except (BrokenPipeError, ReadFailure):
        raise
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        raise OSError(f"cannot write {name}: {reason}") from error


def check_not_input(output: str, given: str, what: str) -> None:
    """Raise an error if the output would overwrite an input file."""
    try:
        same = Path(output).samefile(given)
    except (OSError, ValueError):  # one of them does not exist or is not a file
        return
    if same and Path(given).is_file():
        raise InputError(f"the output {output!r} would overwrite {what}; choose another name")


class TableWriter(ABC):
    """Writes record batches of one schema."""

    @abstractmethod
    def write(self, batch: Any) -> None:
        """Write the rows of a record batch."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file."""

    @abstractmethod
    def abandon(self) -> None:
        """Write nothing more."""


@contextmanager
def table_writer(name: str, form: Format, schema: Any, *, delimiter: str = ",") -> Iterator[TableWriter]:
    """Yield a writer; the file appears on success only, and nothing is written before the first rows."""
    with output_file(name) as file:
        writer = _make_writer(name, form, file, schema, delimiter)
        try:
            yield writer
            writer.close()
        except BaseException:
            writer.abandon()
            raise


def _make_writer(name: str, form: Format, file: Any, schema: Any, delimiter: str) -> TableWriter:
    if form == "csv":
        return _CsvWriter(file, schema, delimiter, compress=is_gzip_name(name))
    import pyarrow as pa

    if form == "parquet":
        import pyarrow.parquet as pq

        return _ArrowWriter(lambda: pq.ParquetWriter(file, schema))
    return _ArrowWriter(lambda: pa.ipc.new_file(file, schema) if form == "arrow" else pa.ipc.new_stream(file, schema))


class _ArrowWriter(TableWriter):
    """Parquet and Arrow, written by pyarrow."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._writer: Any = None

    def write(self, batch: Any) -> None:
        self._open().write_batch(batch)

    def close(self) -> None:
        self._open().close()

    def _open(self) -> Any:
        if self._writer is None:
            self._writer = self._make()
        return self._writer

    def abandon(self) -> None:
        # Otherwise the destructor of a Parquet writer closes it and fails, as its file is closed already.
        if hasattr(self._writer, "is_open"):
            self._writer.is_open = False


class _CsvWriter(TableWriter):
    """CSV, quoted only where needed, with numbers as the shortest text that parses to the same number."""

    def __init__(self, file: Any, schema: Any, delimiter: str, *, compress: bool) -> None:
        # A fixed time stamp, for reproducible output.
        self._file: Any = gzip.GzipFile(fileobj=file, mode="wb", mtime=0) if compress else file
        self._compress = compress
        self._delimiter = delimiter
        for field in schema:
            if field.type.num_fields:
                raise InputError(
                    f"CSV does not support the {field.type} values of column {field.name!r}; drop the column or write Parquet"
                )
        self._names = (delimiter.join(_quoted(name, delimiter) for name in schema.names) + "\n").encode()

    def write(self, batch: Any) -> None:
        from .csv_writer import csv_text

        self._write_names()
        if batch.num_rows:
            self._file.write(csv_text(batch, self._delimiter))

    def close(self) -> None:
        self._write_names()
        if self._compress:
            self._file.close()

    def _write_names(self) -> None:
        if self._names:
            self._file.write(self._names)
            self._names = b""

    def abandon(self) -> None:
        pass


def _quoted(text: str, delimiter: str) -> str:
    special = delimiter in text or any(c in text for c in '"\r\n')
    return '"' + text.replace('"', '""') + '"' if special else text
