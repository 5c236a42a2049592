"""Names and labels in formats without quoting: an identifier that every reader accepts, and the original as a property.

A name or label of letters, digits, "_", "-" and "." that does not start with a digit or sign, and a label of digits only, is
written unchanged unless it is a keyword of the format. Any other is replaced by a similar unique identifier; the original is
stored in a ``property`` line, which tanager restores and other readers ignore:

    property tanager_name = body%20mass ;
    property tanager_labels = str:%3C%205,int:7 ;
    property tanager_cuts = 2.45,4.75 ;
    property tanager_role = class ;

In property values everything but letters, digits and "_.-" is written as %XX, one per byte of UTF-8. Labels are
prefixed with their type: str, int, float, bool, or none for a variable without known values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from .._utils.text import shortened
from .._utils.typing import Floats
from ..discretize import interval_labels
from ._variables import Variable, first_twice

#: Prefix of the properties of tanager.
MARK = "tanager_"
RESERVED = frozenset({"network", "variable", "probability", "property", "type", "discrete", "table", "default"})
# Integers beyond 64 bits can be chosen to have the same hash, which makes large sets of them extremely slow.
_MAX_WIDE = 1000
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*|[0-9]+")


@dataclass(frozen=True)
class WrittenVariable:
    """A variable as written to a file: identifiers in place of names and labels, and the properties of tanager."""

    source: Variable
    name: str
    labels: list[str]
    properties: list[str]


def is_plain(text: str) -> bool:
    """Return whether all readers of BIF accept a label unchanged."""
    return _PLAIN.fullmatch(text) is not None and text.lower() not in RESERVED


def is_plain_name(text: str) -> bool:
    """Return whether all readers of BIF accept a name unchanged; pyAgrum does not accept numbers."""
    return is_plain(text) and not text.isdigit()


def plain(text: str, otherwise: str) -> str:
    """Return a similar identifier that all readers accept, without accents; never a number, because "<5" is not 5."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9_.-]+", "_", letters).strip("_")[:40]
    return words if is_plain_name(words) else f"{otherwise}_{words}".rstrip("_")


def written(
    variables: Sequence[Variable], class_name: str, keep: Callable[[str], bool], keep_name: Callable[[str], bool]
) -> list[WrittenVariable]:
    """Choose the identifiers of all names and labels, and the properties that store the originals.

    Parameters
    ----------
    variables : sequence of Variable
    class_name : str
    keep, keep_name : callable
        Return whether the format can store a label, and a name, unchanged.
    """
    # Some readers ignore the case of names.
    names = _unique([v.name for v in variables], "x", keep_name, str.lower)
    found = []
    for v, name in zip(variables, names, strict=True):
        texts = [_text(label, v.name) for label in v.labels]
        labels = _unique(texts, "v", keep, str)
        properties = []
        if name != v.name:
            properties.append(f"{MARK}name = {escaped(v.name)}")
        if v.cuts is not None:
            properties.append(f"{MARK}cuts = {','.join(map(repr, v.cuts.tolist()))}")
        elif labels != v.labels:
            properties.append(f"{MARK}labels = {','.join(map(_typed, v.labels))}")
        if v.name == class_name:
            properties.append(f"{MARK}role = class")
        found.append(WrittenVariable(v, name, labels, properties))
    return found


def _unique(texts: Sequence[str], otherwise: str, keep: Callable[[str], bool], key: Callable[[str], str]) -> list[str]:
    """Return a unique identifier for each text; those that can stay unchanged have priority."""
    chosen: dict[int, str] = {}
    taken: set[str] = set()
    numbers: dict[str, int] = {}  # next suffix to try for each text
    for i, text in enumerate(texts):
        if keep(text) and key(text) not in taken:
            chosen[i] = text
            taken.add(key(text))
    for i, text in enumerate(texts):
        if i not in chosen:
            base = candidate = plain(text, otherwise)
            while key(candidate) in taken:
                number = numbers[base] = numbers.get(base, 1) + 1
                candidate = f"{base}_{number}"
            chosen[i] = candidate
            taken.add(key(candidate))
    return [chosen[i] for i in range(len(texts))]


def _text(label: Any, name: str) -> str:
    if label is None or isinstance(label, (str, bool, int, float)):
        return "none" if label is None else str(label)
    raise ValueError(
        f"variable {name!r} has the value {label!r} of type {type(label).__name__}; BIF and XMLBIF support only strings, integers, "
        "floats and booleans"
    )


def escaped(text: str) -> str:
    """Return a text with everything but letters, digits and "_.-" escaped as %XX."""
    return quote(text, safe="", errors="surrogatepass").replace("~", "%7E")


def _typed(label: Any) -> str:
    if label is None:
        return "none:"
    return f"{type(label).__name__}:{escaped(repr(label) if isinstance(label, float) else str(label))}"


_READ: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": {"True": True, "False": False}.__getitem__,
    "none": {"": None}.__getitem__,
}


@dataclass(frozen=True)
class ReadNames:
    """Name, values and role of a variable, restored from its properties."""

    name: str
    labels: list[Any]
    cuts: Floats | None
    is_class: bool


def restored(name: str, labels: Sequence[str], properties: Sequence[str], where: str) -> ReadNames:
    """Restore the original name and labels from the properties of tanager, if there are any."""
    stored = {}
    for text in properties:
        key, equals, value = text.partition("=")
        if equals and key.strip().startswith(MARK):
            stored[key.strip().removeprefix(MARK)] = value.strip()
    try:
        name = unquote(stored["name"], errors="surrogatepass") if "name" in stored else name
        cuts = np.array([float(cut) for cut in stored["cuts"].split(",") if cut]) if "cuts" in stored else None
        found: list[Any] = list(labels)
        if cuts is not None:
            if not (np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()):
                raise ValueError("cut points must be finite and ascending")
            found = list(interval_labels(cuts))
        elif "labels" in stored:
            found = [_label(text) for text in stored["labels"].split(",")]
            if sum(isinstance(label, int) and abs(label) >= 2**63 for label in found) > _MAX_WIDE:
                raise ValueError(f"more than {_MAX_WIDE:,} integers do not fit into 64 bits")
    except (ArithmeticError, LookupError, ValueError) as error:
        raise ValueError(f"{where}a property of {shortened(name)!r} is invalid: {shortened(str(error))}") from None
    if len(found) != len(labels):
        raise ValueError(f"{where}{shortened(name)!r} has {len(labels)} values, but its properties list {len(found)}")
    if cuts is None and first_twice(found) is not None:
        raise ValueError(f"{where}{shortened(name)!r} has the value {found[first_twice(found) or 0]!r} twice")
    if any(label is None or label != label for label in found) and len(found) > 1:  # noqa: PLR0124  # NaN
        raise ValueError(f"{where}{shortened(name)!r} has a missing value among its values")
    return ReadNames(name, found, cuts, stored.get("role") == "class")


def _label(text: str) -> Any:
    kind, _, value = text.partition(":")
    if kind not in _READ:
        raise ValueError(f"{shortened(text)!r} has no known type")
    return _READ[kind](unquote(value, errors="surrogatepass"))
