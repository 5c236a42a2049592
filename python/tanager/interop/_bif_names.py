"""Names and labels in files that have no quoting: a text that every reader takes, and beside it the original.

A name or label of letters, digits, "_", "-" and "." that does not start with a digit or sign, and a label of digits alone, is
written as it is, unless it is a word of the format. Any other is written as such a text that looks like it, made unique; the
original then stands in a ``property`` line, which other readers skip and ours takes back:

    property tanager_name = body%20mass ;
    property tanager_labels = str:%3C%205,int:7 ;
    property tanager_cuts = 2.45,4.75 ;
    property tanager_role = class ;

In property values everything but letters, digits and "_.-" is written as %XX, one for each byte of UTF-8. Labels are
led by their type: str, int, float, bool, or none for a variable without known values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from .._utils.typing import Floats
from ..discretize import interval_labels
from ._variables import Variable, first_twice, shortened

#: What our property lines start with.
MARK = "tanager_"
RESERVED = frozenset({"network", "variable", "probability", "property", "type", "discrete", "table", "default"})
# Integers beyond 64 bits can be chosen such that all of them have one hash, and sets of many then take forever.
_MOST_WIDE = 1000
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*|[0-9]+")


@dataclass(frozen=True)
class WrittenVariable:
    """A variable as a file shows it: texts in place of names and labels, and our own properties."""

    source: Variable
    name: str
    labels: list[str]
    properties: list[str]


def is_plain(text: str) -> bool:
    """Say whether all readers of BIF take a label as it is."""
    return _PLAIN.fullmatch(text) is not None and text.lower() not in RESERVED


def is_plain_name(text: str) -> bool:
    """Say whether all readers of BIF take a name as it is: pyAgrum takes no number for one."""
    return is_plain(text) and not text.isdigit()


def plain(text: str, otherwise: str) -> str:
    """Return a text that all readers take: accents off, anything strange replaced; never a number, which "<5" is not."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9_.-]+", "_", letters).strip("_")[:40]
    return words if is_plain_name(words) else f"{otherwise}_{words}".rstrip("_")


def written(
    variables: Sequence[Variable], class_name: str, keep: Callable[[str], bool], keep_name: Callable[[str], bool]
) -> list[WrittenVariable]:
    """Choose the texts of all names and labels, and the properties that tell the originals.

    Parameters
    ----------
    variables : sequence of Variable
    class_name : str
    keep, keep_name : callable
        Say whether the format can hold a label, and a name, as it is.
    """
    # Some readers do not tell upper from lower case in names.
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
    """Return a text for each, all different; those that can stay as they are come first."""
    chosen: dict[int, str] = {}
    taken: set[str] = set()
    numbers: dict[str, int] = {}  # the next to try of every text, so that none is tried twice
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
        f"a value of {name!r} is {label!r} of type {type(label).__name__}, but BIF and XMLBIF hold strings, integers, "
        "floats and booleans"
    )


def escaped(text: str) -> str:
    """Return a text with everything but letters, digits and "_.-" as %XX."""
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
    """The name, the values and the role of a variable after its properties were looked at."""

    name: str
    labels: list[Any]
    cuts: Floats | None
    is_class: bool


def restored(name: str, labels: Sequence[str], properties: Sequence[str], where: str) -> ReadNames:
    """Take back the originals that properties of ours tell; without them texts are what they look like."""
    told = {}
    for text in properties:
        key, equals, value = text.partition("=")
        if equals and key.strip().startswith(MARK):
            told[key.strip().removeprefix(MARK)] = value.strip()
    try:
        name = unquote(told["name"], errors="surrogatepass") if "name" in told else name
        cuts = np.array([float(cut) for cut in told["cuts"].split(",") if cut]) if "cuts" in told else None
        found: list[Any] = list(labels)
        if cuts is not None:
            if not (np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()):
                raise ValueError("cut points must be finite and ascending")
            found = list(interval_labels(cuts))
        elif "labels" in told:
            found = [_label(text) for text in told["labels"].split(",")]
            if sum(isinstance(label, int) and abs(label) >= 2**63 for label in found) > _MOST_WIDE:
                raise ValueError(f"more than {_MOST_WIDE:,} whole numbers do not fit 64 bits")
    except (ArithmeticError, LookupError, ValueError) as error:
        raise ValueError(
            f"{where}a property of {shortened(name)!r} cannot be understood: {shortened(str(error))}"
        ) from None
    if len(found) != len(labels):
        raise ValueError(
            f"{where}{shortened(name)!r} has {len(labels)} values, but its properties tell of {len(found)}"
        )
    if cuts is None and first_twice(found) is not None:
        raise ValueError(f"{where}{shortened(name)!r} has the value {found[first_twice(found) or 0]!r} twice")
    if any(label is None or label != label for label in found) and len(found) > 1:  # noqa: PLR0124  # NaN
        raise ValueError(f"{where}{shortened(name)!r} has a missing value among its values")
    return ReadNames(name, found, cuts, told.get("role") == "class")


def _label(text: str) -> Any:
    kind, _, value = text.partition(":")
    if kind not in _READ:
        raise ValueError(f"{shortened(text)!r} has no known type")
    return _READ[kind](unquote(value, errors="surrogatepass"))
