"""Explanations of predictions against sums over the full joint distribution of tiny models."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import tanager as tg
from tanager import structure as st
from tanager.explain import _coded_rows

VALUES = {"a": ["u", "v"], "b": ["x", "y", "z"], "c": ["p", "q"], "d": ["k", "l", "m"]}
NAMES = list(VALUES)
CLASSES = ["hi", "lo", "mid"]


def table(n_rows: int = 150, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Features that depend on the class and on the feature before; every value occurs."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    columns, before = {}, y
    for name, values in VALUES.items():
        codes = np.where(
            rng.random(n_rows) < 0.4, y, np.where(rng.random(n_rows) < 0.5, before, rng.integers(0, 9, n_rows))
        )
        codes = codes % len(values)
        columns[name], before = np.array(values, dtype=object)[codes], codes
    return pd.DataFrame(columns), np.array(CLASSES)[y]


def with_holes(frame: pd.DataFrame, share: float, seed: int = 1) -> pd.DataFrame:
    holes = np.random.default_rng(seed).random(frame.shape) < share
    return frame.mask(holes, None)


X, Y = table()
ROWS = pd.concat([X[:12], with_holes(X[12:32], 0.4), with_holes(X[:1], 1.0)], ignore_index=True)

GENERAL = [("a", "class"), ("class", "b"), ("b", "c"), ("d", "b"), ("a", "d")]
MODELS = {
    "naive": tg.NaiveBayesClassifier(),
    "tan": tg.TANClassifier(),
    "kdb": tg.KDBClassifier(k=2),
    "chain backwards": tg.BayesNetClassifier(st.FixedStructure([("d", "c"), ("c", "b"), ("b", "a")])),
    "leaves out": tg.BayesNetClassifier(st.FixedStructure([("d", "b")], leave_out=["c"])),
    "general": tg.BayesNetClassifier(st.FixedStructure(GENERAL, class_arcs="listed")),
    "elr": tg.BayesNetClassifier("tan", tg.parameters.ELR(max_iter=5)),
    "aode": tg.AODEClassifier(),
    "tbmatan": tg.TBMATANClassifier(),
}
models = pytest.mark.parametrize("name", MODELS)


def fitted(name: str):
    return MODELS[name].fit(X, Y)


def full_joint(clf) -> np.ndarray:
    """P(features, class) of every complete row, with an axis per feature and the class last."""
    cases = pd.DataFrame(list(itertools.product(*VALUES.values())), columns=NAMES)
    joint = np.exp(clf.predict_joint_log_proba(cases)).reshape(*map(len, VALUES.values()), 3)
    left_out = [] if not hasattr(clf, "network_") else clf.network_.left_out
    return joint / np.prod([len(VALUES[name]) for name in left_out])  # it is the same for all of their values


def codes_of(row: pd.Series) -> list[int | None]:
    return [None if pd.isna(row[name]) else VALUES[name].index(row[name]) for name in NAMES]


def log_partial(joint: np.ndarray, codes: list[int | None]) -> np.ndarray:
    """ln P(class, evidence): what is not known is summed out."""
    known = joint[tuple(slice(None) if code is None else slice(code, code + 1) for code in codes)]
    return np.log(known.sum(axis=tuple(range(len(NAMES)))))


def expected_terms(joint: np.ndarray, order: list[str], codes: list[int | None]) -> np.ndarray:
    """The chain rule, step by step: what classes begin with, and what each feature multiplies them by."""
    steps = [[code if name in order[:k] else None for name, code in zip(NAMES, codes, strict=True)] for k in range(5)]
    joints = [log_partial(joint, step) for step in steps[: len(order) + 1]]
    terms = dict(zip(order, np.diff(joints, axis=0), strict=True))
    return np.array([joints[0], *(terms.get(name, np.zeros(3)) for name in NAMES)])


@models
def test_contributions_are_the_chain_rule_in_the_stated_order(name):
    clf = fitted(name)
    explanation = clf.explain(ROWS)
    assert len(explanation) == len(ROWS)
    joint = full_joint(clf)
    for i, row in ROWS.iterrows():
        terms = expected_terms(joint, explanation.order, codes_of(row))
        for c, label in enumerate(CLASSES):
            rival = max((other for other in range(3) if other != c), key=terms.sum(axis=0).__getitem__)
            assert explanation.rivals[i, c] == CLASSES[rival]
            np.testing.assert_allclose(explanation.base[i, c], terms[0, c] - terms[0, rival], atol=1e-10)
            np.testing.assert_allclose(
                explanation.contributions[i, :, c], terms[1:, c] - terms[1:, rival], atol=1e-10, err_msg=label
            )


@models
def test_contributions_sum_to_the_log_odds(name):
    clf = fitted(name)
    explanation = clf.explain(ROWS)
    np.testing.assert_allclose(
        explanation.base + explanation.contributions.sum(axis=1), explanation.log_odds, rtol=0, atol=1e-10
    )
    log_proba = clf.predict_log_proba(ROWS)
    rival = np.searchsorted(CLASSES, explanation.rivals)
    np.testing.assert_allclose(
        explanation.log_odds, log_proba - np.take_along_axis(log_proba, rival, 1), rtol=0, atol=1e-10
    )
    np.testing.assert_array_equal(explanation.prediction, clf.predict(ROWS))
    np.testing.assert_array_equal(explanation.probabilities, clf.predict_proba(ROWS))
    assert ((explanation.log_odds > 0) == (np.array(CLASSES) == explanation.prediction[:, None])).all()
    np.testing.assert_array_equal(explanation.missing, ROWS.isna())
    assert (explanation.contributions[explanation.missing] == 0).all()
    assert np.abs(explanation.contributions[-1]).max() == 0  # nothing is known of the last row


@pytest.mark.parametrize("name", ["naive", "tan", "kdb", "chain backwards", "leaves out", "elr"])
def test_of_complete_rows_contributions_are_cells_of_tables(name):
    clf = fitted(name)
    network, explanation = clf.network_, clf.explain(X[:20])
    for i, row in enumerate(X[:20].to_dict("records")):
        for f, feature in enumerate(NAMES):
            if feature in network.left_out:
                assert (explanation.contributions[i, f] == 0).all()
                continue
            table = network.cpt(feature)
            cells = {c: table[{n: c if n == "class" else row[n] for n in table.names}] for c in CLASSES}
            for c, label in enumerate(CLASSES):
                ratio = np.log(cells[label] / cells[explanation.rivals[i, c]])
                assert explanation.contributions[i, f, c] == pytest.approx(ratio, abs=1e-10)


def test_parents_come_first_and_other_orders_are_taken():
    clf = fitted("chain backwards")
    explanation = clf.explain(ROWS)
    assert explanation.order == ["d", "c", "b", "a"]
    other = clf.explain(ROWS, order=["a", "c", "b", "d"])
    assert other.order == ["a", "c", "b", "d"]
    assert np.abs(other.contributions - explanation.contributions).max() > 0.1
    np.testing.assert_allclose(other.base + other.contributions.sum(axis=1), explanation.log_odds, atol=1e-10)
    terms = expected_terms(full_joint(clf), other.order, codes_of(ROWS.iloc[3]))
    c = CLASSES.index(other.prediction[3])
    rival = CLASSES.index(other.rivals[3, c])
    np.testing.assert_allclose(other.contributions[3, :, c], terms[1:, c] - terms[1:, rival], atol=1e-10)


def test_what_the_markov_blanket_hides_adds_nothing():
    clf = fitted("general")
    assert clf.network_.markov_blanket == ["a", "b", "d"]
    explanation = clf.explain(X)
    assert explanation.order == ["a", "d", "b", "c"]
    assert np.abs(explanation.contributions[:, 2]).max() < 1e-12
    assert np.abs(clf.explain(X.assign(b=None)).contributions[:, 2]).max() > 0.01


def test_against_a_class_of_choice():
    clf = fitted("tan")
    explanation = clf.explain(ROWS, against="lo")
    best_other = clf.explain(ROWS)
    assert (explanation.rivals[:, [0, 2]] == "lo").all()
    np.testing.assert_array_equal(explanation.rivals[:, 1], best_other.rivals[:, 1])
    log_proba = clf.predict_log_proba(ROWS)
    np.testing.assert_allclose(explanation.log_odds[:, 0], log_proba[:, 0] - log_proba[:, 1], atol=1e-10)
    np.testing.assert_allclose(
        (explanation.base + explanation.contributions.sum(axis=1)), explanation.log_odds, atol=1e-10
    )


# -- what would change the prediction


def odds(joint: np.ndarray, codes: list[int | None], of: int) -> float:
    log_joint = log_partial(joint, codes)
    return log_joint[of] - np.delete(log_joint, of).max()


def changed(codes: list[int | None], changes: dict[int, int]) -> list[int | None]:
    return [changes.get(f, code) for f, code in enumerate(codes)]


def every_change(codes: list[int | None], features: list[int]) -> list[dict[int, int]]:
    return [{f: value} for f in features for value in range(len(VALUES[NAMES[f]])) if value != codes[f]]


@pytest.mark.parametrize("name", ["tan", "general", "leaves out", "tbmatan"])
def test_the_strongest_change_of_every_feature(name):
    clf = fitted(name)
    explanation, joint = clf.explain(ROWS), full_joint(clf)
    features = [f for f, n in enumerate(NAMES) if n in explanation.order]
    for i, row in ROWS.iterrows():
        codes, of = codes_of(row), CLASSES.index(explanation.prediction[i])
        falls = [change.fall for change in explanation.changes[i]]
        assert falls == sorted(falls, reverse=True)
        found = {NAMES.index(change.feature): change for change in explanation.changes[i]}
        assert sorted(found) == features
        for f, change in found.items():
            least = min(odds(joint, changed(codes, to), of) for to in every_change(codes, [f]))
            assert change.log_odds == pytest.approx(least, abs=1e-10)
            assert change.fall == pytest.approx(odds(joint, codes, of) - least, abs=1e-10)
            after = changed(codes, {f: VALUES[NAMES[f]].index(change.to)})
            assert odds(joint, after, of) == pytest.approx(least, abs=1e-10)
            assert change.prediction == CLASSES[log_partial(joint, after).argmax()]
            assert change.value == (None if codes[f] is None else row.iloc[f])


@pytest.mark.parametrize("name", ["naive", "tan", "general", "aode"])
def test_the_nearest_flip_is_found_and_none_is_missed(name):
    clf = fitted(name)
    rows = pd.concat([X.drop_duplicates(), ROWS[12:]], ignore_index=True)
    explanation, joint = clf.explain(rows), full_joint(clf)
    n_changed = set()
    for i, row in rows.iterrows():
        codes, flip, of = codes_of(row), explanation.flips[i], CLASSES.index(explanation.prediction[i])
        singles = every_change(codes, [0, 1, 2, 3])
        pairs = [a | b for a, b in itertools.combinations(singles, 2) if not a.keys() & b.keys()]
        flips = next(
            filter(None, ([t for t in tries if odds(joint, changed(codes, t), of) < 0] for tries in (singles, pairs))),
            [],
        )
        assert explanation.no_flip[i] == (not flips) == (flip is None)
        n_changed.add(len(flip.changes) if flip else 0)
        if not flip:
            continue
        after = changed(codes, {NAMES.index(n): VALUES[n].index(value) for n, value in flip.changes.items()})
        assert len(flip.changes) == len(flips[0])
        assert odds(joint, after, of) == pytest.approx(
            min(odds(joint, changed(codes, t), of) for t in flips), abs=1e-10
        )
        posterior = np.exp(log_partial(joint, after))
        assert flip.prediction == CLASSES[posterior.argmax()] != CLASSES[of]
        assert flip.probability == pytest.approx(posterior.max() / posterior.sum(), abs=1e-10)
    assert n_changed >= ({1} if name == "general" else {1, 2})


def votes() -> tuple[pd.DataFrame, np.ndarray]:
    """Three features of which two decide, and two that say nothing."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 200)
    X = pd.DataFrame({f"n{i}": rng.integers(0, 2, 400) for i in range(2)})
    for name, errors in (("s", 0.1), ("t", 0.12), ("u", 0.14)):
        X[name] = np.where(rng.random(400) < errors, 1 - y, y)
    X.iloc[0] = 0
    return X, y


def test_pairs_are_limited_and_said_to_be():
    X, y = votes()
    clf = tg.NaiveBayesClassifier().fit(X, y)
    row = X[:1]
    full = clf.explain(row)
    assert len(full.flips[0].changes) == 2
    assert clf.explain(row, max_pairs=0).flips == (None,)
    assert not clf.explain(row, max_pairs=0).no_flip[0]
    assert "not all pairs of features were tried" in str(clf.explain(row, max_pairs=0))
    # The two changes that are strongest alone are tried together.
    assert clf.explain(row, max_pairs=1).flips[0].changes == full.flips[0].changes
    only = clf.explain(row, changeable=["n0", "n1"])
    assert {change.feature for change in only.changes[0]} == {"n0", "n1"}
    assert only.flips == (None,)
    assert only.no_flip[0]
    assert "no change of one or two changeable features flips the prediction" in str(only)


def test_pairs_of_a_feature_with_many_values_take_little_memory():
    n = 3000
    X = pd.DataFrame({"many": np.arange(n), "two": np.arange(n) % 2, "more": np.arange(n) // 2 % 2})
    clf = tg.NaiveBayesClassifier().fit(X, np.arange(n) % 2)
    explanation = clf.explain(X[:1], changeable=["many", "two"])
    first, second, complete = _coded_rows.candidate_pairs(explanation._singles, 0, n - 1)
    assert complete
    assert not _coded_rows.candidate_pairs(explanation._singles, 0, n - 2)[2]
    assert len(first) == n - 1  # each other value of the one, with the other value of the other
    features = explanation._singles.features
    assert (features[first] < features[second]).all()


# -- odd models and rows


def test_what_is_impossible_is_said_to_be():
    clf = tg.BayesNetClassifier("naive", "maximum-likelihood").fit(
        [["a", "x"], ["b", "y"], ["b", "x"]], ["one", "two", "two"]
    )
    explanation = clf.explain([["a", "x"], ["b", "x"], ["a", "y"]])
    np.testing.assert_array_equal(explanation.log_odds[:2], [[np.inf, -np.inf], [-np.inf, np.inf]])
    np.testing.assert_array_equal(
        explanation[:2].base + explanation[:2].contributions.sum(axis=1), explanation.log_odds[:2]
    )
    assert explanation.contributions[1, 0, 1] == np.inf
    assert np.isnan(explanation.log_odds[2]).all()
    assert "gives this row probability zero" in str(explanation[2])
    assert "gives this row probability zero" not in str(explanation[:2])
    assert explanation.flips[0].changes == {"x0": "b"}
    assert [change.feature for change in explanation.changes[0]] == ["x0"]  # another x1 would make it impossible
    assert explanation.changes[0][0].fall == np.inf


def test_numbers_are_shown_by_their_intervals_and_unseen_categories_as_missing():
    frame = pd.DataFrame({"sky": ["sun", "rain"] * 20, "wind": np.r_[np.zeros(20), np.full(20, 9.0)] + 0.5})
    clf = tg.NaiveBayesClassifier().fit(frame, ["calm"] * 20 + ["storm"] * 20)
    explanation = clf.explain(pd.DataFrame({"sky": ["hail"], "wind": [30.0]}))
    interval = clf.categories_[1][1]
    assert explanation.values_of(0) == [None, interval]
    assert explanation.missing.tolist() == [[True, False]]
    assert explanation.flips[0].changes == {"wind": clf.categories_[1][0]}
    assert interval in str(explanation)


def test_an_explanation_outlives_the_next_fit():
    clf = tg.TANClassifier().fit(X, Y)
    before = clf.explain(ROWS)
    expected = clf.explain(ROWS).changes
    clf.fit(X, Y[::-1])
    assert before.changes == expected
    assert clf.explain(ROWS).changes != expected


@pytest.mark.parametrize("name", ["tan", "tbmatan"])
def test_blocks_make_no_difference(name, monkeypatch):
    clf = fitted(name)
    whole = clf.explain(ROWS)
    found = whole.contributions, whole.changes, whole.flips
    monkeypatch.setattr(_coded_rows, "_MAX_CELLS", 7)
    parts = clf.explain(ROWS)
    np.testing.assert_array_equal(parts.contributions, found[0])
    assert (parts.changes, parts.flips) == found[1:]


def test_single_rows_and_slices():
    clf = fitted("tan")
    explanation = clf.explain(ROWS)
    np.testing.assert_array_equal(explanation[-1].contributions, explanation.contributions[-1:])
    assert explanation[5].rows.tolist() == [5]
    assert explanation[3:7].changes == explanation.changes[3:7]
    assert [part.rows[0] for part in explanation] == list(range(len(ROWS)))
    with pytest.raises(IndexError, match="index 33 is out of range for 33 rows"):
        explanation[33]
    with pytest.raises(TypeError, match="index: expected an integer or a slice, got \\[0, 1\\]"):
        explanation[[0, 1]]


def test_estimates_of_averages_are_announced():
    clf = tg.TBMATANClassifier(max_assignments=4).fit(X, Y)
    with pytest.warns(
        tg.EstimateWarning, match="3 of 5 steps of these explanations are Monte Carlo estimates over sampled trees"
    ):
        explanation = clf.explain(X[:1])
    np.testing.assert_allclose(
        explanation.base + explanation.contributions.sum(axis=1), explanation.log_odds, atol=1e-10
    )


def test_wrong_settings_are_rejected():
    clf = fitted("leaves out")
    with pytest.raises(ValueError, match="against: expected one of the classes 'hi', 'lo', 'mid', got 'no'"):
        clf.explain(X, against="no")
    with pytest.raises(ValueError, match=r"against: expected one of the classes 'hi', 'lo', 'mid', got array\("):
        clf.explain(X, against=np.array(["hi", "lo"]))
    with pytest.raises(ValueError, match="order: expected each of 'a', 'd', 'b' once, got"):
        clf.explain(X, order=["a", "b"])
    with pytest.raises(ValueError, match="order: unknown feature 'e'; the features are 'a', 'b', 'c', 'd'"):
        clf.explain(X, order=["a", "b", "e"])
    with pytest.raises(TypeError, match="changeable: expected a list of feature names, got 'a'"):
        clf.explain(X, changeable="a")
    with pytest.raises(ValueError, match="max_pairs: expected an integer >= 0, got -1"):
        clf.explain(X, max_pairs=-1)
    with pytest.raises(ValueError, match="of: expected one of the classes"):
        clf.explain(X[:1]).to_text("no")
    with pytest.raises(ValueError, match="explain needs at least two classes, but this classifier has only 'hi'"):
        tg.NaiveBayesClassifier().fit(X, ["hi"] * len(X)).explain(X)
    with pytest.raises(NotFittedError):
        tg.NaiveBayesClassifier().explain(X)


def test_predictions_are_those_of_predict_where_rounded_logarithms_are_equal():
    X = np.random.default_rng(553).integers(0, 4, (40, 6))  # one of the few tables with such a row
    clf = tg.AODEClassifier().fit(X, np.arange(40) % 2)
    row = [[None] * 6]
    explanation = clf.explain(row)
    assert explanation.prediction.tolist() == clf.predict(row).tolist()
    assert explanation.rivals.tolist() == [[1, 0]]


def test_flips_are_those_of_predict_where_rounded_logarithms_are_equal():
    """Reversed, the rows of one class are those of the other, so many sums differ only by rounding."""
    n_different = 0
    for seed in (4, 56, 120):
        random = np.random.default_rng(seed)
        half = random.integers(0, 3, (15, 6))
        clf = tg.AODEClassifier().fit(np.vstack([half, half[:, ::-1]]), np.repeat([0, 1], 15))
        known = random.integers(0, 3, (40, 3))
        rows = np.hstack([known, known[:, ::-1]]).astype(object)
        rows[np.arange(40), random.integers(0, 6, 40)] = None
        explanation = clf.explain(rows)
        for row, changes, flip, now in zip(
            rows, explanation.changes, explanation.flips, clf.predict(rows), strict=True
        ):
            versions = [({change.feature: change.to}, change.prediction) for change in changes]
            versions += [] if flip is None else [(flip.changes, flip.prediction)]
            for cells, prediction in versions:
                changed = row.copy()
                for feature, value in cells.items():
                    changed[int(feature[1:])] = value
                assert clf.predict([changed]).tolist() == [prediction]
                n_different += prediction != np.argmax(clf.predict_joint_log_proba([changed]))
            assert flip is None or flip.prediction != now
    assert n_different > 0
