"""Networks at a glance: kinds, summaries, HTML, comparisons, searches in words."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from hostile_labels import HOSTILE, Tags, hostile
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr

import tanager as tg
from tanager import structure as st


def table(n_rows: int = 120) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, n_rows)
    frame = pd.DataFrame({name: (y * (rng.random(n_rows) < 0.5) + rng.integers(0, 3, n_rows)) % 3 for name in "abcd"})
    return frame, pd.Series(y, name="kind")


X, Y = table()


def network(structure) -> tg.Network:
    return tg.BayesNetClassifier(structure).fit(X, Y).network_


GENERAL = st.FixedStructure([("a", "kind"), ("kind", "b"), ("b", "c"), ("d", "b")], class_arcs="listed")
CLIQUES = st.FixedStructure([("a", "b"), ("a", "c"), ("b", "c")])
PARENTS = st.FixedStructure([("a", "c"), ("b", "c")])


@pytest.mark.parametrize(
    ("structure", "kind"),
    [
        ("naive", "naive Bayes"),
        ("tan", "tree-augmented naive Bayes (TAN)"),
        (st.FixedStructure([("a", "b")]), "forest-augmented naive Bayes"),
        (CLIQUES, "semi-naive Bayes"),
        (PARENTS, "2-dependence Bayesian classifier"),
        (GENERAL, "general Bayesian network"),
    ],
)
def test_kinds(structure, kind):
    found = network(structure)
    assert found.summary().kind == kind
    assert repr(found).startswith(f"<Network: {kind}, 4 features, 3 classes, ")
    assert repr(found).endswith(" parameters>")


def test_omissions_are_reported():
    found = network(st.FixedStructure([("a", "b")], leave_out=["c"]))
    assert (
        repr(found)
        == "<Network: forest-augmented naive Bayes, 3 features (1 column left out), 3 classes, 1 arc between features, 32 parameters>"
    )
    assert str(found.summary()).splitlines()[-1] == "left out: c"
    assert "c" not in found.summary().to_frame().index


@pytest.mark.parametrize("structure", ["naive", "tan", PARENTS, GENERAL])
def test_summaries_count_parameters_and_information(structure):
    found = network(structure)
    summary = found.summary()
    assert sum(summary.n_parameters.values()) == found.n_parameters
    frame = summary.to_frame()
    assert list(frame.index) == ["a", "b", "c", "d", "kind"]
    assert frame.loc["b", "parents"] == ", ".join(found.parents("b"))
    for name, joint in marginals(found).items():
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        assert frame.loc[name, "information"] == pytest.approx((joint * np.log(joint / independent)).sum(), abs=1e-10)
    lines = str(summary).splitlines()
    assert lines[0] == repr(found)[10:-1]
    shown = [line.split()[0] for line in lines[3:7]]
    assert shown == sorted("abcd", key=lambda name: -summary.information[name])
    assert repr(summary) == str(summary)


def marginals(found: tg.Network) -> dict[str, np.ndarray]:
    """P(feature, class) from the product of all tables, summed over all rows there can be."""
    names = [*found.features, found.class_name]
    sums = {name: np.zeros((3, 3)) for name in found.features}
    tables = [found.cpt(name) for name in names]
    for codes in itertools.product(range(3), repeat=5):
        place = dict(zip(names, codes, strict=True))
        p = np.prod([table.values[tuple(place[name] for name in table.names)] for table in tables])
        for name in found.features:
            sums[name][place[name], codes[-1]] += p
    return sums


def test_an_overview_never_takes_long():
    rng = np.random.default_rng(0)
    rows, y = rng.integers(0, 6, (300, 14)), rng.integers(0, 2, 300)
    arcs = [(f"x{i}", f"x{j}") for j in range(14) for i in range(max(0, j - 6), j)]
    # All ancestors of the last would be one table: beyond what an overview computes.
    frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(14)])
    found = tg.BayesNetClassifier(st.FixedStructure(arcs)).fit(frame.iloc[:, :14], y).network_
    summary = found.summary()
    assert np.isnan(summary.information["x13"])
    assert summary.information["x0"] > 0
    assert str(summary).splitlines()[-1].split()[3] == "-"


def test_html_is_whole_and_shows_labels_as_text():
    frame, y = hostile()
    found = tg.TANClassifier().fit(frame, y).network_
    html = found._repr_html_()
    tags = Tags(html)
    assert tags.tags == {"div", "style", "details", "summary", "b", "table", "thead", "tbody", "tr", "th", "td"}
    texts = "".join(tags.texts)
    assert HOSTILE[0] in texts
    assert "\u202e" not in texts
    assert "http" not in html
    assert "url(" not in html
    assert found.summary()._repr_html_() == html
    assert f"P({'class'})" in texts
    assert texts.count(" | ") == 6  # a table for every feature


def test_html_of_large_networks_stays_small():
    rng = np.random.default_rng(0)
    found = tg.NaiveBayesClassifier().fit(rng.integers(0, 300, (400, 100)), rng.integers(0, 2, 400)).network_
    html = found._repr_html_()
    Tags(html)
    assert len(html) < 2_000_000
    assert "and 40 less informative features" in html
    assert "and 41 more tables" in html


def test_classifiers_keep_the_diagram_of_scikit_learn():
    clf = tg.TANClassifier()
    assert "tanager-network" not in clf._repr_html_()
    clf.fit(X, Y)
    bundle = clf._repr_mimebundle_()
    assert bundle["text/plain"] == repr(clf)
    for html in (clf._repr_html_(), bundle["text/html"]):
        assert html.count('tanager-network"') == 1
        assert html.endswith(clf.network_._repr_html_())
        assert "sk-container" in html
    with sklearn.config_context(display="text"):
        assert not hasattr(clf, "_repr_html_")
        assert list(clf._repr_mimebundle_()) == ["text/plain"]
    assert "TANClassifier" in estimator_html_repr(make_pipeline(FunctionTransformer(), clf))
    assert "sk-container" in tg.AODEClassifier().fit(X, Y)._repr_html_()


def test_averages_as_html():
    features, labels = hostile()
    average = tg.TBMATANClassifier().fit(features, labels)
    found = Tags(average.posterior_._repr_html_())
    *_, p = average.posterior_.edge_probabilities.most_probable(1)[0]
    assert found.tags == {"div", "style", "details", "summary", "b", "table", "thead", "tbody", "tr", "th", "td", "p"}
    assert f"{p:.4f}" in found.texts
    assert "the most probable tree" in found.texts
    assert average.posterior_._repr_html_() in average._repr_html_()
    parts = tg.AODEClassifier().fit(features, labels)
    found = Tags(parts._model_html())
    naive = tg.NaiveBayesClassifier().fit(features, labels).network_.summary()
    assert {f"{x:.4f}" for x in naive.information.values()} <= set(found.texts)
    assert f"average of {features.shape[1]} one-dependence models" in "".join(found.texts)
    assert parts._model_html() in parts._repr_html_()
    assert "\u202e" not in parts._model_html() + average.posterior_._repr_html_()
    assert tg.AODEClassifier()._model_html() == tg.TBMATANClassifier()._model_html() == ""


def test_averages_of_many_and_of_few_features():
    wide = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (30, 70)).astype(str))
    found = Tags(tg.AODEClassifier().fit(wide, np.arange(30))._model_html())
    assert "… and 10 less informative features" in found.texts
    assert any(text.endswith(", and 10 more") for text in found.texts)
    alone = tg.TBMATANClassifier().fit(wide.iloc[:, :1], np.arange(30) % 2).posterior_
    assert "edge between" not in Tags(alone._repr_html_()).texts


def test_tables_as_arrays_and_html():
    cpt = network("tan").cpt("b")
    np.testing.assert_array_equal(np.asarray(cpt), cpt.values)
    assert np.asarray(cpt, dtype=np.float32).dtype == np.float32
    found = Tags(cpt._repr_html_())
    assert "P(b | a, kind)" in found.texts
    assert f"{cpt.values.reshape(-1)[0]:.4g}" in found.texts


# -- comparisons


def test_arcs_of_both_and_of_one():
    first = network(st.FixedStructure([("a", "b"), ("b", "c"), ("c", "d")]))
    second = network(st.FixedStructure([("a", "b"), ("c", "b"), ("a", "d")], leave_out=[]))
    found = first.compare(second)
    assert set(found.both) == {("kind", name) for name in "abcd"} | {("a", "b")}
    assert found.reversed == [("b", "c")]
    assert found.only_first == [("c", "d")]
    assert found.only_second == [("a", "d")]
    assert found.distance == 3
    assert not found.is_equivalent
    assert not found.is_same
    assert set(found.skeleton_both) == {*found.both, ("b", "c")}
    back = second.compare(first)
    assert (back.only_first, back.only_second, back.reversed) == (found.only_second, found.only_first, [("c", "b")])
    frame = found.to_frame()
    assert frame["is"].value_counts().to_dict() == {"both": 5, "reversed": 1, "first": 1, "second": 1}
    assert "reversed: b → c" in repr(found)
    assert "only in the second: a → d" in repr(found)


def test_features_and_classes_of_other_names():
    first = network(st.FixedStructure([], leave_out=["d"]))
    other = tg.NaiveBayesClassifier().fit(X.rename(columns={"a": "z"}), Y.rename("sort")).network_
    found = first.compare(other)
    assert found.shared_features == ["b", "c"]
    assert found.features_only_first == ["a"]
    assert found.features_only_second == ["z", "d"]
    assert found.both == [("kind", "b"), ("kind", "c")]
    assert found.only_second == [("kind", "z"), ("kind", "d")]
    assert not first.compare(other).is_equivalent
    assert repr(first.compare(first)) == "the same 3 arcs between the same 3 features"
    with pytest.raises(TypeError, match="compare: expected a Network, got TANClassifier"):
        first.compare(tg.TANClassifier())


def test_equivalent_networks_give_the_same_probabilities():
    # With maximum likelihood, from complete rows: all structures between three features, each against each.
    pairs = list(itertools.combinations("abc", 2))
    learned = []
    for choice in itertools.product((None, 0, 1), repeat=3):
        arcs = [(u, v) if way == 0 else (v, u) for (u, v), way in zip(pairs, choice, strict=True) if way is not None]
        if {("a", "b"), ("b", "c"), ("c", "a")} <= set(arcs) or {("b", "a"), ("c", "b"), ("a", "c")} <= set(arcs):
            continue
        clf = tg.BayesNetClassifier(st.FixedStructure(arcs), "maximum-likelihood").fit(X[["a", "b", "c"]], Y)
        learned.append((clf.network_, clf.predict_joint_log_proba(X[["a", "b", "c"]])))
    assert len(learned) == 25
    n_equivalent = 0
    for (first, joint), (second, other) in itertools.combinations(learned, 2):
        equivalent = first.compare(second).is_equivalent
        n_equivalent += equivalent
        assert equivalent == np.allclose(joint, other, rtol=0, atol=1e-9)
    assert n_equivalent == 3 * 1 + 3 * 3 + 15


# -- searches in words


def test_searches_are_described():
    clf = tg.BayesNetClassifier(st.HillClimb(cv=4, epsilon=0.0), random_state=0).fit(X, Y)
    trace, lines = clf.search_trace_, clf.describe_search().splitlines()
    assert len(trace) > 1
    assert lines[0].startswith(f"{len(trace) - 1} step")
    assert trace.stopped == "nothing left"
    assert lines[0].endswith("; stopped: no candidates are left")
    assert f"accuracy {trace.scores[0]:.4f} initially, {trace.scores[-1]:.4f} finally" in lines[1]
    assert "; 4 folds, standard deviation " in lines[1]
    assert len(lines) == len(trace) + 1
    for step, line in zip(list(trace)[1:], lines[2:], strict=True):
        assert f"{step.change}: {step.score:.4f}" in line


def test_only_searches_are_described():
    with pytest.raises(ValueError, match="ChowLiu does not search"):
        tg.TANClassifier().fit(X, Y).describe_search()
    parameters = tg.parameters.ELR(max_iter=2)
    with pytest.raises(ValueError, match="NaiveBayes does not search"):
        tg.NaiveBayesClassifier(parameters).fit(X, Y).describe_search()


def test_frames_say_that_they_need_pandas(monkeypatch):
    network = tg.TANClassifier().fit([["a", "c"], ["b", "d"]], [0, 1]).network_
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    for what, call in [
        ("to_frame", network.cpt("x0").to_frame),
        ("to_frame", network.summary().to_frame),
        ("to_series", network.posterior({"x0": "a"}).to_series),
        ("as_frame=True", lambda: tg.datasets.load("monks-1", as_frame=True)),
    ]:
        with pytest.raises(ImportError, match=f"^{what} needs pandas; install it with: pip install pandas$"):
            call()


def test_tables_as_text_keep_their_lines():
    rows = np.array([["a\nb", 1], ["\u202e", "1"], ["", 1], ["a\nb", "1"]] * 3, dtype=object)
    names = ["two\nlines", "\u2028"]
    frame = pd.DataFrame(rows, columns=names)
    clf = tg.TANClassifier().fit(frame, pd.Series([True, False] * 6, name="c\0"))
    found = clf.network_
    assert str(found.cpt(names[0])).splitlines()[:2] == [
        "P('two\\nlines' | 'c\\x00')",
        "'c\\x00'      ''  'a\\nb'  '\\u202e'",
    ]
    assert str(found.posterior({}, [names[1]])).splitlines() == [
        "P('\\u2028')",
        "'\\u2028'",
        "       1  0.5",
        "     '1'  0.5",
    ]
    for message in ("order: expected each of 'two", "order: unknown feature 'x'; the features are 'two"):
        with pytest.raises(ValueError, match=message) as failure:
            clf.explain(frame[:1], order=["x"] if "'x'" in message else names[:1])
        assert len(str(failure.value).splitlines()) == 1


@pytest.mark.parametrize("n_features", [4, 30])
def test_searches_and_trees_as_text_keep_their_lines(n_features):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    both = random.integers(0, 2, 200)  # the class is what two features say together
    cells = np.column_stack([both, both ^ y, random.integers(0, 2, (200, n_features - 2))])
    frame = pd.DataFrame(cells, columns=[f"{i}\n\x1b[1m" for i in range(n_features)])
    classes = np.array(["no\n", "yes\n"])[y]
    search = tg.BayesNetClassifier("hill-climb").fit(frame, classes)
    assert len(search.search_trace_) > 1
    trees = tg.TBMATANClassifier().fit(frame, classes)
    texts = [repr(search.search_trace_), search.describe_search(), repr(trees.posterior_.edge_probabilities)]
    for text in [*texts, repr(search.explain(frame[:1]))]:
        assert all(line.isprintable() for line in text.split("\n"))
        assert "\\n" in text
    assert len(texts[0].splitlines()) == 2 + len(search.search_trace_)
