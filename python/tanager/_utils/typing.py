"""Array types, and the codes that stand for missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: Numbers: probabilities, weights, scores, columns of floats.
Floats = npt.NDArray[np.float64]

#: Codes of a column's values, 8 or 16 bits wide; the largest number of the type marks missing values.
Codes = npt.NDArray[Any]

#: The new code of each old code.
Recoding = npt.NDArray[np.uint16]

#: Marks missing values among codes of 16 bits, and labels without a code in a `Recoding`.
MISSING_CODE = 65535


def missing_code(codes: Codes) -> int:
    """Return the code of missing values in an array of codes: 255 or 65535, by its type."""
    return int(np.iinfo(codes.dtype).max)
