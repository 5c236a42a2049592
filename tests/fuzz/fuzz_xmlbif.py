"""XMLBIF: any document is read or rejected with a ValueError, and what is read is written and read again.

Every second input is a network that is made up; it must come back as it is.
"""

from __future__ import annotations

import sys
from xml.sax.saxutils import escape

import numpy as np
from fuzz_bif import made_up
from python_target import Decisions, check_written, run

from tanager.interop._variables import Variable
from tanager.interop._xmlbif import parse_xmlbif

MAX_LENGTH = 3000
#: Tags and marks of the format, for mutations.
WORDS = (
    *("<BIF>", "</BIF>", "<NETWORK>", "</NETWORK>", "<VARIABLE>", "</VARIABLE>", "<DEFINITION>", "</DEFINITION>"),
    *("<NAME>", "</NAME>", "<OUTCOME>a</OUTCOME>", "<VALUE>b</VALUE>", "<FOR>", "</FOR>", "<GIVEN>", "</GIVEN>"),
    *("<TABLE>", "</TABLE>", "<PROPERTY>tanager_role = class</PROPERTY>", "<PROPERTY>tanager_labels = int:1,int:2"),
    *("<!DOCTYPE BIF [", "<!ENTITY a 'b'>", "]>", "&a;", "&lt;", "&#0;", "<![CDATA[", "]]>", "<!--", "-->", "0.5", "1"),
    *('<?xml version="1.0" encoding="UTF-16"?>', "nan", "1_0", "\u00e9", " ", "\n"),
)


def check(data: bytes) -> None:
    """Check one input."""
    decisions = Decisions(data)
    if decisions.number(2) == 1:
        _check_made_up(decisions)
        return
    try:
        variables, class_name = parse_xmlbif(decisions.rest())
    except ValueError:
        return
    check_written(variables, class_name, "xmlbif")


def _check_made_up(decisions: Decisions) -> None:
    variables = made_up(decisions)
    document = _document(variables, decisions)
    found, _ = parse_xmlbif(document.encode() if decisions.number(2) else document)
    assert [v.name for v in found] == [v.name for v in variables], document
    for v, expected in zip(found, variables, strict=True):
        assert (v.labels, v.parents) == (expected.labels, expected.parents), document
        np.testing.assert_allclose(v.table, expected.table, rtol=1e-9, atol=0)


def _document(variables: list[Variable], decisions: Decisions) -> str:
    def element(tag: str, text: str) -> str:
        tag = tag.lower() if decisions.number(4) == 0 else tag
        space = ("", " ", "\n  ", "<!-- a < comment -->")[decisions.number(4)]
        return f"<{tag}>{space}{escape(text)}</{tag}>{space}"

    outcome = ("OUTCOME", "VALUE")[decisions.number(2)]
    definition = ("DEFINITION", "PROBABILITY")[decisions.number(2)]
    declared = [
        f"<VARIABLE TYPE='nature'>{element('NAME', v.name)}{''.join(element(outcome, text) for text in v.labels)}</VARIABLE>"
        for v in variables
    ]
    defined = [
        f"<{definition}>{element('FOR', v.name)}{''.join(element('GIVEN', p) for p in v.parents)}"
        f"{element('TABLE', ' '.join(map(repr, v.table.ravel().tolist())))}</{definition}>"
        for v in variables
    ]
    head = ("", '<?xml version="1.0"?>', "<!DOCTYPE BIF [ <!ELEMENT BIF (NETWORK)> ]>")[decisions.number(3)]
    body = "\n".join([*declared, *decisions.shuffled(defined)])
    return f'{head}<BIF VERSION="0.3"><NETWORK>{element("NAME", "n")}{body}</NETWORK></BIF>'


if __name__ == "__main__":
    run(sys.modules[__name__], [f"interop.{name}" for name in ("_xmlbif", "_bif_names", "_bif_writer", "_variables")])
