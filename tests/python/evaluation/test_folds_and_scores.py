"""Folds, scores, results and comparisons: what users give and what they get."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy import stats
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB

import tanager as tg
from tanager import _core
from tanager._learning.folds import fold_of_row
from tanager.evaluation import accuracy, auc, compare, conditional_log_likelihood, cross_validate, log_loss

N = 240
RNG = np.random.default_rng(5)
INTEGERS = RNG.integers(0, 3, (N, 4))
Y = np.array(["ant", "bee", "cow"])[(INTEGERS.sum(axis=1) + RNG.integers(0, 2, N)) % 3]
FOLDS = RNG.integers(0, 4, N)


def codes_of(y):
    return np.asarray(y, dtype=np.uint8 if max(y) < 254 else np.uint16)


@given(
    y=hs.lists(hs.integers(0, 6), min_size=2, max_size=60),
    seed=hs.integers(0, 2**64 - 1),
    data=hs.data(),
)
def test_folds_are_even_in_size_and_in_every_class(y, seed, data):
    n_folds = data.draw(hs.integers(2, len(y)))
    folds = _core.stratified_folds(codes_of(y), 7, n_folds, seed)
    for rows in (np.ones(len(y), dtype=bool), *(np.asarray(y) == c for c in range(7))):
        sizes = np.bincount(folds[rows], minlength=n_folds)
        assert len(sizes) == n_folds
        assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(folds, _core.stratified_folds(np.asarray(y, dtype=np.uint16), 7, n_folds, seed))


def test_folds_are_the_same_on_every_platform():
    y = codes_of([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    assert _core.stratified_folds(y, 3, 3, 1).tolist() == [1, 2, 0, 0, 1, 0, 2, 1, 2, 0, 1, 2]
    assert _core.stratified_folds(y, 3, 4, 2**64 - 1).tolist() == [1, 0, 0, 2, 3, 0, 2, 1, 3, 3, 2, 1]


def test_folds_are_shuffled():
    y = np.zeros(2000, dtype=np.uint8)
    counts = np.zeros((6, 3))
    for seed in range(400):
        folds = _core.stratified_folds(y[:6], 1, 3, seed)
        counts[np.arange(6), folds] += 1
    assert stats.chisquare(counts.ravel()).pvalue > 1e-3  # every row in every fold equally often
    assert stats.spearmanr(np.arange(2000), _core.stratified_folds(y, 1, 10, 0)).pvalue > 1e-3


@settings(max_examples=60)
@given(
    n_classes=hs.integers(2, 5),
    seed=hs.integers(0, 2**32 - 1),
    digits=hs.integers(1, 12),
    n_rows=hs.integers(12, 80),
)
def test_scores_equal_those_of_scikit_learn(n_classes, seed, digits, n_rows):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(n_classes), n_rows).round(digits) + 1e-3  # rounding makes ties
    proba /= proba.sum(axis=1, keepdims=True)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    reference = roc_auc_score(y, proba[:, 1]) if n_classes == 2 else roc_auc_score(y, proba, multi_class="ovr")
    assert auc(y, proba) == pytest.approx(reference, abs=1e-12)
    assert accuracy(y, proba) == accuracy_score(y, proba.argmax(axis=1))
    assert log_loss(y, proba) == pytest.approx(metrics.log_loss(y, proba), rel=1e-12)
    assert conditional_log_likelihood(y, proba) == pytest.approx(-n_rows * metrics.log_loss(y, proba), rel=1e-12)


def test_scores_of_classes_that_do_not_occur():
    proba = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.4, 0.2, 0.4]]
    assert auc(["a", "b", "a"], proba, ["a", "b", "c"]) == (1 + 1) / 2  # c is nobody's
    assert np.isnan(auc(["a", "a", "a"], proba, ["a", "b", "c"]))
    assert np.isnan(auc(["a", "a", "b"], [[1.0]] * 3, ["a"]))
    assert auc([0, 1], [[0.5, 0.5]] * 2) == 0.5
    assert accuracy(["a", "b", "z"], proba, ["a", "b", "c"]) == 2 / 3
    assert log_loss(["a", "b", "z"], proba, ["a", "b", "c"]) == np.inf
    assert conditional_log_likelihood(["a"], [[0.0, 1.0]], ["a", "b"]) == -np.inf
    assert str(log_loss(["a"], [[1.0, 0.0]], ["a", "b"])) == "0.0"  # not -0.0


def test_scores_reject_inconsistent_input():
    with pytest.raises(ValueError, match="proba: expected an array of numbers: could not convert"):
        accuracy(["a", "b"], "ab")
    with pytest.raises(ValueError, match="proba: expected 2 columns, one per class, got 3"):
        accuracy([0, 1], np.full((2, 3), 1 / 3))
    with pytest.raises(ValueError, match="expected 2 probabilities for each of 3 rows, got 4 in all"):
        log_loss([0, 1, 1], np.full((2, 2), 0.5))
    for score in (accuracy, auc, conditional_log_likelihood, log_loss):
        for wrong in (np.nan, -0.5, 1.5, np.inf):
            with pytest.raises(ValueError, match=f"proba: expected probabilities from 0 to 1, got {wrong}"):
                score([0, 1], [[wrong, 0.5], [0.5, 0.5]])
        with pytest.raises(ValueError, match=r"classes: expected unique labels, got \[0, 0\]"):
            score([0, 0], np.full((2, 2), 0.5), [0, 0])


def test_fold_of_row_reads_all_that_users_give():
    y = codes_of(RNG.integers(0, 3, 30))
    folds, n_folds = fold_of_row(5, y, 3, None, 1)
    assert n_folds == 5
    np.testing.assert_array_equal(folds, _core.stratified_folds(y, 3, 5, 1))
    np.testing.assert_array_equal(fold_of_row(5, y, 3, None, lambda: 1)[0], folds)
    names = np.array(["first", "second", "third", "fourth", "fifth"])[folds]
    np.testing.assert_array_equal(fold_of_row(np.array(5), y, 3, None, 1)[0], folds)
    assert fold_of_row(names, y, 3, None, 0)[1] == 5
    np.testing.assert_array_equal(fold_of_row((folds + 1).tolist(), y, 3, None, 0)[0], folds)
    splits = list(KFold(3).split(np.zeros((30, 1))))
    np.testing.assert_array_equal(fold_of_row(splits, y, 3, None, 0)[0], np.repeat([0, 1, 2], 10))
    assert fold_of_row(StratifiedKFold(4), y, 3, None, 0)[1] == 4


@pytest.mark.parametrize(
    ("cv", "error", "message"),
    [
        (ShuffleSplit(3), ValueError, r"in the test set of exactly one fold, got row \d+ in"),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=2), ValueError, "got row 0 in 2 of the 4 test sets"),
        (
            [(np.arange(20), np.arange(20, 30)), (np.arange(20, 30), np.arange(20))][:1],
            ValueError,
            "in none of the 1 test sets",
        ),
        (
            [(np.arange(19), np.arange(20, 30)), (np.arange(20, 30), np.arange(20))],
            ValueError,
            "got other training rows in fold 0",
        ),
        (31, ValueError, "cv: expected from 2 folds to the number of rows, which is 30, got 31"),
        (np.zeros(30, dtype=int), ValueError, "cv: expected at least 2 folds, got all rows in fold 0"),
        (np.arange(30) - 1, ValueError, "cv: expected non-negative folds, got -1; .* PredefinedSplit"),
        (np.linspace(0, 1, 30), TypeError, "as an integer or a string, got an array of float64"),
        (None, TypeError, "cv: expected a number of folds, .* got None"),
        (True, TypeError, "cv: expected a number of folds, .* got True"),
        (object(), TypeError, "got object"),
        ([], ValueError, "cv: expected at least one fold, got none"),
        ([(1, 2, 3)], ValueError, "cv: expected pairs"),
        ([([0], [30])], ValueError, "from 0 to 29, got test rows from 30 to 30 in fold 0"),
        ([([0], [[1]])], ValueError, "cv: expected row indices or a boolean mask"),
        (
            [(np.ones(3, dtype=bool), [1])],
            ValueError,
            "cv: expected masks of 30 rows, got 3 for the train rows of fold 0",
        ),
    ],
)
def test_fold_of_row_rejects_what_is_not_a_partition(cv, error, message):
    with pytest.raises(error, match=message):
        fold_of_row(cv, np.zeros(30, dtype=np.uint8), 1, None, 0)


class Constant(ClassifierMixin, BaseEstimator):
    """A classifier of nobody: always the class of the first row, for certain."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.first_ = y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.first_)

    def predict_proba(self, X):
        return np.tile((self.classes_ == self.first_).astype(float), (len(X), 1))


def test_scoring_by_name_and_by_function():
    def brier(y_true, proba, classes):
        return np.mean(((y_true[:, None] == classes) - proba) ** 2)

    scoring = {"acc": "accuracy", "brier": brier}
    result = cross_validate(Constant(), INTEGERS, Y, cv=FOLDS, scoring=scoring)
    for k in range(4):
        assert result["acc"][k] == np.mean(Y[k == FOLDS] == Y[k != FOLDS][0])
        assert result["brier"][k] > 0
    counted = cross_validate(tg.TANClassifier(), INTEGERS, Y, cv=FOLDS, scoring=brier)
    fitted = tg.TANClassifier().fit(INTEGERS[FOLDS != 0], Y[FOLDS != 0])
    assert counted["brier"][0] == brier(Y[FOLDS == 0], fitted.predict_proba(INTEGERS[FOLDS == 0]), fitted.classes_)
    assert cross_validate(Constant(), INTEGERS, Y, cv=FOLDS, scoring="log_loss")["log_loss"][0] == np.inf


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scoring": "f1"}, ValueError, "scoring: expected one of 'accuracy', 'log_loss', 'cll', 'auc' or a function"),
        ({"scoring": []}, ValueError, "scoring: expected at least one score"),
        ({"scoring": ["auc", "auc"]}, ValueError, "got 'auc' more than once"),
        ({"scoring": 3}, TypeError, "scoring: expected a name"),
        ({"cv": 1}, ValueError, "cv: expected from 2 folds"),
        ({"cv": [0, 1]}, ValueError, "cv: expected the fold of each of the 240 rows, got 2"),
        ({"cv": [([0], [])]}, ValueError, "cv: the test set of fold 0 is empty"),
        ({"cv": [([], [0])]}, ValueError, "cv: the train set of fold 0 is empty"),
        ({"random_state": -1}, ValueError, "random_state: expected an integer from 0 to"),
        ({"n_jobs": 0}, ValueError, "n_jobs: expected"),
        ({"sample_weight": [1, 2]}, ValueError, "sample_weight: expected shape"),
        ({"refit_structure": "no"}, TypeError, "refit_structure: expected True or False, got 'no'"),
        (
            {"scoring": {"odd": lambda *_: "x"}},
            TypeError,
            "score 'odd': expected the function to return a number, got 'x'",
        ),
        (
            {"scoring": {"odd": lambda *_: None}},
            TypeError,
            "score 'odd': expected the function to return a number, got None",
        ),
    ],
)
def test_invalid_input_is_rejected(options, error, message):
    with pytest.raises(error, match=message):
        cross_validate(tg.TANClassifier(), INTEGERS, Y, **options)


def test_what_is_not_a_classifier_is_rejected():
    with pytest.raises(TypeError, match="clf: expected a classifier, or a list or dict of classifiers, got 3"):
        cross_validate([tg.TANClassifier(), 3], INTEGERS, Y)
    with pytest.raises(TypeError, match="clf: expected a classifier"):
        cross_validate(tg.TANClassifier, INTEGERS, Y)
    with pytest.raises(ValueError, match="at least one classifier"):
        cross_validate([], INTEGERS, Y)
    for X in (None, 5, np.array(5)):
        with pytest.raises(ValueError, match=f"X: expected a DataFrame or a 2D array, got {type(X).__name__}"):
            cross_validate(tg.TANClassifier(), X, Y)
    with pytest.raises(ValueError, match="X has 240 rows, but y has 239"):
        cross_validate(tg.TANClassifier(), INTEGERS, Y[1:])


def test_columns_of_the_same_name():
    X = pd.DataFrame(INTEGERS % 2, columns=list("abba"))
    with pytest.raises(ValueError, match="column names must be unique, but 'a' occurs more than once"):
        cross_validate(tg.TANClassifier(), X, Y)


def test_result_and_names():
    clfs = [tg.TANClassifier(), tg.TANClassifier(structure_score="bic"), tg.TANClassifier(), BernoulliNB()]
    result = cross_validate(clfs, INTEGERS, Y, cv=3, random_state=0)
    assert result.names == [
        "TANClassifier() (0)",
        "TANClassifier(structure_score='bic')",
        "TANClassifier() (2)",
        "BernoulliNB",
    ]
    frame = result.to_frame()
    assert list(frame.columns[:4]) == ["classifier", "fold", "accuracy", "log_loss"]
    assert len(frame) == 12
    mean = frame.groupby("classifier")["accuracy"].agg(["mean", "std"])
    for name in result.names:
        assert result.mean[name]["accuracy"] == pytest.approx(mean.loc[name, "mean"])
        assert result.std[name]["accuracy"] == pytest.approx(mean.loc[name, "std"])
        assert (result.fit_seconds[name] > 0).all()
        assert (result.predict_seconds[name] > 0).all()
    shown = repr(result).splitlines()
    assert shown[0] == "3 folds, mean ± standard deviation; total seconds"
    assert shown[1].split() == ["accuracy", "log_loss", "fit", "s", "predict", "s"]
    assert f"{result.mean['BernoulliNB']['accuracy']:.4f} ± {result.std['BernoulliNB']['accuracy']:.4f}" in shown[5]
    with pytest.raises(KeyError, match=r"unknown key .*accuracy"):
        result["accuracy"]


def test_progress_is_shown_if_asked_for(capsys):
    cross_validate(tg.TANClassifier(), INTEGERS, Y, cv=3, random_state=0, verbose=1)
    assert "3/3" in capsys.readouterr().err
    cross_validate(tg.TANClassifier(), INTEGERS, Y, cv=3, random_state=0)
    assert capsys.readouterr().err == ""


def test_comparisons_are_those_of_scipy():
    result = cross_validate(
        {"naive": tg.NaiveBayesClassifier(), "tan": tg.TANClassifier(), "kdb": tg.KDBClassifier()},
        *(INTEGERS, Y),
        cv=8,
        random_state=0,
    )
    comparison = compare(result, "log_loss")
    assert [(t.first, t.second) for t in comparison] == [("naive", "tan"), ("naive", "kdb"), ("tan", "kdb")]
    for test in comparison:
        a, b = (result[name]["log_loss"] for name in (test.first, test.second))
        assert test.difference == pytest.approx(a.mean() - b.mean())
        assert test.wilcoxon_p == stats.wilcoxon(a, b).pvalue
        assert test.t_p == pytest.approx(stats.ttest_rel(a, b).pvalue)
        assert (test.wins, test.losses) == ((a < b).sum(), (a > b).sum())
        # Nadeau and Bengio: the variance of the mean is (1/n + test/train) s^2 instead of s^2 / n.
        t = (a - b).mean() / np.sqrt((1 / 8 + 30 / 210) * np.var(a - b, ddof=1))
        assert test.corrected_t_p == pytest.approx(2 * stats.t.sf(abs(t), 7))
    assert compare(result, "log_loss", baseline="tan")["kdb", "tan"].difference == -comparison["tan", "kdb"].difference
    assert len(comparison.to_frame()) == 3


def test_comparisons_of_tables_and_of_equal_scores():
    scores = {"a": [0.9, 0.8, 0.95, 0.7, 0.85, 0.9], "b": [0.8, 0.7, 0.85, 0.6, 0.75, 0.8]}
    comparison = compare({**scores, "c": scores["b"]})
    assert "+0.1000 ↑" in repr(comparison)
    assert "6-0-0" in repr(comparison)
    assert "on 6 datasets" in repr(comparison)
    assert "Wilcoxon p < 0.05" in repr(comparison)
    equal = comparison["b", "c"]
    assert (equal.wilcoxon_p, equal.t_p, equal.ties) == (1.0, 1.0, 6)
    assert np.isnan(comparison["a", "b"].corrected_t_p)
    assert "+0.1000 ↓" in repr(compare(scores, greater_is_better=False))
    infinite = compare({"a": [np.inf, 0.5, 0.3], "b": [np.inf, 0.4, np.inf]})["a", "b"]
    assert (infinite.wins, infinite.ties, infinite.losses) == (1, 1, 1)
    unknown = compare({"a": [np.nan, 0.5, 0.3], "b": [0.1, 0.5, 0.2]})["a", "b"]
    assert (unknown.wins, unknown.ties, unknown.losses) == (1, 1, 0)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"a": [1, 2]}, {}, "expected at least two classifiers"),
        ({"a": [1], "b": [2]}, {}, "at least two folds or datasets, got 1"),
        ({"a": [1, 2], "b": [1, 2, 3]}, {}, "one score per fold or dataset for every classifier"),
        ({"a": [1, 2], "b": [2, 1]}, {"baseline": "c"}, "baseline: expected one of 'a', 'b', got 'c'"),
        ({"a": [1, 2], "b": [2, 1]}, {"alpha": 7}, "alpha: expected a number from 0 to 1, got 7"),
    ],
)
def test_impossible_comparisons_are_rejected(scores, options, message):
    with pytest.raises(ValueError, match=message):
        compare(scores, **options)
    with pytest.raises(ValueError, match="score: expected one of 'accuracy', 'log_loss', got 'auc'"):
        compare(cross_validate(tg.TANClassifier(), INTEGERS, Y, cv=2, random_state=0), "auc")
    with pytest.raises(TypeError, match=r"result: expected the result of cross_validate, .* got NoneType"):
        compare(None)


@pytest.mark.parametrize(
    "differences", [[0.5], [1, -2, 3], [1, 1, -2, 3, 3, -1, 2], [0.1, 0.1, 0.1, -0.1], [1, -np.inf]]
)
def test_the_signed_rank_test_counts_all_signs(differences):
    values = np.array(differences, dtype=float)
    ranks = [sum((abs(v) > np.abs(values)) + 0.5 * (abs(v) == np.abs(values))) + 0.5 for v in values]
    observed = abs(sum(np.sign(v) * rank for v, rank in zip(values, ranks, strict=True)))
    sums = [abs(np.dot(signs, ranks)) for signs in itertools.product([-1, 1], repeat=len(values))]
    expected = np.mean([total >= observed - 1e-9 for total in sums])
    test = compare({"a": [*values, 0.0], "b": np.zeros(len(values) + 1)})["a", "b"]
    assert test.wilcoxon_p == pytest.approx(expected, abs=1e-12)


def test_differences_that_are_equal_but_for_rounding_are_ties():
    scores = {"a": [0.9, 0.8, 0.7, 0.6], "b": [0.8, 0.7, 0.6, 0.7]}
    test = compare(scores, "accuracy")["a", "b"]
    # Four ranks of 2.5, one of them negative: 10 of the 16 ways to choose the signs are as far from even.
    assert test.wilcoxon_p == pytest.approx(10 / 16)
