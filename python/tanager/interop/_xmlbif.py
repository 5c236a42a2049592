"""Reader of XMLBIF 0.3, as written by pgmpy, pyAgrum, JavaBayes and Weka.

The document is parsed event by event, and declarations of entities are rejected: the document type of the format declares
only elements, and entities could exhaust memory or read other files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

import numpy as np

from .._utils.graphs import check_cycles
from .._utils.text import shortened
from .._utils.typing import Floats
from ._bif_names import restored
from ._variables import Variable, check_axes, check_parents, checked_table, table_cells

_MAX_DEPTH = 32
_MAX_ATTRIBUTES = 100
_TEXTS = frozenset({"NAME", "OUTCOME", "VALUE", "PROPERTY", "FOR", "GIVEN", "TABLE"})


@dataclass
class _Part:
    """The texts inside one VARIABLE or DEFINITION, by their tags."""

    kind: str
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)

    def one(self, tag: str, where: str) -> str:
        found = self.texts.get(tag, [])
        if len(found) != 1:
            raise ValueError(f"{where}expected one {tag} in a {self.kind}, got {len(found)}")
        return found[0].strip()

    def all(self, tag: str) -> list[str]:
        return [text.strip() for text in self.texts.get(tag, [])]


def parse_xmlbif(data: bytes | str, source: str = "") -> tuple[list[Variable], str | None]:
    """Parse a document; see `parse_bif` for the result."""
    parts = _Events(source).parts(data)
    return _Interpreter(source, parts).read()


class _RejectedError(ValueError):
    """Raised for rejected content, in contrast to errors of the XML parser or a codec."""


class _Events:
    """Collects the parts of a document; tags are case-insensitive, as in pyAgrum."""

    def __init__(self, source: str):
        self._source = source
        self._parts: list[_Part] = []
        self._open: list[str] = []
        self._networks = self._attributes = 0
        self._text: list[str] | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity
        self._parser.AttlistDeclHandler = self._attribute
        self._parser.ExternalEntityRefHandler = self._external
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def parts(self, data: bytes | str) -> list[_Part]:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            raise ValueError(f"{_at(self._source, error.lineno)}invalid XML: {expat.ErrorString(error.code)}") from None
        except UnicodeEncodeError:
            raise ValueError(f"{_at(self._source, 1)}invalid XML: it contains a lone surrogate") from None
        except _RejectedError as error:
            raise ValueError(str(error)) from None
        except (LookupError, ValueError) as error:
            reason = shortened(str(error), 100)
            raise ValueError(f"{_at(self._source, 1)}invalid XML: cannot read its encoding ({reason})") from None
        if not self._networks:
            raise ValueError(f"{_at(self._source, 1)}expected a BIF element with a NETWORK in it, got none")
        return self._parts

    def _fail(self, message: str) -> ValueError:
        return _RejectedError(_at(self._source, self._parser.CurrentLineNumber) + message)

    def _start(self, tag: str, _: dict[str, str]) -> None:
        tag = tag.upper()
        self._open.append(tag)
        if len(self._open) > _MAX_DEPTH:
            raise self._fail(f"elements are nested more than {_MAX_DEPTH} deep")
        if len(self._open) == 1 and tag != "BIF":
            raise self._fail(f"expected a BIF element, got {shortened(tag)!r}")
        if tag == "NETWORK":
            self._networks += 1
            if self._networks > 1:
                raise self._fail("expected one network, got two")
        if tag in {"VARIABLE", "DEFINITION", "PROBABILITY"} and self._open[:-1] == ["BIF", "NETWORK"]:
            self._parts.append(_Part(tag, self._parser.CurrentLineNumber))
        self._text = [] if tag in _TEXTS else None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        self._open.pop()
        if self._text is not None and len(self._open) == 3 and self._parts and self._open[-1] == self._parts[-1].kind:
            self._parts[-1].texts.setdefault(tag.upper(), []).append("".join(self._text))
        self._text = None

    def _attribute(self, *_: Any) -> None:
        self._attributes += 1
        if self._attributes > _MAX_ATTRIBUTES:  # the parser checks all of them for every element
            raise self._fail(f"more than {_MAX_ATTRIBUTES} attributes are declared")

    def _entity(self, name: str, *_: Any) -> None:
        raise self._fail(f"the entity {shortened(name)!r} is declared; files with entities are rejected")

    def _external(self, *_: Any) -> int:
        raise self._fail("the file refers to an external entity; such files are rejected")


class _Interpreter:
    """Converts the parts of a document to variables."""

    def __init__(self, source: str, parts: list[_Part]):
        self._source = source
        self._variables: dict[str, _Part] = {}
        self._tables: dict[str, _Part] = {}
        for part in parts:
            known, tag = (self._variables, "NAME") if part.kind == "VARIABLE" else (self._tables, "FOR")
            name = part.one(tag, self._where(part))
            if name in known:
                what = "variable" if part.kind == "VARIABLE" else "definition of"
                raise ValueError(f"{self._where(part)}duplicate {what} {shortened(name)!r}")
            known[name] = part

    def _where(self, part: _Part) -> str:
        return _at(self._source, part.line)

    def read(self) -> tuple[list[Variable], str | None]:
        if not self._variables:
            raise ValueError(f"{_at(self._source, 1)}expected a network, got no variable")
        self._check()
        outcomes = {name: part.all("OUTCOME") or part.all("VALUE") for name, part in self._variables.items()}
        read = {
            name: restored(name, outcomes[name], part.all("PROPERTY"), self._where(part))
            for name, part in self._variables.items()
        }
        found = []
        for name, part in self._variables.items():
            parents = self._tables[name].all("GIVEN")
            table = self._table(name, len(outcomes[name]), [outcomes[p] for p in parents])
            names = read[name]
            parent_names = [read[p].name for p in parents]
            found.append(Variable(names.name, names.labels, parent_names, table, names.cuts, self._where(part)))
        roles = [names.name for names in read.values() if names.is_class]
        return found, roles[0] if len(roles) == 1 else None

    def _check(self) -> None:
        for name, part in self._tables.items():
            if name not in self._variables:
                raise ValueError(f"{self._where(part)}definition of an unknown variable {shortened(name)!r}")
            check_parents(name, part.all("GIVEN"), self._variables, self._where(part))
        for name, part in self._variables.items():
            if not (part.all("OUTCOME") or part.all("VALUE")):
                raise ValueError(f"{self._where(part)}the variable {shortened(name)!r} has no outcomes")
            if name not in self._tables:
                raise ValueError(f"{self._where(part)}the variable {shortened(name)!r} has no definition")
        try:
            check_cycles({name: part.all("GIVEN") for name, part in self._tables.items()})
        except ValueError as error:
            raise ValueError(f"{self._source}: {error}" if self._source else str(error)) from None

    def _table(self, name: str, size: int, labels: list[list[str]]) -> Floats:
        part = self._tables[name]
        where = self._where(part)
        sizes = [*map(len, labels), size]
        cells = table_cells(name, sizes, where)
        check_axes(name, len(labels), where)
        words = part.one("TABLE", where).split()
        if len(words) != cells:
            raise ValueError(f"{where}the table of {name!r}: expected {cells} numbers, got {len(words)}")
        try:
            numbers = np.array([float(word) for word in words])
        except ValueError:
            raise ValueError(f"{where}the table of {name!r} contains something other than numbers") from None
        # The variable's own value changes fastest, and that of the first parent slowest.
        return checked_table(name, numbers.reshape(sizes), labels, where)


def _at(source: str, line: int) -> str:
    return f"{source}, line {line}: " if source else f"line {line}: "
