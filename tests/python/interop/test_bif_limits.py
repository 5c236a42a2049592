"""No BIF or XMLBIF text of at most 1 MB takes more than 1 GB or 10 s, whatever it says."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest

import tanager as tg
from tanager import interop

pytestmark = pytest.mark.slow

HALVES = "table 0.5 0.5;"


def variable(name, labels):
    return f"variable {name} {{ type discrete [ {len(labels)} ] {{ {', '.join(labels)} }}; }}\n"


def one(name, parents="", entry="table 1;"):
    given = f"| {parents} " if parents else ""
    return f"variable {name} {{ type discrete [ 1 ] {{ z }}; }}\nprobability ( {name} {given}) {{ {entry} }}\n"


def first(n):
    """A distribution in which the first of n values is certain."""
    return f"table 1 {'0 ' * (n - 1)};"


C = variable("c", ["x", "y"]) + f"probability ( c ) {{ {HALVES} }}\n"
PARENTS = [f"p{i}" for i in range(23)]
BINARY = C + "".join(variable(p, ["x", "y"]) + f"probability ( {p} ) {{ {HALVES} }}\n" for p in PARENTS)


def children(n, n_parents):
    head = f"| {', '.join(PARENTS[:n_parents])} ) {{ default 0.5, 0.5; }}\n"
    return BINARY + "".join(variable(f"d{i}", ["x", "y"]) + f"probability ( d{i} {head}" for i in range(n))


def labels_of_a_parent(n):
    labels = [f"a{i:x}" for i in range(n)]
    return labels, C + variable("p", labels) + f"probability ( p ) {{ {first(n)} }}\n"


def texts():
    """Texts that took minutes or gigabytes, and others that might; with what is said of them."""
    default = "too many entries filled by default"
    yield children(4, 23), default
    yield children(3900, 23), default
    yield children(7000, 10), default
    yield children(2, 20), ""  # as many cells as are possible
    labels, parent = labels_of_a_parent(60_000)
    yield parent + "".join(one(f"d{i}", "p", "default 1;") for i in range(4000)), default
    labels, parent = labels_of_a_parent(40_000)
    yield parent + one("d", "p", "".join(f"({label})1;" for label in labels)), ""
    yield C.replace("0.5 0.5", "1" * 900_000 + "x 0"), "expected probabilities of 'c'"
    yield C.replace("0.5 0.5", "1" * 450_000 + "e-450000 0." + "0" * 400_000), "sum to one"
    n = 11_000
    yield C + "".join(one(f"v{i}", f"v{(i + 1) % n}") for i in range(n)), "form a cycle"
    yield C + "".join(one(f"v{i}", f"v{i - 1}" if i else "") for i in range(n)), ""
    many = "".join(one(f"v{i}") for i in range(10_000))
    named = ", ".join(f"v{i}" for i in range(10_000))
    yield (
        many + f"variable c {{ type discrete [ 1 ] {{ z }}; }} probability ( c | {named} ) {{ table 1; }}",
        "has 10,000 parents",
    )
    commas = ",".join("a" * 50_000)
    rows = f"({commas}) 1; (b) 1;"
    quoted = f'variable p {{ type discrete [ 2 ] {{ "{commas}", b }}; }}\nprobability ( p ) {{ table 1 0; }}\n'
    yield C + quoted + "".join(one(f"d{i}", "p", rows) for i in range(8)), ""
    n = 25_000
    whole = ",".join(f"int:{(2**61 - 1) * (i + 1)}" for i in range(n))  # all of one hash
    labels = ", ".join(f"a{i}" for i in range(n))
    yield (
        C + f"variable p {{ type discrete [ {n} ] {{ {labels} }};\nproperty tanager_labels = {whole} ;\n}}\n"
        f"probability ( p ) {{ {first(n)} }}\n",
        "more than 1,000 integers do not fit into 64 bits",
    )  # fmt: skip


def documents():
    body = (
        "<BIF><NETWORK><VARIABLE><NAME>c</NAME><OUTCOME>x</OUTCOME></VARIABLE>"
        "<DEFINITION><FOR>c</FOR><TABLE>1</TABLE></DEFINITION>{}</NETWORK></BIF>"
    )
    attributes = " ".join(f'a{i} CDATA "x"' for i in range(25_000))
    yield f"<!DOCTYPE BIF [<!ATTLIST a {attributes}>]>{body.format('<a/>' * 120_000)}", "more than 100 attributes"
    yield f"<!DOCTYPE BIF [<!ELEMENT a {'(' * 400_000}b{')' * 400_000}>]>{body.format('')}", ""
    yield body.format("<a " + " ".join(f'a{i}=""' for i in range(80_000)) + "/>"), ""
    given = "".join(f"<GIVEN>v{i}</GIVEN>" for i in range(4_000))
    others = "".join(
        f"<VARIABLE><NAME>v{i}</NAME><OUTCOME>x</OUTCOME></VARIABLE>"
        f"<DEFINITION><FOR>v{i}</FOR><TABLE>1</TABLE></DEFINITION>"
        for i in range(4_000)
    )
    yield (
        body.format(others).replace("<TABLE>", f"{given}<TABLE>", 1),
        "'c' has 4,000 parents, more than the limit of 31",
    )


READ_ALL = """
import json, resource, sys, time
from tanager import interop

for kind, text in json.load(sys.stdin):
    read = {"bif": interop.read_bif, "xml": interop.read_xmlbif}[kind]
    started, said = time.process_time(), ""
    try:
        read(text, "c")
    except ValueError as error:
        said = str(error)
    print(json.dumps([said, time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory in kilobytes, as Linux does")
def test_texts_of_a_megabyte_take_little_time_and_memory():
    cases = [("bif", *case) for case in texts()] + [("xml", *case) for case in documents()]
    assert all(len(text) <= 1_000_000 for _, text, _ in cases)
    given = json.dumps([(kind, text) for kind, text, _ in cases])
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL], input=given, capture_output=True, text=True, check=True, timeout=300
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for (_, text, expected), (said, seconds, kilobytes) in zip(cases, found, strict=True):
        assert expected in said, text[:200]
        assert bool(expected) == bool(said), said
        assert len(said) < 500
        assert seconds < 5, text[:200]
        assert kilobytes < 1_000_000, text[:200]


def test_more_parents_than_numpy_has_axes_are_rejected_by_name():
    def text(n):
        names = [f"v{i}" for i in range(n)]
        return (
            "".join(map(one, names))
            + variable("c", ["x", "y"])
            + f"probability ( c | {', '.join(names)} ) {{ ("
            + ", ".join("z" * n)
            + ") 0.25 0.75; }"
        )

    network = interop.read_bif(text(31), "c")
    np.testing.assert_allclose(network.posterior({}).values, [0.25, 0.75], rtol=1e-14)
    assert interop.read_bif(network.to_bif()).arcs == network.arcs
    for n in (32, 63, 64, 70):
        with pytest.raises(ValueError, match=rf"^line {2 * n + 2}: 'c' has {n} parents, more than the limit of 31$"):
            interop.read_bif(text(n), "c")


def test_writing_many_labels_takes_linear_time():
    n = 20_000
    labels = [chr(0x4E00 + i % 20_000) + "x" * (i // 20_000) for i in range(n)]
    assert len(set(labels)) == n
    clf = tg.NaiveBayesClassifier().fit(np.array(labels, dtype=object)[:, None], np.arange(n) % 2)
    started = time.process_time()
    text = clf.network_.to_bif()
    assert time.process_time() - started < 5
    again = interop.read_bif(text)
    assert again.cpt("x0").labels[0] == clf.network_.cpt("x0").labels[0]


def test_writing_many_variables_takes_linear_time():
    text = C + "".join(one(f"v{i}") for i in range(15_000))
    network = interop.read_bif(text, "c")
    started = time.process_time()
    network.to_bif()
    assert time.process_time() - started < 5
