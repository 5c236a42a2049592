"""The layered layout: nothing overlaps, arcs lead down and touch no node, and few of them cross."""

from __future__ import annotations

import random
from itertools import combinations, pairwise, permutations, product

import pytest

from tanager._layout import layered_layout
from tanager._layout.layers import split_into_layers, with_lanes
from tanager._layout.order import crossings, ordered_layers

HEIGHT = 2.0


def random_tree(n, seed):
    draw = random.Random(seed)
    order = draw.sample(range(n), n)
    parents = [[] for _ in range(n)]
    for i in range(1, n):
        parents[order[i]] = [order[draw.randrange(i)]]
    return parents


def random_network(n, seed, n_arcs, most=4):
    draw = random.Random(seed)
    order = draw.sample(range(n), n)
    parents = [[] for _ in range(n)]
    for _ in range(n_arcs):
        a, b = sorted(draw.sample(range(n), 2))
        if order[a] not in parents[order[b]] and len(parents[order[b]]) < most:
            parents[order[b]].append(order[a])
    return parents


def k_dependence(n, k):
    return [list(range(min(i, k))) for i in range(n)]


def joined(sizes):
    """Groups of features as joins make them: everyone has all before it in its group as parents."""
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [[start + j for j in range(i)] for start, size in zip(starts, sizes, strict=True) for i in range(size)]


GRAPHS = {
    "one": [[]],
    "alone": [[] for _ in range(40)],
    "star": [[] if i == 0 else [0] for i in range(40)],
    "path": [[] if i == 0 else [i - 1] for i in range(12)],
    "tree of 16": random_tree(16, 1),
    "tree of 40": random_tree(40, 2),
    "tree of 100": random_tree(100, 3),
    "tree of 500": random_tree(500, 4),
    "forest": [p if i % 3 else [] for i, p in enumerate(random_tree(40, 5))],
    "k-dependence": k_dependence(40, 2),
    "joined": joined([3, 1, 4, 1, 1, 2] + [1] * 28),
    # The class is the last node: it has parents and is one.
    "general": [*([] if i < 4 else [40] if i < 30 else [] for i in range(40)), [0, 1, 2, 3]],
    "dense": random_network(40, 6, 70),
    "dense of 100": random_network(100, 7, 120),
    "sparse of 500": random_network(500, 8, 300),
}


def widths_of(n, seed=0):
    draw = random.Random(seed)
    return [draw.uniform(2.0, 12.0) for _ in range(n)]


def boxes_of(layout, widths, heights):
    return [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        for (x, y), w, h in zip(layout.centers, widths, heights, strict=True)
    ]


def curve(points, n=12):
    """The points of an arc as it is drawn."""
    for (x0, y0), (x1, y1) in pairwise(points):
        for i in range(n + 1):
            t = i / n
            # Both inner control points at half the height: y is not quite linear in t, x goes over smoothly.
            middle = (y0 + y1) / 2
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
            yield a * x0 + b * x0 + c * x1 + d * x1, a * y0 + (b + c) * middle + d * y1


def check(parents, layout, widths, heights):
    boxes = boxes_of(layout, widths, heights)
    for left, top, right, bottom in boxes:
        assert left >= -1e-9
        assert top >= -1e-9
        assert right <= layout.width + 1e-9
        assert bottom <= layout.height + 1e-9
    order = sorted(range(len(boxes)), key=lambda i: boxes[i][0])
    for position, i in enumerate(order):
        for j in order[position + 1 :]:
            if boxes[j][0] >= boxes[i][2] + 1e-9:
                break
            assert boxes[j][1] >= boxes[i][3] + 1 or boxes[i][1] >= boxes[j][3] + 1, (i, j)
    assert set(layout.routes) == {(p, child) for child, found in enumerate(parents) for p in found}
    for (parent, child), points in layout.routes.items():
        assert points[0] == pytest.approx((layout.centers[parent][0], boxes[parent][3]))
        assert points[-1][1] == pytest.approx(boxes[child][1])
        assert boxes[child][0] < points[-1][0] < boxes[child][2]
        assert all(below[1] > above[1] for above, below in pairwise(points))


def check_routes(layout, widths, heights):
    """No arc comes near a node other than its ends."""
    boxes = boxes_of(layout, widths, heights)
    for (parent, child), points in layout.routes.items():
        for x, y in curve(points):
            for i, (left, top, right, bottom) in enumerate(boxes):
                if left - 0.3 < x < right + 0.3 and top < y < bottom:
                    assert i in {parent, child}, (parent, child, i)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.slow
def test_nothing_overlaps_and_arcs_lead_down(name):
    parents = GRAPHS[name]
    widths, heights = widths_of(len(parents)), [HEIGHT] * len(parents)
    layout = layered_layout([str(i) for i in range(len(parents))], parents, widths)
    check(parents, layout, widths, heights)
    if len(parents) <= 100:
        check_routes(layout, widths, heights)
    assert layout == layered_layout([str(i) for i in range(len(parents))], parents, widths)


@pytest.mark.parametrize("name", ["alone", "star", "tree of 40", "forest", "k-dependence", "joined", "dense"])
def test_forty_features_fit_a_page(name):
    parents = GRAPHS[name]
    widths = widths_of(40, seed=3)
    layout = layered_layout([""] * 40, parents, widths)
    assert 0.8 < layout.width / layout.height < 3
    # On a page of 7 inches the letters of the widest are still legible: at least 6 points, printed across the page.
    assert 72 * 10 / layout.width > 6


def test_nodes_of_different_heights():
    parents = GRAPHS["tree of 40"]
    widths = widths_of(40)
    heights = [random.Random(i).uniform(1, 9) for i in range(40)]
    layout = layered_layout([""] * 40, parents, widths, heights)
    check(parents, layout, widths, heights)
    check_routes(layout, widths, heights)


def test_wide_nodes():
    parents = GRAPHS["tree of 16"]
    widths = [40.0 if i % 5 == 0 else 4.0 for i in range(16)]
    layout = layered_layout([""] * 16, parents, widths)
    check(parents, layout, widths, [HEIGHT] * 16)
    check_routes(layout, widths, [HEIGHT] * 16)


def layered(parents, limit):
    return with_lanes(split_into_layers(parents, [4.0] * len(parents), limit), parents)


@pytest.mark.parametrize("seed", range(20))
def test_trees_have_no_crossings(seed):
    graph = layered(random_tree(40, seed), 30.0)
    assert any(graph.lanes.values())  # some arcs are long
    assert crossings(ordered_layers(graph), graph.below) == 0


def fewest(graph):
    """The least number of crossings over all orders of all layers."""
    orders = [list(permutations(layer)) for layer in graph.layers]
    return min(crossings([list(layer) for layer in choice], graph.below) for choice in product(*orders))


@pytest.mark.slow
def test_crossings_beside_those_of_all_orders():
    found = []
    for seed in range(40):
        parents = random_network(8, seed, 11)
        graph = layered(parents, 13.0)
        sizes = [len(layer) for layer in graph.layers]
        if max(sizes) > 4 or len(sizes) > 5:
            continue
        found.append((crossings(ordered_layers(graph), graph.below), fewest(graph)))
    assert len(found) >= 8
    assert all(ours >= least for ours, least in found)
    assert sum(ours for ours, _ in found) <= sum(least for _, least in found) + 2
    assert sum(ours == least for ours, least in found) >= 0.9 * len(found)


def test_crossings_are_counted():
    parents = [[], [], [], [0, 2], [1], [0, 1]]
    graph = layered(parents, 100.0)
    for order in ([[0, 1, 2], [3, 4, 5]], [[2, 0, 1], [3, 5, 4]]):
        arcs = [(order[0].index(p), order[1].index(c)) for c in (3, 4, 5) for p in parents[c]]
        expected = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(arcs, 2))
        assert crossings(order, graph.below) == expected
    assert crossings([[0, 1, 2], [3, 4, 5]], graph.below) == 4


def test_layers_are_no_wider_than_asked_for():
    parents = random_tree(60, 9)
    layer_of = split_into_layers(parents, [4.0] * 60, 30.0)
    assert max(layer_of.count(layer) for layer in set(layer_of)) == 5  # five nodes and the gaps between them
    assert all(layer_of[p] < layer_of[child] for child, found in enumerate(parents) for p in found)
    assert sorted(set(layer_of)) == list(range(max(layer_of) + 1))


def test_leaves_of_one_parent_are_stacked():
    # A star of seven leaves, one of which goes on, and a node of two parents.
    parents = [[], *([0] for _ in range(7)), [1], [2, 8]]
    layer_of = split_into_layers(parents, [4.0] * 10, 1000.0, stack=2)
    assert layer_of[:9] == [0, 1, 1, 1, 1, 2, 2, 3, 2]
    assert layer_of[9] == 3  # below both of its parents, and not stacked
    assert split_into_layers(parents, [4.0] * 10, 1000.0)[:9] == [0, 1, 1, 1, 1, 1, 1, 1, 2]


def test_large_trees_become_wider_rather_than_full_of_lanes():
    parents = random_tree(100, 3)
    layout = layered_layout([""] * 100, parents, [8.0] * 100)
    n_passed = sum((len(points) - 2) // 2 for points in layout.routes.values())
    narrow = with_lanes(split_into_layers(parents, [8.0] * 100, 70.0), parents)
    assert n_passed < 0.25 * sum(map(len, narrow.lanes.values()))
    assert layout.width / layout.height < 4


def test_errors():
    names = ["a", "b", "c"]
    with pytest.raises(ValueError, match="expected an acyclic graph, got a cycle that leads to 'b'"):
        layered_layout(names, [[], [2], [1]], [1, 1, 1])
    with pytest.raises(ValueError, match="expected 3 parents, widths and heights, one per name, got 2, 3 and 3"):
        layered_layout(names, [[], []], [1, 1, 1])
    with pytest.raises(ValueError, match="parents of 'b': expected positions from 0 to 2, got 3"):
        layered_layout(names, [[], [3], []], [1, 1, 1])
    with pytest.raises(ValueError, match=r"parents of 'b': expected unique positions, got \[0, 0\]"):
        layered_layout(names, [[], [0, 0], []], [1, 1, 1])
    assert layered_layout([], [], []) == ([], 0.0, 0.0, {})
