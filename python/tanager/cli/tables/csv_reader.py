"""Read CSV files in batches, with one type per column for the whole file."""

from __future__ import annotations

import gzip
import io
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from ..errors import InputError, not_numeric, reading
from ..terminal import RowProgress
from .formats import DASH, is_compressed, standard_input
from .spool import TemporaryFile

#: Default markers of missing values.
MISSING_MARKERS = ("", "?", "#N/A", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null")
#: Dictionary-encoded text: each distinct value is processed once, not once per row.
CODED_TEXT = pa.dictionary(pa.int32(), pa.string())
#: Arrow's reader takes about 8 kB per column, so a small file with very many columns could exhaust memory.
MAX_COLUMNS = 32_768
#: Type of a column; each can represent all values of those before it.
Kind = Literal["nothing", "integer", "large integer", "float", "string"]
ARROW_TYPES: dict[Kind, Any] = {
    "nothing": pa.string(),
    "integer": pa.int64(),
    "large integer": pa.int64(),
    "float": pa.float64(),
    "string": pa.string(),
}

# Integers in canonical form: a code such as 007 is not a number.
_INTEGER = r"^\s*(?:0|-?[1-9][0-9]{0,18})\s*$"
_FLOAT = r"^\s*[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\s*$"
# Integers that floats may round.
_LARGE = r"^\s*[-+]?[0-9]{16,}\s*$"
_SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 16, 1 << 25


class CsvSource:
    """A CSV file, or standard input, which can be read only once.

    Parameters
    ----------
    name : str
        Path, or "-".
    delimiter : str or None
        None means a comma, or a tab if the name ends in .tsv.
    missing : sequence of str
        Markers of missing values.
    header : bool
        Whether the first line contains column names; otherwise they are x0, x1, ...
    memory : int
        Approximate memory of batches in bytes; a block of the file is a small part of that.
    """

    def __init__(self, name: str, *, delimiter: str | None, missing: Sequence[str], header: bool, memory: int) -> None:
        self.name = name
        self.display_name = "standard input" if name == DASH else name
        self.missing = list(missing)
        self._markers = pa.array(self.missing, pa.string())
        by_name = "\t" if Path(name.lower().removesuffix(".gz")).suffix == ".tsv" else ","
        self._delimiter = delimiter or by_name
        self._header = header
        self._block = max(_SMALLEST_BLOCK, min(_LARGEST_BLOCK, memory // 32))
        self._compressed = is_compressed(name)
        self._path: str | None = None if name == DASH else name
        self._copy: Any = None
        self._started = False
        self._n_rows: int | None = None  # known after the first pass
        self._only_names = False  # a header without a line end
        with reading(self.display_name):
            self.names = self._read_names()

    def repeatable(self) -> CsvSource:
        """Copy standard input to a temporary file, to read it several times."""
        if self._path is None:
            self._copy = TemporaryFile()  # lives as long as this object
            shutil.copyfileobj(self._rest, self._copy.file)
            self._copy.file.flush()
            self._path = self._copy.name
        return self

    def read(self, types: Mapping[str, Any], advance: RowProgress | None = None) -> Iterator[Any]:
        """Yield record batches of the columns that `types` names, in this order.

        Markers of missing values become null in numeric and plain string columns; `CODED_TEXT` columns keep all text
        unchanged.
        """
        if self._only_names:  # pyarrow does not accept a header without rows
            return
        plain = any(pa.types.is_string(kind) for kind in types.values())
        convert = csv.ConvertOptions(
            column_types=dict(types),
            include_columns=list(types),
            null_values=self.missing,
            strings_can_be_null=plain,
            quoted_strings_can_be_null=True,
        )
        with (
            reading(self.display_name, self._with_name),
            self._opened() as (file, size),
            closing(self._open(file, convert)) as reader,
        ):
            n_rows = 0
            # Arrow reads ahead, so the position in the file is useless; but every block becomes a batch.
            for n_blocks, batch in enumerate(reader, start=1):
                n_rows += batch.num_rows
                if batch.num_rows:
                    if advance is not None:
                        advance(batch.num_rows, self._share(n_rows, n_blocks, size))
                    yield batch
            self._n_rows = n_rows

    def _share(self, n_rows: int, n_blocks: int, size: int | None) -> float | None:
        """Return the fraction of the file read so far, if known."""
        if self._n_rows:
            return min(1.0, n_rows / self._n_rows)
        return None if size is None else min(1.0, n_blocks * self._block / size)

    def widen(
        self, kinds: dict[str, Kind], advance: RowProgress | None = None, *, class_name: str | None = None
    ) -> int:
        """Infer column types: scan all rows and widen `kinds` where values require it; return the number of rows.

        A column is integer or float if all its values are, ignoring missing ones; a leading zero, as in 007, makes it text.
        Classes that floats would round stay text, since two of them could become equal.
        """
        n_rows = 0
        for batch in self.read(dict.fromkeys(kinds, CODED_TEXT), advance):
            n_rows += batch.num_rows
            for name, column in zip(list(kinds), batch.columns, strict=True):
                if kinds[name] != "string":
                    kinds[name] = self._widen(kinds[name], column.dictionary, exact=name == class_name)
        return n_rows

    def _with_name(self, message: str) -> str:
        """Rewrite messages of Arrow, with column names instead of numbers."""
        if "straddl" in message:
            size = f"{self._block >> 10:,} kB"
            return f"a row is longer than {size}; check for an unclosed quote, or increase --memory"
        found = re.match(r"In CSV column #(\d+): CSV conversion error to \w+: invalid (UTF8|value (.*))", message)
        if found is None or int(found[1]) >= len(self.names):
            return message
        name = self.names[int(found[1])]
        return f"column {name!r} is not UTF-8 text" if found[3] is None else not_numeric(name, found[3])

    def _widen(self, kind: Kind, texts: Any, *, exact: bool) -> Kind:
        texts = texts.filter(pc.invert(pc.is_in(texts, self._markers)))
        if len(texts) == 0:
            return kind
        large = kind == "large integer" or pc.any(pc.match_substring_regex(texts, _LARGE)).as_py()
        is_integer = kind != "float" and pc.all(pc.match_substring_regex(texts, _INTEGER)).as_py()
        if is_integer and _fits(texts):
            return "large integer" if large else "integer"
        if (exact and large) or not pc.all(pc.match_substring_regex(texts, _FLOAT)).as_py():
            return "string"
        return "float"

    def _read_names(self) -> list[str]:
        if self._path is None and self._compressed:
            source = standard_input()
            head = source.read(self._block)
            self._rest: Any = _Joined(head, source)
            first = _first_record(gzip.GzipFile(fileobj=io.BytesIO(head)).readline)
        elif self._path is None:
            # Read only the header, so a pipe is not blocked.
            source = standard_input()
            first = _first_record(source.readline)
            self._rest = _Joined(first, source)
        else:
            with gzip.open(self._path) if self._compressed else Path(self._path).open("rb") as file:
                first = _first_record(file.readline)
        if not first.strip():
            raise InputError(f"{self.display_name} is empty")
        n_columns = first.count(self._delimiter.encode()) + 1  # an upper bound, since delimiters may be quoted
        if n_columns > MAX_COLUMNS:
            raise InputError(
                f"expected at most {MAX_COLUMNS:,} columns, but {self.display_name} has about {n_columns:,}; select the columns "
                "you need, or check the delimiter"
            )
        options = csv.ReadOptions(autogenerate_column_names=not self._header)
        parse = csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)
        # Not read_csv: it installs its own signal handlers and sometimes loses a signal.
        ended = first.endswith((b"\n", b"\r"))
        with closing(csv.open_csv(pa.BufferReader(first if ended else first + b"\n"), options, parse)) as reader:
            names = reader.schema.names
        self._only_names = self._header and not ended
        names = names if self._header else [f"x{i}" for i in range(len(names))]
        twice = {name for name, times in Counter(names).items() if times > 1}
        if twice:
            raise InputError(f"{self.display_name} has duplicate columns named {min(twice)!r}")
        return names

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, int | None]]:
        """Open the file and yield it with its uncompressed size, if known."""
        if self._path is None:
            if self._started:
                raise InputError("standard input can be read only once")
            self._started = True
            file: Any = pa.PythonFile(self._rest, mode="r")
            yield pa.CompressedInputStream(file, "gzip") if self._compressed else file, None
            return
        with pa.OSFile(self._path) as raw:
            if self._compressed:
                yield pa.CompressedInputStream(raw, "gzip"), None
            else:
                yield raw, max(raw.size(), 1)

    def _open(self, file: Any, convert: Any) -> Any:
        names = {} if self._header else {"column_names": self.names}
        return csv.open_csv(
            file,
            csv.ReadOptions(block_size=self._block, **names),
            csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert,
        )


def _fits(texts: Any) -> bool:
    """Whether integers of up to 19 digits fit into 64 bits."""
    try:
        pc.cast(pc.utf8_trim_whitespace(texts), pa.int64())
    except pa.ArrowInvalid:
        return False
    return True


def _first_record(readline: Callable[[int], bytes]) -> bytes:
    """Return the first non-empty record, which may span several lines if quoted."""
    lines: list[bytes] = []
    size, is_empty, is_quoted = 0, True, False
    while size < _LARGEST_BLOCK:
        line = readline(_LARGEST_BLOCK)
        lines.append(line)
        size += len(line)
        is_empty = is_empty and not line.strip(b"\xef\xbb\xbf \t\r\n")
        is_quoted ^= line.count(b'"') % 2 == 1
        if not line or not (is_empty or is_quoted):
            break
    return b"".join(lines)


class _Joined:
    """A file that starts with bytes that were read already."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head = head
        self._rest = rest
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes."""
        if self._head:
            size = len(self._head) if size < 0 else size
            taken, self._head = self._head[:size], self._head[size:]
            return taken
        return b"" if self._rest is None else self._rest.read(size)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False."""
        return False

    def writable(self) -> bool:
        """Return False."""
        return False

    def close(self) -> None:
        """Do nothing: standard input stays open."""
