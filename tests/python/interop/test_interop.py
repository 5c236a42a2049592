"""Networks that leave and come back: BIF, XMLBIF, classifiers, model files, graphs."""

from __future__ import annotations

import pickle
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from paths import DATA
from sklearn.base import clone

import tanager as tg
from tanager import _core, interop
from tanager.interop._variables import Variable, make_network, variables_of
from tanager.network._strengths import arc_strength

#: What pgmpy 1.1.2 and pyAgrum 3.3.1 both say of P(variable = yes | evidence) in the chest clinic; the first line and
#: several others are in the paper's and in many tools' manuals.
ASIA = [
    (
        {},
        {"tuberculosis": 0.0104, "lung_cancer": 0.055, "bronchitis": 0.45, "either": 0.064828, "xray": 0.11029004}
        | {"dyspnoea": 0.4359706, "smoking": 0.5},
    ),
    (
        {"asia": "yes", "dyspnoea": "yes"},
        {"tuberculosis": 0.087750964983, "lung_cancer": 0.099525145095, "bronchitis": 0.811402071589}
        | {"either": 0.182299852823, "xray": 0.219538863125, "smoking": 0.625919857821},
    ),
    (
        {"asia": "yes", "dyspnoea": "yes", "smoking": "no", "xray": "no"},
        {"tuberculosis": 0.002734977283, "lung_cancer": 0.000546995457, "bronchitis": 0.772830087917},
    ),
    (
        {"smoking": "yes", "xray": "yes"},
        {"tuberculosis": 0.067183108247, "lung_cancer": 0.645991425453, "bronchitis": 0.6, "dyspnoea": 0.731936866862},
    ),
]

FORMATS = {"bif": interop.read_bif, "xmlbif": interop.read_xmlbif}

STRANGE = [
    *("", " ", "a b", " a", "a  b", 'q"t', "'", "{b}", "c,d", "x;y", "//", "/* c */", "%41", "a=b", "ü", "日本", "😀"),
    *(
        "table",
        "Network",
        "variable",
        "</OUTCOME>",
        "&amp;",
        "<5",
        "(1, 2]",
        "-1",
        "0.5",
        "1e5",
        "a\nb",
        "\t",
        "\0",
        "\udc80",
    ),
]


def written(network: tg.Network, kind: str) -> str:
    return getattr(network, f"to_{kind}")()


def assert_same(a: tg.Network, b: tg.Network) -> None:
    """Assert that everything in two networks is the same, to the last bit."""
    assert (a.features, a.class_name, a.classes.tolist()) == (b.features, b.class_name, b.classes.tolist())
    assert sorted(a.arcs) == sorted(b.arcs)
    for name in [*a.features, a.class_name]:
        left, right = a.cpt(name), b.cpt(name)
        assert left.names == right.names
        assert left.labels == right.labels
        assert [list(map(type, labels)) for labels in left.labels] == [
            list(map(type, labels)) for labels in right.labels
        ]
        np.testing.assert_array_equal(left.values, right.values)


@pytest.fixture(scope="module")
def mixed() -> tuple[tg.BayesNetClassifier, pd.DataFrame]:
    """A classifier of columns of all kinds, with names and labels that no format likes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a b": rng.choice(STRANGE[:-1], 200),
            "table": rng.integers(3, size=200) - 1,
            "Table": rng.random(200) < 0.5,
            "größe": rng.normal(size=200),
            "": rng.choice([1.5, 2.5, 1e-7], 200),
            "x;y": rng.choice(["//", "/*"], 200),
            "}": None,
        }
    )
    y = pd.Series(rng.choice(["variable", "a=b", "no"], 200), name='the class, of course; "q"')
    clf = tg.BayesNetClassifier("tan", discretizer=tg.EqualWidthDiscretizer(3), numeric_features=["größe"])
    return clf.fit(X, y), X


@pytest.mark.parametrize("class_name", ["lung_cancer", "asia", "dyspnoea"])
def test_the_chest_clinic_has_its_published_posteriors(class_name: str) -> None:
    network = interop.read_bif(DATA / "asia.bif", class_name)
    assert len(network.arcs) == 8
    assert network.n_parameters == 18
    for evidence, expected in ASIA:
        for name, p in expected.items():
            assert network.posterior(evidence, name)["yes"] == pytest.approx(p, abs=1e-12)
    assert network.most_probable({"dyspnoea": "yes"})["bronchitis"] == "yes"
    assert network.log_probability({"dyspnoea": "yes"}) == pytest.approx(np.log(0.4359706), abs=1e-12)
    assert set(network.sample(50, random_state=0, evidence={"asia": "yes"})["asia"]) == {"yes"}


@pytest.mark.parametrize("kind", FORMATS)
def test_networks_come_back_exactly(kind: str, mixed: tuple[tg.BayesNetClassifier, pd.DataFrame]) -> None:
    clf, X = mixed
    again = FORMATS[kind](written(clf.network_, kind))
    assert_same(again, clf.network_)
    assert again.to_bif() == clf.network_.to_bif()
    np.testing.assert_array_equal(again.to_classifier().predict_proba(X), clf.predict_proba(X))
    assert again.posterior({"größe": 0.1}).values == pytest.approx(clf.network_.posterior({"größe": 0.1}).values)
    alarm = interop.read_bif(DATA / "alarm.bif", "BP")
    assert_same(FORMATS[kind](written(alarm, kind)), alarm)


@pytest.mark.parametrize("kind", FORMATS)
def test_booleans_among_numbers_stay_booleans(kind: str) -> None:
    y = np.array([False, 2.0, 7] * 4, dtype=object)
    network = tg.NaiveBayesClassifier().fit(np.arange(12)[:, None] % 2, y).network_
    again = FORMATS[kind](written(network, kind))
    assert [(type(label), label) for label in again.classes.tolist()] == [(bool, False), (float, 2.0), (int, 7)]


@pytest.mark.parametrize("kind", FORMATS)
def test_files_are_those_texts(kind: str, tmp_path: Path, mixed: tuple[tg.BayesNetClassifier, pd.DataFrame]) -> None:
    network = mixed[0].network_
    path = tmp_path / "network"
    assert getattr(network, f"to_{kind}")(path) is None
    assert path.read_text(encoding="utf-8") == written(network, kind)
    assert_same(FORMATS[kind](path), network)
    assert_same(FORMATS[kind](str(path)), network)
    assert [p.name for p in tmp_path.iterdir()] == ["network"]
    with pytest.raises(OSError, match="absent"):
        getattr(network, f"to_{kind}")(tmp_path / "absent" / "network")


@settings(max_examples=25, deadline=None)
@given(
    names=hs.lists(hs.text(max_size=4) | hs.sampled_from(STRANGE), min_size=2, max_size=4, unique=True),
    labels=hs.lists(
        hs.text(max_size=4) | hs.sampled_from(STRANGE) | hs.integers() | hs.floats(allow_nan=False) | hs.booleans(),
        min_size=1,
        max_size=6,
        unique=True,
    ),
)
def test_any_names_and_labels_come_back(names: list[str], labels: list[object]) -> None:
    *features, target = names
    table = np.full((1, len(labels)), 1 / len(labels))
    variables = [Variable(name, labels, [target], table) for name in features]
    network = make_network([*variables, Variable(target, ["c"], [], np.ones(1))], target)
    for kind, read in FORMATS.items():
        text = written(network, kind)
        assert_same(read(text), network)
        if kind == "bif":  # nothing in it that another reader could stumble over
            assert text.isascii()
            assert not re.search(r"[\"']|//|/\*", text)


def test_names_that_differ_by_case_only_are_kept_apart() -> None:
    network = tg.NaiveBayesClassifier().fit(pd.DataFrame({"a": [0, 1], "A": [0, 1]}), [0, 1]).network_
    text = network.to_bif() or ""
    assert re.findall(r"variable (\w+)", text) == ["a", "A_2", "class"]
    assert interop.read_bif(text).features == ["a", "A"]


def test_plain_names_are_written_unchanged() -> None:
    text = interop.read_bif(DATA / "asia.bif", "xray").to_bif() or ""
    assert text.count("property") == 1  # the class
    assert "probability ( either | lung_cancer, tuberculosis ) {\n  (yes, yes) 1.0, 0.0;\n" in text


def test_numbers_are_no_names_and_stay_labels() -> None:
    """The reader of pyAgrum takes them for labels, but not for names."""
    X = pd.DataFrame({"2019": ["1", "2"], "#2019": ["<5", "5"]})
    network = tg.NaiveBayesClassifier().fit(X, [0, 1]).network_
    text = network.to_bif() or ""
    assert re.findall(r"variable (\w+)", text) == ["x_2019", "x_2019_2", "class"]
    assert "{ 1, 2 };" in text
    assert "{ 5, v_5 };" in text or "{ v_5, 5 };" in text
    assert_same(interop.read_bif(text), network)
    assert "<NAME>2019</NAME>" in (network.to_xmlbif() or "")


def test_labels_that_no_file_holds() -> None:
    network = tg.NaiveBayesClassifier().fit(pd.DataFrame({"x0": [(1, 2), (3, 4)]}), [0, 1]).network_
    with pytest.raises(ValueError, match=r"variable 'x0' has the value \(1, 2\) of type tuple"):
        network.to_bif()


def test_features_that_are_left_out_are_not_written() -> None:
    structure = tg.structure.FixedStructure([], leave_out=[1])
    network = tg.BayesNetClassifier(structure).fit([[0, 1], [1, 0]], ["p", "q"]).network_
    assert interop.read_bif(network.to_bif() or "").feature_names == ["x0"]
    assert network.to_classifier().network_.left_out == ["x1"]


def test_a_class_must_be_named() -> None:
    with pytest.raises(ValueError, match="class_name: required to select the class; the variables are 'asia', "):
        interop.read_bif(DATA / "asia.bif")
    with pytest.raises(ValueError, match="class_name: expected one of the variables 'asia'"):
        interop.read_bif(DATA / "asia.bif", "aisa")
    text = interop.read_bif(DATA / "asia.bif", "xray").to_bif() or ""
    assert interop.read_bif(text).class_name == "xray"
    assert interop.read_bif(text, "asia").class_name == "asia"


# ---------------------------------------------------------------------------------------------- networks that predict


def test_a_network_predicts_and_is_saved(tmp_path: Path) -> None:
    network = interop.read_bif(DATA / "asia.bif", "lung_cancer")
    clf = network.to_classifier()
    assert clf.classes_.tolist() == ["yes", "no"]  # in the order of the file
    rows = network.sample(20, random_state=1)
    X, y = rows.drop(columns="lung_cancer"), rows["lung_cancer"]
    expected = [network.posterior(row).values for row in X.to_dict("records")]
    np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=0, atol=1e-12)
    joint = [network.log_probability(row) for row in rows.to_dict("records")]
    assert network.log_likelihood(X, y) == pytest.approx(sum(joint), abs=1e-9)
    given = [np.log(p[label]) for p, label in zip(map(network.posterior, X.to_dict("records")), y, strict=True)]
    assert network.conditional_log_likelihood(X, y) == pytest.approx(sum(given), abs=1e-9)
    partly = X.mask(np.random.default_rng(0).random(X.shape) < 0.5)
    unknown = [network.posterior(row).values for row in partly.to_dict("records")]
    np.testing.assert_allclose(clf.predict_proba(partly), unknown, rtol=0, atol=1e-12)
    network.save(tmp_path / "asia.tng")
    for again in (tg.load(tmp_path / "asia.tng"), pickle.loads(pickle.dumps(clf))):
        np.testing.assert_array_equal(again.predict_proba(partly), clf.predict_proba(partly))
        assert_same(again.network_, network)
    model = _core.Model.load(tmp_path / "asia.tng")  # as C++ programs see it
    assert model.classes == ["yes", "no"]
    assert model.encode(0, "no") == 1


def test_a_clone_learns_the_same_structure() -> None:
    network = interop.read_bif(DATA / "asia.bif", "lung_cancer")
    rows = network.sample(20000, random_state=1)
    learned = clone(network.to_classifier()).fit(rows.drop(columns="lung_cancer"), rows["lung_cancer"]).network_
    assert sorted(learned.arcs) == sorted(network.arcs)
    assert learned.posterior({"xray": "yes"})["yes"] == pytest.approx(0.4887, abs=0.03)
    with pytest.raises(ValueError, match="without counts"):
        network.to_classifier().partial_fit(rows.drop(columns="lung_cancer"), rows["lung_cancer"])


def test_a_fitted_network_makes_the_same_classifier(mixed: tuple[tg.BayesNetClassifier, pd.DataFrame]) -> None:
    clf, X = mixed
    again = clf.network_.to_classifier()
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.feature_names_in_.tolist() == list(X.columns)


# ---------------------------------------------------------------------------------------------- graphs


class StandIn:
    """As much of networkx.DiGraph as is used, for where networkx is not installed."""

    def __init__(self, **attributes: Any):
        self.graph, self.nodes, self.edges = attributes, {}, {}

    def add_node(self, name: str, **attributes: Any) -> None:
        self.nodes[name] = attributes

    def add_edge(self, parent: str, child: str, **attributes: Any) -> None:
        self.edges[parent, child] = attributes


@pytest.mark.parametrize("real", [False, True])
def test_networkx(real: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if real:
        pytest.importorskip("networkx", reason="networkx is not installed")
    else:
        module = types.ModuleType("networkx")
        module.DiGraph = StandIn  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "networkx", module)
    network = interop.read_bif(DATA / "asia.bif", "lung_cancer")
    graph = network.to_networkx(strengths=True)
    assert sorted(graph.edges) == sorted(network.arcs)
    assert graph.nodes["asia"]["labels"] == ["yes", "no"]
    assert graph.nodes["asia"]["kind"] == "feature"
    assert graph.nodes["lung_cancer"]["kind"] == "class"
    assert graph.graph["class_name"] == "lung_cancer"
    assert graph.nodes["xray"]["table"][{"either": "yes", "xray": "yes"}] == 0.98
    assert graph.edges["either", "xray"]["strength"] == pytest.approx(arc_strength(network, "either", "xray"))
    assert "strength" not in network.to_networkx().edges["either", "xray"]


def test_strengths_are_conditional_mutual_information() -> None:
    network = interop.read_bif(DATA / "asia.bif", "lung_cancer")
    joint = network.posterior(None, ["bronchitis", "either", "dyspnoea"]).values
    expected = 0.0
    for b, e, d in np.ndindex(2, 2, 2):
        p = joint[b, e, d]
        expected += p * np.log(p * joint[b].sum() / (joint[b, e].sum() * joint[b, :, d].sum()))
    assert arc_strength(network, "either", "dyspnoea") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "package"),
    [
        (interop.to_pgmpy, "pgmpy"),
        (interop.to_pyagrum, "pyagrum"),
        (lambda network: network.to_networkx(), "networkx"),
    ],
)
def test_libraries_that_are_not_there(call: object, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = interop.read_bif(DATA / "asia.bif", "either")
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.models", None)
    with pytest.raises(ImportError, match=f"needs {package}; install it with: pip install {package}"):
        call(network)  # type: ignore[operator]


@pytest.mark.parametrize("read", [interop.from_pgmpy, interop.from_pyagrum])
def test_objects_that_are_none_of_theirs(read: object) -> None:
    with pytest.raises(TypeError, match=r"model: expected a .*, got dict"):
        read({}, "class")  # type: ignore[operator]


def test_variables_have_their_own_axis_last() -> None:
    network = interop.read_bif(DATA / "asia.bif", "bronchitis")
    found = {v.name: v for v in variables_of(network)}
    assert found["dyspnoea"].parents == ["either", "bronchitis"]
    np.testing.assert_array_equal(found["dyspnoea"].table[..., 0], [[0.9, 0.7], [0.8, 0.1]])
    assert list(found)[-1] == "bronchitis"


@pytest.mark.parametrize("export", [interop.to_pgmpy, interop.to_pyagrum])
def test_only_networks_are_exported(export):
    with pytest.raises(TypeError, match="network: expected a Network, got int"):
        export(3)
