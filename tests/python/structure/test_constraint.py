"""Learners by tests of independence against plain versions, known networks, and any order of columns."""

from __future__ import annotations

import sys
from functools import partial
from threading import Event

import constraint_reference as reference
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from interrupts import interrupted
from scipy.stats import chi2

import tanager as tg
from tanager import _core
from tanager import structure as st
from tanager._utils.progress import stopping

MISSING = reference.MISSING
LEARNERS = {"pc": st.ConstraintAugmented, "three-phase": st.ThreePhase}


def random_codes(seed, rows=300, features=5, values=3, classes=2, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    X = rng.integers(values, size=(rows, features))
    for f in range(1, features):
        other = rng.integers(f)
        X[:, f] = np.where(rng.random(rows) < 0.6, (X[:, other] + y * (f % 2)) % values, X[:, f])
    X[rng.random(X.shape) < missing] = MISSING
    return X.astype(np.uint8), y.astype(np.uint8)


def dataset_of(X, y, sizes, n_classes, weights=None):
    return _core.Dataset(list(np.ascontiguousarray(X.T)), sizes, y, n_classes, weights)


def learn(core, dataset, **options):
    given_ = {"test": "mutual-information", "threshold": None, "max_parents": 5, "max_conditioning": 3, "min_rows": 5.0}
    given_ |= {"tie_order": [], **options}
    return core(dataset, **given_)


def as_objects(X):
    table = X.astype(object)
    table[X == MISSING] = None
    return table


def arcs_by_name(clf):
    return set(clf.network_.arcs)


def edges_by_name(clf):
    return {frozenset(arc) for arc in clf.network_.arcs}


# -- tests of independence


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_strengths_by_brute_force(missing, weighted):
    X, y = random_codes(1, rows=150, missing=missing)
    weights = np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else np.ones(len(y))
    dataset = dataset_of(X, y, [3] * 5, 2, weights if weighted else None)
    columns = [*X.T, y]
    for given_ in ((), (2,), (2, 4), (2, 3, 4)):
        for given_class in (False, True):
            all_given = (*given_, 5) if given_class else given_
            expected = reference.dependence(columns, weights, 0, 1, all_given)
            *found, strength = _core.dependence(dataset, 0, 1, list(given_), "g2", given_class, 0.0)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
            assert strength == pytest.approx(-chi2.logsf(2 * expected[1] * expected[0], expected[3]), rel=1e-9)


@settings(max_examples=200, deadline=None)
@given(hs.floats(1e-3, 1e4), hs.integers(1, 3000))
def test_p_values_of_any_size(g2, degrees):
    expected = chi2.logsf(g2, degrees)
    if np.isfinite(expected):  # SciPy's tail has not underflowed
        assert _core.log_p_value(g2, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_p_values_that_underflow():
    for g2 in (1e4, 1e6, 1e9):
        assert _core.log_p_value(g2, 2) == pytest.approx(-g2 / 2, rel=1e-14)
        # Q(2, x) = (1 + x) exp(-x)
        assert _core.log_p_value(g2, 4) == pytest.approx(np.log1p(g2 / 2) - g2 / 2, rel=1e-14)
    assert _core.log_p_value(3.0, 0) == 0.0


# -- the same structures as plain versions


@pytest.mark.parametrize("kind", ["mutual-information", "g2"])
@settings(max_examples=15, deadline=None)
@given(
    seed=hs.integers(0, 2**32 - 1),
    rows=hs.sampled_from([10, 40, 200]),
    missing=hs.booleans(),
    weighted=hs.booleans(),
    most=hs.integers(0, 3),
)
def test_structure_by_brute_force(kind, seed, rows, missing, weighted, most):
    X, y = random_codes(seed, rows=rows, values=2 + seed % 2, missing=0.1 * missing)
    weights = np.random.default_rng(seed).integers(1, 4, rows).astype(float) if weighted else None
    threshold = {"mutual-information": 0.02, "g2": -np.log(0.1)}[kind]
    dataset = dataset_of(X, y, [3] * 5, 2, weights)
    options = {"test": kind, "threshold": threshold, "max_parents": None, "max_conditioning": most, "min_rows": 2.0}
    structure, _, _ = learn(_core.learn_constraint_augmented, dataset, **options)
    expected = reference.constraint_augmented([*X.T, y], [3] * 5, weights, kind, threshold, most, 2.0)
    assert structure.parents == expected


# -- any order of columns


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=40, deadline=None)
@given(data=hs.data(), seed=hs.integers(0, 2**32 - 1), rows=hs.sampled_from([8, 20, 100, 400]))
def test_any_order_of_columns(name, data, seed, rows):
    # Few rows and values: ties abound. Two columns are equal, and one has a single value.
    X, y = random_codes(seed, rows=rows, features=6, values=2, missing=0.1 * (seed % 3 == 0))
    X[:, 4], X[:, 5] = X[:, 0], 0
    names = list("abcdef")
    order = data.draw(hs.permutations(range(6)))
    settings_ = data.draw(
        hs.sampled_from([{}, {"threshold": 0.02, "max_parents": None}, {"test": "g2", "significance": 0.2}])
    )
    learner = LEARNERS[name](max_conditioning=2, min_rows=1.0, **{"max_parents": None, **settings_})
    weights = np.random.default_rng(seed).uniform(0.5, 2, rows) if seed % 2 else None
    frame = pd.DataFrame(as_objects(X), columns=names)
    one = tg.BayesNetClassifier(learner).fit(frame, y, sample_weight=weights)
    other = tg.BayesNetClassifier(learner).fit(frame[[names[i] for i in order]], y, sample_weight=weights)
    assert arcs_by_name(one) == arcs_by_name(other)


# -- known networks


def asia(rows, seed):
    """Lauritzen and Spiegelhalter's network with stronger arcs: visits and smoking are common enough to be seen."""
    rng = np.random.default_rng(seed)

    def draw(p):
        return (rng.random(rows) < p).astype(np.uint8)

    visit, smoke = draw(0.4), draw(0.5)
    tub, lung, bronc = draw(0.1 + 0.5 * visit), draw(0.1 + 0.4 * smoke), draw(0.2 + 0.6 * smoke)
    either = draw(0.03 + 0.94 * (tub | lung))
    xray, dysp = draw(0.05 + 0.9 * either), draw(0.1 + 0.3 * bronc + 0.2 * either + 0.35 * (bronc & either))
    columns = {"visit": visit, "smoke": smoke, "tub": tub, "lung": lung, "bronc": bronc}
    return pd.DataFrame({**columns, "either": either, "xray": xray, "dysp": dysp})


ASIA = {
    *(("visit", "tub"), ("smoke", "lung"), ("smoke", "bronc"), ("tub", "either"), ("lung", "either")),
    *(("either", "xray"), ("either", "dysp"), ("bronc", "dysp")),
}


@pytest.mark.parametrize("test", [{"threshold": 0.001}, {"test": "g2", "significance": 1e-4}])
def test_three_phases_find_a_known_network(test):
    rows = asia(50_000, 1)
    y = rows.pop("dysp")
    clf = tg.BayesNetClassifier(st.ThreePhase(**test)).fit(rows, y)
    assert edges_by_name(clf) == {frozenset(arc) for arc in ASIA}
    assert {("tub", "either"), ("lung", "either"), ("either", "dysp"), ("bronc", "dysp")} <= arcs_by_name(clf)
    assert set(clf.network_.parents("dysp")) == {"either", "bronc"}


@pytest.mark.parametrize("test", [{"threshold": 0.001}, {"test": "g2", "significance": 1e-4}])
def test_pc_finds_a_known_network(test):
    # A class that moves nothing: given it or not, the features depend on each other alike.
    rows = asia(50_000, 2)
    y = np.random.default_rng(3).integers(2, size=len(rows))
    network = tg.BayesNetClassifier(st.ConstraintAugmented(**test)).fit(rows, y).network_
    assert {frozenset(arc) for arc in network.feature_arcs} == {frozenset(arc) for arc in ASIA}
    assert {("tub", "either"), ("lung", "either"), ("either", "dysp"), ("bronc", "dysp")} <= set(network.feature_arcs)
    assert all("class" in network.parents(name) for name in rows)


# -- thresholds and limits


@pytest.mark.parametrize("core", [_core.learn_constraint_augmented, _core.learn_three_phase])
@pytest.mark.parametrize("kind", ["mutual-information", "g2"])
def test_threshold_is_lowered_as_far_as_parents_allow(core, kind):
    X, y = random_codes(4, rows=400, features=8)
    dataset = dataset_of(X, y, [3] * 8, 2)

    def most_parents(structure):
        own = [
            len(found) + (core is _core.learn_three_phase) * child
            for found, child in zip(structure.parents, structure.class_children, strict=True)
        ]
        return max([*own, len(structure.class_parents)])

    steps = [s * 10.0**d for d in range(-4, 6) for s in (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)]
    grid = steps[:50]
    if kind == "g2":
        grid = [-np.log(0.05), *(s * np.log(10) for s in steps[40:] if s > 1.3)]
    for limit in (0, 1, 2):
        structure, threshold, _ = learn(core, dataset, test=kind, max_parents=limit)
        assert most_parents(structure) <= limit
        place = int(np.argmin(np.abs(np.array(grid) - threshold)))
        same, _, _ = learn(core, dataset, test=kind, threshold=threshold, max_parents=limit)
        assert same == structure
        for lower in grid[max(0, place - 2) : place]:
            other, _, _ = learn(core, dataset, test=kind, threshold=lower, max_parents=None)
            assert most_parents(other) > limit
    _, lowest, _ = learn(core, dataset, test=kind, max_parents=None)
    assert lowest == pytest.approx(grid[0])


@pytest.mark.parametrize("name", LEARNERS)
def test_the_threshold_is_shown(name, tmp_path):
    X, y = random_codes(4, rows=400, features=8)
    clf = tg.BayesNetClassifier(LEARNERS[name](max_parents=2)).fit(X, y)
    found = clf.dependence_threshold_
    arcs = clf.network_.arcs
    assert 0.0001 < found < 8
    assert clf.set_params(structure=LEARNERS[name](threshold=found)).fit(X, y).network_.arcs == arcs
    assert clf.dependence_threshold_ == found
    clf.set_params(structure=LEARNERS[name](test="g2", significance=0.01, max_parents=None)).fit(X, y)
    assert clf.dependence_threshold_ == -np.log(0.01)
    clf.set_params(structure="naive").fit(X, y)
    assert not hasattr(clf, "dependence_threshold_")
    clf.save(tmp_path / "plain.tng")
    assert not hasattr(tg.load(tmp_path / "plain.tng"), "dependence_threshold_")


LONG = """
import signal
import numpy as np, tanager as tg
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what runs in the background without it
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, (3000, 60)), rng.integers(0, 2, 3000)
clf = tg.BayesNetClassifier(tg.structure.{0}(threshold=0.0, max_parents=None, min_rows=0.0), n_jobs={1})
print("ready", flush=True)
clf.fit(X, y)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a single process")
@pytest.mark.parametrize(("name", "n_jobs"), [("ConstraintAugmented", 1), ("ThreePhase", 2)])
@pytest.mark.slow
def test_ctrl_c_ends_the_tests(name, n_jobs):
    assert interrupted(LONG.format(name, n_jobs), after=1) == "KeyboardInterrupt"


def test_too_many_parents_are_reported_by_name():
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(4000, 4))
    X[:, 3] = X[:, :3].sum(axis=1) % 4
    frame, y = pd.DataFrame(X, columns=["a", "b", "c", "sum"]), rng.integers(2, size=4000)
    learner = st.ConstraintAugmented(threshold=0.02, max_parents=2)
    with pytest.raises(
        ValueError, match=r"'sum' would have 3 parents at threshold=0.02, but max_parents is 2; increase"
    ):
        tg.BayesNetClassifier(learner).fit(frame, y)
    network = tg.BayesNetClassifier(learner.set_params(max_parents=3)).fit(frame, y).network_
    assert network.parents("sum") == ["a", "b", "c", "class"]


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"test": "chi2"}, ValueError, "test: expected one of 'mutual-information', 'g2', got 'chi2'"),
        ({"threshold": -0.1}, ValueError, "threshold: expected 'auto' or a finite number >= 0, got -0.1"),
        ({"threshold": float("nan")}, ValueError, "threshold: expected 'auto' or a finite number >= 0, got nan"),
        ({"threshold": "small"}, ValueError, "threshold: expected 'auto' or a finite number >= 0, got 'small'"),
        ({"threshold": None}, TypeError, "threshold: expected a number, got None"),
        (
            {"test": "g2", "significance": 0},
            ValueError,
            "significance: expected 'auto' or a number between 0 and 1, got 0",
        ),
        (
            {"test": "g2", "significance": 1.0},
            ValueError,
            "significance: expected 'auto' or a number between 0 and 1, got 1.0",
        ),
        ({"max_parents": -1}, ValueError, "max_parents: expected None or an integer >= 0, got -1"),
        ({"max_conditioning": 1.5}, ValueError, "max_conditioning: expected None or an integer >= 0, got 1.5"),
        ({"min_rows": -1}, ValueError, "min_rows: expected a finite number >= 0, got -1"),
        ({"min_rows": "5"}, TypeError, "min_rows: expected a number, got '5'"),
    ],
)
@pytest.mark.parametrize("name", LEARNERS)
def test_settings_are_checked(name, wrong, error, says):
    X, y = random_codes(5, rows=20)
    with pytest.raises(error, match=says):
        tg.BayesNetClassifier(LEARNERS[name](**wrong)).fit(X, y)


# -- tables of any kind


@pytest.mark.parametrize("name", LEARNERS)
def test_uninformative_data(name):
    fit = tg.BayesNetClassifier(name).fit
    assert fit([[1, 2, 3]], ["a"]).network_.feature_arcs == []
    assert fit([[1], [2]] * 30, ["a", "b"] * 30).network_.features == ["x0"]
    assert fit(np.zeros((50, 3), dtype=int), [0, 1] * 25).network_.feature_arcs == []
    empty = pd.DataFrame({"a": np.full(60, None, dtype=object), "b": [0, 1] * 30, "c": [0, 0, 1] * 20})
    assert fit(empty, [0, 1, 1] * 20).network_.feature_arcs == []
    with pytest.raises(ValueError, match="0 feature"):
        fit(np.zeros((4, 0)), [0, 1, 0, 1])


@pytest.mark.parametrize("name", LEARNERS)
def test_equal_columns(name):
    rng = np.random.default_rng(6)
    a = rng.integers(3, size=500)
    frame = pd.DataFrame({"a": a, "again": a, "other": rng.integers(3, size=500)})
    y = (a + (rng.random(500) < 0.2)) % 2
    clf = tg.BayesNetClassifier(LEARNERS[name](threshold=0.05)).fit(frame, y)
    assert frozenset(("a", "again")) in edges_by_name(clf)
    assert all("other" not in arc or "class" in arc for arc in clf.network_.arcs)


def test_few_rows_conclude_nothing():
    # Every combination of the conditioning features occurs about once, so even equal features look independent.
    rng = np.random.default_rng(7)
    X = rng.integers(8, size=(60, 4)).astype(np.uint8)
    X[:, 1] = X[:, 0]
    dataset = dataset_of(X, np.zeros(60, dtype=np.uint8), [8] * 4, 1)
    of = partial(_core.dependence, dataset, 0, 1, [2, 3], "mutual-information", True)
    assert _core.dependence(dataset, 0, 1, [], "mutual-information", True, 0.0)[-1] > 1.5
    assert of(0.0)[-1] < 0.5
    assert of(5.0)[-1] == np.inf


def test_values_without_end():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({name: rng.permutation(np.arange(900) % 300) for name in "abcd"})
    frame["e"] = frame["d"] // 3
    clf = tg.BayesNetClassifier("pc").fit(frame, np.arange(900) % 2)
    assert all(len(clf.network_.parents(name)) <= 3 for name in frame)


# -- learners as parts of classifiers


def test_names_of_the_same_learner():
    assert isinstance(st.resolve_structure("constraint-augmented"), st.ConstraintAugmented)


@pytest.mark.parametrize("core", [_core.learn_constraint_augmented, _core.learn_three_phase])
def test_a_search_can_be_stopped(core):
    X, y = random_codes(12, rows=20_000, features=14, values=4)
    dataset = dataset_of(X, y, [4] * 14, 2)

    options = {"threshold": 0.0, "max_parents": None, "max_conditioning": None, "min_rows": 0.0}
    stop = Event()
    stop.set()
    token = stopping.set(stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            learn(core, dataset, threads=2, **options)
    finally:
        stopping.reset(token)
