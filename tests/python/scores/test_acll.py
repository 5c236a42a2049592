"""Approximate conditional log-likelihood: constants, scores, trees and parameters against their definitions."""

from __future__ import annotations

import math
import time
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from mpmath import mp, mpf

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as st
from tanager.evaluation import conditional_log_likelihood, conditional_relative_entropy, observed_class_proba
from tanager.scores import acll_score, dirichlet_sampler, estimate_acll_constants, family_score, uniform_sampler

# -- constants


def dirichlet_by_definition(s, a, b):
    """The closed form in 40 digits."""
    with mp.workdps(40):
        a, b = mpf(a), mpf(b)
        beta = -(mp.psi(1, s * a) - mp.psi(1, s * a + b)) / (mp.psi(1, a) - s * mp.psi(1, s * a + b))
        gamma = (1 + s * beta) * mp.psi(0, s * a + b) - mp.psi(0, s * a) - s * beta * mp.psi(0, a)
        return float(beta), float(gamma)


def uniform_by_definition(s):
    """Cov(A, B) / Var B and E[A - beta B] from moments of sums of uniform numbers, whose density is piecewise polynomial."""
    with mp.workdps(30):

        def density(x, n):
            terms = ((-1) ** k * mp.binomial(n, k) * (x - k) ** (n - 1) for k in range(int(mp.floor(x)) + 1))
            return mp.fsum(terms) / mp.factorial(n - 1)

        def mean(f, n):
            return mp.quad(lambda x: f(x) * density(x, n), list(range(n + 1)))

        log_sum = mean(mp.log, s)
        # Given the rest r of the sum, the integral of ln(u) ln(u + r) over u: dilogarithms.
        inner = mean(lambda r: mp.quad(lambda u: mp.log(u) * mp.log(u + r), [0, 1]), s - 1)
        beta = -(s * inner + s * log_sum) / s
        return float(beta), float(-log_sum + s * beta)


@pytest.mark.parametrize(("a", "b"), [(1, 1000), (1, 1), (0.25, 30), (5, 0.5), (40, 1e6)])
@pytest.mark.parametrize("s", [2, 3, 7, 26, 1000, 65534])
def test_dirichlet_constants_against_mpmath(s, a, b):
    found = tg.acll_constants(s, "dirichlet", a=a, b=b)
    beta, gamma = dirichlet_by_definition(s, a, b)
    assert found.beta == pytest.approx(beta, rel=1e-13)
    assert found.gamma == pytest.approx(gamma, rel=1e-12, abs=1e-12)


def test_uniform_constants_against_the_moments_of_the_sum():
    assert tg.acll_constants(3) == pytest.approx(uniform_by_definition(3), abs=1e-12)
    assert tg.acll_constants(2).beta == pytest.approx((math.pi**2 - 18) / 24, abs=1e-15)
    with mp.workdps(30):  # example 3.4, whose sign is wrong as printed
        logs = 9 * mp.log(3) - 12 * mp.log(2) + 60 * mp.log(2) ** 2
        dilogs = 72 * mp.polylog(2, -2) + 24 * mp.polylog(2, mpf(1) / 4)
        printed = (-15 * mp.pi**2 - 2 * (-11 + logs + dilogs)) / 36
        assert tg.acll_constants(3).beta == pytest.approx(-float(printed), abs=1e-15)


@pytest.mark.parametrize("s", [2, 3, 10, 50])
def test_constants_are_what_sampling_finds(s):
    for sampler, exact in (
        (uniform_sampler(s, p=0.1), tg.acll_constants(s, p=0.1)),
        (dirichlet_sampler(s, a=2.0, b=100.0), tg.acll_constants(s, "dirichlet", a=2.0, b=100.0)),
    ):
        found = estimate_acll_constants(sampler, 40_000, random_state=s)
        assert abs(found.beta - exact.beta) < 4 * found.beta_error
        assert abs(found.gamma - exact.gamma) < 4 * found.gamma_error
        assert found.beta_error < 0.02
        assert found == estimate_acll_constants(sampler, 40_000, random_state=s)


def test_standard_errors_are_those_of_repeated_estimates():
    found = [estimate_acll_constants(uniform_sampler(3), 500, random_state=seed) for seed in range(400)]
    for value, error in (("beta", "beta_error"), ("gamma", "gamma_error")):
        spread = np.std([getattr(one, value) for one in found])
        assert np.mean([getattr(one, error) for one in found]) == pytest.approx(spread, rel=0.15)


def test_a_distribution_of_ones_own():
    # Products of powers of one number: A = -ln(s) - ln(u) and B = s ln(u) lie on a line.
    found = estimate_acll_constants(lambda rng, size: np.repeat(rng.random((size, 1)) + 0.5, 4, axis=1), 100, 0)
    assert found.beta == pytest.approx(-0.25)
    assert found.gamma == pytest.approx(-math.log(4))
    assert found.beta_error < 1e-12


def test_constants_of_one_class_of_limits_and_their_scale():
    assert tg.acll_constants(1) == tg.acll_constants(1, "dirichlet", b=7) == (-1, 0)
    beta, gamma = tg.acll_constants(3)
    assert tg.acll_constants(3, p=0.2) == pytest.approx((beta, gamma - (1 + 3 * beta) * math.log(0.2)), abs=1e-14)
    limit = tg.acll_constants(3, "dirichlet")
    assert limit.beta == pytest.approx(tg.acll_constants(3, "dirichlet", b=1e12).beta, abs=1e-11)
    assert limit.gamma == math.inf


def test_constants_take_no_time():
    start = time.process_time()
    for s in (*range(2, 101), 1000, 65534):
        tg.acll_constants(s)
    assert time.process_time() - start < 2  # with sums over all classes it would be minutes


def test_constants_of_numbers_near_the_largest():
    def near_the_largest(rng, size):
        return 1e308 * (1 - 0.5 * rng.random((size, 3)))

    found = estimate_acll_constants(near_the_largest, 2000, random_state=0)
    plain = estimate_acll_constants(lambda rng, size: 1e-308 * near_the_largest(rng, size), 2000, random_state=0)
    assert found.beta == pytest.approx(plain.beta, rel=1e-7)


def test_constants_of_millions_of_classes():
    # By the law of large numbers the sum of the U is s/2, less what its variance s/12 takes from the logarithm.
    for s in (300_000, 10**9):
        beta, gamma = tg.acll_constants(s)
        assert gamma == pytest.approx(-(math.log(s / 2) - 1 / (6 * s)) + s * beta, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tg.acll_constants(0), "n_classes: expected an integer >= 1, got 0"),
        (lambda: tg.acll_constants(2.0), "n_classes: expected an integer >= 1, got 2.0"),
        (lambda: tg.acll_constants(2, "normal"), "assumption: expected one of 'uniform', 'dirichlet', got 'normal'"),
        (lambda: tg.acll_constants(2, p=2), "p: expected a number > 0 and <= 1"),
        (lambda: tg.acll_constants(2, "dirichlet", a=0), "a: expected a number > 0"),
        (lambda: tg.acll_constants(2, "dirichlet", b=-1), "b: expected a number > 0"),
        (
            lambda: estimate_acll_constants(lambda rng, size: rng.random(size)),
            "sampler: expected it to return an array of shape",
        ),
        (
            lambda: estimate_acll_constants(lambda rng, size: np.zeros((size, 2))),
            "positive finite numbers, got 0",
        ),
        (lambda: estimate_acll_constants(lambda rng, size: np.full((size, 2), 1j)), "real numbers, got"),
        (lambda: estimate_acll_constants(lambda rng, size: [["a", "b"]] * size), "real numbers, got"),
        (
            lambda: estimate_acll_constants(lambda rng, size: 1 - rng.random((size, 2 + (size != 1024))), 5000),
            r"shape \(3976, 2\), got shape \(3976, 3\)",
        ),
        (lambda: estimate_acll_constants(lambda rng, size: np.ones((size, 2))), "varying numbers"),
        (lambda: estimate_acll_constants(uniform_sampler(2), 2), "n_samples: expected an integer >= 3, got 2"),
        (lambda: dirichlet_sampler(2, b=math.inf), "expected a finite number > 0"),
        (lambda: uniform_sampler(2, p=-1), "p: expected a number > 0 and <= 1, got -1"),
        (lambda: uniform_sampler(2, p=math.nan), "p: expected a number > 0 and <= 1, got nan"),
    ],
)
def test_settings_of_constants_are_checked(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# -- branchings


@cache
def rooted_trees(n):
    """The parents of every node in every rooted tree of n nodes; the root is its own parent."""
    trees = []
    for parents in product(range(n), repeat=n):
        above = np.array(parents)
        if (above == np.arange(n)).sum() == 1:
            top = above
            for _ in range(n):
                top = above[top]
            if (top == top[0]).all() and above[top[0]] == top[0]:
                trees.append(parents)
    return np.array(trees)


@settings(max_examples=80, deadline=None)
@given(
    weights=hs.integers(1, 6).flatmap(
        lambda n: hs.lists(
            hs.lists(hs.integers(-3, 3) | hs.floats(-1e3, 1e3), min_size=n, max_size=n), min_size=n, max_size=n
        )
    )
)
@pytest.mark.slow
def test_branchings_are_the_best_of_all_rooted_trees(weights):
    weights = np.array(weights, dtype=float)
    n = len(weights)
    np.fill_diagonal(weights, 0)
    trees = rooted_trees(n)
    assert len(trees) == n ** (n - 1)  # Cayley
    totals = weights[trees, np.arange(n)].sum(axis=1)
    roots = np.argmax(trees == np.arange(n), axis=1)
    tolerance = 1e-12 * max(1, np.abs(weights).sum())
    for root in (None, *range(n)):
        found = _core.maximum_branching(weights, root)
        own = next(v for v in range(n) if found[v] is None)
        parents = [v if u is None else u for v, u in enumerate(found)]
        assert parents in trees.tolist()
        assert root in (None, own)
        best = totals.max() if root is None else totals[roots == root].max()
        assert weights[parents, np.arange(n)].sum() == pytest.approx(best, abs=tolerance)
        if root is None and (weights == np.round(weights)).all():
            assert own == roots[totals == best].min()  # the first of equally good ones


def test_branchings_reject_invalid_weights():
    with pytest.raises(ValueError, match=r"got inf for the arc \(0, 1\)"):
        _core.maximum_branching(np.array([[0, np.inf], [0, 0]]))
    with pytest.raises(ValueError, match="square matrix"):
        _core.maximum_branching(np.zeros((2, 3)))


# -- scores


def draw(seed, n=300, classes=3, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    a = rng.integers(3, size=n)
    b = np.where(rng.random(n) < 0.6, (a + y) % 3, rng.integers(3, size=n))
    c = np.where(rng.random(n) < 0.5, (b * 2 + y) % 4, rng.integers(4, size=n))
    d = np.where(rng.random(n) < 0.8, y % 2, rng.integers(2, size=n))
    X = np.column_stack([a, b, c, d]).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def acll_of(clf, X, y, beta, gamma):
    """Equation 22, row by row."""
    joint = clf.predict_joint_log_proba(X)
    return (joint[np.arange(len(y)), y] + beta * joint.sum(axis=1) + gamma).sum()


@pytest.mark.parametrize("assumption", ["uniform", "dirichlet"])
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_the_score_is_that_of_its_parameters(assumption, classes):
    X, y = draw(1, classes=classes)
    arcs = [(0, 1), (1, 2)]
    clf = tg.BayesNetClassifier(
        structure=st.FixedStructure(arcs),
        parameters=pr.AcllOptimal(assumption, pseudo_counts=1.0),
        numeric_features=[],
    ).fit(X, y)
    beta, gamma = tg.acll_constants(classes, assumption, b=len(y))
    score = acll_score(X, y, arcs, assumption=assumption, pseudo_counts=1.0)
    assert score == pytest.approx(acll_of(clf, X, y, beta, gamma), rel=1e-11, abs=1e-9)
    # What the classes and a constant add is all that families do not have.
    parts = [
        family_score(X, y, v, [u for u, w in arcs if w == v], score="acll", assumption=assumption, pseudo_counts=1.0)
        for v in range(4)
    ]
    weights = np.bincount(y) + beta * len(y)
    raised = np.maximum(weights, 1.0)
    rest = weights @ np.log(raised / raised.sum()) + len(y) * gamma
    assert score == pytest.approx(sum(parts) + rest, rel=1e-12, abs=1e-9)


def test_the_example_of_theorem_3_9():
    X, y = [[0, 0], [0, 1], [1, 1], [1, 1]], [1, 1, 0, 1]
    gamma = tg.acll_constants(2).gamma

    def scores(least):
        return [acll_score(X, y, [arc], assumption="uniform", pseudo_counts=least) for arc in ((0, 1), (1, 0))]

    assert scores(1) == pytest.approx([-2.100299 + 4 * gamma, -2.224038 + 4 * gamma], abs=5e-7)
    assert scores(5)[0] == pytest.approx(scores(5)[1], abs=1e-14)
    assert scores(1.33)[0] == pytest.approx(scores(1.33)[1], abs=1e-14)
    assert abs(scores(1.31)[0] - scores(1.31)[1]) > 1e-4


# -- the tree


@pytest.mark.parametrize("options", [{}, {"assumption": "uniform"}, {"pseudo_counts": 0.5}, {"a": 2.0, "b": 50.0}])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_tree_has_the_best_score_of_all(options, classes):
    X, y = draw(2, 150, classes)
    clf = tg.BayesNetClassifier(structure=st.AcllTree(**options), numeric_features=[]).fit(X, y)
    assert clf.network_.is_tan
    arcs = [(int(u[1:]), int(v[1:])) for u, v in clf.network_.feature_arcs]
    scores = [
        acll_score(X, y, [(u, v) for v, u in enumerate(tree) if u != v], **options) for tree in rooted_trees(4).tolist()
    ]
    assert acll_score(X, y, arcs, **options) == pytest.approx(max(scores), abs=1e-9)
    rooted = tg.BayesNetClassifier(structure=st.AcllTree(**options, root=2), numeric_features=[]).fit(X, y)
    assert rooted.network_.parents("x2") == ["class"]


def test_models_are_kept(tmp_path):
    X, y = draw(5)
    clf = tg.BayesNetClassifier(
        structure=st.AcllTree("uniform", root=1), parameters=pr.AcllOptimal("uniform", b=3.0), numeric_features=[]
    ).fit(X, y)
    clf.save(tmp_path / "model.tng")
    loaded = tg.load(tmp_path / "model.tng")
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert loaded.parameters.b == 3.0
    assert loaded.structure.root == 1


# -- the parameters


@pytest.mark.parametrize("least", [0.5, 5.0])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_no_feasible_parameters_have_a_higher_score(classes, least):
    X, y = draw(6, 80, classes)
    clf = tg.BayesNetClassifier(
        structure=st.FixedStructure([(1, 2)]), parameters=pr.AcllOptimal(pseudo_counts=least), numeric_features=[]
    ).fit(X, y)
    beta = tg.acll_constants(classes, "dirichlet", b=len(y)).beta
    counts = np.zeros((3, 4, classes))
    np.add.at(counts, (X[:, 1].astype(int), X[:, 2].astype(int), y), 1)
    weights = counts + beta * counts.sum(axis=2, keepdims=True)
    raised = np.maximum(weights, least)
    assert (weights < least).any()
    theta = raised / raised.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.asarray(clf._core_model.table(2)).reshape(3, 4, classes), theta, rtol=1e-14)

    def score(parameters):
        return (weights * np.log(parameters)).sum(axis=1)

    floor = least / raised.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    for _ in range(300):
        spread = rng.dirichlet(np.full(4, rng.choice([0.2, 1, 5])), size=(3, classes)).transpose(0, 2, 1)
        anywhere = floor + (1 - 4 * floor) * spread
        for step in (1.0, 0.1, 1e-3):  # the feasible set is convex
            other = theta + step * (anywhere - theta)
            np.testing.assert_allclose(other.sum(axis=1), 1)
            assert (score(other) <= score(theta) + 1e-12 * np.abs(score(theta))).all()


def test_the_class_distribution():
    X, y = [[0]] * 10, [0] * 7 + [1] * 2 + [2]
    beta = tg.acll_constants(3, "dirichlet", b=10).beta
    raised = np.maximum(np.array([7, 2, 1]) + 10 * beta, 0.5)
    settings = {"parameters": pr.AcllOptimal(pseudo_counts=0.5)}
    clf = tg.BayesNetClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba([[0]])[0], raised / raised.sum(), rtol=1e-14)
    given = tg.BayesNetClassifier(**settings, class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_allclose(given.predict_proba([[0]])[0], [0.2, 0.3, 0.5], rtol=1e-14)


@pytest.mark.parametrize("assumption", ["uniform", "dirichlet"])
def test_one_class_one_value_and_empty_columns(assumption):
    frame = pd.DataFrame({"one": ["a"] * 4, "none": [None] * 4, "two": ["x", "y", "x", None]})
    clf = tg.BayesNetClassifier(structure=st.AcllTree(assumption), parameters=pr.AcllOptimal(assumption))
    np.testing.assert_array_equal(clf.fit(frame, [1] * 4).predict_proba(frame), np.ones((4, 1)))
    np.testing.assert_allclose(clf.fit(frame, [1, 0, 1, 0]).predict_proba(frame).sum(axis=1), 1)
    np.testing.assert_array_equal(clf.fit(frame[["one"]], [1, 1, 1, 0]).network_.cpt("one").values, np.ones((1, 2)))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (st.AcllTree("normal"), "assumption: expected one of"),
        (st.AcllTree(a=0), "a: expected a number > 0, got 0"),
        (st.AcllTree(b=-1.0), "b: expected a number > 0, got -1.0"),
        (st.AcllTree(pseudo_counts=0), "pseudo_counts: expected a number > 0, got 0"),
        (st.AcllTree(root="x9"), "root: expected one of the features"),
        (pr.AcllOptimal("normal"), "assumption: expected one of"),
        (pr.AcllOptimal(pseudo_counts=math.nan), "pseudo_counts: expected a number > 0, got nan"),
        (pr.AcllOptimal(pseudo_counts=1e300), "pseudo_counts: expected a number from"),
    ],
)
def test_settings_are_checked_when_used(learner, message):
    X, y = draw(0, 20)
    kind = "structure" if isinstance(learner, st.StructureLearner) else "parameters"
    with pytest.raises(ValueError, match=message):
        tg.BayesNetClassifier(**{kind: learner}).fit(X, y)


# -- evaluation


def test_conditional_relative_entropy_is_what_the_likelihood_lacks():
    X, y = draw(7, 200)
    weights = np.random.default_rng(1).random(len(y))
    clf = tg.TANClassifier(numeric_features=[]).fit(X, y)
    q = clf.predict_proba(X)
    # By definition, over the rows that occur: eq 29.
    groups: dict[tuple, np.ndarray] = {}
    for row, c, w in zip(map(tuple, X), y, weights, strict=True):
        groups.setdefault(row, np.zeros(3))[c] += w
    expected = 0.0
    for row, found in groups.items():
        judged = clf.predict_proba([row])[0]
        p = found / found.sum()
        expected += found.sum() / weights.sum() * sum(p[c] * np.log(p[c] / judged[c]) for c in range(3) if p[c] > 0)
    p = observed_class_proba(X, y, sample_weight=weights)
    assert conditional_relative_entropy(p, q, weights) == pytest.approx(expected)

    p = observed_class_proba(X, y, classes=clf.classes_)
    entropy = -np.log(p[np.arange(len(y)), y]).mean()
    lacking = -conditional_log_likelihood(y, q) / len(y) - entropy
    assert conditional_relative_entropy(p, q) == pytest.approx(lacking)
    assert conditional_relative_entropy(p, p) == 0


def test_conditional_relative_entropy_from_a_true_distribution():
    # P(x, c) of one feature of two values: weights are P(x).
    joint = np.array([[0.1, 0.2], [0.3, 0.4]])
    p, q = joint / joint.sum(axis=1, keepdims=True), np.array([[0.5, 0.5], [0.25, 0.75]])
    expected = (joint * np.log(p / q)).sum()
    assert conditional_relative_entropy(p, q, joint.sum(axis=1)) == pytest.approx(expected)
    assert conditional_relative_entropy([[0.5, 0.5]], [[1.0, 0.0]]) == math.inf
    assert conditional_relative_entropy([[1.0, 0.0]], [[1.0, 0.0]]) == 0
    with pytest.raises(ValueError, match="sum to one"):
        conditional_relative_entropy([[0.5, 0.6]], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="same shape"):
        conditional_relative_entropy([[1.0]], [[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"^weight: expected finite, non-negative weights, got -1 in row 1"):
        conditional_relative_entropy(p, q, [1, -1])
    with pytest.raises(ValueError, match="at least one row with positive weight"):
        conditional_relative_entropy(np.empty((0, 2)), np.empty((0, 2)))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300, 1e307])
def test_conditional_relative_entropy_with_weights_of_any_size(scale):
    p, q = [[0.5, 0.5], [1.0, 0.0]], [[1e-300, 1.0], [0.25, 0.75]]
    expected = conditional_relative_entropy(p, q, [1, 3])
    assert conditional_relative_entropy(p, q, [scale, 3 * scale]) == pytest.approx(expected, rel=1e-12)
    assert conditional_relative_entropy(p, [[1.0, 0.0], [1.0, 0.0]], [5e-324, scale]) == math.inf


def test_rows_without_weight_are_not_evaluated():
    X, y, weight = [["a"], ["a"], ["b"]], [0, 1, 1], [1, 2, 0]
    p = observed_class_proba(X, y, sample_weight=weight)
    assert np.isnan(p[2]).all()
    q = [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]
    expected = conditional_relative_entropy(p[:2], q[:2], weight[:2])
    assert conditional_relative_entropy(p, q, weight) == expected > 0


def test_observed_class_probabilities():
    frame = pd.DataFrame({"a": ["x", None, "x", None], "b": [1.5, 2.5, 1.5, 2.5]})
    found = observed_class_proba(frame, ["n", "n", "y", "n"], classes=["y", "n", "never"])
    np.testing.assert_array_equal(found, [[0.5, 0.5, 0], [0, 1, 0], [0.5, 0.5, 0], [0, 1, 0]])
    with pytest.raises(ValueError, match="y: expected only the given classes, got 'n'"):
        observed_class_proba(frame, ["n", "n", "y", "n"], classes=["y"])
    with pytest.raises(ValueError, match="X has 4 rows, but y has 1"):
        observed_class_proba(frame, ["n"])
