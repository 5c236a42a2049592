"""Sums over spanning trees: against all trees, against determinants of many digits, and closed forms."""

from __future__ import annotations

import math
import signal
import threading
import time
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy import stats
from tree_references import BITS, TREES, Graph, power, random_graph, relative_error, symmetric, tree_weights

from tanager import _core
from tanager.tree_sums import (
    edge_probabilities,
    log_tree_sum,
    log_tree_sum_mp,
    map_tree,
    sample_trees,
    tree_entropy,
)

# -- all trees


@hs.composite
def small_graphs(draw, min_nodes=1):
    """Spreads from none to far beyond floats, with ties and missing edges."""
    n = draw(hs.integers(min_nodes, 6))
    spread = draw(hs.sampled_from([0, 3, 60, 900, 20_000]))
    n_edges = n * (n - 1) // 2
    mantissas = draw(
        hs.lists(
            hs.one_of(hs.sampled_from([0.0, 1.0, 1.5]), hs.floats(1, 2, exclude_max=True)),
            min_size=n_edges,
            max_size=n_edges,
        )
    )
    exponents = draw(hs.lists(hs.integers(-spread, spread), min_size=n_edges, max_size=n_edges))
    return symmetric(n, mantissas, exponents)


@given(small_graphs())
@settings(max_examples=50, deadline=None)
@pytest.mark.slow
def test_everything_is_that_of_all_trees(graph):
    with mpmath.workprec(BITS):
        check_against_all_trees(graph)


def check_against_all_trees(graph):
    n = len(graph.mantissa)
    products = tree_weights(graph)
    total = mpmath.fsum(products)
    if total == 0:
        assert log_tree_sum(graph) == -math.inf
        assert log_tree_sum_mp(graph) == -mpmath.inf
        with pytest.raises(ValueError, match="there is no spanning tree: the edges connect the first node with"):
            edge_probabilities(graph)
        return
    assert relative_error(graph, true_sum=total) < 1e-14
    assert log_tree_sum(graph) == pytest.approx(float(mpmath.log(total)), rel=1e-14, abs=1e-14)
    assert abs(log_tree_sum_mp(graph) - mpmath.log(total)) < mpmath.mpf(10) ** -28

    expected = np.zeros((n, n))
    for edge in combinations(range(n), 2):
        there = mpmath.fsum(one for one, tree in zip(products, TREES[n], strict=True) if edge in tree)
        expected[edge] = expected[edge[::-1]] = float(there / total)
    found = edge_probabilities(graph)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-307)
    assert found.sum() / 2 == pytest.approx(n - 1, abs=1e-12)

    best = max(products)
    edges, log_probability = map_tree(graph)
    tied = [tree for one, tree in zip(products, TREES[n], strict=True) if one == best]
    assert [tuple(edge) for edge in edges.tolist()] in tied
    others = list(products)
    others.remove(best)
    true = -mpmath.log1p(mpmath.fsum(others) / best)
    assert log_probability == pytest.approx(float(true), rel=1e-13, abs=1e-307)

    entropy = mpmath.fsum(one / total * mpmath.log(total / one) for one in products if one > 0)
    assert tree_entropy(graph) == pytest.approx(float(entropy), rel=1e-12, abs=1e-13)


def test_the_oracle_needs_no_help_with_digits_and_leaves_mpmath_alone():
    rng = np.random.default_rng(0)
    graph = symmetric(7, rng.uniform(1, 2, 21), rng.integers(-200, 200, 21))
    before = mpmath.mp.prec
    found = [log_tree_sum_mp(graph, digits) for digits in (None, 5, 400)]
    assert mpmath.mp.prec == before
    with mpmath.workprec(300):
        assert max(abs(one - found[0]) for one in found) < mpmath.mpf(10) ** -29
    assert log_tree_sum(graph) == pytest.approx(float(found[0]), rel=1e-15)
    with pytest.raises(ValueError, match="digits: expected None or an integer >= 1, got 0"):
        log_tree_sum_mp(graph, 0)
    with pytest.raises(ValueError, match=r"would need .* digits; the limit is 5,050,445"):
        log_tree_sum_mp([[0, 0, -np.inf], [0, 0, -1e9], [-np.inf, -1e9, 0]])


# -- weights far apart


def uniform_exponents(n, spread, rng):
    n_edges = n * (n - 1) // 2
    return symmetric(n, rng.uniform(1, 2, n_edges), rng.integers(-spread // 2, spread // 2, n_edges))


def few_exponents(n, spread, rng):
    """Ties: powers of two of four sizes."""
    n_edges = n * (n - 1) // 2
    return symmetric(n, np.ones(n_edges), rng.choice([0, 1, spread // 2, spread], n_edges))


def far_clusters(n, spread, rng):
    """Three clusters of close nodes, joined by weights that are much smaller."""
    cluster = rng.integers(0, 3, n)
    u, v = np.triu_indices(n, 1)
    exponents = np.where(cluster[u] == cluster[v], 0, -spread) + rng.integers(-5, 5, len(u))
    return symmetric(n, rng.uniform(1, 2, len(u)), exponents)


def weak_chain(n, spread, rng):
    """A path of weights that fall all the way, and one weak edge for every third other pair."""
    u, v = np.triu_indices(n, 1)
    exponents = np.where(v == u + 1, -(u * spread) // n, -spread)
    mantissas = rng.uniform(1, 2, len(u)) * ((v == u + 1) | (rng.random(len(u)) < 1 / 3))
    return symmetric(n, mantissas, exponents)


GRAPHS = [uniform_exponents, few_exponents, far_clusters, weak_chain]


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize(("n", "spread"), [(5, 20_000), (13, 20_000), (24, 3_000), (48, 100)])
def test_sums_have_the_digits_of_a_determinant_of_many_digits(make, n, spread):
    graph = make(n, spread, np.random.default_rng([n, spread]))
    assert relative_error(graph, log_sum=log_tree_sum_mp(graph)) < 1e-14


@pytest.mark.slow
def test_the_largest_graph_and_spread_together():
    graph = uniform_exponents(64, 20_000, np.random.default_rng(64))
    assert relative_error(graph, log_sum=log_tree_sum_mp(graph)) < 1e-13


def longdouble_sum(graph):
    """The same elimination in the longest floats that there are."""
    w = graph.mantissa.astype(np.longdouble) * np.longdouble(2) ** graph.exponent
    total = mpmath.mpf(1)
    for k in range(len(w) - 1, 0, -1):
        row = w[k, :k]
        d = row.sum()
        w[:k, :k] += (row / d)[:, None] * row
        np.fill_diagonal(w, 0)
        numerator, denominator = d.as_integer_ratio()
        total *= mpmath.mpf(numerator) / denominator
    return total


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is no longer than double here")
@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("n", [64, 200])
def test_large_graphs_against_longer_floats(make, n):
    graph = make(n, 12_000, np.random.default_rng(n))
    with mpmath.workprec(BITS):
        assert relative_error(graph, true_sum=longdouble_sum(graph)) < 1e-13


def hierarchy(n, spread, rng):
    """Nodes merge two groups at a time; all pairs that a merge brings together have the same weight, and later ones less.

    Eigenvectors of the Laplacian are known: each merge has one that is constant on either group.
    """
    exponents = -np.sort(rng.integers(0, spread, n - 1))
    e = np.zeros((n, n), dtype=np.int64)
    groups = [([v], []) for v in range(n)]  # nodes, and the merges within them as (size, weight, eigenvalue so far)
    for exponent in exponents:
        one, other = (groups.pop(rng.integers(len(groups))) for _ in range(2))
        e[np.ix_(one[0], other[0])] = e[np.ix_(other[0], one[0])] = exponent
        w = power(exponent)
        # Every edge to the other group adds its weight to the eigenvalues of this one.
        values = [value + w * len(other[0]) for value in one[1]] + [value + w * len(one[0]) for value in other[1]]
        groups.append((one[0] + other[0], [*values, w * (len(one[0]) + len(other[0]))]))
    graph = Graph(np.ones((n, n)), e)
    return graph, math.prod(groups[0][1]) / n


def rank_one(n, spread, rng):
    """w_uv = a_u a_v has the tree sum prod(a) (sum a)^(n-2)."""
    exponents = rng.integers(0, spread // 2, n)
    odd = rng.integers(1, 2**25, n)  # products are exact
    a = [power(x) * int(o) for o, x in zip(odd, exponents, strict=True)]
    graph = Graph(np.outer(odd, odd).astype(float), exponents[:, None] + exponents)
    return graph, math.prod(a) * mpmath.fsum(a) ** (n - 2)


@pytest.mark.parametrize("make", [hierarchy, rank_one])
@pytest.mark.parametrize(("n", "spread"), [(3, 20_000), (20, 20_000), (64, 20_000), (200, 500), (200, 20_000)])
def test_closed_forms(make, n, spread):
    with mpmath.workprec(BITS):
        graph, true_sum = make(n, spread, np.random.default_rng([n, spread]))
        assert relative_error(graph, true_sum=true_sum) < 1e-13


@pytest.mark.parametrize("size", [0.1, 700.0, 14_000.0, 1e9, 7e11])
def test_logarithms_give_weights_to_the_last_place(size):
    logs = np.random.default_rng(1).uniform(-size, size, (12, 12))
    logs = np.maximum(logs, logs.T)
    weights = _core.EdgeWeights.from_logs(logs)
    for u, v in combinations(range(12), 2):
        mantissa, exponent = weights.weight(u, v)
        assert 1 <= mantissa < 2
        with mpmath.workprec(200):
            true = mpmath.exp(mpmath.mpf(logs[u, v]))
            assert abs(mpmath.ldexp(mpmath.mpf(mantissa), exponent) / true - 1) < 4e-16


def test_sums_of_logarithms_have_the_digits_of_the_oracle():
    logs = np.random.default_rng(2).uniform(-7000, 7000, (20, 20))
    logs = np.maximum(logs, logs.T)
    mantissa, exponent, log = _core.tree_sum(_core.EdgeWeights.from_logs(logs))
    true = log_tree_sum_mp(logs)
    with mpmath.workprec(200):
        assert abs(mpmath.log(mpmath.mpf(mantissa)) + exponent * mpmath.log(2) - true) < 1e-14
    assert log == log_tree_sum(logs) == pytest.approx(float(true), rel=3e-16)


def test_logarithms_of_sums_near_one_keep_their_digits():
    for sum_ in (1 - 2**-40, 1 + 2**-40, 0.75, 1.41, 1.42, 1.0):
        pair = ([[0, sum_], [sum_, 0]], [[0, 0], [0, 0]])
        assert log_tree_sum(pair) == pytest.approx(math.log(sum_), rel=3e-16)


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("n", [23, 24, 64])
def test_edge_probabilities_sum_to_the_size_of_a_tree(make, n):
    graph = make(n, 20_000, np.random.default_rng(n))
    found = edge_probabilities(graph)
    assert (found == found.T).all()
    assert (found >= 0).all()
    assert (found <= 1).all()
    assert (found.diagonal() == 0).all()
    assert math.fsum(found[np.triu_indices(n, 1)]) == pytest.approx(n - 1, abs=1e-12)
    assert (found == edge_probabilities(graph, n_jobs=3)).all()
    assert tree_entropy(graph) == tree_entropy(graph, n_jobs=3) >= 0


def test_edge_probabilities_of_close_weights_are_resistances():
    rng = np.random.default_rng(5)
    n = 40
    w = np.triu(rng.uniform(0.5, 2, (n, n)), 1)
    w += w.T
    inverse = np.linalg.pinv(np.diag(w.sum(axis=1)) - w)
    resistance = inverse.diagonal()[:, None] + inverse.diagonal() - 2 * inverse
    np.testing.assert_allclose(edge_probabilities((w, np.zeros((n, n), int))), w * resistance, atol=1e-12)


@pytest.mark.parametrize("m", [4, 40, 100])
def test_entropy_of_two_paths_that_weak_edges_join(m):
    """The weak edges are so many that they replace edges of the paths more often than n^2 times their weight."""
    n, weak = 2 * m, -40
    u, v = np.triu_indices(n, 1)
    path = (v == u + 1) & (v != m)
    across = (u < m) & (v >= m)
    graph = symmetric(n, (path | across).astype(float), np.where(across, weak, 0))
    # H = ln sum - E[ln w(tree)], and E counts the edges across: their probabilities in 50 digits, from the sum's slope.
    with mpmath.workprec(400):
        h = mpmath.ldexp(1, -150)

        def log_sum(x):
            return mpmath.log(two_paths_sum(m, x))

        x = mpmath.ldexp(1, weak)
        across_in_tree = (log_sum(x * (1 + h)) - log_sum(x * (1 - h))) / (2 * h)
        true = log_sum(x) - across_in_tree * mpmath.log(x)
        assert tree_entropy(graph) == pytest.approx(float(true), rel=1e-13)


def two_paths_sum(m, x):
    """Two paths of m nodes and unit weights, all m^2 pairs between them joined by x.

    The Laplacian has the sums and differences of the paths' eigenvectors; the paths' eigenvalues are 2 - 2 cos(pi j / m).
    """
    values = [2 - 2 * mpmath.cos(mpmath.pi * j / m) + m * x for j in range(1, m)]
    return mpmath.fprod(value**2 for value in values) * 2 * m * x / (2 * m)


# -- samples


def test_samples_match_the_probabilities_of_edges():
    n, n_samples = 16, 100_000
    graph = random_graph(n, 1)
    trees = sample_trees(graph, n_samples, random_state=1, n_jobs=2)
    assert trees.shape == (n_samples, n - 1, 2)
    assert trees.dtype == np.int64
    seen = np.bincount((trees[..., 0] * n + trees[..., 1]).reshape(-1), minlength=n * n).reshape(n, n)
    p = edge_probabilities(graph)
    u, v = np.triu_indices(n, 1)
    absent = graph.mantissa[u, v] == 0
    assert absent.any()
    assert (seen[u, v][absent] == 0).all()
    p, seen = p[u, v][~absent], seen[u, v][~absent]
    z = (seen - n_samples * p) / np.sqrt(n_samples * p * (1 - p))
    assert np.abs(z).max() < 4.5
    # Edges of one tree depend on each other, but hardly: the sum of squares is close to chi-square.
    assert stats.chi2.sf((z**2).sum(), len(z)) > 1e-3
    assert stats.chi2.cdf((z**2).sum(), len(z)) > 1e-3
    # They are trees: every node can be reached from the first.
    for tree in trees[:500]:
        reached = {0}
        for _ in range(n):
            reached |= {b for edge in tree.tolist() for a, b in (edge, edge[::-1]) if a in reached}
        assert len(reached) == n
    keys = trees[..., 0] * n + trees[..., 1]
    assert (np.diff(keys, axis=1) > 0).all()
    assert (trees[..., 0] < trees[..., 1]).all()


@pytest.mark.parametrize("seed", range(2))
def test_samples_match_the_probabilities_of_trees(seed):
    graph = random_graph(5, seed)
    products = tree_weights(graph)
    trees = sample_trees(graph, 100_000, random_state=seed)
    place = {tuple(map(tuple, tree)): i for i, tree in enumerate(TREES[5])}
    different, counts = np.unique(trees, axis=0, return_counts=True)
    seen = np.zeros(len(products))
    for tree, count in zip(different.tolist(), counts, strict=True):
        seen[place[tuple(map(tuple, tree))]] = count
    mean = np.array([float(one / mpmath.fsum(products)) for one in products]) * len(trees)
    assert (seen[mean == 0] == 0).all()
    often = mean >= 5
    seen, mean = np.append(seen[often], seen[~often].sum()), np.append(mean[often], mean[~often].sum())
    kept = mean > 0
    assert kept.sum() > 10
    assert stats.chisquare(seen[kept], mean[kept]).pvalue > 1e-3


def test_samples_are_the_same_for_a_seed_and_any_number_of_threads():
    graph = random_graph(11, 3)
    trees = sample_trees(graph, 1000, random_state=5)
    assert (trees == sample_trees(graph, 1000, random_state=5, n_jobs=3)).all()
    assert (trees[:100] == sample_trees(graph, 100, random_state=5)).all()
    assert (trees != sample_trees(graph, 1000, random_state=6)).any()
    drawn = [sample_trees(graph, 50, random_state=np.random.RandomState(7)) for _ in range(2)]
    assert (drawn[0] == drawn[1]).all()
    state = np.random.RandomState(7)
    drawn = [sample_trees(graph, 50, random_state=state) for _ in range(2)]
    assert (drawn[0] != drawn[1]).any()
    assert sample_trees(graph, 0).shape == (0, 10, 2)


def test_large_samples_come_in_blocks_that_nobody_sees():
    # 2^23 / 400^2 = 52 trees make a block.
    logs = np.zeros((400, 400))
    trees = sample_trees(logs, 80, random_state=1)
    assert (trees[:60] == sample_trees(logs, 60, random_state=1, n_jobs=2)).all()
    assert (np.sort(trees[..., 1], axis=1) == trees[..., 1]).mean() < 1  # not all of them stars
    assert {len(set(tree.reshape(-1).tolist())) for tree in trees} == {400}


def test_samples_of_clusters_far_apart_end():
    graph = far_clusters(12, 20_000, np.random.default_rng(0))
    trees = sample_trees(graph, 200, random_state=0)
    across = graph.exponent[trees[..., 0], trees[..., 1]] < -10_000
    assert (across.sum(axis=1) == 2).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize(
    "work", [lambda: sample_trees(np.zeros((150, 150)), 100_000), lambda: tree_entropy(np.zeros((500, 500)))]
)
def test_an_interruption_ends_the_work(work):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals go to the main thread")

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - start < 4  # all of it takes far longer
