"""Which format a file has: by its name, by an option, or by its first bytes."""

from __future__ import annotations

import io
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError, ReadFailure, reading

Format = Literal["csv", "parquet", "arrow", "arrow-stream", "model"]

#: What ``--format`` offers.
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
    """Return the format that a file's name tells, if it does."""
    path = Path(name)
    return _BY_ENDING.get(Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower())


def is_gzip_name(name: str) -> bool:
    """Tell whether a file to be written is to be compressed."""
    return name.lower().endswith(".gz")


def first_bytes(name: str) -> bytes:
    """Return the first bytes of a file, or of standard input without taking them from it."""
    if name == DASH:
        return standard_input().peek(16)[:16]  # type: ignore[no-any-return]
    with reading(name), Path(name).open("rb") as file:
        return file.read(16)


def input_format(name: str, asked_for: str | None) -> Format:
    """Return the format of a file that is to be read: the one asked for, or that of its first bytes or its name."""
    if asked_for is not None:
        return asked_for  # type: ignore[return-value]
    start = first_bytes(name)
    for magic, found in _BY_FIRST_BYTES.items():
        if start.startswith(magic):
            return found
    by_name = ending_format(name)
    if by_name in (None, "csv") or not start:
        return "csv" if by_name is None else by_name
    raise InputError(f"{name} is no {_WORDS[by_name]}, though its name says so")


_WORDS: dict[Format, str] = {
    "csv": "CSV file",
    "parquet": "Parquet file",
    "arrow": "Arrow file",
    "arrow-stream": "Arrow stream",
    "model": "model file",
}


def output_format(name: str, asked_for: str | None, default: Format | None = None) -> Format:
    """Return the format of a file that is to be written."""
    found = asked_for or ending_format(name) or default
    if found is None:
        raise InputError(
            f"the name {name!r} does not tell a format: let it end in .csv, .csv.gz, .parquet, .arrow or .arrows, or give "
            "--output-format"
        )
    return found  # type: ignore[return-value]


def is_compressed(name: str) -> bool:
    """Tell whether a file begins as gzip files do."""
    return first_bytes(name).startswith(_GZIP)


def standard_input() -> Any:
    """Return standard input as bytes, always the same object."""
    if sys.stdin is None:
        raise ReadFailure("standard input cannot be read: it is closed")
    return _unlocked(sys.stdin)


@lru_cache(maxsize=1)
def _unlocked(stream: Any) -> Any:
    # A reader of our own: Python's own is locked while a thread waits in it, and Python cannot end before it has the lock.
    try:
        return io.BufferedReader(io.FileIO(stream.fileno(), closefd=False), 1 << 16)
    except (OSError, ValueError, AttributeError):  # no file, as in tests
        return stream.buffer


def standard_output() -> Any:
    """Return standard output as bytes."""
    if sys.stdout is None:
        raise OSError("standard output cannot be written: it is closed")
    return sys.stdout.buffer
