"""Data temperature, softened and model-averaged parameters: goldens of R's bnclassify, definitions, limits, errors."""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from goldens import COMPLETE, TOLERANCE, assert_cpts
from hypothesis import given, settings
from hypothesis import strategies as hs
from mpmath import mp, mpf

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as st
from tanager._model_file import from_model, to_model

# -- goldens


def fit_golden(data, prior, alpha):
    clf = tg.BayesNetClassifier(parameters=pr.ModelAveraged(arc_prior=prior, alpha=alpha))
    clf.partial_fit(data.X, pd.Series(data.y, name=data.target), classes=data.classes)
    clf._golden_classes = data.classes
    return clf


def check_model_averaged(data, golden, prior, alpha):
    clf = fit_golden(data, prior, alpha)
    expected = [golden["arc_posterior"][name] for name in data.X.columns]
    np.testing.assert_allclose(clf.arc_probabilities_, expected, rtol=TOLERANCE, atol=0)
    if golden["cpts"] is not None:
        assert_cpts(clf, golden["cpts"], data.target)
    return clf


@pytest.mark.parametrize("alpha", [1, 0.5, 0.01])
@pytest.mark.parametrize("prior", [0.5, 0.3, 0.1, 0.95])
@pytest.mark.parametrize("name", COMPLETE)
def test_model_averaged_goldens(load, name, prior, alpha):
    data = load(name)
    golden = data.golden["manb"][f"prior={prior:g},alpha={alpha:g}"]
    # The other tables were not recorded; likelihoods and posteriors stand for them.
    assert (golden["cpts"] is not None) == (prior in {0.5, 0.3} and alpha >= 0.5)
    clf = check_model_averaged(data, golden, prior, alpha)
    assert clf.network_.log_likelihood(data.X, data.y) == pytest.approx(golden["loglik"], rel=TOLERANCE)
    assert clf.network_.conditional_log_likelihood(data.X, data.y) == pytest.approx(golden["cloglik"], rel=TOLERANCE)
    rows = np.array(golden["predict"]["rows_1based"]) - 1
    order = [list(clf.classes_).index(c) for c in golden["predict"]["classes"]]
    proba = clf.predict_proba(data.X.iloc[rows])[:, order]
    np.testing.assert_allclose(proba, golden["predict"]["posterior"], atol=TOLERANCE)


def test_model_averaged_golden_with_missing_values(load):
    data = load("voting_incomplete")
    check_model_averaged(data, data.golden["manb_prior0.5_alpha1"], 0.5, 1)


# -- definitions


def fit_counts(counts, parameters, structure=None):
    """A classifier whose rows are the cells of a table [values of x0] ... [classes], weighted by their counts."""
    counts = np.asarray(counts, dtype=float)
    cells = np.array(list(itertools.product(*map(range, counts.shape))))
    categories = [list(range(n)) for n in counts.shape[:-1]]
    clf = tg.BayesNetClassifier(structure, parameters, categories=categories)
    return clf.fit(cells[:, :-1], cells[:, -1], sample_weight=counts.ravel())


def tempered(counts, degrees, n_c, added):
    """Equations 16 to 19 of the paper for one distribution, to 40 digits."""
    r, total = len(counts), mpf(float(sum(map(mpf, counts))))
    if total == 0 or r == 1:
        return [1 / mpf(r)] * r
    beta = 1 - mp.exp(-total / ((mp.log(r) if degrees == "log" else mpf(r - 1)) * mpf(n_c)))
    powers = [(mpf(n) / total + mpf(added)) ** beta for n in counts]
    return [power / mp.fsum(powers) for power in powers]


count_tables = hs.tuples(hs.integers(1, 4), hs.integers(1, 4), hs.integers(1, 3)).flatmap(
    lambda shape: hs.lists(
        hs.one_of(hs.integers(0, 3), hs.integers(0, 300), hs.floats(1e-6, 1e6)),
        min_size=int(np.prod(shape)),
        max_size=int(np.prod(shape)),
    ).map(lambda cells: np.array(cells, dtype=float).reshape(shape))
)


@settings(max_examples=60, deadline=None)
@given(
    counts=count_tables.filter(lambda table: table.sum() > 0),
    degrees=hs.sampled_from(["log", "linear"]),
    n_c=hs.floats(0.01, 50),
    added=hs.sampled_from([0.0, 1e-4, 0.3]),
)
def test_data_temperature_is_its_definition(counts, degrees, n_c, added):
    parameters = pr.DataTemperature(degrees, n_c, added)
    clf = fit_counts(counts, parameters, st.FixedStructure([(0, 1)]))
    with mp.workdps(40):
        for parent, c in np.ndindex(counts.shape[0], counts.shape[2]):
            expected = [float(p) for p in tempered(counts[parent, :, c], degrees, n_c, added)]
            found = clf.network_.cpt("x1").values[parent, :, c]
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
        classes = tempered(counts.sum(axis=(0, 1)), degrees, n_c, added)
        np.testing.assert_allclose(clf.network_.cpt("class").values, [float(p) for p in classes], rtol=1e-11)


@settings(max_examples=60, deadline=None)
@given(
    odds=hs.floats(1.5, 20),
    rows=hs.lists(hs.floats(0.01, 200), min_size=2, max_size=6, unique=True),
    degrees=hs.sampled_from(["log", "linear"]),
    n_c=hs.floats(0.1, 10),
)
def test_beta_rises_with_the_number_of_rows(odds, rows, degrees, n_c):
    # The same frequencies in every class, from more and more rows: the odds are theirs to the power beta.
    rows = np.sort(rows)
    counts = np.array([[odds], [1.0]]) / (1 + odds) * rows
    probabilities = fit_counts(counts, pr.DataTemperature(degrees, n_c, added_frequency=0)).network_.cpt("x0").values
    beta = np.log(probabilities[0] / probabilities[1]) / np.log(odds)
    assert (beta > 0).all()
    assert (beta <= 1 + 1e-9).all()
    assert (np.diff(beta) >= -1e-9).all()
    cold = np.exp(-rows / (n_c * (np.log(2) if degrees == "log" else 1)))
    apart = cold[:-1] - cold[1:] > 1e-6
    assert (np.diff(beta)[apart] > 0).all()


def test_data_temperature_has_exact_limits():
    few = [[0, 300], [0, 100]]
    table = fit_counts(few, pr.DataTemperature(added_frequency=0)).network_.cpt("x0").values
    np.testing.assert_array_equal(table, [[0.5, 0.75], [0.5, 0.25]])  # no rows; many rows
    rng = np.random.default_rng(0)
    many = rng.integers(200, 5000, (3, 4, 2))
    ours, likely = (
        fit_counts(many, p, st.FixedStructure([(0, 1)])).network_.cpt("x1").values
        for p in (pr.DataTemperature(added_frequency=0), pr.MaximumLikelihood())
    )
    np.testing.assert_array_equal(ours, likely)
    added = fit_counts(many, pr.DataTemperature(), st.FixedStructure([(0, 1)])).network_.cpt("x1").values
    np.testing.assert_allclose(added, (likely + 1e-4) / (1 + 4e-4), rtol=1e-15)


def test_data_temperature_defaults():
    counts = [[3, 1], [1, 0], [0, 2]]
    for degrees, n_c in (("log", 2.0), ("linear", 1.0)):
        given, default = (fit_counts(counts, pr.DataTemperature(degrees, n)) for n in (n_c, None))
        np.testing.assert_array_equal(given.network_.cpt("x0").values, default.network_.cpt("x0").values)


@settings(max_examples=60, deadline=None)
@given(counts=count_tables.filter(lambda table: table.sum() > 0), n0=hs.floats(0, 100))
def test_softened_is_its_definition(counts, n0):
    clf = fit_counts(counts, pr.Softened(n0), st.FixedStructure([(0, 1)]))
    marginal = counts.sum(axis=(0, 2), keepdims=True) / counts.sum()
    totals = counts.sum(axis=1, keepdims=True) + n0
    expected = np.where(totals > 0, (counts + n0 * marginal) / np.where(totals > 0, totals, 1), marginal)
    np.testing.assert_allclose(clf.network_.cpt("x1").values, expected, rtol=1e-12)
    np.testing.assert_allclose(clf.network_.cpt("class").values, counts.sum(axis=(0, 1)) / counts.sum(), rtol=1e-12)


def log_odds_of_arc(counts, alpha):
    """ln of the ratio of marginal likelihoods with and without the arc, to 60 digits."""
    counts = [[mpf(int(n)) for n in row] for row in counts]  # [value][class]
    a, r = mpf(alpha), len(counts)

    def evidence(column):
        total = mp.loggamma(r * a) - mp.loggamma(mp.fsum(column) + r * a)
        return total + mp.fsum(mp.loggamma(n + a) - mp.loggamma(a) for n in column)

    return mp.fsum(evidence(column) for column in zip(*counts, strict=True)) - evidence([mp.fsum(r) for r in counts])


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.5, 1.0, 7.5, 1000.0])
@pytest.mark.parametrize("rows", [10, 1_000, 100_000, 10_000_000])
def test_arc_probabilities_of_many_rows(rows, alpha):
    # A feature that hardly depends on the class: the terms are as large as they get, and their difference is small.
    rng = np.random.default_rng(rows)
    counts = rng.multinomial(rows, np.outer([0.2, 0.5, 0.3], [0.6, 0.4]).ravel()).reshape(3, 2)
    clf = fit_counts(counts, pr.ModelAveraged(alpha=alpha))
    with mp.workdps(60):
        expected = 1 / (1 + mp.exp(-log_odds_of_arc(counts, alpha)))
    # Rounding of sums of this size, with some to spare.
    error = 1e-15 * rows * np.log(rows) + 1e-13
    np.testing.assert_allclose(clf.arc_probabilities_, [float(expected)], rtol=error)


# -- what all of them have in common

LEARNERS = {
    "data-temperature": pr.DataTemperature,
    "model-averaged": pr.ModelAveraged,
    "softened": pr.Softened,
}


def draw_table(n=150):
    rng = np.random.default_rng(3)
    y = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    frame = pd.DataFrame(
        {
            "told": pd.Series(np.where(rng.random(n) < 0.3, "x", y), dtype=object),
            "noise": pd.Series(rng.choice(["p", "q"], n), dtype=object),
            "constant": pd.Series(["same"] * n, dtype=object),
        }
    )
    return frame, y


@pytest.mark.parametrize("name", LEARNERS)
class TestEveryLearner:
    def test_missing_values_are_not_counted(self, name):
        X, y = draw_table()
        gaps = X.copy()
        gaps.loc[np.arange(0, len(y), 3), "told"] = None
        seen = gaps["told"].notna().to_numpy()
        ours = tg.BayesNetClassifier(parameters=name).fit(gaps, y).network_
        rows = tg.BayesNetClassifier(parameters=name).fit(X[seen], y[seen]).network_
        np.testing.assert_array_equal(ours.cpt("told").values, rows.cpt("told").values)
        whole = tg.BayesNetClassifier(parameters=name).fit(X, y).network_
        np.testing.assert_array_equal(ours.cpt("noise").values, whole.cpt("noise").values)

    def test_a_single_value_is_certain(self, name):
        X, y = draw_table()
        clf = tg.BayesNetClassifier(parameters=name).fit(X, y)
        np.testing.assert_array_equal(clf.network_.cpt("constant").values, [[1.0] * 3])
        one_class = tg.BayesNetClassifier(parameters=name).fit(X, ["only"] * len(y))
        np.testing.assert_array_equal(one_class.predict_proba(X[:2]), [[1.0], [1.0]])

    def test_class_prior(self, name):
        X, y = draw_table()
        clf = tg.BayesNetClassifier(parameters=name, class_prior=[0.2, 0.3, 0.5]).fit(X, y)
        np.testing.assert_array_equal(clf.network_.cpt("class").values, [0.2, 0.3, 0.5])


def test_arc_probabilities_are_kept_and_go_with_the_next_fit(tmp_path):
    X, y = draw_table()
    structure = st.FixedStructure([], leave_out=["noise"])
    clf = tg.BayesNetClassifier(structure, pr.ModelAveraged()).fit(X, y)
    assert clf.arc_probabilities_[0] > 0.99
    assert np.isnan(clf.arc_probabilities_[1])
    assert clf.arc_probabilities_[2] == 0.5  # nothing to be learned from a constant
    whole = tg.BayesNetClassifier(parameters=pr.ModelAveraged()).fit(X, y)
    assert whole.arc_probabilities_[1] < 0.5
    np.testing.assert_array_equal(whole.arc_probabilities_[[0, 2]], clf.arc_probabilities_[[0, 2]])
    clf.save(tmp_path / "model.tng")
    for copy in (tg.load(tmp_path / "model.tng"), pickle.loads(pickle.dumps(clf))):
        np.testing.assert_array_equal(copy.arc_probabilities_, clf.arc_probabilities_)
    clf.set_params(parameters=None).fit(X, y)
    assert not hasattr(clf, "arc_probabilities_")


def test_arc_priors_of_every_feature():
    X, y = draw_table()
    forms = [
        {"noise": 0.9},
        {1: 0.9},
        [0.5, 0.9, 0.5],
        (0.5, 0.9, 0.5),
        np.array([0.5, 0.9, 0.5]),
    ]
    found = [tg.BayesNetClassifier(parameters=pr.ModelAveraged(p)).fit(X, y).arc_probabilities_ for p in forms]
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0])
    plain = tg.BayesNetClassifier(parameters=pr.ModelAveraged()).fit(X, y).arc_probabilities_
    odds = plain[1] / (1 - plain[1]) * 9
    assert found[0][1] == pytest.approx(odds / (1 + odds), rel=1e-12)
    np.testing.assert_array_equal(found[0][[0, 2]], plain[[0, 2]])
    certain = tg.BayesNetClassifier(parameters=pr.ModelAveraged([1, 0, 1], alpha=0.5)).fit(X, y)
    np.testing.assert_array_equal(certain.arc_probabilities_, [1, 0, 1])
    dirichlet = tg.BayesNetClassifier(parameters=pr.Dirichlet(0.5)).fit(X, y)
    np.testing.assert_array_equal(certain.network_.cpt("told").values, dirichlet.network_.cpt("told").values)
    assert (np.ptp(certain.network_.cpt("noise").values, axis=1) == 0).all()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        (pr.DataTemperature(degrees="square"), ValueError, "degrees: expected one of 'log', 'linear', got 'square'"),
        (pr.DataTemperature(n_c=0), ValueError, "n_c: expected a number > 0"),
        (pr.DataTemperature(n_c="two"), TypeError, "n_c: expected a number, got 'two'"),
        (pr.DataTemperature(added_frequency=-1), ValueError, "added_frequency: expected a number >= 0"),
        (pr.DataTemperature(added_frequency=None), TypeError, "added_frequency: expected a number, got None"),
        (pr.Softened(n0=-1), ValueError, "n0: expected a number >= 0"),
        (pr.Softened(n0=float("nan")), ValueError, "n0: expected a number >= 0"),
        (pr.ModelAveraged(alpha=0), ValueError, "alpha: expected a number > 0"),
        (pr.ModelAveraged(arc_prior=1.5), ValueError, "arc_prior: expected probabilities from 0 to 1, got 1.5"),
        (pr.ModelAveraged(arc_prior="half"), TypeError, "arc_prior: expected a number, got 'half'"),
        (pr.ModelAveraged(arc_prior=np.array(0.5)), TypeError, "arc_prior: expected a number, got array"),
        (pr.ModelAveraged(arc_prior=[0.5, [0.5], [0.1, 0.2]]), TypeError, "arc_prior of 'noise': expected a number"),
        (pr.ModelAveraged(arc_prior=[0.5]), ValueError, "arc_prior: expected 3 probabilities, one per feature, got 1"),
        (pr.ModelAveraged(arc_prior=[0.5, 0.5, None]), TypeError, "arc_prior of 'constant': expected a number"),
        (pr.ModelAveraged(arc_prior={"nose": 0.5}), ValueError, "arc_prior: expected one of the features"),
    ],
)
def test_wrong_settings(parameters, error, message):
    X, y = draw_table()
    with pytest.raises(error, match=message):
        tg.BayesNetClassifier(parameters=parameters).fit(X, y)


def test_model_averaging_needs_a_naive_structure():
    X, y = draw_table()
    clf = tg.BayesNetClassifier(st.FixedStructure([("told", "noise")]), pr.ModelAveraged())
    with pytest.raises(ValueError, match="without arcs between features, got the arc 'told' -> 'noise'"):
        clf.fit(X, y)


@pytest.mark.parametrize(
    ("structure", "parameters", "message"),
    [
        (None, "model-averaged", r"sample_weight: .* at most 1e\+300 for model averaging, got 1.2e\+307"),
        ("acll-tree", None, r"sample_weight: expected a sum of at most 1e\+290 for an aCLL tree, got 1.2e\+307"),
    ],
)
def test_weights_too_large_for_logarithms_are_rejected(structure, parameters, message):
    X, y = draw_table()
    clf = tg.BayesNetClassifier(structure, parameters)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y, sample_weight=np.full(len(y), 1.2e307 / len(y)))


@pytest.mark.parametrize("values", [["nan"] * 3, [True] * 3, [0.5, 0.5, -1], [0.5, 0.5, float("inf")], [10**400] * 3])
def test_numbers_in_model_files_that_no_learner_shows(values):
    X, y = draw_table()
    model = to_model(tg.BayesNetClassifier(parameters=pr.ModelAveraged()).fit(X, y), with_counts=False)
    described = json.loads(model.settings)
    described["shown"]["arc_probabilities_"] = values
    hostile = _core.Model.build(model.classifier, model.features, model.classes, json.dumps(described), None)
    with pytest.raises(_core.ModelFileError, match=r"'arc_probabilities_.*expected numbers from 0 to 1 or NaN, got"):
        from_model(hostile)
