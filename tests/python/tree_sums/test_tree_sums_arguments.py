"""Valid and invalid weights and settings of sums over spanning trees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tree_references import random_graph

import tanager as tg
from tanager.tree_sums import (
    edge_probabilities,
    log_tree_sum,
    log_tree_sum_mp,
    map_tree,
    sample_trees,
    tree_entropy,
)


def test_logarithms_and_pairs_say_the_same():
    logs = [[0, 0.5, -np.inf], [0.5, 9, 2], [-np.inf, 2, np.nan]]  # the diagonal is ignored
    mantissa = np.exp(logs)
    pair = (mantissa, np.zeros((3, 3), int))
    assert log_tree_sum(logs) == log_tree_sum(pair) == 2.5
    assert map_tree(logs).edges.tolist() == [[0, 1], [1, 2]]
    assert map_tree(pair).log_probability == 0
    # The same numbers in other words, per edge and per triangle.
    other = (np.array([[0, 8, 0], [1, 0, 3], [0, 6, 0]]), np.array([[0, -2, 77], [1, 0, 1], [-(2**50), 0, 0]]))
    assert log_tree_sum(other) == pytest.approx(math.log(2 * 6), rel=1e-15)
    assert edge_probabilities(other).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    # Two rows of two numbers are a matrix, not a pair.
    assert log_tree_sum(((0, 3), (3, 0))) == 3
    assert log_tree_sum(([0, 3], [3, 0])) == 3


def test_the_smallest_floats_are_weights_like_others():
    tiny = 5e-324
    pair = ([[0, tiny, tiny], [tiny, 0, tiny], [tiny, tiny, 0]], np.full((3, 3), 1074))
    assert log_tree_sum(pair) == pytest.approx(math.log(3))
    np.testing.assert_allclose(edge_probabilities(pair)[np.triu_indices(3, 1)], 2 / 3, rtol=1e-15)


def test_layout_and_type_of_arrays_do_not_matter():
    graph = random_graph(6, 2)
    with np.errstate(divide="ignore"):
        logs = np.log(graph.mantissa) + graph.exponent * math.log(2)
    expected = edge_probabilities(logs)
    large = np.zeros((12, 12))
    large[::2, ::2] = logs
    read_only = logs.copy()
    read_only.flags.writeable = False
    for same in (np.asfortranarray(logs), large[::2, ::2], read_only, logs.tolist(), logs.astype(">f8")):
        before = np.array(same)
        assert (edge_probabilities(same) == expected).all()
        assert (np.array(same) == before).all()
    small = np.full((4, 4), 2)
    for dtype in (np.int8, np.uint64, np.float32, np.float16):
        assert log_tree_sum(small.astype(dtype)) == log_tree_sum(small)
        assert log_tree_sum((small.astype(dtype), small.astype(np.uint8))) == log_tree_sum((small, small))


def test_one_node_has_one_tree_without_edges():
    for given_ in ([[0.0]], [[np.nan]], ([[1.0]], [[0]])):
        assert log_tree_sum(given_) == 0
        assert log_tree_sum_mp(given_) == 0
        assert edge_probabilities(given_).tolist() == [[0]]
        assert map_tree(given_).edges.shape == (0, 2)
        assert map_tree(given_).log_probability == 0
        assert tree_entropy(given_) == 0
        assert sample_trees(given_, 3).shape == (3, 0, 2)


FUNCTIONS = [
    log_tree_sum,
    edge_probabilities,
    map_tree,
    tree_entropy,
    lambda w: sample_trees(w, 1, random_state=0),
    log_tree_sum_mp,
]
ONES, ZEROS = np.ones((2, 2)), np.zeros((2, 2), int)


def with_one(value, matrix=ONES):
    """A matrix with the same value at both places of its one edge."""
    changed = matrix.astype(np.result_type(matrix, type(value)))
    changed[0, 1] = changed[1, 0] = value
    return changed


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros((0, 0)), "expected a graph with at least one node, got none"),
        ((np.zeros((0, 0)), np.zeros((0, 0), int)), "expected a graph with at least one node, got none"),
        (np.zeros((2, 3)), r"log_weights: expected a square matrix with one row per node, got shape \(2, 3\)"),
        (np.zeros(4), r"expected a square matrix with one row per node, got shape \(4,\)"),
        (np.zeros((2, 3, 3)), r"got shape \(2, 3, 3\)"),
        (3.0, r"got shape \(\)"),
        (None, r"got shape \(\)"),
        ([[0, 1], [1]], "log_weights: expected a square matrix, got rows of different lengths"),
        (([[0, 1], [1]], [[0, 1], [1]]), "mantissas of log_weights: expected a square matrix, got rows of different"),
        (with_one(np.nan), r"log_weights: expected numbers, or minus infinity for no edge, got nan for edge \(0, 1\)"),
        ([[0, 1], [np.nan, 0]], r"got nan for edge \(1, 0\)"),
        (with_one(np.inf), r"got inf for edge \(0, 1\)"),
        (with_one(1e12), r"log_weights: expected numbers from -7e11 to 7e11, .* got 1e\+12 for edge \(0, 1\)"),
        ([[0, 1], [2, 0]], r"log_weights: expected a symmetric matrix, got 1.0 for edge \(0, 1\) and 2.0 for \(1, 0\)"),
        ([[0, 1], [1 + 2**-52, 0]], "log_weights: expected a symmetric matrix"),
        (
            [[0, -np.inf], [0, 0]],
            r"log_weights: expected a symmetric matrix, got -inf for edge \(0, 1\) and 0.0 for \(1, 0\)",
        ),
        (np.zeros((2, 2), object), "log_weights: expected numbers, got dtype object"),
        ([["0", "1"], ["1", "0"]], "log_weights: expected numbers, got dtype <U1"),
        (np.zeros((2, 2), complex), "log_weights: expected numbers, got dtype complex128"),
        (np.zeros((2, 2), bool), "log_weights: expected numbers, got dtype bool"),
        (
            np.ma.masked_equal(np.eye(2), 1),
            "log_weights: expected a number for every pair of nodes, got masked values",
        ),
        (
            (with_one(-1.0), ZEROS),
            r"mantissas of log_weights: expected finite numbers >= 0, got -1.0 for edge \(0, 1\)",
        ),
        (
            (with_one(np.nan), ZEROS),
            r"mantissas of log_weights: expected finite numbers >= 0, got nan for edge \(0, 1\)",
        ),
        ((with_one(np.inf), ZEROS), r"got inf for edge \(0, 1\)"),
        (
            (ONES, with_one(2**40 + 1, ZEROS)),
            r"exponents of log_weights: expected integers from -2\^40 to 2\^40, got 1099511627777",
        ),
        ((ONES, np.full((2, 2), 2**63, np.uint64)), r"exponents of log_weights: expected .* got 9223372036854775808"),
        ((ONES, ONES), "exponents of log_weights: expected integers, got dtype float64"),
        ((ONES, np.zeros((3, 3), int)), r"mantissas and exponents of the same shape, got \(2, 2\) and \(3, 3\)"),
        ((np.zeros((2, 3)), ZEROS), "mantissas of log_weights: expected a square matrix"),
        ((ONES, [[0, 1], [2, 0]]), r"got 1.0 \* 2\*\*1 for edge \(0, 1\) and 1.0 \* 2\*\*2 for \(1, 0\)"),
    ],
)
def test_other_weights_are_rejected_in_one_sentence(function, weights, message):
    with pytest.raises(ValueError, match=message) as rejection:
        function(weights)
    assert "\n" not in str(rejection.value)


@pytest.mark.parametrize("function", FUNCTIONS[1:-1])
def test_a_graph_in_two_parts_has_no_tree(function):
    logs = np.full((4, 4), -np.inf)
    logs[0, 1] = logs[1, 0] = logs[2, 3] = logs[3, 2] = 0
    with pytest.raises(ValueError, match="there is no spanning tree: the edges connect the first node with 1 of the 3"):
        function(logs)
    assert log_tree_sum(logs) == log_tree_sum_mp(logs) == -np.inf


@pytest.mark.parametrize("n_samples", [-1, 1.0, True, "2", None])
def test_numbers_of_samples_are_whole(n_samples):
    with pytest.raises(ValueError, match="n_samples: expected an integer from 0 to 1,000,000,000,000, got"):
        sample_trees(np.zeros((2, 2)), n_samples)


def test_other_settings_are_rejected():
    with pytest.raises(ValueError, match="n_jobs: expected"):
        edge_probabilities(np.zeros((2, 2)), n_jobs=0)
    with pytest.raises(ValueError, match="random_state: expected an integer from 0 to"):
        sample_trees(np.zeros((2, 2)), 1, random_state=-1)


def test_it_is_part_of_the_package():
    assert tg.tree_sums.log_tree_sum is log_tree_sum
    assert "tree_sums" in tg.__all__


def test_more_trees_than_anybody_can_draw():
    with pytest.raises(ValueError, match="n_samples: expected an integer from 0 to 1,000,000,000,000, got 1000"):
        sample_trees(np.zeros((2, 2)), 10**30)


@pytest.mark.parametrize("exponent", [2**40, -(2**40)])
@pytest.mark.parametrize("mantissa", [1.0, 1.5, 1e308, 5e-324])
def test_exponents_up_to_the_last(exponent, mantissa):
    given = np.full((3, 3), mantissa), np.full((3, 3), exponent)
    expected = 2 * (np.log(mantissa) + exponent * np.log(2)) + np.log(3)
    assert log_tree_sum(given) == pytest.approx(expected, rel=1e-15)
    assert float(log_tree_sum_mp(given)) == pytest.approx(expected, rel=1e-15)
