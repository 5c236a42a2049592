"""Arrays whose axes are variables and whose places along an axis are labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._utils.typing import Floats


def look_up(
    values: Floats, names: Sequence[str], labels: Sequence[list[Any]], key: Mapping[str, Any], what: str
) -> float | Floats:
    """Look up by labels; axes that the key does not name are kept.

    Parameters
    ----------
    values : ndarray
    names, labels
        What the axes stand for, and the labels along each of them.
    key : mapping
        From names to labels.
    what : str
        What the array is called in messages.
    """
    unknown = [name for name in key if name not in names]
    if unknown:
        raise KeyError(f"{what} is over {', '.join(names)}, not {unknown[0]!r}")
    index: list[int | slice] = []
    for name, known in zip(names, labels, strict=True):
        if name not in key:
            index.append(slice(None))
        elif key[name] in known:
            index.append(known.index(key[name]))
        else:
            raise KeyError(f"{name!r} has no value {key[name]!r}")
    result = values[tuple(index)]
    return float(result) if result.ndim == 0 else result


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of cells as text, every column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.rjust, line, widths)).rstrip() for line in lines)
