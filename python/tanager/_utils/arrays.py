"""Arrays as the core reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array in a layout that the core can read: native byte order, aligned, floats of 32 or 64 bits."""
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize not in {4, 8}:
        return values.astype(np.float32 if dtype.itemsize == 2 else np.float64)
    if not dtype.isnative:
        values = values.astype(dtype.newbyteorder("="))
    return values if values.flags.aligned else values.copy()
