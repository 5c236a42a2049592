"""BIF: any text is read or rejected with a ValueError, and what is read is written and read again.

Every second input is a network that is made up and written in one of the dialects; it must come back as it is.
"""

from __future__ import annotations

import sys

import numpy as np
from python_target import Decisions, check_written, run

from tanager.interop._bif_reader import parse_bif
from tanager.interop._variables import Variable

#: Longer texts take longer, and show nothing new.
MAX_LENGTH = 2000
#: Words and marks of the format, for mutations.
WORDS = (
    *("network", "variable", "probability", "property", "type discrete [ 2 ] {", "table", "default", "tanager_name = "),
    *("{", "}", "(", ")", "[", "]", ",", ";", "|", '"', "//", "/*", "*/", "\n", " ", "0.5", "1", "1e-9", "yes", "no"),
    *("tanager_labels = int:1,none:", "tanager_cuts = 1,2", "tanager_role = class", "\x00", "\u00e9", "\ud800"),
)


def check(data: bytes) -> None:
    """Check one input."""
    decisions = Decisions(data)
    if decisions.number(2) == 1:
        _check_made_up(decisions)
        return
    text = decisions.rest().decode("utf-8", "surrogateescape")
    try:
        variables, class_name = parse_bif(text)
    except ValueError:
        return
    check_written(variables, class_name, "bif")


def _check_made_up(decisions: Decisions) -> None:
    variables = made_up(decisions)
    text = _Dialect(decisions).text(variables)
    found, _ = parse_bif(text)
    assert [v.name for v in found] == [v.name for v in variables], text
    for v, expected in zip(found, variables, strict=True):
        assert (v.labels, v.parents) == (expected.labels, expected.parents), text
        np.testing.assert_allclose(v.table, expected.table, rtol=1e-9, atol=0)


def made_up(decisions: Decisions) -> list[Variable]:
    """Return a network of a few variables, each with parents among those before it, in any order."""
    variables: list[Variable] = []
    for i in range(1 + decisions.number(5)):
        labels = [f"{'abc'[decisions.number(3)]}{k}" for k in range(1 + decisions.number(4))]
        parents = [v for v in variables if decisions.number(3) == 0][:3]
        shape = [*(len(v.labels) for v in parents), len(labels)]
        table = np.array([1.0 + decisions.number(9) for _ in range(int(np.prod(shape)))]).reshape(shape)
        table /= table.sum(axis=-1, keepdims=True)
        variables.append(Variable(f"v{i}", labels, [v.name for v in parents], table))
    return decisions.shuffled(variables)


class _Dialect:
    """Writes a network as somebody might: quotes, comments, spaces, tables or rows, in any order."""

    def __init__(self, decisions: Decisions):
        self._decisions = decisions
        self._quote = '"' if decisions.number(2) else ""
        self._comma = ", " if decisions.number(2) else " "
        self._bar = decisions.number(2) == 0

    def text(self, variables: list[Variable]) -> str:
        parts = [f"network {self._name('n')} {{{self._space()}}}", *(self._variable(v) for v in variables)]
        known = {v.name: v for v in variables}
        parts += self._decisions.shuffled([self._probability(v, known) for v in variables])
        return self._space().join(parts)

    def _name(self, text: str) -> str:
        return f"{self._quote}{text}{self._quote}"

    def _space(self) -> str:
        return ("\n", " \n", " // a { comment\n", " /* one\n more } */ ")[self._decisions.number(4)]

    def _variable(self, v: Variable) -> str:
        labels = self._comma.join(map(self._name, v.labels))
        return f"variable {self._name(v.name)} {{ type discrete [ {len(v.labels)} ] {{ {labels} }};{self._space()}}}"

    def _probability(self, v: Variable, known: dict[str, Variable]) -> str:
        between = " | " if self._bar and v.parents else " "
        names = self._name(v.name) + between + (", " if self._bar else " ").join(map(self._name, v.parents))
        rows = v.table.reshape(-1, v.table.shape[-1])
        if self._decisions.number(2) or not v.parents:
            body = f"table {self._numbers(np.moveaxis(v.table, -1, 0).ravel())};"
        else:
            lines = [
                f"( {', '.join(self._name(known[p].labels[k]) for p, k in zip(v.parents, index, strict=True))} ) "
                f"{self._numbers(row)};"
                for index, row in zip(np.ndindex(*v.table.shape[:-1]), rows, strict=True)
            ]
            if self._decisions.number(2):
                left_out = self._decisions.number(len(lines))
                lines[left_out] = f"default {self._numbers(rows[left_out])};"
            body = "\n".join(self._decisions.shuffled(lines))
        return f"probability ( {names} ) {{{self._space()}{body}{self._space()}}}"

    def _numbers(self, row: np.ndarray) -> str:
        return self._comma.join(map(repr, row.tolist()))


if __name__ == "__main__":
    run(
        sys.modules[__name__],
        [f"interop.{name}" for name in ("_bif_reader", "_bif_names", "_bif_writer", "_variables")],
    )
