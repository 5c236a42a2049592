"""Writers of BIF and XMLBIF: text that pgmpy, pyAgrum and bnlearn read, and that tanager reads back exactly."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from xml.sax.saxutils import escape

from .._utils.typing import Floats
from ._bif_names import WrittenVariable, is_plain, is_plain_name, written
from ._variables import Variable


def bif_text(variables: Sequence[Variable], class_name: str) -> str:
    """Return a network as BIF."""
    found = written(variables, class_name, is_plain, is_plain_name)
    shown = {w.source.name: w for w in found}
    return "".join(["network tanager {\n}\n", *map(_bif_variable, found), *(_bif_table(w, shown) for w in found)])


def _bif_variable(variable: WrittenVariable) -> str:
    properties = "".join(f"  property {text} ;\n" for text in variable.properties)
    labels = ", ".join(variable.labels)
    return f"variable {variable.name} {{\n  type discrete [ {len(variable.labels)} ] {{ {labels} }};\n{properties}}}\n"


def _bif_table(variable: WrittenVariable, shown: dict[str, WrittenVariable]) -> str:
    parents = [shown[parent] for parent in variable.source.parents]
    table = variable.source.table
    if not parents:
        return f"probability ( {variable.name} ) {{\n  table {_numbers(table, ', ')};\n}}\n"
    configurations = itertools.product(*(parent.labels for parent in parents))
    rows = table.reshape(-1, table.shape[-1])
    lines = "".join(
        f"  ({', '.join(labels)}) {_numbers(row, ', ')};\n" for labels, row in zip(configurations, rows, strict=True)
    )
    return f"probability ( {variable.name} | {', '.join(parent.name for parent in parents)} ) {{\n{lines}}}\n"


def _numbers(row: Floats, between: str) -> str:
    return between.join(map(repr, row.tolist()))  # the shortest text that gives the same number


def xmlbif_text(variables: Sequence[Variable], class_name: str) -> str:
    """Return a network as XMLBIF 0.3, without the document type, which pyAgrum's reader rejects."""
    found = written(variables, class_name, _is_xml_plain, _is_xml_plain)
    shown = {w.source.name: w for w in found}
    body = "".join([*map(_xml_variable, found), *(_xml_table(w, shown) for w in found)])
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n<NAME>tanager</NAME>\n'
        f"{body}</NETWORK>\n</BIF>\n"
    )


def _is_xml_plain(text: str) -> bool:
    # Printable, with single inner spaces only: readers keep such text unchanged.
    return bool(text) and text.isprintable() and " ".join(text.split()) == text


def _xml_variable(variable: WrittenVariable) -> str:
    lines = [f"  <OUTCOME>{escape(label)}</OUTCOME>\n" for label in variable.labels]
    lines += [f"  <PROPERTY>{text}</PROPERTY>\n" for text in variable.properties]
    return f'<VARIABLE TYPE="nature">\n  <NAME>{escape(variable.name)}</NAME>\n{"".join(lines)}</VARIABLE>\n'


def _xml_table(variable: WrittenVariable, shown: dict[str, WrittenVariable]) -> str:
    given = "".join(f"  <GIVEN>{escape(shown[parent].name)}</GIVEN>\n" for parent in variable.source.parents)
    table = variable.source.table
    rows = "\n    ".join(_numbers(row, " ") for row in table.reshape(-1, table.shape[-1]))
    return (
        f"<DEFINITION>\n  <FOR>{escape(variable.name)}</FOR>\n{given}  <TABLE>\n    {rows}\n  </TABLE>\n</DEFINITION>\n"
    )
