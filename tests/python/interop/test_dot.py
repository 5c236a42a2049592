"""DOT: what Graphviz, and a small parser here, read is the network, whatever its names are."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from picture_hashes import general_network, table

import tanager as tg
from tanager.interop._dot import quoted
from tanager.network._strengths import arc_strength

NAMES = [
    *(
        "plain",
        "two words",
        'a "quote"',
        "back\\slash",
        "ends with \\",
        "two\nlines",
        "ünïcödé 変数",
        "node",
        "digraph",
    ),
    *("<b>html</b>", "semi;colon", "a -> b", "[x=1]", "{", "// no comment", "# none", "\u202eturned", "null\0", "\\N"),
]


def parsed(text):
    """A parser of the part of DOT that is written: quoted names, attributes, arrows. Returns nodes and arcs."""
    token = re.compile(r'\s*("(?:\\.|[^"\\])*"|->|[A-Za-z_]\w*|[\d.]+|[{}\[\];=,])', re.DOTALL)
    tokens, place = [], 0
    while place < len(text.rstrip()):
        match = token.match(text, place)
        assert match, f"not DOT: {text[place : place + 30]!r}"
        tokens.append(match[1])
        place = match.end()
    assert tokens[:3] == ["digraph", "tanager", "{"]
    assert tokens[-1] == "}"
    nodes, arcs, statement = [], {}, []
    for one in tokens[3:-1]:
        if one != ";":
            statement.append(one)
            continue
        attributes = dict(zip(statement[:-2], statement[2:], strict=True)) if "[" in statement else {}
        if statement[0] not in {"node", "edge"}:
            if len(statement) > 1 and statement[1] == "->":
                arcs[statement[0], statement[2]] = {k: v for k, v in attributes.items() if k in {"penwidth", "tooltip"}}
                if "penwidth" in statement:
                    arcs[statement[0], statement[2]]["penwidth"] = float(statement[statement.index("penwidth") + 2])
            else:
                nodes.append(statement[0])
        statement = []
    assert statement == []
    return nodes, arcs


def shown(identifier):
    """What Graphviz shows for a quoted name."""
    escapes = {"n": "\n", '"': '"', "\\": "\\"}
    return re.sub(r"\\(.)", lambda match: escapes[match[1]], identifier[1:-1], flags=re.DOTALL)


def hostile_network():
    X, y = table(len(NAMES), 200)
    X.columns = NAMES
    return tg.TANClassifier().fit(X, pd.Series(y, name='the "class"')).network_


def test_names_are_quoted():
    assert quoted("a b") == '"a b"'
    assert quoted('a"b') == r'"a\"b"'
    assert quoted("a\\") == r'"a\\"'
    assert quoted("a\nb") == r'"a\nb"'
    assert quoted("\u202e") == r'"\\u202e"'
    assert quoted("\0") == r'"\\x00"'


def test_hostile_names_are_read_back():
    network = hostile_network()
    nodes, arcs = parsed(network.to_dot())
    readable = {"\u202eturned": "\\u202eturned", "null\0": "null\\x00"}
    expected = [readable.get(name, name) for name in [network.class_name, *NAMES]]
    assert [shown(node) for node in nodes] == expected
    assert {(shown(u), shown(v)) for u, v in arcs} == {
        (readable.get(u, u), readable.get(v, v)) for u, v in network.arcs
    }


def test_names_that_are_shown_alike_stay_apart():
    X, y = table(2)
    X.columns = ["\u202e", "\\u202e"]
    nodes, arcs = parsed(tg.NaiveBayesClassifier().fit(X, y).network_.to_dot())
    assert len(set(nodes)) == 3
    assert len(arcs) == 2


def test_strengths():
    network = general_network().network_
    _, arcs = parsed(network.to_dot(strengths=True))
    strengths = {arc: arc_strength(network, *arc) for arc in network.arcs}
    most = max(strengths.values())
    for (u, v), attributes in arcs.items():
        expected = 0.5 + 5.5 * strengths[shown(u), shown(v)] / most
        assert attributes["penwidth"] == pytest.approx(expected, rel=0.01)
    assert "penwidth" not in network.to_dot()


def test_files(tmp_path):
    network = general_network().network_
    assert network.to_dot(tmp_path / "net.dot") is None
    assert (tmp_path / "net.dot").read_text(encoding="utf-8") == network.to_dot()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pydot, of a new parser
def test_pydot_reads_it():
    pydot = pytest.importorskip("pydot", reason="pydot, which reads DOT, is not required")
    network = hostile_network()
    (graph,) = pydot.graph_from_dot_data(network.to_dot())
    found = {node.get_name() for node in graph.get_nodes()} - {"node", "edge"}
    nodes, arcs = parsed(network.to_dot())
    assert found == set(nodes)
    assert {(edge.get_source(), edge.get_destination()) for edge in graph.get_edges()} == set(arcs)
