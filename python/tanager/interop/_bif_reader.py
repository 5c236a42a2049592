"""Reader of BIF, the Bayesian interchange format, as written by bnlearn, pgmpy, pyAgrum and JavaBayes.

There are two passes: the first reads the variables and finds the ends of the probability blocks; the second reads these
blocks, with all names and labels known. An unquoted label is the shortest known label that ends at a delimiter, so labels
with spaces, commas and brackets, such as intervals, are read correctly. Nothing is recursive, and every step moves forward,
so the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._utils.graphs import check_cycles
from .._utils.text import shortened
from .._utils.typing import Floats
from ._bif_names import restored
from ._variables import LOOSE, Variable, check_axes, check_parents, checked_table, first_twice, table_cells

#: Maximum number of entries that "default" lines may fill in all tables: a short text must not exhaust memory.
MAX_DEFAULT_CELLS = 1 << 22

_SPACE = re.compile(r"\s*")
_COMMENT_OR_QUOTE = re.compile(r'(?<![^\s({,|\[])"|//|/\*')
_WORD = re.compile(r"[A-Za-z]+")
_PROPERTY = re.compile(r"property\b")
_TYPE = re.compile(r"type\b")
_SIZE = re.compile(r"\s*\[\s*([0-9]{1,9})\s*\]\s*\{")
_HEADER_END = re.compile(r"\)\s*\{")
_INTERVAL = re.compile(r"[\[(\]][^\s,;\[\](){}]*\s*[,;]\s*[^\s,;\[\](){}]*[\])\[]")
_UNIT = re.compile(r"[^\s,}]+")
# Unambiguous: matching a digit in two ways would take quadratic time.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DELIMITER = re.compile(r"[,)]")


@dataclass
class _Declared:
    """A variable as declared, with labels as text."""

    name: str
    position: int
    labels: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of every label."""
        return {label: i for i, label in enumerate(self.labels)}

    @cached_property
    def lengths(self) -> set[int]:
        """Lengths of the labels."""
        return set(map(len, self.labels))

    @cached_property
    def longest(self) -> int:
        """Length of the longest label."""
        return max(self.lengths)


@dataclass(frozen=True)
class _Block:
    """Positions of a probability block: its first word, its names and its entries."""

    start: int
    names: tuple[int, int]
    body: tuple[int, int]


@dataclass
class _Entries:
    """Entries of a probability block: a complete table; or rows by number, with their positions, and a default row."""

    whole: list[float] | None = None
    default: list[float] | None = None
    rows: dict[int, tuple[list[float], int]] = field(default_factory=dict)


def parse_bif(text: str, source: str = "") -> tuple[list[Variable], str | None]:
    """Parse a BIF text.

    Parameters
    ----------
    text : str
    source : str, default=""
        Name of the source for messages.

    Returns
    -------
    variables : list of Variable
        In the order of their declarations.
    class_name : str or None
        The class, if a property written by tanager stores it.
    """
    return _Reader(text, source).read()


class _Scanner:
    """Positions in a text with comments and quotes; base of the reader.

    Parameters
    ----------
    text : str
    source : str
        Name of the source for messages.
    """

    def __init__(self, text: str, source: str):
        self._source = source
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._text, self._mask = self._blanked(text)

    # -- places and messages

    def _where(self, position: int) -> str:
        line = bisect_right(self._line_starts, position)
        return f"{self._source}, line {line}: " if self._source else f"line {line}: "

    def _error(self, position: int, message: str) -> ValueError:
        return ValueError(self._where(position) + message)

    def _skip(self, position: int) -> int:
        return _SPACE.match(self._mask, position).end()  # type: ignore[union-attr]

    def _shown(self, position: int) -> str:
        found = self._text[position : position + 200].split()
        return repr(shortened(found[0], 30)) if found else "the end"

    def _expect(self, character: str, position: int, after: str) -> int:
        position = self._skip(position)
        if not self._mask.startswith(character, position):
            raise self._error(position, f"expected {character!r} {after}, got {self._shown(position)}")
        return position + 1

    def _find(self, character: str, position: int, what: str) -> int:
        found = self._mask.find(character, position)
        if found < 0:
            raise self._error(position, f"expected {character!r} at the end of {what}, got none")
        return found

    def _blanked(self, text: str) -> tuple[str, str]:
        """Return the text with comments as spaces, and a mask of it with quoted parts hidden, too; positions are kept."""
        parts, hidden, done = [], [], 0
        found = _COMMENT_OR_QUOTE.search(text)
        while found:
            start = found.start()
            closing, kind = {'"': ('"', "quote"), "//": ("\n", ""), "/*": ("*/", "comment")}[found.group()]
            end = text.find(closing, found.end())
            if kind and (end < 0 or (kind == "quote" and "\n" in text[start:end])):
                raise self._error(start, f"unterminated {kind}")
            end = len(text) if end < 0 else end + len(closing)
            piece = text[start:end]
            before = text[done:start]
            blank = re.sub(r"[^\n]", " ", piece)
            parts += [before, piece if kind == "quote" else blank]
            hidden += [before, '"' + "q" * (len(piece) - 2) + '"' if kind == "quote" else blank]
            done = end
            found = _COMMENT_OR_QUOTE.search(text, done)
        return "".join([*parts, text[done:]]), "".join([*hidden, text[done:]])

    def _unquoted(self, start: int, end: int) -> str:
        """Return the text of a span without surrounding spaces and quotes."""
        piece = self._text[start:end]
        mask = self._mask[start:end].strip()
        whole = len(mask) > 1 and mask[0] == mask[-1] == '"' and '"' not in mask[1:-1]
        return piece.strip()[1:-1] if whole else piece.strip()

    def _quoted(self, position: int) -> int | None:
        """Return the end of the quoted text at a position; None if there is none."""
        if not self._mask.startswith('"', position):
            return None
        end = self._mask.find('"', position + 1)
        return end + 1 if end > 0 else None


class _Reader(_Scanner):
    def __init__(self, text: str, source: str):
        super().__init__(text, source)
        self._declared: dict[str, _Declared] = {}
        self._default_cells = 0

    # -- the first pass

    def read(self) -> tuple[list[Variable], str | None]:
        blocks: list[_Block] = []
        position = self._skip(0)
        while position < len(self._mask):
            word = _WORD.match(self._mask, position)
            kind = word.group() if word else ""
            if word and kind == "network":
                position = self._network(word.end())
            elif word and kind == "variable":
                position = self._variable(position, word.end())
            elif word and kind == "probability":
                blocks.append(self._block(position, word.end()))
                position = blocks[-1].body[1] + 1
            else:
                raise self._error(
                    position, f"expected 'network', 'variable' or 'probability', got {self._shown(position)}"
                )
            position = self._skip(position)
        if not self._declared:
            raise self._error(0, "expected a network in BIF, got no variable")
        return self._tables(blocks)

    def _network(self, position: int) -> int:
        position = self._find("{", position, "the name of the network") + 1
        properties: list[str] = []
        while True:
            position = self._skip(position)
            if self._mask.startswith("}", position):
                return position + 1
            position = self._property(position, properties, "the network")

    def _property(self, position: int, into: list[str], what: str) -> int:
        if not _PROPERTY.match(self._mask, position):
            raise self._error(position, f"expected 'property' or '}}' in {what}, got {self._shown(position)}")
        start = position + len("property")
        end = self._find(";", start, "a property")
        into.append(self._unquoted(start, end))
        return end + 1

    def _variable(self, start: int, position: int) -> int:
        opened = self._find("{", position, "the name of a variable")
        name = self._unquoted(position, opened)
        if not name or "\n" in name:
            raise self._error(start, f"expected the name of a variable and '{{', got {shortened(name)!r}")
        if name in self._declared:
            raise self._error(start, f"duplicate variable {name!r}")
        variable = _Declared(name, start)
        position = opened + 1
        while True:
            position = self._skip(position)
            if self._mask.startswith("}", position):
                break
            if _TYPE.match(self._mask, position):
                if variable.labels:
                    raise self._error(position, f"the variable {name!r} has more than one type")
                position = self._type(position + len("type"), variable)
            else:
                position = self._property(position, variable.properties, f"the variable {shortened(name)!r}")
        if not variable.labels:
            raise self._error(start, f"the variable {name!r} has neither a type nor values")
        self._declared[name] = variable
        return position + 1

    def _type(self, position: int, variable: _Declared) -> int:
        position = self._skip(position)
        word = _WORD.match(self._mask, position)
        if not word or word.group() != "discrete":
            raise self._error(
                position,
                f"the variable {variable.name!r} must be of type discrete, got {self._shown(position)}",
            )
        size = _SIZE.match(self._mask, word.end())
        if not size:
            raise self._error(word.end(), f"expected '[ number ] {{' after the type of {variable.name!r}")
        groups, position = self._label_groups(size.end())
        units = [unit for group in groups for unit in group]
        number = int(size.group(1))
        if len(groups) == number:
            variable.labels = [self._unquoted(group[0][0], group[-1][1]) for group in groups]
        elif len(units) == number:  # in old files labels are separated by spaces only
            variable.labels = [self._unquoted(*unit) for unit in units]
        else:
            raise self._error(
                size.start(),
                f"the variable {variable.name!r} declares {number} values, but lists {len(groups)}",
            )
        twice = first_twice(variable.labels)
        if twice is not None:
            raise self._error(
                size.start(), f"the variable {variable.name!r} has the value {variable.labels[twice]!r} twice"
            )
        after = self._skip(position)
        return after + 1 if self._mask.startswith(";", after) else position

    def _label_groups(self, position: int) -> tuple[list[list[tuple[int, int]]], int]:
        """Return the spans of all labels, grouped by commas, and the position after the closing brace."""
        start = position
        groups: list[list[tuple[int, int]]] = [[]]
        while True:
            position = self._skip(position)
            if self._mask.startswith("}", position):
                break
            if position >= len(self._mask):
                raise self._error(start, "expected '}' at the end of the values, got none")
            if self._mask[position] == ",":
                if not groups[-1]:
                    raise self._error(position, "expected a value before ','")
                groups.append([])
                position += 1
                continue
            found = self._quoted(position) or _INTERVAL.match(self._mask, position) or _UNIT.match(self._mask, position)
            end = found if isinstance(found, int) else found.end()  # type: ignore[union-attr]
            groups[-1].append((position, end))
            position = end
        return groups if groups[-1] else groups[:-1], position + 1

    def _block(self, start: int, position: int) -> _Block:
        opened = self._expect("(", position, "after 'probability'")
        header = _HEADER_END.search(self._mask, opened)
        if not header:
            raise self._error(start, "expected ') {' after the names of a probability, got none")
        return _Block(start, (opened, header.start()), (header.end(), self._find("}", header.end(), "a probability")))

    # -- the second pass

    def _tables(self, blocks: Sequence[_Block]) -> tuple[list[Variable], str | None]:
        families: dict[str, tuple[list[str], _Block]] = {}
        for block in blocks:
            name, *parents = self._family(block)
            if name in families:
                raise self._error(block.start, f"duplicate probability block of {name!r}")
            check_parents(name, parents, self._declared, self._where(block.start))
            if name in parents:
                raise self._error(block.start, f"{name!r} is a parent of itself")
            families[name] = parents, block
        for name, variable in self._declared.items():
            if name not in families:
                raise self._error(variable.position, f"the variable {name!r} has no probability")
        try:
            check_cycles({name: parents for name, (parents, _) in families.items()})
        except ValueError as error:
            raise ValueError(f"{self._source}: {error}" if self._source else str(error)) from None
        return self._variables(families)

    def _variables(self, families: dict[str, tuple[list[str], _Block]]) -> tuple[list[Variable], str | None]:
        read = {
            name: restored(name, v.labels, v.properties, self._where(v.position)) for name, v in self._declared.items()
        }
        roles = [names.name for names in read.values() if names.is_class]
        variables = []
        for name, declared in self._declared.items():
            parents, block = families[name]
            table = self._table(self._declared[name], [self._declared[p] for p in parents], block)
            names = read[name]
            where = self._where(declared.position)
            parent_names = [read[p].name for p in parents]
            variables.append(Variable(names.name, names.labels, parent_names, table, names.cuts, where))
        return variables, roles[0] if len(roles) == 1 else None

    def _family(self, block: _Block) -> list[str]:
        """Return a variable and its parents by name."""
        start, end = block.names
        bar = self._mask.find("|", start, end)
        if bar < 0 and self._unquoted(start, end) not in self._declared:
            words = self._mask[start:end].replace(",", " ")  # in old files no bar stands before the parents
            spans = [(start + m.start(), start + m.end()) for m in re.finditer(r'"[^"]*"|[^\s"]+', words)]
        elif bar < 0:
            spans = [(start, end)]
        else:
            commas = [i for i in range(bar + 1, end) if self._mask[i] == ","]
            begins = [bar + 1, *(comma + 1 for comma in commas)]
            spans = [(start, bar), *zip(begins, [*commas, end], strict=True)]
            if not self._mask[bar + 1 : end].strip():
                spans = spans[:1]
        names = [self._unquoted(*span) for span in spans]
        for name in names or [""]:
            if name not in self._declared:
                raise self._error(block.start, f"unknown variable {shortened(name)!r} in a probability block")
        return names

    def _table(self, variable: _Declared, parents: Sequence[_Declared], block: _Block) -> Floats:
        where = self._where(block.start)
        size, sizes = len(variable.labels), [len(p.labels) for p in parents]
        table_cells(variable.name, sizes, where)
        check_axes(variable.name, len(sizes), where)
        found = self._entries(variable, parents, block)
        if found.whole is not None:
            if found.rows or found.default is not None:
                raise ValueError(f"{where}the probabilities of {variable.name!r} are given both by a table and by rows")
            # The variable's own value changes slowest in a table, and that of the last parent fastest.
            table = np.ascontiguousarray(np.moveaxis(np.array(found.whole).reshape(size, *sizes), 0, -1))
        else:
            table = self._filled(variable.name, found, [*sizes, size], where)
        return checked_table(variable.name, table, [p.labels for p in parents], where)

    def _entries(self, variable: _Declared, parents: Sequence[_Declared], block: _Block) -> _Entries:
        """Read the entries of a block in any order: a complete table, rows, and a default row."""
        name, size = variable.name, len(variable.labels)
        found = _Entries()
        position, end = block.body
        while (position := self._skip(position)) < end:
            start = position
            word = _WORD.match(self._mask, position)
            kind, after = (word.group(), word.end()) if word else ("", position)
            if self._mask[position] == "(":
                index, position = self._configuration(position + 1, parents)
                if index in found.rows:
                    raise self._error(start, f"the table of {name!r} lists a configuration twice")
                numbers, position = self._numbers(position, size, name)
                found.rows[index] = numbers, start
            elif kind == "default" and found.default is None:
                found.default, position = self._numbers(after, size, name)
            elif kind == "table" and found.whole is None:
                cells = table_cells(name, [size, *(len(p.labels) for p in parents)], self._where(start))
                found.whole, position = self._numbers(after, cells, name)
            elif kind == "property":
                position = self._property(position, [], "a probability")
            else:
                shown = self._shown(position)
                raise self._error(position, f"expected 'table', 'default' or '(' once for {name!r}, got {shown}")
        return found

    def _filled(self, name: str, found: _Entries, shape: list[int], where: str) -> Floats:
        """Return a table made of rows and a default row."""
        configurations = table_cells(name, shape[:-1], where)
        if len(found.rows) < configurations:
            if found.default is None:
                number = len(found.rows)
                raise ValueError(
                    f"{where}the table of {name!r} has {number} of {configurations:,} configurations and no default entry"
                )
            self._default_cells += (configurations - len(found.rows)) * shape[-1]
            if self._default_cells > MAX_DEFAULT_CELLS:
                raise ValueError(
                    f"{where}the table of {name!r} has too many entries filled by default: {self._default_cells:.3g} in all "
                    f"tables so far, more than the limit of {MAX_DEFAULT_CELLS:,}"
                )
        table = np.empty((configurations, shape[-1]))
        if found.default is not None:
            table[...] = found.default
        for row, (numbers, start) in found.rows.items():
            if not (abs(sum(numbers) - 1) <= LOOSE and min(numbers) >= 0):
                checked_table(name, np.array(numbers), [], self._where(start))  # raises an error with the line
            table[row] = numbers
        return table.reshape(shape)

    def _configuration(self, position: int, parents: Sequence[_Declared]) -> tuple[int, int]:
        """Read one label per parent and the closing parenthesis; return the number of the row, and the position after it."""
        row = 0
        for i, parent in enumerate(parents):
            position = self._skip(position)
            end = self._quoted(position)
            if end is None:
                end = self._label_end(position, parent)
            label = self._unquoted(position, end)
            if label not in parent.index:
                raise self._error(position, f"{parent.name!r} has no value {shortened(label)!r}")
            row = row * len(parent.labels) + parent.index[label]
            position = self._skip(end)
            if i + 1 < len(parents) and self._mask.startswith(",", position):
                position += 1
        return row, self._expect(")", position, f"after the values of {len(parents)} parents")

    def _label_end(self, position: int, parent: _Declared) -> int:
        """Return the end of a label: the first delimiter that follows a known label."""
        first = None
        for delimiter in _DELIMITER.finditer(self._mask, position):
            end = delimiter.start()
            while end > position and self._text[end - 1].isspace():
                end -= 1
            first = end if first is None else first
            # Only texts with the length of a label are compared: a label may contain many commas.
            if end - position in parent.lengths and self._text[position:end] in parent.index:
                return delimiter.start()
            if end - position > parent.longest:
                break
        raise self._error(position, f"{parent.name!r} has no value {shortened(self._text[position:first])!r}")

    def _numbers(self, position: int, expected: int, name: str) -> tuple[list[float], int]:
        end = self._find(";", position, "a list of probabilities")
        words = self._mask[position:end].replace(",", " ").split()
        for word in words:
            if not _NUMBER.fullmatch(word):
                raise self._error(
                    position, f"expected probabilities of {name!r} up to a ';', got {shortened(word, 30)!r}"
                )
        if len(words) != expected:
            raise self._error(position, f"expected {expected} probabilities of {name!r}, got {len(words)}")
        return [float(word) for word in words], end + 1
