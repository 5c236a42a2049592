"""Wrapper searches against a slow reference that makes everything anew for every candidate, and against bnclassify."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as hs
from search_reference import Outcome, Parents, Problem, Search, Undecided

import tanager as tg
from tanager import structure as st

pytestmark = pytest.mark.slow

LEARNERS = {
    "hill-climb": st.HillClimb,
    "super-parent": st.SuperParent,
    "forward-join": st.ForwardJoin,
    "backward-join": st.BackwardJoin,
}
METHODS = list(LEARNERS)


def learner(problem: Problem, **others) -> st.StructureLearner:
    options = {name: getattr(problem, name) for name in ("alpha", "epsilon", "objective", "start", "max_steps")}
    options |= {"cv": problem.folds, "required": problem.required, "forbidden": problem.forbidden}
    if problem.method == "hill-climb":
        options |= {"max_parents": problem.max_parents, "symmetric": problem.symmetric}
    return LEARNERS[problem.method](**(options | others))


def fit(problem: Problem, n_jobs: int | None = None, **others) -> tg.BayesNetClassifier:
    clf = tg.BayesNetClassifier(structure=learner(problem, **others), class_prior=problem.prior, n_jobs=n_jobs)
    return clf.fit(problem.frame(), problem.y, sample_weight=problem.weights)


def parents_of(clf: tg.BayesNetClassifier) -> Parents:
    names = list(clf.feature_names_in_)
    present = set(clf.network_.features)
    return tuple(
        tuple(sorted(names.index(p) for p, c in clf.network_.feature_arcs if c == name)) if name in present else None
        for name in names
    )


def outcome_of(clf: tg.BayesNetClassifier) -> tuple:
    """All of a search but its times."""
    trace = clf.search_trace_
    steps = [(s.change, s.score, s.fold_scores, s.n_candidates) for s in trace]
    return steps, trace.stopped, trace.n_candidates, parents_of(clf)


def check(problem: Problem, **others) -> Outcome:
    """Compare a search with the reference; raises Undecided where rounding may decide."""
    expected = Search(problem).run()
    clf = fit(problem, **others)
    trace = clf.search_trace_
    exact = problem.objective == "accuracy" and problem.weights is None
    found, wanted = trace.fold_scores, np.array([step.fold_scores for step in expected.steps])
    assert found.shape == wanted.shape, (trace, expected.steps)
    if exact:
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(trace.scores, [step.score for step in expected.steps])
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(trace.scores, [step.score for step in expected.steps], rtol=1e-9, atol=1e-9)
    assert parents_of(clf) == expected.steps[-1].parents
    assert [step.n_candidates for step in trace] == [step.n_candidates for step in expected.steps]
    assert trace.n_candidates == sum(map(len, expected.batches))
    assert trace.stopped == expected.stopped
    return expected


# -- tiny random problems


def random_arcs(rng: np.random.Generator, method: str, n: int, most: int) -> list[tuple[int, int]]:
    """Arcs that a search of this method may begin with."""
    order = rng.permutation(n).tolist()
    if method in ("forward-join", "backward-join"):
        group = order[: rng.integers(0, 4)]
        return [(group[i], group[j]) for j in range(len(group)) for i in range(j)]
    most = most if method == "hill-climb" else 1
    arcs = []
    for i, child in enumerate(order):
        chosen = rng.permutation(order[:i])[: rng.integers(0, most + 1)] if i and rng.random() < 0.4 else []
        arcs += [(int(parent), child) for parent in chosen]
    return arcs


def random_problem(seed: int, method: str, objective: str) -> Problem:
    """A few rows whose class depends on two or three features together, with all kinds of settings."""
    rng = np.random.default_rng(seed)
    n, s, k = int(rng.integers(9, 60)), int(rng.integers(2, 5)), int(rng.integers(2, 5))
    n_features = int(rng.integers(1, 8))
    cards = rng.integers(1, 4, n_features).tolist()
    codes = np.stack([rng.integers(0, card, n) for card in cards], axis=1)
    chosen = rng.permutation(n_features)[:3]
    y = (codes[:, chosen].sum(axis=1) + (rng.random(n) < 0.2) * rng.integers(0, s, n)) % s
    y[rng.permutation(n)[:s]] = range(s)
    if rng.random() < 0.4:
        codes[rng.random(codes.shape) < rng.choice([0.05, 0.3])] = -1
    max_parents = int(rng.integers(1, 4))
    arcs = random_arcs(rng, method, n_features, max_parents) if rng.random() < 0.4 else []
    is_start = rng.random(len(arcs)) < 0.5
    start = [arc for arc, first in zip(arcs, is_start, strict=True) if first]
    others = [(a, b) for a in range(n_features) for b in range(n_features) if a != b and (a, b) not in arcs]
    forbidden = [arc for arc in others if rng.random() < 0.25] if rng.random() < 0.3 else []
    prior = rng.dirichlet(np.ones(s)) if rng.random() < 0.3 else None
    if prior is not None and rng.random() < 0.2:
        prior = np.eye(s)[0] * 0.5 + np.eye(s)[1] * 0.5
    return Problem(
        codes, cards, y, rng.permutation(n) % k, method, objective,
        weights=rng.uniform(0.1, 3, n) if rng.random() < 0.25 else None,
        alpha=float(rng.choice([0.0, 0.5, 1.0])),
        prior=None if prior is None else prior.tolist(),
        epsilon=float(rng.choice([0.0, 0.003, 0.02])),
        max_parents=max_parents,
        symmetric=bool(rng.random() < 0.5),
        start=start if start or rng.random() < 0.5 else None,
        required=[arc for arc in arcs if arc not in start],
        forbidden=forbidden,
        max_steps=int(rng.integers(0, 3)) if rng.random() < 0.15 else None,
    )  # fmt: skip


@pytest.mark.parametrize("objective", ["accuracy", "cll"])
@pytest.mark.parametrize("method", METHODS)
def test_tiny_problems_equal_the_reference(method, objective):
    seen: Counter[str] = Counter()

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(hs.integers(0, 10**9))
    def compare(seed):
        problem = random_problem(seed, method, objective)
        seen["all"] += 1
        try:
            expected = check(problem)
        except Undecided:
            return
        seen["decided"] += 1
        seen["missing" if (problem.codes < 0).any() else "complete"] += 1
        seen["weighted" if problem.weights is not None else "counted"] += 1
        seen["two" if problem.n_classes == 2 else "more"] += 1
        seen[f"alpha {problem.alpha:g}"] += 1
        seen["steps"] += len(expected.steps) > 1

    compare()
    # A comparison that everything is kept from says nothing.
    assert seen["decided"] > 0.4 * seen["all"], seen
    for what in (
        "missing",
        "complete",
        "weighted",
        "counted",
        "two",
        "more",
        "alpha 0",
        "alpha 0.5",
        "alpha 1",
        "steps",
    ):
        assert seen[what] >= 2, seen


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_ties_of_classes_go_to_the_first(method, n_classes):
    """Few balanced rows: in many of them two classes have the same counts, whatever the rounding."""
    decided = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        codes, y = rng.integers(0, 2, (24, 6)), np.arange(24) % n_classes
        problem = Problem(
            codes, [2] * 6, y, np.arange(24) // n_classes % 2, method, alpha=0.37, epsilon=0.0, max_steps=2
        )
        try:
            check(problem)
        except Undecided:
            continue
        decided += 1
    assert decided > 12


@pytest.mark.parametrize("method", METHODS)
def test_impossible_values_beside_missing_ones(method):
    """A row that is summed out and impossible does not say which of its terms were ln 0: they are not to be taken away."""
    decided = 0
    for seed in range(40):
        problem = random_problem(seed, method, "cll")
        rng = np.random.default_rng(seed)
        problem.codes[rng.random(problem.codes.shape) < 0.15] = -1
        try:
            check(replace(problem, alpha=0.0, prior=None, epsilon=0.0001, forbidden=[], max_steps=3))
        except Undecided:
            continue
        decided += 1
    assert decided > 20


# -- tables with more cells than rows, many features, other roads to the same result


def many_values(method: str, objective: str, **others) -> Problem:
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 8, (300, 6))
    y = ((codes[:, 0] + codes[:, 1]) // 4 + (rng.random(300) < 0.1)) % 3
    others = {"epsilon": 0.005, "alpha": 0.3, "max_steps": 4} | others
    return Problem(codes, [8] * 6, y, rng.permutation(300) % 5, method, objective, **others)


@pytest.mark.parametrize("objective", ["accuracy", "cll"])
@pytest.mark.parametrize("method", METHODS)
def test_tables_with_more_cells_than_rows(method, objective):
    assert len(check(many_values(method, objective, max_parents=3)).steps) > 1


@pytest.mark.parametrize("method", METHODS)
def test_tables_with_more_cells_than_rows_and_impossible_values(method):
    """Without smoothing, most of a table with more cells than rows is ln 0."""
    expected = check(many_values(method, "cll", max_parents=3, alpha=0.0, max_steps=2))
    assert any(np.isneginf(score) for batch in expected.batches for score in batch)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("method", METHODS)
def test_pairs_with_more_cells_than_rows(method, alpha):
    """Forty values a feature: even single features have tables with more cells than the rows of a fold."""
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 40, (60, 4))
    y = (codes[:, 0] // 20 + codes[:, 1] // 20) % 2
    problem = Problem(codes, [40] * 4, y, rng.permutation(60) % 5, method, "cll", alpha=alpha, epsilon=0.0001)
    check(replace(problem, max_steps=2))


@pytest.mark.parametrize("objective", ["accuracy", "cll"])
@pytest.mark.parametrize("method", METHODS)
def test_threads_do_not_matter(method, objective):
    plain = outcome_of(fit(many_values(method, objective)))
    assert len(plain[0]) > 1
    for n_jobs in (2, 7):
        assert outcome_of(fit(many_values(method, objective), n_jobs=n_jobs)) == plain


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_little_memory_costs_nothing_but_time(method, missing):
    rng = np.random.default_rng(9)
    codes = rng.integers(0, 3, (200, 7))
    y = (codes[:, 0] + codes[:, 1] * codes[:, 2]) % 3
    if missing:
        codes[rng.random(codes.shape) < 0.1] = -1
    problem = Problem(codes, [3] * 7, y, rng.permutation(200) % 4, method, "cll", epsilon=0.001, max_steps=3)
    plain = outcome_of(fit(problem))
    assert len(plain[0]) >= 3
    # The largest table that three steps may try has five features, with four values where one of them is missing; what
    # is made of the four folds is in memory at once.
    assert outcome_of(fit(problem, memory_limit=12 * 8 * 3 * (4 if missing else 3) ** 5)) == plain
    # Ten bytes hold no table, so no arcs are tried.
    assert all(not found for found in parents_of(fit(problem, memory_limit=10)))


OTHER_PROCESS = """
import json, sys
sys.path.insert(0, {folder!r})
from test_search import METHODS, fit, many_values, outcome_of
found = [outcome_of(fit(many_values(m, o))) for m in METHODS for o in ("accuracy", "cll")]
print(json.dumps(found))
"""


def test_instruction_sets_do_not_matter():
    folder = str(Path(__file__).parent)
    run = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS.format(folder=folder)],
        env=os.environ | {"TANAGER_ISA": "baseline", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    here = [outcome_of(fit(many_values(m, o))) for m in METHODS for o in ("accuracy", "cll")]
    assert json.loads(run.stdout) == json.loads(json.dumps(here))


@pytest.mark.parametrize("objective", ["accuracy", "cll"])
@pytest.mark.parametrize("make", [st.SuperParent, st.HillClimb])
def test_many_features_do_not_underflow(make, objective):
    # Half to the power of 1200 is no double any more.
    n, n_rows = (1200, 300) if (make, objective) == (st.HillClimb, "accuracy") else (300, 500)
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, n_rows)
    X = (rng.random((n_rows, n)) < 0.5 + 0.02 * y[:, None]).astype(np.uint8)
    X[:, 1] = X[:, 0] ^ y
    options = {"symmetric": True} if make is st.HillClimb else {}
    search = make(max_steps=1, epsilon=0.0, objective=objective, **options)
    clf = tg.BayesNetClassifier(structure=search, random_state=0, n_jobs=2).fit(X, y)
    trace = clf.search_trace_
    assert len(trace) == 2
    assert np.isfinite(trace.fold_scores).all()
    assert np.isfinite(clf.predict_log_proba(X)).all()
    if make is st.HillClimb:
        assert clf.network_.feature_arcs == [("x1", "x0")]
        assert trace[1].n_candidates == n * (n - 1) // 2


# -- bnclassify

ALGORITHMS = {
    "tan_hc": {"method": "hill-climb", "symmetric": True},
    "kdb2": {"method": "hill-climb", "max_parents": 2},
    "tan_hcsp": {"method": "super-parent"},
    "fssj": {"method": "forward-join"},
    "bsej": {"method": "backward-join"},
}


@pytest.fixture(scope="module", params=["car", "voting_complete"])
def golden(request, shared):
    folder = shared / "goldens"
    found = json.loads((folder / f"search_{request.param}.json").read_text())
    table = pd.read_csv(folder / found["csv"], dtype=str, keep_default_na=False)
    levels = json.loads((folder / found["csv"].replace(".csv", ".levels.json")).read_text())
    return found, table, levels.get("levels", levels)


def golden_problem(run: dict, golden: tuple) -> Problem:
    found, table, levels = golden
    target = found["class"]
    features = [name for name in table.columns if name != target]
    codes = np.stack([pd.Categorical(table[f], categories=levels[f]).codes for f in features], axis=1).astype(int)
    y = pd.Categorical(table[target], categories=levels[target]).codes.astype(int)
    folds = np.array(found["test_fold_of_row"][run["folds"]]) - 1
    options = ALGORITHMS[run["algorithm"]]
    return Problem(
        codes, [len(levels[f]) for f in features], y, folds, alpha=run["smooth"], epsilon=run["epsilon"], **options
    )


def test_goldens_are_reproduced(golden):
    found, table, levels = golden
    target = found["class"]
    X = table.drop(columns=target)
    n_compared = 0
    for run in found["runs"]:
        if run["ties"] != "first":
            continue
        problem = golden_problem(run, golden)
        clf = tg.BayesNetClassifier(
            structure=learner(problem), categories={name: levels[name] for name in X.columns}
        ).fit(X, table[target])
        trace = clf.search_trace_
        np.testing.assert_allclose(trace.scores, run["scores_log"], rtol=0, atol=1e-12)
        assert sorted(map(tuple, run["arcs"] or [])) == sorted(clf.network_.arcs), run["modelstring"]
        assert sorted(run["features"] or []) == sorted(clf.network_.features)
        assert sorted(clf.network_.left_out) == sorted(set(X.columns) - set(run["features"] or []))
        n_compared += 1
    assert n_compared == {"car": 30, "voting_complete": 20}[found["dataset"]]


def test_the_reference_gives_the_goldens_scores_of_all_candidates(golden):
    """Independent of the core: it shows that what the core is compared with above is itself right."""
    n_compared = 0
    for run in golden[0]["runs"]:
        if run["ties"] != "first" or "evaluations" not in run or run["near_tied_test_predictions"]:
            continue
        expected = Search(golden_problem(run, golden)).run()
        batches = [[expected.steps[0].score], *expected.batches]
        assert [len(b) for b in batches] == [e["n_candidates"] for e in run["evaluations"]]
        for ours, theirs in zip(batches, run["evaluations"], strict=True):
            np.testing.assert_allclose(ours, theirs["scores"], rtol=0, atol=1e-12)
            n_compared += len(ours)
    assert n_compared > 500
