"""True classes of a table that a model is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..evaluation._held_out import Codes
from .errors import InputError


def class_codes(column: Any, content: Any, name: str, missing: Sequence[str]) -> Codes:
    """Return the position of every true class among those of the model; -1 for a class that it does not know."""
    texts = [content.class_name(i) for i in range(len(content.classes))]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    known = {text: position for position, text in enumerate(texts)}
    codes = []
    for value in column.dictionary.to_pylist():
        text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
        codes.append(-2 if value is None or text in missing else known.get(text, known.get(_as_whole(text), -1)))
    found: Codes = np.array([*codes, -2], dtype=np.int64)[column.indices.fill_null(len(codes)).to_numpy()]
    if (found == -2).any():
        raise InputError(f"the class {name!r} is missing in {int((found == -2).sum()):,} rows; leave them out")
    return found


def _as_whole(text: str) -> str:
    """Return 3 for 3.0, as whole numbers are read."""
    return text.removesuffix(".0")
