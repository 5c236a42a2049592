"""Numbers as text that a page reads back to the last bit."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def packed(values: Any) -> str:
    """Return numbers as base64 of little-endian doubles."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def is_whole(values: Floats) -> bool:
    """Tell whether all numbers are counts that `packed_counts` can hold."""
    return bool((values == np.floor(values)).all() and (values >= 0).all() and (values < 2**53).all())


def packed_counts(values: Floats) -> str:
    """Return whole numbers as base64 of seven bits per byte, the lowest first; each zero is followed by how many more follow.

    Most cells of tables of pairs are small, and many are zero.
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
    return base64.b64encode(bytes(out)).decode("ascii")


def _put(value: int, out: bytearray) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
