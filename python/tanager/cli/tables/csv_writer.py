"""Format record batches as CSV."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ... import _core


def csv_text(batch: Any, delimiter: str) -> memoryview:
    """Return the rows of a record batch: quoted only where needed, missing values empty."""
    columns = [_texts(column, delimiter) for column in batch.columns]
    ends = pa.scalar("\n", pa.large_string())
    if len(columns) == 1:
        # A single empty field would be an empty line, which readers skip.
        columns = [pc.if_else(pc.equal(columns[0], ""), '""', columns[0])]
    lines = pc.binary_join_element_wise(*columns, pa.scalar(delimiter, pa.large_string()))
    lines = pc.binary_join_element_wise(lines, ends, pa.scalar("", pa.large_string()))
    # The strings of an array are contiguous in one buffer.
    offsets = memoryview(lines.buffers()[1]).cast("q")
    return memoryview(lines.buffers()[2])[offsets[lines.offset] : offsets[lines.offset + len(lines)]]


def _numbers(column: Any) -> Any:
    """Return floats as the shortest text that parses to the same number, as C++ writes them."""
    values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    ends, text = _core.number_texts(np.ascontiguousarray(values))
    texts = pa.LargeStringArray.from_buffers(len(values), pa.py_buffer(ends), pa.py_buffer(text))
    missing = column.is_null(nan_is_null=True)
    return pc.if_else(missing, "", texts) if pc.any(missing).as_py() else texts


def _texts(column: Any, delimiter: str) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        # Quote each distinct value once.
        texts = _texts(column.dictionary, delimiter)
        return pc.fill_null(texts.take(column.indices), "")
    if pa.types.is_floating(kind):
        return _numbers(column)
    texts = column.cast(pa.large_string())
    if not (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        special = pc.match_substring_regex(texts, f'[{re.escape(delimiter)}"\r\n]')
        if pc.any(special).as_py():
            escaped = pc.replace_substring(texts, '"', '""')
            quote = pa.scalar('"', pa.large_string())
            quoted = pc.binary_join_element_wise(quote, escaped, quote, pa.scalar("", pa.large_string()))
            texts = pc.if_else(special, quoted, texts)
    return pc.fill_null(texts, "")
