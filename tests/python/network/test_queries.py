"""Questions to networks: against the full joint distribution, against pyAgrum's answers, and as users ask them."""

from __future__ import annotations

import itertools
import json
import pickle
import re
import signal
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import DATA
from sklearn.exceptions import ConvergenceWarning

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as sr
from tanager.interop import read_bif

MISSING = 65535

# ---------------------------------------------------------------------------------------------- the core


@dataclass
class Joint:
    """A network, and the probabilities of all its cases: an axis for every feature, and the class last."""

    network: _core.Network
    values: npt.NDArray[np.float64]


def draw_joint(random: np.random.Generator) -> Joint:
    """Draw a network of up to 8 variables with the class anywhere."""
    n = int(random.integers(1, 8))
    sizes = [*random.integers(1, 4 if n < 6 else 3, size=n).tolist(), int(random.integers(1, 4))]
    order = random.permutation(n + 1).tolist()
    zeros = random.random() < 0.3
    most = int(random.integers(0, 4))
    parents: list[list[int]] = [[] for _ in range(n + 1)]
    tables: list[Any] = [None] * (n + 1)
    joint = np.ones(sizes)
    for i, v in enumerate(order):
        chosen = random.choice(i, size=min(i, int(random.integers(0, most + 1))), replace=False) if i else []
        parents[v] = [order[k] for k in chosen]
        given = sorted(p for p in parents[v]) if v == n else [p for p in parents[v] if p != n]
        has_class = n in parents[v]
        axes = [*given, v, *([n] if has_class else [])]
        table = random.random([sizes[a] for a in axes]) + 0.02
        if zeros:
            table[random.random(table.shape) < 0.25] = 0
            table = np.where(table.sum(axis=len(given), keepdims=True) > 0, table, 1)
        table /= table.sum(axis=len(given), keepdims=True)
        parents[v], tables[v] = given, np.ascontiguousarray(table)
        joint = joint * np.transpose(table, np.argsort(axes)).reshape(
            [sizes[a] if a in axes else 1 for a in range(n + 1)]
        )
    children = [tables[f].ndim == len(parents[f]) + 2 for f in range(n)]
    structure = _core.Structure(parents[:n], children, parents[n])
    return Joint(_core.Network(structure, sizes[:n], tables[n], tables[:n]), joint)


def draw_evidence(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[npt.NDArray[np.uint16], int | None]:
    """Draw codes of some features, and perhaps the class."""
    share = random.random() * 1.1
    codes = np.array([random.integers(r) if random.random() < share else MISSING for r in shape[:-1]], dtype=np.uint16)
    return codes, int(random.integers(shape[-1])) if random.random() < 0.3 else None


def restricted(joint: Joint, codes: npt.NDArray[np.uint16], target: int | None) -> npt.NDArray[np.float64]:
    """Return the probabilities of the cases that agree with the evidence, zero elsewhere."""
    result = joint.values
    for axis, code in enumerate([*codes.tolist(), MISSING if target is None else target]):
        if code != MISSING:
            mask = np.zeros(result.shape[axis])
            mask[code] = 1
            result = result * mask.reshape([-1 if a == axis else 1 for a in range(result.ndim)])
    return result


@settings(max_examples=1200, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
@pytest.mark.slow
def test_answers_match_the_full_joint(seed: int) -> None:
    random = np.random.default_rng(seed)
    joint = draw_joint(random)
    queries = _core.Queries(joint.network)
    predictor = _core.NetworkPredictor(joint.network)
    n = joint.values.ndim - 1
    for _ in range(4):
        codes, target = draw_evidence(random, joint.values.shape)
        possible = restricted(joint, codes, target)
        total = possible.sum()
        if total == 0:
            assert queries.log_probability(codes, target) == -np.inf
            with pytest.raises(ValueError, match="the evidence has probability zero"):
                queries.posterior(codes, target, [n])
            continue
        assert queries.log_probability(codes, target) == pytest.approx(np.log(total), abs=1e-12)
        variables = random.permutation(n + 1)[: random.integers(1, 4)].tolist()
        expected = np.transpose(
            possible.sum(axis=tuple(a for a in range(n + 1) if a not in variables)), np.argsort(np.argsort(variables))
        )
        np.testing.assert_allclose(queries.posterior(codes, target, variables), expected / total, rtol=0, atol=1e-13)
        found, best, log_probability = queries.most_probable(codes, target)
        assert joint.values[(*found.tolist(), best)] == pytest.approx(possible.max(), rel=1e-12)
        assert log_probability == pytest.approx(np.log(possible.max()), abs=1e-12)
        columns = [np.array([c], dtype=np.uint16) for c in codes]
        by_class = restricted(joint, codes, None).reshape(-1, joint.values.shape[-1]).sum(axis=0)
        np.testing.assert_allclose(
            predictor.predict(columns, 1, "posterior")[0], by_class / by_class.sum(), rtol=0, atol=1e-13
        )


def test_samples_follow_the_distribution_and_not_the_threads() -> None:
    random = np.random.default_rng(5)
    joint = draw_joint(random)
    while joint.values.ndim < 5 or joint.values.size > 100:
        joint = draw_joint(random)
    queries = _core.Queries(joint.network)
    nothing = np.full(joint.values.ndim - 1, MISSING, dtype=np.uint16)
    drawn = queries.sample(nothing, None, 20000, 3)
    assert np.array_equal(drawn, queries.sample(nothing, None, 20000, 3, threads=3))
    assert not np.array_equal(drawn, queries.sample(nothing, None, 20000, 4))
    frequency = np.zeros(joint.values.shape)
    np.add.at(frequency, tuple(drawn), 1 / 20000)
    spread = np.sqrt(joint.values * (1 - joint.values) / 20000)
    assert (np.abs(frequency - joint.values) <= 5 * spread + 1e-12).all()


# ---------------------------------------------------------------------------------------------- a published network


@pytest.mark.parametrize("class_name", ["HYPOVOLEMIA", "VENTLUNG", "BP"])
def test_alarm_gives_the_answers_of_pyagrum(class_name: str) -> None:
    """tests/data/make_alarm_posteriors.py recorded the answers; which variable is the class changes none of them."""
    network = read_bif(DATA / "alarm.bif", class_name)
    assert len(network.arcs) == 46
    assert network.n_parameters == 509
    for question in json.loads((DATA / "alarm_posteriors.json").read_text()):
        evidence = question["evidence"]
        assert network.log_probability(evidence) == pytest.approx(question["log_probability"], abs=1e-12)
        for name, expected in question["posteriors"].items():
            np.testing.assert_allclose(network.posterior(evidence, name).values, expected, rtol=0, atol=1e-13)
        joint = network.posterior(evidence, question["joint"]["names"])
        np.testing.assert_allclose(joint.values, question["joint"]["values"], rtol=0, atol=1e-13)


def test_alarm_gives_the_answers_of_numpy() -> None:
    """The product of all tables, summed by NumPy."""
    network = read_bif(DATA / "alarm.bif", "VENTLUNG")
    cpts = [network.cpt(name) for name in network.families]
    labels = {cpt.variable: cpt.labels[cpt.names.index(cpt.variable)] for cpt in cpts}
    axis = {name: i for i, name in enumerate(labels)}
    tables: list[Any] = []
    for cpt in cpts:
        tables += [cpt.values, [axis[name] for name in cpt.names]]
    for question in json.loads((DATA / "alarm_posteriors.json").read_text())[::3]:
        observed: list[Any] = []
        for name, label in question["evidence"].items():
            observed += [np.array([float(value == label) for value in labels[name]]), [axis[name]]]
        names = question["joint"]["names"]
        joint = np.einsum(*tables, *observed, [axis[name] for name in names], optimize="greedy")
        found = network.posterior(question["evidence"], names)
        np.testing.assert_allclose(found.values, joint / joint.sum(), rtol=0, atol=1e-13)
        assert network.log_probability(question["evidence"]) == pytest.approx(np.log(joint.sum()), abs=1e-12)


def test_most_probable_case_of_alarm() -> None:
    network = read_bif(DATA / "alarm.bif", "VENTLUNG")
    question = json.loads((DATA / "alarm_posteriors.json").read_text())[-1]
    found = network.most_probable(question["evidence"])
    assert found.items() >= question["evidence"].items()
    free = [name for name in found if name not in question["evidence"]]
    domains = [list(network.posterior(None, name).to_dict()) for name in free]
    cases = [{**question["evidence"], **dict(zip(free, values, strict=True))} for values in itertools.product(*domains)]
    assert max(map(network.log_probability, cases)) == pytest.approx(network.log_probability(found), abs=1e-12)


# ---------------------------------------------------------------------------------------------- as users ask


@pytest.fixture(scope="module")
def fitted() -> tg.BayesNetClassifier:
    """A TAN of colors, sizes and a number that decides the class; one column is constant."""
    random = np.random.default_rng(0)
    color = random.choice(["red", "green", "blue"], size=400)
    size = np.where(random.random(400) < 0.7, np.where(color == "red", "S", "L"), "M")
    weight = random.normal(size=400) + (size == "L")
    y = np.where(weight + random.normal(size=400) / 4 > 0.5, "yes", "no")
    X = np.array([color, size, weight, np.full(400, "x")], dtype=object).T
    frame = pd.DataFrame(X, columns=["color", "size", "weight", "same"])
    frame["weight"] = frame["weight"].astype(float)
    return tg.BayesNetClassifier(structure=sr.ChowLiu()).fit(frame, y)


def test_class_posterior_is_what_prediction_gives(fitted: tg.BayesNetClassifier) -> None:
    network = fitted.network_
    rows = pd.DataFrame(
        {"color": ["red", None], "size": [None, "L"], "weight": [0.25, np.nan], "same": ["x", "x"]}, index=[5, 6]
    )
    for row, expected in zip(rows.to_dict("records"), fitted.predict_proba(rows), strict=True):
        posterior = network.posterior(row)
        np.testing.assert_allclose(posterior.values, expected, rtol=0, atol=1e-14)
        assert posterior.names == ("class",)
        assert posterior["yes"] == posterior[{"class": "yes"}] == posterior.to_dict()["yes"]
    np.testing.assert_allclose(network.posterior().values, network.cpt("class").values)


def test_joint_posteriors_are_labeled(fitted: tg.BayesNetClassifier) -> None:
    network = fitted.network_
    joint = network.posterior({"class": "yes"}, ["weight", "color"])
    assert joint.values.shape == (len(joint.labels[0]), 3)
    assert joint.values.sum() == pytest.approx(1)
    marginal = joint[{"color": "red"}]
    assert np.sum(marginal) == pytest.approx(network.posterior({"class": "yes"}, "color")["red"])
    assert joint.labels[0] == network.cpt("weight").labels[network.cpt("weight").names.index("weight")]
    assert joint.to_dict()[joint.labels[0][0], "red"] == joint[{"weight": joint.labels[0][0], "color": "red"}]
    series = joint.to_series()
    assert series.loc[(joint.labels[0][0], "blue")] == joint[{"weight": joint.labels[0][0], "color": "blue"}]
    assert repr(network.posterior(None, "color")).startswith("P(color)\n")
    # Bayes' rule, by way of ln P(evidence).
    both = network.log_probability({"color": "red", "class": "yes"}) - network.log_probability({"class": "yes"})
    assert np.exp(both) == pytest.approx(network.posterior({"class": "yes"}, "color")["red"])
    with pytest.raises(
        TypeError, match="expected a dict of variable names and labels as the index of 2 variables, got str"
    ):
        joint["red"]
    with pytest.raises(KeyError, match="the distribution has no axis 'size'; its variables are weight, color"):
        joint[{"size": "L"}]
    with pytest.raises(KeyError, match="'color' has no value 'pink'"):
        joint[{"color": "pink"}]


def test_numbers_and_intervals_are_evidence(fitted: tg.BayesNetClassifier) -> None:
    network = fitted.network_
    labels = network.posterior(None, "weight").labels[0]
    assert len(labels) > 1
    assert network.posterior({"weight": 99}, "weight")[labels[-1]] == 1
    np.testing.assert_array_equal(
        network.posterior({"weight": 99}).values, network.posterior({"weight": labels[-1]}).values
    )
    with pytest.raises(ValueError, match="evidence: expected a number for the discretized feature 'weight', got"):
        network.posterior({"weight": [1]})


def test_most_probable_case_agrees_with_the_evidence(fitted: tg.BayesNetClassifier) -> None:
    network = fitted.network_
    found = network.most_probable({"color": "green"})
    assert list(found) == [*network.features, "class"]
    assert found["color"] == "green"
    for name in ("size", "weight", "class"):
        for other in network.posterior(None, name).labels[0]:
            assert network.log_probability({**found, name: other}) <= network.log_probability(found)


def test_samples_look_like_the_table(fitted: tg.BayesNetClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    network = fitted.network_
    frame = network.sample(3000, random_state=1)
    assert list(frame.columns) == [*network.features, "class"]
    assert frame.equals(network.sample(3000, random_state=1))
    for name in frame.columns:
        expected = network.posterior(None, name)
        counts = frame[name].value_counts(normalize=True)
        for label in expected.labels[0]:
            assert counts.get(label, 0.0) == pytest.approx(expected[label], abs=0.05)
    assert set(network.sample(50, random_state=1, evidence={"color": "red", "weight": 0.1})["color"]) == {"red"}
    assert len(network.sample(0)) == 0
    again = tg.BayesNetClassifier().fit(frame[["color", "size"]], frame["class"])
    assert set(again.classes_) == {"no", "yes"}
    monkeypatch.setitem(sys.modules, "pandas", None)
    arrays = network.sample(3000, random_state=1)
    assert isinstance(arrays, dict)
    assert arrays["color"].tolist() == frame["color"].tolist()
    with pytest.raises(ValueError, match="n: expected an integer >= 0, got -1"):
        network.sample(-1)


def test_drawing_can_be_interrupted(fitted: tg.BayesNetClassifier) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    begin = time.process_time()
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            fitted.network_.sample(20_000_000, random_state=0)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.process_time() - begin < 5  # all of it takes far longer


def test_wrong_questions_are_answered_with_one_sentence(fitted: tg.BayesNetClassifier) -> None:
    network = fitted.network_
    with pytest.raises(
        ValueError, match="evidence: expected one of the values of 'color', 'blue', 'green', 'red', got 'pink'"
    ):
        network.posterior({"color": "pink"})
    with pytest.raises(ValueError, match="evidence: expected one of the values of 'class', 'no', 'yes', got 'maybe'"):
        network.log_probability({"class": "maybe"})
    with pytest.raises(KeyError, match="the network has no variable 'shade'"):
        network.most_probable({"shade": "red"})
    with pytest.raises(KeyError, match="the network has no variable 'shape'"):
        network.posterior({}, "shape")
    with pytest.raises(TypeError, match="evidence: expected a dict of variable names and labels, got list"):
        network.posterior(["red"])
    with pytest.raises(ValueError, match="query: expected at least one variable"):
        network.posterior({}, [])
    with pytest.raises(ValueError, match="got 'color' more than once"):
        network.posterior({}, ["color", "size", "color"])
    with pytest.raises(TypeError, match="query: expected a name or a list of names, got int"):
        network.posterior({}, 3)
    with pytest.raises(ValueError, match="evidence: expected a number for the discretized feature 'weight', got"):
        network.posterior({"weight": 10**400})
    for n in (2**62, 2**70):
        with pytest.raises(MemoryError, match=f"^n: expected at most .* samples of this network, got {n}$"):
            network.sample(n)


def test_impossible_evidence_is_reported() -> None:
    X, y = np.array([[0, 0], [1, 1], [0, 0], [1, 1]]), np.array([0, 0, 1, 1])
    fixed = sr.FixedStructure([("x0", "x1")])
    network = tg.BayesNetClassifier(fixed, "maximum-likelihood").fit(X, y).network_
    assert network.log_probability({"x0": 0, "x1": 1}) == -np.inf
    for ask in (network.posterior, network.most_probable, lambda e: network.sample(1, evidence=e)):
        with pytest.raises(ValueError, match="the evidence has probability zero under this network"):
            ask({"x0": 0, "x1": 1})


def test_columns_left_out_are_no_variables() -> None:
    random = np.random.default_rng(2)
    X = random.integers(2, size=(200, 3))
    clf = tg.BayesNetClassifier(sr.ForwardJoin(epsilon=0.2), random_state=0).fit(X, X[:, 1])
    network = clf.network_
    assert network.left_out
    name = network.left_out[0]
    np.testing.assert_array_equal(network.posterior({name: 7}).values, network.posterior().values)
    assert name not in network.most_probable()
    assert name not in network.sample(3)
    with pytest.raises(KeyError, match=f"no variable '{name}'"):
        network.posterior({}, name)


@pytest.fixture(scope="module")
def tangled() -> tuple[tg.BayesNetClassifier, pd.DataFrame]:
    """A classifier that has to hold three features of 40 values together where those are missing, and such rows."""
    random = np.random.default_rng(3)
    X = np.column_stack([random.permutation(np.arange(40).repeat(2)) for _ in range(3)])
    X = np.column_stack([X, random.integers(2, size=(80, 3))])
    arcs = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("a", "z"), ("c", "z")]
    frame = pd.DataFrame(X, columns=list("abcxyz"))
    clf = tg.BayesNetClassifier(sr.FixedStructure(arcs)).fit(frame, X[:, 3])
    holes = frame.iloc[:2].astype(float)
    holes.loc[:, ["a", "b", "c"]] = np.nan
    return clf, holes


#: All cliques: of 40 * 40 * 40 values for each of two classes, of 40 * 40 and of 40.
NEEDED = 2 * (40**3 + 40**2 + 40)
REFUSED = (
    f"takes {NEEDED} cells, but max_cells allows {NEEDED - 1}; the features 'a', 'b', 'c' have to be held together in a "
    f"clique of 128000 cells; set max_cells to {NEEDED} or more"
)


def test_the_limit_of_exact_inference_is_a_setting_of_the_network(tangled: Any) -> None:
    clf, holes = tangled
    clf = pickle.loads(pickle.dumps(clf))
    network = clf.network_
    assert network.max_cells == 2**24
    evidence = {"x": 0, "y": 0, "z": 1}
    asked = (
        lambda: network.posterior(evidence).values,
        lambda: network.log_probability(evidence),
        lambda: list(network.most_probable(evidence).values()),
        lambda: network.sample(3, 1, evidence).to_numpy(),
        lambda: clf.predict_proba(holes),
        lambda: clf.predict(holes),
        lambda: network.log_likelihood(holes, clf.classes_[:2]),
        lambda: clf.explain(holes).log_odds,
    )
    expected = [ask() for ask in asked]
    network.max_cells = NEEDED - 1
    for ask in asked:
        with pytest.raises(ValueError, match=re.escape(REFUSED)):
            ask()
    assert network.posterior({"x": 0, "y": 0}).values.sum() == pytest.approx(1)  # z ties nothing
    with pytest.raises(ValueError, match=f"max_cells allows {NEEDED - 1}"):
        pickle.loads(pickle.dumps(clf)).predict(holes)
    network.max_cells = np.int64(NEEDED)
    for ask, answer in zip(asked, expected, strict=True):
        np.testing.assert_array_equal(ask(), answer)


def test_the_limit_holds_for_loaded_and_converted_models(tangled: Any, tmp_path: Path) -> None:
    clf, holes = tangled
    expected = clf.predict_proba(holes)
    clf.save(tmp_path / "model.tng")
    for found in (tg.load(tmp_path / "model.tng"), tg.interop.read_bif(clf.network_.to_bif()).to_classifier()):
        found.network_.max_cells = NEEDED - 1
        with pytest.raises(ValueError, match=re.escape(REFUSED)):
            found.predict_proba(holes)
        found.network_.max_cells = 2**32 - 1
        np.testing.assert_array_equal(found.predict_proba(holes), expected)


@pytest.mark.parametrize("wrong", [0, -1, 2**32, 2.0, "5", None, True])
def test_invalid_limits_are_rejected(tangled: Any, wrong: Any) -> None:
    network = tangled[0].network_
    with pytest.raises(ValueError, match=f"max_cells: expected an integer from 1 to 4,294,967,295, got {wrong!r}"):
        network.max_cells = wrong
    assert network.max_cells == 2**24


@pytest.mark.parametrize("learner", [pr.EM, pr.APN, pr.ELR])
def test_learners_from_incomplete_rows_have_the_same_limit(tangled: Any, learner: Any) -> None:
    clf, holes = tangled
    settings = {"max_iter": 1, **({"tune_by": None} if learner is pr.ELR else {})}
    rows = pd.concat([clf.network_.sample(20, 0).drop(columns="class").astype(float), holes])
    y = np.arange(len(rows)) % 2

    def fit(max_cells: Any) -> tg.BayesNetClassifier:
        parameters = learner(max_cells=max_cells, **settings)
        return tg.BayesNetClassifier(clf.structure, parameters, categories=dict.fromkeys("abc", range(40))).fit(rows, y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert learner().max_cells == 2**24
        fit(NEEDED)
        with pytest.raises(ValueError, match=re.escape(REFUSED)):
            fit(NEEDED - 1)
        with pytest.raises(ValueError, match="max_cells: expected an integer from 1"):
            fit(0)


def test_questions_do_not_get_into_pickles(fitted: tg.BayesNetClassifier) -> None:
    before = fitted.network_.posterior({"color": "red"})
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.network_.posterior({"color": "red"}).values, before.values)
