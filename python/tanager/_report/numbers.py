"""Lossless compact encoding of numbers as text."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from .._utils.typing import Floats


def packed(values: Any) -> str | list[str]:
    """Return numbers as base64 of little-endian doubles; if many are equal, as distinct values and their positions.

    Tables have many equal values: all entries without training rows are.
    """
    cells = np.ascontiguousarray(values, dtype="<f8").reshape(-1)
    distinct, places = np.unique(cells.view("<u8"), return_inverse=True)  # compares bits
    width = 1 if len(distinct) <= 2**8 else 2
    if len(distinct) <= 2**16 and 8 * len(distinct) + width * cells.size < 7 * cells.size:
        return [_text(distinct.tobytes()), _text(places.astype(f"<u{width}").tobytes())]
    return _text(cells.tobytes())


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def are_counts(values: Floats) -> bool:
    """Return whether all numbers are non-negative integers that `packed_counts` can hold."""
    return bool((values == np.floor(values)).all() and (values >= 0).all() and (values < 2**53).all())


def packed_counts(values: Floats) -> str:
    """Return counts as base64 of seven bits per byte, lowest first; a zero is followed by the number of further zeros.

    Most counts of pairs of values are small, and many are zero.
    """
    out = bytearray()
    cells = values.reshape(-1).astype(np.int64).tolist()
    at = 0
    while at < len(cells):
        _put(cells[at], out)
        at += 1
        if cells[at - 1] == 0:
            start = at
            while at < len(cells) and cells[at] == 0:
                at += 1
            _put(at - start, out)
    return _text(bytes(out))


def _put(value: int, out: bytearray) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
