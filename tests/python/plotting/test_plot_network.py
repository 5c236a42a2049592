"""Plots of networks: every variable once, arcs by their strength, tables by the network's distribution."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

mpl = pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from picture_hashes import general_network, table
from sklearn.exceptions import NotFittedError

import tanager as tg
from tanager.network._strengths import arc_strength
from tanager.plotting import plot_edges, plot_map_tree, plot_network
from tanager.plotting._style import COLORS, FOR, OTHERS, THICK, distinct, short, text_width

# Old versions of matplotlib call new versions of their parser by old names.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "Agg"}):
        import matplotlib.pyplot as plt

        yield
        plt.close("all")


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def arcs(ax):
    return [patch for patch in ax.patches if isinstance(patch, PathPatch)]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_every_variable_has_a_box_and_every_arc_a_line():
    clf = tg.TANClassifier().fit(*table(12))
    ax = plot_network(clf)
    assert len(boxes(ax)) == 13
    assert [box.get_gid() for box in boxes(ax)] == ["feature"] * 12 + ["class"]
    assert len(arcs(ax)) == 11
    assert sum(isinstance(patch, Polygon) for patch in ax.patches) == 11  # heads
    for name in [*clf.feature_names_in_, "class"]:
        assert texts(ax).count(name) == 1
    assert "→ every feature" in texts(ax)
    assert ax.get_title(loc="left").replace("\n", ", ") == repr(clf.network_)[len("<Network: ") : -1]


def test_widths_are_strengths():
    network = tg.TANClassifier().fit(*table(8)).network_
    ax = network.plot()
    strengths = sorted(arc_strength(network, *arc) for arc in network.feature_arcs)
    widths = sorted(arc.get_linewidth() for arc in arcs(ax))
    assert widths[-1] == pytest.approx(THICK)
    thinnest = widths[-1] - (widths[-1] - widths[0]) / (1 - strengths[0] / strengths[-1])  # of no strength
    expected = [thinnest + (THICK - thinnest) * s / strengths[-1] for s in strengths]
    np.testing.assert_allclose(widths, expected, rtol=1e-9)
    assert f"{strengths[-1]:.2g}" in texts(ax)
    assert "nats of conditional mutual information" in texts(ax)


def test_widths_of_an_average_are_probabilities():
    posterior = tg.TBMATANClassifier().fit(*table(7, 60)).posterior_
    ax = plot_network(posterior)
    probabilities = sorted(posterior.edge_probabilities[edge] for edge in posterior.map_edges)
    widths = np.array(sorted(arc.get_linewidth() for arc in arcs(ax)))
    shares = (widths - 0.4) / (THICK - 0.4)
    np.testing.assert_allclose(shares, probabilities, atol=1e-9)
    assert "probability of the edge" in texts(ax)
    assert ax.get_title(loc="left").startswith("most probable tree, probability ")


def test_arcs_of_the_class_are_plotted_where_they_are_informative():
    clf = general_network()
    ax = plot_network(clf)
    assert len(arcs(ax)) == len(clf.network_.arcs) == 7
    assert "→ every feature" not in texts(ax)
    assert len(arcs(plot_network(clf, class_arcs=False))) == 3
    naive = tg.NaiveBayesClassifier().fit(*table(5))
    assert len(arcs(plot_network(naive))) == 0
    assert len(arcs(plot_network(naive, class_arcs=True))) == 5


def test_tables_are_distributions_given_the_class():
    clf = tg.KDBClassifier(2).fit(*table(6, n_classes=3))
    network = clf.network_
    ax = plot_network(clf, tables=True)
    tracks, bars = ax.collections[0::2], ax.collections[1::2]
    for name, track, found in zip(network.features, tracks, bars, strict=False):
        full = np.array([path.get_extents().width for path in track.get_paths()])
        lengths = np.array([path.get_extents().width for path in found.get_paths()]) / full
        expected = [
            [network.posterior({"class": c}, name)[value] for c in network.classes.tolist()]
            for value in ("v0", "v1", "v2")
        ]
        np.testing.assert_allclose(lengths.reshape(3, 3), expected, atol=1e-9)
        assert [to_hex(color) for color in found.get_facecolors()] == [*COLORS[:3]] * 3
    prior = [path.get_extents().width for path in bars[-1].get_paths()]  # the class comes last
    np.testing.assert_allclose(np.array(prior) / sum(prior), network.posterior().values, atol=1e-9)


def test_many_values_and_classes_are_put_together():
    clf = tg.TANClassifier().fit(*table(3, 2000, n_values=30, n_classes=26))
    ax = plot_network(clf, tables=True, max_values=5, max_classes=3)
    assert texts(ax).count("26 others") == 3  # 4 of 30 values are shown
    assert texts(ax).count("24 others") == 1
    bars = ax.collections[1]
    assert len(bars.get_paths()) == 5 * 3
    assert to_hex(bars.get_facecolors()[2]) == to_hex(str(OTHERS))
    widths = np.array([path.get_extents().width for path in bars.get_paths()]).reshape(5, 3)
    full = ax.collections[0].get_paths()[0].get_extents().width
    np.testing.assert_allclose(widths.sum(axis=0) / full, 1.0, atol=1e-9)


def overlaps(boxes):
    return [
        (a, b)
        for a, b in itertools.combinations(boxes, 2)
        if a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1
    ]


@pytest.mark.parametrize("size", [None, (3.2, 5.5), (6.5, 4.0)])
def test_forty_features_do_not_overlap(size):
    import matplotlib.pyplot as plt

    clf = tg.TANClassifier().fit(*table(40))
    given = None if size is None else plt.subplots(figsize=size)[1]
    ax = plot_network(clf, given, tables=size is None)
    assert given is None or ax is given
    ax.figure.canvas.draw()
    found = [box.get_window_extent() for box in boxes(ax)]
    assert len(found) == 41
    assert overlaps(found) == []
    names = [text for text in ax.texts if text.get_text() in {*clf.feature_names_in_}]
    assert len(names) == 40
    for text in names:
        extent = text.get_window_extent()
        holder = [b for b in found if b.x0 <= extent.x0 + 1 and b.x1 >= extent.x1 - 1 and b.y0 <= extent.y0 <= b.y1]
        assert len(holder) == 1
    page = ax.figure.bbox
    assert all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= page.width and b.y1 <= page.height for b in found)
    if size is None:
        assert page.width / ax.figure.dpi < 12  # inches


HOSTILE = [
    *("$x^2$ \\frac{", "two\nlines", "\u202eright to left", "ünïcödé", 'a "quote"', "</script>", "back\\slash", " "),
    *("{braces}", "100%", "$", "a rather long description of what was measured, and how: one" * 2),
]


def test_names_are_shown_unchanged():
    X, y = table(12)
    X.columns = HOSTILE
    ax = plot_network(tg.TANClassifier().fit(X, pd.Series(y, name="$y")), tables=True)
    ax.figure.canvas.draw()
    for name in ("$x^2$ \\frac{", "'two\\nlines'", "'\\u202eright to left'", "ünïcödé", "$", "' '", "$y"):
        assert name in texts(ax)
    long = short(HOSTILE[-1], 28)
    assert len(long) <= 28
    assert long in texts(ax)
    assert long.endswith("how: one")


def test_long_names_differ_if_they_can():
    assert distinct(["one", "two"]) == ["one", "two"]
    ends = [f"a long description of what was measured, number {i}" for i in range(3)]
    assert distinct(ends, 24) == [short(name, 24) for name in ends]
    assert len(set(distinct(ends, 24))) == 3
    middles = [f"BayesNetClassifier(parameters=Dirichlet(alpha={x}), structure='naive')" for x in (0.1, 10.0, 250)]
    assert distinct([*middles, "TAN"], 30) == ["…0.1…", "…10.0…", "…250…", "TAN"]
    assert distinct(["x" * 50] * 2, 20) == [short("x" * 50, 20)] * 2


def test_widths_are_those_of_the_font():
    usual = text_width("iiiiii")
    with mpl.rc_context({"font.family": "DejaVu Sans Mono"}):
        assert text_width("iiiiii") > 1.5 * usual
    assert text_width("iiiiii") == usual
    assert text_width("$x$") > text_width("xx")


def test_narrow_axes_have_room_for_bars():
    import matplotlib.pyplot as plt

    X, y = table(6)
    X.columns = HOSTILE[-1:] + list(X)[1:]
    ax = plt.subplots(figsize=(3.2, 3), layout="constrained")[1]
    tg.TANClassifier().fit(X, y).explain(X[:1]).plot(ax=ax)
    ax.figure.canvas.draw()
    extent = ax.get_window_extent()
    assert extent.width > 0.3 * ax.figure.bbox.width
    title = ax._left_title.get_window_extent()
    assert title.x1 <= ax.figure.bbox.width + 2


def test_other_plots_of_hostile_names():
    X, y = table(12, 60)
    X.columns = HOSTILE
    posterior = tg.TBMATANClassifier().fit(X, y).posterior_
    for draw in (plot_edges, plot_map_tree):
        draw(posterior).figure.canvas.draw()
    clf = tg.TANClassifier().fit(X, [f"${label}" for label in y])
    clf.explain(X[:1]).plot().figure.canvas.draw()
    assert texts(plot_map_tree(posterior)).count("'two\\nlines'") == 1


@pytest.mark.parametrize("draw", [plot_edges, plot_map_tree])
def test_trees_are_drawn_of_classifiers_too(draw):
    X, y = table(4)
    clf = tg.TBMATANClassifier()
    with pytest.raises(NotFittedError):
        draw(clf)
    assert texts(draw(clf.fit(X, y))) == texts(draw(clf.posterior_))
    with pytest.raises(
        TypeError, match="posterior: expected a TBMATANClassifier or a TreePosterior, got TANClassifier"
    ):
        draw(tg.TANClassifier().fit(X, y))


@pytest.mark.parametrize(
    ("X", "y"), [([["a"], ["b"]], [0, 1]), ([["a"], ["a"]], [0, 1]), ([["a", "b"], ["a", "c"]], [0, 1])]
)
def test_small_networks(X, y):
    ax = plot_network(tg.TANClassifier().fit(X, y), tables=True)
    ax.figure.canvas.draw()
    assert len(boxes(ax)) == 1 + len(X[0])
    assert np.isfinite(ax.get_xlim()).all()


def test_features_left_out_are_not_drawn():
    X, y = table(5)
    clf = tg.BayesNetClassifier(tg.structure.FixedStructure([], leave_out=["feature 2"])).fit(X, y)
    ax = plot_network(clf)
    assert len(boxes(ax)) == 5
    assert "feature 2" not in texts(ax)
    alone = tg.BayesNetClassifier(tg.structure.FixedStructure([], leave_out=list(X))).fit(X, y)
    assert len(boxes(plot_network(alone, tables=True))) == 1


def test_arcs_that_would_take_long_are_dashed():
    X, y = table(9, 100, n_values=5)
    names = list(X)
    arcs_in = [(a, b) for b in names[8:] for a in names[:8]]
    clf = tg.BayesNetClassifier(tg.structure.FixedStructure(arcs_in)).fit(X, y)
    ax = plot_network(clf, tables=True)
    assert {arc.get_linestyle() for arc in arcs(ax)} == {(0, (3, 2))}
    assert "nats of conditional mutual information" not in texts(ax)


def test_colors_have_one_meaning():
    ax = plot_network(tg.NaiveBayesClassifier().fit(*table(3)))
    of_class = next(box for box in boxes(ax) if box.get_gid() == "class")
    assert to_hex(of_class.get_facecolor()) == FOR


def test_errors():
    X, y = table(3)
    with pytest.raises(TypeError, match="AODEClassifier averages over many networks and has no single one to plot"):
        plot_network(tg.AODEClassifier().fit(X, y))
    with pytest.raises(TypeError, match="network: expected a Network, a fitted classifier or a TreePosterior, got int"):
        plot_network(3)
    with pytest.raises(Exception, match="not fitted yet"):
        plot_network(tg.TANClassifier())
    for name in ("max_values", "max_classes"):
        with pytest.raises(ValueError, match=f"{name}: expected an integer >= 2, got 1"):
            plot_network(tg.TANClassifier().fit(X, y), **{name: 1})
