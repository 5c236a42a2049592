"""File formats, detected from an option, the first bytes or the name."""

from __future__ import annotations

import io
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError, ReadFailure, reading

Format = Literal["csv", "parquet", "arrow", "arrow-stream", "model"]

#: Choices of ``--format``.
TABLE_FORMATS: tuple[Format, ...] = ("csv", "parquet", "arrow", "arrow-stream")
#: Standard input and output.
DASH = "-"

_BY_ENDING: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".arrows": "arrow-stream",
    ".tng": "model",
}
_BY_FIRST_BYTES: dict[bytes, Format] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow-stream",
    b"\x89TNG": "model",
}
_GZIP = b"\x1f\x8b"


def ending_format(name: str) -> Format | None:
    """Return the format of a file name, or None."""
    path = Path(name)
    return _BY_ENDING.get(Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower())


def is_gzip_name(name: str) -> bool:
    """Whether a file name asks for gzip compression."""
    return name.lower().endswith(".gz")


def first_bytes(name: str) -> bytes:
    """Return the first bytes of a file, or of standard input without consuming them."""
    if name == DASH:
        return standard_input().peek(16)[:16]  # type: ignore[no-any-return]
    with reading(name), Path(name).open("rb") as file:
        return file.read(16)


def input_format(name: str, requested: str | None) -> Format:
    """Return the format of an input file: the requested one, or by its first bytes or its name."""
    if requested is not None:
        return requested  # type: ignore[return-value]
    start = first_bytes(name)
    for magic, found in _BY_FIRST_BYTES.items():
        if start.startswith(magic):
            return found
    by_name = ending_format(name)
    if by_name in (None, "csv") or not start:
        return "csv" if by_name is None else by_name
    raise InputError(f"{name} is not {_WORDS[by_name]}, despite its extension")


_WORDS: dict[Format, str] = {
    "csv": "a CSV file",
    "parquet": "a Parquet file",
    "arrow": "an Arrow file",
    "arrow-stream": "an Arrow stream",
    "model": "a model file",
}


def output_format(name: str, requested: str | None, default: Format | None = None) -> Format:
    """Return the format of an output file."""
    found = requested or ending_format(name) or default
    if found is None:
        raise InputError(
            f"cannot determine the format of {name!r} from its name; use .csv, .csv.gz, .parquet, .arrow or .arrows, or set "
            "--output-format"
        )
    return found  # type: ignore[return-value]


def is_compressed(name: str) -> bool:
    """Whether a file is compressed with gzip."""
    return first_bytes(name).startswith(_GZIP)


def standard_input() -> Any:
    """Return standard input as a binary file, always the same object."""
    if sys.stdin is None:
        raise ReadFailure("cannot read standard input: it is closed")
    return _unlocked(sys.stdin)


@lru_cache(maxsize=1)
def _unlocked(stream: Any) -> Any:
    # A separate reader: Python's is locked while a thread waits in it, and Python cannot exit without the lock.
    try:
        return io.BufferedReader(io.FileIO(stream.fileno(), closefd=False), 1 << 16)
    except (OSError, ValueError, AttributeError):  # not a real file, as in tests
        return stream.buffer


def standard_output() -> Any:
    """Return standard output as a binary file."""
    if sys.stdout is None:
        raise OSError("cannot write standard output: it is closed")
    return sys.stdout.buffer
