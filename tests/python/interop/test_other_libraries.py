"""What pgmpy and pyAgrum make of our files, and we of theirs; skipped where they are not installed.

Numbers that they gave are in test_interop.py, and texts that they wrote in test_bif_reader.py: those always run.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from paths import DATA

import tanager as tg
from tanager import interop
from tanager.interop._bif_names import WrittenVariable, is_plain, is_plain_name, written
from tanager.interop._bif_writer import _is_xml_plain
from tanager.interop._variables import variables_of

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs, of what they will change

#: The answer of a library: P(name | evidence), by the names and labels of the file.
Answer = Callable[[str, dict[str, str]], np.ndarray]


def ask_pgmpy(path: Path) -> Answer:
    readers = import_module("pgmpy.readwrite")
    model = (readers.BIFReader if path.suffix == ".bif" else readers.XMLBIFReader)(str(path)).get_model()
    assert model.check_model()
    engine = import_module("pgmpy.inference").VariableElimination(model)

    def answer(name: str, evidence: dict[str, str]) -> np.ndarray:
        return engine.query([name], evidence=evidence, show_progress=False).values

    return answer


def ask_pyagrum(path: Path) -> Answer:
    gum = import_module("pyagrum")
    model = gum.loadBN(str(path))
    return lambda name, evidence: gum.getPosterior(model, evs=evidence, target=name).toarray()


PEERS = {"pgmpy": ask_pgmpy, "pyagrum": ask_pyagrum}


@pytest.fixture(params=PEERS)
def peer(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return request.param


def strange() -> tg.Network:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a b": rng.choice(["x y", 'q"t', "{b}", "c,d", "", "ü", "table", "<5", "日本"], 300),
            "table": rng.integers(-1, 2, size=300),
            "Table": rng.random(300) < 0.5,
            "größe": rng.normal(size=300),
            "x;y": rng.choice(["//", "/*"], 300),
        }
    )
    y = pd.Series(rng.choice(["variable", "probability", "a=b"], 300), name='the class; "q"')
    clf = tg.BayesNetClassifier("tan", discretizer=tg.EqualWidthDiscretizer(3), numeric_features=["größe"])
    return clf.fit(X, y).network_


NETWORKS: dict[str, Callable[[], tg.Network]] = {
    "alarm": lambda: interop.read_bif(DATA / "alarm.bif", "BP"),
    "asia": lambda: interop.read_bif(DATA / "asia.bif", "lung_cancer"),
    "strange": strange,
}


def cases(network: tg.Network, n: int) -> list[tuple[str, dict[str, Any]]]:
    """Draw questions: a variable, and the values of half of the others."""
    rng = np.random.default_rng(1)
    found = []
    for case in network.sample(n, random_state=2).to_dict("records"):
        asked, *others = rng.permutation(list(case)).tolist()
        found.append((asked, {name: case[name] for name in others[: len(others) // 2]}))
    return found


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("suffix", ["bif", "bifxml"])
def test_they_read_our_files(peer: str, name: str, suffix: str, tmp_path: Path) -> None:
    network = NETWORKS[name]()
    path = tmp_path / f"network.{suffix}"
    (network.to_bif if suffix == "bif" else network.to_xmlbif)(path)
    keep = (is_plain, is_plain_name) if suffix == "bif" else (_is_xml_plain, _is_xml_plain)
    shown: dict[str, WrittenVariable] = {
        w.source.name: w for w in written(variables_of(network), network.class_name, *keep)
    }
    answer = PEERS[peer](path)
    for asked, evidence in cases(network, 6):
        texts = {shown[n].name: shown[n].labels[shown[n].source.labels.index(v)] for n, v in evidence.items()}
        expected = network.posterior(evidence, asked).values
        np.testing.assert_allclose(answer(shown[asked].name, texts), expected, rtol=0, atol=1e-6)


def test_we_read_their_files(peer: str, tmp_path: Path) -> None:
    network = NETWORKS["asia"]()
    if peer == "pgmpy":
        writers = import_module("pgmpy.readwrite")
        model = interop.to_pgmpy(network)
        writers.BIFWriter(model).write(str(tmp_path / "network.bif"))
        writers.XMLBIFWriter(model).write(str(tmp_path / "network.xml"))
    else:
        gum = import_module("pyagrum")
        model = interop.to_pyagrum(network)
        gum.saveBN(model, str(tmp_path / "network.bif"))
        gum.saveBN(model, str(tmp_path / "network.bifxml"))
        (tmp_path / "network.bifxml").rename(tmp_path / "network.xml")
    found = [
        interop.read_bif(tmp_path / "network.bif", "lung_cancer"),
        interop.read_xmlbif(tmp_path / "network.xml", "lung_cancer"),
    ]
    for again in found:
        assert sorted(again.arcs) == sorted(network.arcs)
        for asked, evidence in cases(network, 6):
            expected = network.posterior(evidence, asked)
            assert again.posterior(evidence, asked).to_dict() == pytest.approx(expected.to_dict(), abs=1e-6)


@pytest.mark.parametrize("name", NETWORKS)
def test_objects_there_and_back(peer: str, name: str) -> None:
    network = NETWORKS[name]()
    if peer == "pgmpy":
        model = interop.to_pgmpy(network)
        assert model.check_model()
        again = interop.from_pgmpy(model, network.class_name)
    else:
        again = interop.from_pyagrum(interop.to_pyagrum(network), network.class_name)
    assert sorted(again.arcs) == sorted(network.arcs)
    for variable in [*network.features, network.class_name]:
        ours, theirs = network.cpt(variable), again.cpt(variable)
        assert set(ours.names) == set(theirs.names)
        index = [theirs.names.index(n) for n in ours.names]
        np.testing.assert_array_equal(np.transpose(theirs.values, index), ours.values)
        labels = [theirs.labels[i] for i in index]
        assert [list(map(str, known)) for known in labels] == [list(map(str, known)) for known in ours.labels]


def test_tables_of_pgmpy_may_have_states_in_any_order() -> None:
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    models, factors = import_module("pgmpy.models"), import_module("pgmpy.factors.discrete")
    model = models.DiscreteBayesianNetwork([("a", "b")])
    states_a = {"a": ["x", "y"]}
    model.add_cpds(
        factors.TabularCPD("a", 2, [[0.2], [0.8]], state_names=states_a),
        factors.TabularCPD(
            "b", 2, [[0.1, 0.6], [0.9, 0.4]], evidence=["a"], evidence_card=[2],
            state_names={"b": [0, 1], "a": ["y", "x"]},
        ),
    )  # fmt: skip
    network = interop.from_pgmpy(model, "b")
    assert network.cpt("b")[{"a": "y", "b": 0}] == 0.1
    assert network.posterior({"a": "x"})[0] == pytest.approx(0.6)
    model.remove_cpds("a")
    with pytest.raises(ValueError, match="the variable 'a' has no table"):
        interop.from_pgmpy(model, "b")
