"""BIF and XMLBIF of other programs: every dialect is read, and errors are reported in a sentence with the line."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

from tanager import Network
from tanager.interop import read_bif, read_xmlbif

BNLEARN = """network unknown {
}
variable Age {
  type discrete [ 3 ] { <5, 5-12, >=12 };
}
variable Size.cm {
  type discrete [ 2 ] { [-1.5,2.25], (2.25,4] };
}
variable HR/BP {
  type discrete [ 2 ] { Asy/Patch, Normal };
}
probability ( Age ) {
  table 0.2, 0.3, 0.5;
}
probability ( Size.cm | Age ) {
  (<5) 0.9, 0.1;
  (5-12) 0.4, 0.6;
  (>=12) 0.1, 0.9;
}
probability ( HR/BP | Size.cm, Age ) {
  ([-1.5,2.25], <5) 0.1, 0.9;
  ((2.25,4], <5) 0.2, 0.8;
  ([-1.5,2.25], 5-12) 0.3, 0.7;
  ((2.25,4], 5-12) 0.4, 0.6;
  ([-1.5,2.25], >=12) 0.5, 0.5;
  ((2.25,4], >=12) 0.6, 0.4;
}
"""

#: As pyAgrum 3.3.1 writes it: no commas between numbers, the first parent changes fastest.
PYAGRUM = """network "unnamedBN" {
// written by aGrUM 3.3.1
   property software aGrUM;
}

variable A {
   type discrete[2] {0, 1};
}

variable C {
   type discrete[2] {x, y};
}

variable B {
   type discrete[3] {0, 1, 2};
}

probability (A) {
   table 0.25 0.75;
}
probability (C | A, B) {
   (0, 0) 0.1 0.9;
   (1, 0) 0.2 0.8;
   (0, 1) 0.3 0.7;
   (1, 1) 0.4 0.6;
   (0, 2) 0.5 0.5;
   (1, 2) 0.6 0.4;
}
probability (B) {
   table 0.2 0.3 0.5;
}


"""

#: As pgmpy 1.1.2 writes it, with a name and labels that hold spaces.
PGMPY = """network unknown {
}
variable body mass {
    type discrete [ 2 ] { not so low, high };
    property weight = 3 ;
}
variable class {
    type discrete [ 2 ] { no, yes };
}
probability ( body mass | class ) {
    ( no ) 0.7, 0.3;
    ( yes ) 0.2, 0.8;

}
probability ( class ) {
    table 0.4, 0.6 ;
}
"""

#: As JavaBayes writes it: quotes, no bar, no commas.
JAVABAYES = """// Bayesian network
network "Dog-Problem" { //5 variables and 5 probability distributions
    property "credal-set constant-density-bounded 1.1" ;
}
variable "light-on" { //2 values
    type discrete[2] {  "true"  "false" };
    property "position = (218, 195)" ;
}
variable "family-out" {
    type discrete[2] {  "true"  "false" };
    property "position = (257, 99)" ;
}
/* tables
   follow */
probability ( "light-on"  "family-out" ) { //2 variable(s) and 4 values
    table 0.6 0.05 0.4 0.95 ;
}
probability ( "family-out" ) {
    table 0.15 0.85 ;
}
"""

#: As pyAgrum 3.3.1 writes it, with the document type of the format's own page before it.
XMLBIF = """<?xml version="1.0"?>
<!-- DTD for the XMLBIF 0.3 format -->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
  <!ELEMENT TABLE (#PCDATA)>
]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unnamedBN</NAME>
<PROPERTY>software aGrUM</PROPERTY>
<VARIABLE TYPE="nature">
  <NAME>A</NAME>
  <PROPERTY>fast = A[2]</PROPERTY>
  <OUTCOME>0</OUTCOME>
  <OUTCOME>1</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature">
  <NAME>C</NAME>
  <OUTCOME>x &lt; 1</OUTCOME>
  <OUTCOME>y</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature"><NAME>B</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME><OUTCOME>2</OUTCOME></VARIABLE>
<DEFINITION>
  <FOR>A</FOR>
  <TABLE> 0.25 0.75 </TABLE>
</DEFINITION>
<DEFINITION>
  <FOR>C</FOR>
  <GIVEN>A</GIVEN>
  <GIVEN>B</GIVEN>
  <TABLE>
    0.1 0.9
    0.3 0.7 <!-- A=0, B=1 -->
    0.5 0.5
    0.2 0.8
    0.4 0.6
    0.6 0.4
  </TABLE>
</DEFINITION>
<DEFINITION><FOR>B</FOR><TABLE>0.2 0.3 0.5</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""


def row(network: Network, name: str, **given: str) -> list[float]:
    """P(name | its parents), in the order of its values."""
    table = network.cpt(name)
    return [float(table[{**given, name: label}]) for label in table.labels[table.names.index(name)]]


def test_bnlearn() -> None:
    network = read_bif(BNLEARN, "HR/BP")
    assert network.feature_names == ["Age", "Size.cm"]
    assert network.cpt("Size.cm").labels == (["<5", "5-12", ">=12"], ["[-1.5,2.25]", "(2.25,4]"])
    assert row(network, "Size.cm", Age="5-12") == [0.4, 0.6]
    assert row(network, "HR/BP", **{"Size.cm": "(2.25,4]", "Age": "5-12"}) == [0.4, 0.6]
    assert row(network, "HR/BP", **{"Size.cm": "[-1.5,2.25]", "Age": ">=12"}) == [0.5, 0.5]
    again = read_bif(network.to_bif() or "")
    assert again.cpt("HR/BP").labels == network.cpt("HR/BP").labels


def test_pyagrum() -> None:
    network = read_bif(PYAGRUM, "C")
    np.testing.assert_array_equal(network.cpt("C").values[..., 0], [[0.1, 0.3, 0.5], [0.2, 0.4, 0.6]])
    assert network.posterior({"B": "2"}, "A").to_dict() == pytest.approx({"0": 0.25, "1": 0.75})


def test_pgmpy() -> None:
    network = read_bif(PGMPY, "class")
    assert row(network, "body mass", **{"class": "yes"}) == [0.2, 0.8]
    assert network.posterior({"body mass": "not so low"})["yes"] == pytest.approx(0.12 / 0.40)


def test_javabayes() -> None:
    network = read_bif(JAVABAYES, "family-out")
    assert row(network, "light-on", **{"family-out": "true"}) == [0.6, 0.4]
    assert row(network, "light-on", **{"family-out": "false"}) == [0.05, 0.95]


def test_xmlbif() -> None:
    network = read_xmlbif(XMLBIF, "C")
    np.testing.assert_array_equal(network.cpt("C").values[..., 0], [[0.1, 0.3, 0.5], [0.2, 0.4, 0.6]])
    assert network.classes.tolist() == ["x < 1", "y"]


def test_probabilities_may_come_before_their_variables_and_by_default() -> None:
    network = read_bif(
        "probability ( b | a ) { default 0.5 0.5; (y) 0.1, 0.9; property skipped; } probability ( a ) { table 1 0; }"
        "variable b { type discrete [ 2 ] { u, v, }; } variable a { type discrete [ 2 ] { x, y } }",
        "a",
    )
    assert row(network, "b", a="x") == [0.5, 0.5]
    assert row(network, "b", a="y") == [0.1, 0.9]


def test_few_digits_are_made_to_sum_to_one() -> None:
    text = "variable a { type discrete [ 3 ] { x, y, z }; } probability ( a ) { table 0.33, 0.33, 0.33; }"
    np.testing.assert_allclose(read_bif(text, "a").cpt("a").values, 1 / 3, rtol=1e-15)
    exact = [0.1, 0.2, 0.7000000000000001]
    text = text.replace("0.33, 0.33, 0.33", ", ".join(map(repr, exact)))
    assert read_bif(text, "a").cpt("a").values.tolist() == exact


HEAD = "network n {\n}\nvariable a {\n  type discrete [ 2 ] { x, y };\n}\nvariable b {\n  type discrete [ 2 ] { u, v };\n}\n"
GOOD_A = "probability ( a ) {\n  table 0.5, 0.5;\n}\n"  # from line 9
GOOD_B = "probability ( b | a ) {\n  (x) 0.1, 0.9;\n  (y) 0.2, 0.8;\n}\n"  # from line 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: expected 'network', 'variable' or 'probability', got '{'"),
        ("network {", "line 1: expected 'property' or '}' in the network, got the end"),
        ("network n { }", "line 1: expected a network in BIF, got no variable"),
        ("network n {}\n\nbanana {", "line 3: expected 'network', 'variable' or 'probability', got 'banana'"),
        ("\nvariable {", "line 2: expected the name of a variable and '{', got ''"),
        ("variable a {", "line 1: expected 'property' or '}' in the variable 'a', got the end"),
        ("variable a { }", "line 1: the variable 'a' has neither a type nor values"),
        ("variable a { type continuous; }", "line 1: the variable 'a' must be of type discrete, got 'continuous;'"),
        ("variable a { type discrete { x, y }; }", "line 1: expected '[ number ] {' after the type of 'a'"),
        ("variable a { type discrete [ 3 ] { x, y }; }", "line 1: the variable 'a' declares 3 values, but lists 2"),
        ("variable a { type discrete [ 99999999999999 ] { x }; }", "line 1: expected '[ number ] {' after the type of 'a'"),
        ("variable a { type discrete [ 2 ] { x, x }; }", "line 1: the variable 'a' has the value 'x' twice"),
        ("variable a { type discrete [ 2 ] { x, , y }; }", "line 1: expected a value before ','"),
        ("variable a { type discrete [ 2 ] { x, y", "line 1: expected '}' at the end of the values, got none"),
        (HEAD + GOOD_A, "line 6: the variable 'b' has no probability"),
        (HEAD + "variable a { type discrete [1] {x}; }", "line 9: duplicate variable 'a'"),
        (HEAD + GOOD_A + GOOD_A, "line 12: duplicate probability block of 'a'"),
        (HEAD + GOOD_A + "probability ( b | c ) {\n}", "line 12: unknown variable 'c' in a probability block"),
        (HEAD + GOOD_A + "probability ( ) {\n}", "line 12: unknown variable '' in a probability block"),
        (HEAD + GOOD_A + "probability ( b | a, a ) {\n}", "line 12: 'b' has the parent 'a' twice"),
        (HEAD + GOOD_A + "probability ( b | b ) {\n}", "line 12: 'b' is a parent of itself"),
        (HEAD + GOOD_A + "probability b", "line 12: expected '(' after 'probability', got 'b'"),
        (HEAD + GOOD_A + "probability ( b", "line 12: expected ') {' after the names of a probability, got none"),
        (HEAD + GOOD_A + "probability ( b ) { table", "line 12: expected '}' at the end of a probability, got none"),
        (HEAD + GOOD_B + GOOD_A.replace("( a )", "( a | b )").replace("0.5, 0.5", "0.5, 0.5, 0.5, 0.5"), "form a cycle"),
        (HEAD + GOOD_A + GOOD_B.replace("(y)", "(z)"), "line 14: 'a' has no value 'z'"),
        (HEAD + GOOD_A + GOOD_B.replace("(y)", "(x)"), "line 14: the table of 'b' lists a configuration twice"),
        (HEAD + GOOD_A + GOOD_B.replace("(y)", "(y, y)"), "line 14: expected ')' after the values of 1 parents, got ','"),
        (HEAD + GOOD_A + GOOD_B.replace("  (y) 0.2, 0.8;\n", ""), "line 12: the table of 'b' has 1 of 2 configurations and no default entry"),
        (HEAD + GOOD_A + GOOD_B.replace("0.8", "0.9"), "line 14: the probabilities of 'b' must be non-negative and sum to one, but they sum to 1.1"),
        (HEAD + GOOD_A + GOOD_B.replace("0.2, 0.8", "-0.2, 1.2"), "line 14: the probabilities of 'b' must be non-negative and sum to one, but they contain -0.2"),
        (HEAD + GOOD_A + GOOD_B.replace("0.8", "1e999"), "line 14: the probabilities of 'b' must be non-negative and sum to one, but they contain inf"),
        (HEAD + GOOD_A + GOOD_B.replace("0.8", "nan"), "line 14: expected probabilities of 'b' up to a ';', got 'nan'"),
        (HEAD + GOOD_A + GOOD_B.replace("0.8", "0.3, 0.5"), "line 14: expected 2 probabilities of 'b', got 3"),
        (HEAD + GOOD_A + GOOD_B.replace("0.8;", "0.8"), "line 14: expected ';' at the end of a list of probabilities, got none"),
        (HEAD + GOOD_A + GOOD_B.replace("(y)", "table"), "line 14: expected 4 probabilities of 'b', got 2"),
        (HEAD + GOOD_A.replace("0.5;", "0.5; table 0.5, 0.5;"), "line 6: the variable 'b' has no probability"),
        (HEAD + GOOD_B + GOOD_A.replace("0.5;", "0.5; table 0.5, 0.5;"), "line 14: expected 'table', 'default' or '(' once for 'a', got 'table'"),
        (HEAD + GOOD_A + GOOD_B + "/* {", "line 16: unterminated comment"),
        (HEAD + GOOD_A + GOOD_B + 'variable "c {\n}', "line 16: unterminated quote"),
    ],
)  # fmt: skip
def test_errors_are_reported(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read_bif(text, "a")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("labels = str:q", "'a' has 2 values, but its properties list 1"),
        ("labels = str:q,str:q", "'a' has the value 'q' twice"),
        ("labels = str:q,list:3", "a property of 'a' is invalid: 'list:3' has no known type"),
        ("labels = str:q,int:x", "a property of 'a' is invalid: invalid literal"),
        ("labels = str:q,none:", "'a' has a missing value among its values"),
        ("labels = str:q,float:nan", "'a' has a missing value among its values"),
        ("labels = int:1,bool:True", "'a' has the value True twice"),
        ("cuts = inf", "a property of 'a' is invalid: cut points must be finite and ascending"),
        ("cuts = 1,2", "'a' has 2 values, but its properties list 3"),
        ("name = b", "duplicate variable 'b'"),
    ],
)
def test_our_properties_are_not_trusted(told: str, message: str) -> None:
    text = (HEAD + GOOD_A + GOOD_B).replace("x, y };", f"x, y }};\n property tanager_{told} ;")
    with pytest.raises(ValueError, match=r"^line \d") as caught:
        read_bif(text, "b")
    assert message in str(caught.value)


def test_files_are_named(tmp_path) -> None:
    path = tmp_path / "some.bif"
    path.write_text("banana")
    with pytest.raises(ValueError, match=r"^some\.bif, line 1: expected 'network'"):
        read_bif(path, "a")
    path.write_bytes(b"network \xff {}")
    with pytest.raises(ValueError, match=r"^some\.bif is not valid UTF-8: byte 8 is 255"):
        read_bif(path, "a")
    with pytest.raises(FileNotFoundError, match="absent"):
        read_bif(tmp_path / "absent.bif", "a")
    path.write_bytes("\ufeff".encode() + (HEAD + GOOD_A + GOOD_B).encode())
    assert read_bif(path, "a").features == ["b"]


def test_short_texts_cannot_fill_the_memory() -> None:
    names = [f"v{i}" for i in range(40)]
    text = "".join(f"variable {name} {{ type discrete [ 2 ] {{ x, y }}; }}\n" for name in [*names, "c"])
    text += "".join(f"probability ( {name} ) {{ table 0.5 0.5; }}\n" for name in names)
    with pytest.raises(ValueError, match=r"line 82: the table of 'c' would have 1\.\d+e\+12 entries"):
        read_bif(text + f"probability ( c | {', '.join(names)} ) {{ default 0.5 0.5; }}", "c")
    with pytest.raises(
        ValueError, match=r"line 82: the table of 'c' has too many entries filled by default: 6\.71e\+07 .* 4,194,304"
    ):
        read_bif(text + f"probability ( c | {', '.join(names[:25])} ) {{ default 0.5 0.5; }}", "c")


@pytest.mark.parametrize(
    "text",
    ["{" * 300_000, "(" * 300_000 + "{", "network n {" + "property " * 50_000, "variable a { type discrete [ 2 ] {" + "[1," * 100_000,
     HEAD + GOOD_A + "probability ( b | a ) { (" + "x," * 100_000 + "}", "/* */ " * 50_000 + "{", 'variable a { property "' + '" "' * 50_000 + "};"],
)  # fmt: skip
@pytest.mark.slow
def test_long_nonsense_is_rejected_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match=r"^line \d+: .{1,200}$"):
        read_bif(text, "a")
    assert time.process_time() - started < 5


# ---------------------------------------------------------------------------------------------- XML


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</BIF>", "", "line 44: invalid XML: no element found"),
        ("<NETWORK>", "<NETWORK><NETWORK>", "line 11: expected one network, got two"),
        ('<BIF VERSION="0.3">', "<HTML>", "line 10: expected a BIF element, got 'HTML'"),
        ("<FOR>A</FOR>", "", "line 26: expected one FOR in a DEFINITION, got 0"),
        ("<FOR>A</FOR>", "<FOR>D</FOR>", "line 26: definition of an unknown variable 'D'"),
        ("<FOR>A</FOR>", "<FOR>B</FOR>", "line 43: duplicate definition of 'B'"),
        ("<NAME>C</NAME>", "<NAME>A</NAME>", "line 20: duplicate variable 'A'"),
        ("<GIVEN>A</GIVEN>", "<GIVEN>D</GIVEN>", "line 30: 'C' has the unknown parent 'D'"),
        ("<GIVEN>A</GIVEN>", f"<GIVEN>{'D' * 99}</GIVEN>", f"'C' has the unknown parent '{'D' * 57}...'"),
        ("<GIVEN>A</GIVEN>", "<GIVEN>C</GIVEN>", "the arcs 'C' -> 'C' form a cycle"),
        (" 0.25 0.75 ", " 0.25 0.75 0.3 ", "line 26: the table of 'A': expected 2 numbers, got 3"),
        (" 0.25 0.75 ", " 0.25 x ", "line 26: the table of 'A' contains something other than numbers"),
        (" 0.25 0.75 ", " 0.25 nan ", "line 26: the probabilities of 'A' must be non-negative and sum to one, but they contain nan"),
        ("0.3 0.7", "0.3 0.8", "line 30: the probabilities of 'C' given ('0', '1') must be non-negative and sum to one, but they sum to 1.1"),
        ("<OUTCOME>y</OUTCOME>", "<OUTCOME>x &lt; 1</OUTCOME>", "line 20: 'C' has the value 'x < 1' twice"),
        ("<OUTCOME>y</OUTCOME>", "<OUTCOME>&lol;</OUTCOME>", "invalid XML: undefined entity"),
        ("<DEFINITION><FOR>B</FOR><TABLE>0.2 0.3 0.5</TABLE></DEFINITION>", "", "the variable 'B' has no definition"),
        ("<NAME>unnamedBN</NAME>", "<P>" * 40, "line 12: elements are nested more than 32 deep"),
        ("]>", '<!ENTITY a "aaaa">\n]>', "line 9: the entity 'a' is declared; files with entities are rejected"),
        ("]>", '<!ENTITY a SYSTEM "file:///etc/passwd">\n]>', "line 9: the entity 'a' is declared"),
        ("]>", '<!ENTITY % a "b">\n]>', "line 9: the entity 'a' is declared"),
    ],
)  # fmt: skip
def test_errors_in_xml_are_reported(old: str, new: str, message: str) -> None:
    assert XMLBIF.count(old) == 1
    with pytest.raises(ValueError, match=r"^line \d+: .{1,200}$|cycle$") as caught:
        read_xmlbif(XMLBIF.replace(old, new), "C")
    assert message in str(caught.value)


def test_a_billion_laughs_are_not_laughed() -> None:
    laughs = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
    text = XMLBIF.replace("]>", f'<!ENTITY l0 "lol">{laughs}]>').replace("<OUTCOME>y<", "<OUTCOME>&l9;<")
    with pytest.raises(ValueError, match="the entity 'l0' is declared; files with entities are rejected"):
        read_xmlbif(text, "C")


def test_documents_declare_their_encoding(tmp_path) -> None:
    path = tmp_path / "some.xml"
    text = XMLBIF.replace('version="1.0"', 'version="1.0" encoding="ISO-8859-1"').replace("<OUTCOME>y<", "<OUTCOME>ü<")
    path.write_bytes(text.encode("latin-1"))
    assert read_xmlbif(path, "C").classes.tolist() == ["x < 1", "ü"]
    path.write_bytes(text.encode("latin-1").replace(b"ISO-8859-1", b"UTF-8"))
    with pytest.raises(ValueError, match=r"^some\.xml, line 23: invalid XML: not well-formed"):
        read_xmlbif(path, "C")


@pytest.mark.parametrize("encoding", ["UTF-9", "hex", "idna", "undefined", "utf-32", "big5", "é"])
def test_an_unknown_encoding_is_reported(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "some.xml"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>{XMLBIF[XMLBIF.index("<!DOCTYPE") :]}')
    with pytest.raises(ValueError, match=r"^some\.xml, line \d+: invalid XML: .+"):
        read_xmlbif(path, "C")
