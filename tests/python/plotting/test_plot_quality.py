"""Reliability, ROC, learning curves and their plots, compared with scikit-learn and plain loops."""

from __future__ import annotations

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")

from picture_hashes import half, many_classes, searched, table
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, roc_auc_score
from sklearn.metrics import roc_curve as sklearn_curve

import tanager as tg
from tanager._learning.traces import SearchStep, SearchTrace
from tanager.evaluation import CrossValidation, cross_validate, learning_curve, reliability, roc_curve
from tanager.evaluation._learning_curve import _shuffled
from tanager.plotting import plot_learning_curve, plot_reliability, plot_roc, plot_scores, plot_search

# Old versions of matplotlib call new versions of their parser by old names.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "Agg"}):
        import matplotlib.pyplot as plt

        yield
        plt.close("all")


@pytest.fixture(scope="module")
def two():
    return half(tg.TANClassifier())


@pytest.fixture(scope="module")
def many():
    return many_classes()


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# -- ROC


def test_roc_is_that_of_scikit_learn(two):
    clf, X, y = two
    proba = clf.predict_proba(X)
    found = roc_curve(y, proba, clf.classes_)
    assert found.of == "positive"
    assert found.auc == pytest.approx(roc_auc_score(y, proba[:, 1]), abs=1e-14)
    assert auc(found.false_positive, found.true_positive) == pytest.approx(found.auc, abs=1e-12)
    fpr, tpr, thresholds = sklearn_curve(y, proba[:, 1], pos_label="positive", drop_intermediate=False)
    np.testing.assert_allclose(found.false_positive, fpr, atol=1e-15)
    np.testing.assert_allclose(found.true_positive, tpr, atol=1e-15)
    np.testing.assert_array_equal(found.thresholds[1:], thresholds[1:])
    ax = plot_roc(clf, X, y)
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), found.false_positive)
    assert legend_texts(ax) == [f"positive: {roc_auc_score(y, proba[:, 1]):.3f}"]


def test_roc_of_many_classes(many):
    clf, X, y = many
    proba = clf.predict_proba(X)
    ax = plot_roc(clf, X, y, max_classes=4)
    areas = {c: roc_auc_score(y == c, proba[:, i]) for i, c in enumerate(clf.classes_)}
    assert ax.get_title(loc="left").startswith(f"mean AUC {np.mean(list(areas.values())):.3f}, ")
    assert f"{roc_auc_score(y, proba, multi_class='ovr'):.3f}" in ax.get_title(loc="left")
    first, *others = legend_texts(ax)
    most = sorted(areas, key=lambda c: -np.count_nonzero(y == c))[:3]
    assert others == [f"{c}: {areas[c]:.3f}" for c in clf.classes_ if c in most]
    rest = [area for c, area in areas.items() if c not in most]
    assert first == f"6 others: {min(rest):.3f} to {max(rest):.3f}"
    assert len(ax.lines) == 1 + len(clf.classes_)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_legends_have_all_names():
    X = np.random.default_rng(0).integers(0, 3, (60, 3))
    y = np.array(["_a", 1, "1"], dtype=object)[X[:, 0]]  # matplotlib leaves out what begins with "_"
    clf = tg.TANClassifier().fit(X, y)
    assert sorted(legend_of(plot_roc(clf, X, y))) == ["'1': 1.000", "1: 1.000", "_a: 1.000"]
    classifiers = {"_naive": tg.NaiveBayesClassifier(), "$tan$": tg.TANClassifier()}
    assert legend_of(plot_learning_curve(classifiers, X, X[:, 1], n_splits=2)) == ["_naive", "$tan$"]


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_rows_of_one_class_have_no_roc(n_classes):
    X = np.arange(12)[:, None] % n_classes
    clf = tg.NaiveBayesClassifier().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="y: expected rows of at least two classes"):
        plot_roc(clf, X[:1], X[:1, 0])
    with pytest.raises(ValueError, match="y: expected rows of at least two classes"):
        plot_roc(clf, X, np.full(12, 7))  # a class that it does not know


def test_roc_of_several_classifiers(two):
    clf, X, y = two
    other = LogisticRegression().fit(np.eye(3)[:2], ["negative", "positive"])
    curves = {"TAN": clf, "given": roc_curve(y, clf.predict_proba(X))}
    assert len({text.split(": ")[1] for text in legend_texts(plot_roc(curves, X, y))}) == 1
    with pytest.raises(TypeError, match="X and y: required to evaluate a classifier"):
        plot_roc({"one": other})
    with pytest.raises(TypeError, match="clf: expected a fitted classifier with predict_proba, got int"):
        plot_roc(3, X, y)
    with pytest.raises(ValueError, match="clf: expected classifiers with two classes, got 9"):
        plot_roc({"one": many_classes()[0]}, *many_classes()[1:])
    with pytest.raises(ValueError, match="of: expected one of the classes 'negative', 'positive', got 'x'"):
        roc_curve(y, clf.predict_proba(X), of="x")
    with pytest.raises(ValueError, match="max_classes: expected an integer from 1 to 6, got 7"):
        plot_roc(clf, X, y, max_classes=7)


def test_classes_without_rows_have_no_curve(many):
    clf, X, y = many
    kept = y != "c4"
    ax = plot_roc(clf, X[kept], y[kept])
    assert len(ax.lines) == len(clf.classes_)
    assert np.isnan(roc_curve(y[kept], clf.predict_proba(X[kept]), clf.classes_, of="c4").auc)


# -- reliability


def test_reliability_by_hand():
    p = np.array([0.1, 0.2, 0.2, 0.3, 0.6, 0.7, 0.7, 0.9])
    y = np.array([0, 0, 1, 0, 1, 1, 0, 1])
    found = reliability(y, np.stack([1 - p, p], axis=1), n_bins=2)
    np.testing.assert_allclose(found.predicted, [0.2, 0.725])
    np.testing.assert_allclose(found.observed, [0.25, 0.75])
    assert found.n.tolist() == [4, 4]
    assert found.calibration_error == pytest.approx((4 * 0.05 + 4 * 0.025) / 8)
    for i in range(2):
        interval = binomtest(round(found.observed[i] * 4), 4).proportion_ci(method="wilson")
        assert (found.low[i], found.high[i]) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert found.histogram.sum() == 8
    assert found.histogram[4] == 2
    other = reliability(y, np.stack([1 - p, p], axis=1), of=0, n_bins=2)
    np.testing.assert_allclose(other.observed, [0.25, 0.75])
    assert list(found.to_frame().columns) == ["predicted", "observed", "low", "high", "n"]


def test_equal_probabilities_stay_together():
    draw = np.random.RandomState(0)
    p = draw.choice([0.1, 0.5, 0.55, 0.9], size=1000, p=[0.05, 0.6, 0.2, 0.15])
    y = draw.random_sample(1000) < p
    found = reliability(y, np.stack([1 - p, p], axis=1), n_bins=4)
    assert found.n.sum() == 1000
    assert len(found.n) <= 4
    np.testing.assert_allclose((found.predicted * found.n).sum(), p.sum())
    spread = draw.random_sample(1000)
    even = reliability(spread < 0.5, np.stack([1 - spread, spread], axis=1))
    assert even.n.tolist() == [100] * 10
    constant = reliability([0, 1, 1], [[0.4, 0.6]] * 3)
    assert constant.n.tolist() == [3]
    assert constant.calibration_error == pytest.approx(2 / 3 - 0.6)


def test_reliability_of_many_classes_is_that_of_the_predicted(many):
    clf, X, y = many
    proba = clf.predict_proba(X)
    found = reliability(y, proba, clf.classes_)
    assert found.of == "the predicted class"
    assert (found.observed * found.n).sum() == pytest.approx((clf.predict(X) == y).sum())
    ax = plot_reliability(clf, X, y)
    assert ax.get_xlabel() == "predicted probability of the predicted class"
    own = plot_reliability(clf, X, y, of="c3")
    assert own.get_xlabel() == "predicted probability of c3"


def test_reliability_is_drawn(two):
    clf, X, y = two
    found = reliability(y, clf.predict_proba(X), n_bins=7)
    ax = plot_reliability(clf, X, y, n_bins=7)
    line = ax.containers[-1][0]
    np.testing.assert_array_equal(line.get_xdata(), found.predicted)
    np.testing.assert_array_equal(line.get_ydata(), found.observed)
    assert len(ax.patches) == 20  # the histogram
    assert ax.get_title(loc="left") == f"expected calibration error {found.calibration_error:.3f}, 479 rows"
    assert plot_reliability(found, ax=ax) is ax
    with pytest.raises(TypeError, match="expected only with a classifier, not with a Reliability"):
        plot_reliability(found, X, y)
    with pytest.raises(ValueError, match="n_bins: expected an integer >= 1, got 0"):
        plot_reliability(clf, X, y, n_bins=0)
    with pytest.raises(ValueError, match="proba: expected one row per label, 478, got 479"):
        plot_reliability(clf, X, y[:-1])


# -- searches


def test_search_is_drawn():
    clf = searched()
    trace = clf.search_trace_
    ax = plot_search(clf)
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert labels == ["initial structure", *(step.change.replace(" -> ", " → ") for step in trace[1:]), "end"]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), trace.scores)
    points = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_allclose(points[:, 0], trace.fold_scores.reshape(-1))
    texts = [text.get_text() for text in ax.texts]
    assert "no candidate improves the score enough" in texts
    assert f"{trace.scores[1] - trace.scores[0]:+.3f}" in texts
    assert plot_search(trace, ax) is ax
    with pytest.raises(TypeError, match="trace: expected a SearchTrace, a FitTrace or a classifier fitted by a search"):
        plot_search(tg.TANClassifier().fit(*table(3)))


def test_long_searches_name_some_steps():
    many_steps = [SearchStep(f"step {i}", 0.5 + i / 1000, (0.5, 0.5 + i / 500), 3, 0.1) for i in range(100)]
    ax = plot_search(SearchTrace(many_steps, "accuracy", "step limit", 300, 1.0))
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert labels[:4] == ["step 0", "", "", "step 3"]
    assert len(labels) == 101
    assert ax.figure.get_size_inches()[1] < 12


def test_iterations_are_drawn():
    fit = tg.BayesNetClassifier("naive", tg.parameters.ELR(max_iter=5), random_state=0).fit(*table(4))
    trace = fit.parameter_trace_
    ax = plot_search(trace)
    np.testing.assert_array_equal(ax.lines[-2].get_ydata(), trace.held_out)
    assert ax.lines[-1].get_xdata()[0] == trace.n_iter
    em = tg.BayesNetClassifier("naive", "em").fit(*table(4)).parameter_trace_
    np.testing.assert_array_equal(plot_search(em).lines[0].get_ydata(), em.training)


# -- cross-validation


def test_scores_are_drawn():
    clfs = {"naive": tg.NaiveBayesClassifier(), "TAN": tg.TANClassifier()}
    result = cross_validate(clfs, *table(5), cv=4, random_state=0)
    assert isinstance(result, CrossValidation)
    ax = plot_scores(result, "log_loss")
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [result.mean[name]["log_loss"] for name in clfs])
    assert len(ax.collections[0].get_offsets()) == 8
    assert ax.get_xlabel() == "log loss (smaller is better)"
    assert plot_scores(result).get_xlabel() == "accuracy (larger is better)"
    with pytest.raises(ValueError, match="score: expected one of 'accuracy', 'log_loss', got 'auc'"):
        plot_scores(result, "auc")
    with pytest.raises(TypeError, match="result: expected a CrossValidation, got dict"):
        plot_scores({})


def test_infinite_scores_are_left_out():
    X, y = table(3, 60)
    result = cross_validate(tg.BayesNetClassifier("tan", "maximum-likelihood"), X, y, cv=5, random_state=0)
    assert np.isinf(result["log_loss"]).any()
    ax = plot_scores(result, "log_loss")
    ax.figure.canvas.draw()
    assert len(ax.collections[0].get_offsets()) == np.isfinite(result["log_loss"]).sum()


# -- learning curves


def test_learning_curves_are_those_of_a_plain_loop():
    X, y = table(5, 120)
    found = learning_curve(tg.TANClassifier(), X, y, sizes=[10, 0.5, 84], n_splits=3, random_state=4)
    assert found.sizes.tolist() == [10, 42, 84]
    assert found.n_test == 36
    again = learning_curve(tg.TANClassifier(), X, y, sizes=[10, 42, 84], n_splits=3, random_state=4, n_jobs=2)
    np.testing.assert_array_equal(again.scores["TANClassifier"]["log_loss"], found.scores["TANClassifier"]["log_loss"])
    draw = np.random.RandomState(4)
    codes = np.unique(y, return_inverse=True)[1]
    for split in range(3):
        order = _shuffled(codes, 2, draw)
        assert sorted(order) == list(range(120))
        assert abs(codes[order[:42]].mean() - codes.mean()) < 0.05
        for i, size in enumerate(found.sizes):
            clf = tg.TANClassifier().fit(X.iloc[order[:size]], y[order[:size]])
            expected = clf.score(X.iloc[order[84:]], y[order[84:]])
            assert found.scores["TANClassifier"]["accuracy"][i, split] == expected
    assert len(found.to_frame()) == 9
    np.testing.assert_allclose(
        found.mean["TANClassifier"]["accuracy"], found.to_frame().groupby("size")["accuracy"].mean()
    )
    assert "mean scores for 10, 42, 84 training rows" in repr(found)


def test_every_class_is_in_every_training_set():
    y = np.array(["common"] * 95 + ["rare"] * 5)
    X = np.random.RandomState(0).randint(0, 2, (100, 2)).astype(str)
    found = learning_curve(tg.NaiveBayesClassifier(), X, y, sizes=[2, 20], n_splits=5, random_state=0)
    assert np.isfinite(found.scores["NaiveBayesClassifier"]["log_loss"]).all()


def test_learning_curve_is_drawn():
    clfs = {"naive": tg.NaiveBayesClassifier(), "$other$": LogisticRegression()}
    X, y = np.random.RandomState(0).random_sample((90, 2)), np.arange(90) % 2
    found = learning_curve(clfs, X, y, n_splits=2, random_state=0)
    ax = plot_learning_curve(found, score="log_loss")
    ax.figure.canvas.draw()
    assert legend_texts(ax) == ["naive", "$other$"]
    for line, name in zip(ax.lines, clfs, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), found.sizes)
        np.testing.assert_array_equal(line.get_ydata(), found.mean[name]["log_loss"])
    assert len(ax.collections) == 2  # bands
    direct = plot_learning_curve(
        tg.NaiveBayesClassifier(), X, y, score="accuracy", sizes=[30], n_splits=1, random_state=0
    )
    direct.figure.canvas.draw()
    assert direct.get_ylabel() == "accuracy"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sizes": [1]}, "sizes: expected from 2 .the number of classes. to 84 training rows, got 1"),
        ({"sizes": [2000]}, "sizes: expected from 2 .the number of classes. to 84 training rows, got 2000"),
        ({"sizes": [1.5]}, "sizes: expected integers, or fractions above 0 and up to 1, got 1.5"),
        ({"sizes": [50, 20]}, r"sizes: expected at least one size, in increasing order, got \[50, 20\]"),
        ({"test_size": 1.0}, "test_size: expected a number between 0 and 1, both excluded, got 1.0"),
        ({"n_splits": 0}, "n_splits: expected an integer >= 1, got 0"),
    ],
)
def test_settings_of_learning_curves(settings, message):
    with pytest.raises(ValueError, match=message):
        learning_curve(tg.NaiveBayesClassifier(), *table(2, 120), **settings)


def test_learning_curves_need_rows():
    with pytest.raises(TypeError, match="X and y: required to evaluate classifiers"):
        plot_learning_curve(tg.NaiveBayesClassifier())
    found = learning_curve(tg.NaiveBayesClassifier(), *table(2, 60), sizes=[20], n_splits=1, random_state=0)
    with pytest.raises(TypeError, match="expected only with classifiers, not with a LearningCurve"):
        plot_learning_curve(found, n_splits=3)
