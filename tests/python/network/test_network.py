"""Reading a network: arcs, tables, scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tanager as tg
from tanager import parameters as pr
from tanager import structure as st

FRAME = pd.DataFrame({"wind": ["weak", "strong", "weak", "weak"], "sky": ["sun", "rain", "rain", "sun"]})
PLAY = pd.Series(["yes", "no", "no", "yes"], name="play")


@pytest.fixture
def network():
    structure = st.FixedStructure([("sky", "wind")])
    return tg.BayesNetClassifier(structure, pr.Dirichlet(alpha=1.0)).fit(FRAME, PLAY).network_


def test_arcs_and_families(network):
    assert network.feature_arcs == [("sky", "wind")]
    assert network.arcs == [("play", "wind"), ("play", "sky"), ("sky", "wind")]
    assert network.families == {"wind": ["sky", "play"], "sky": ["play"], "play": []}
    assert network.parents("wind") == ["sky", "play"]
    assert (network.is_naive, network.is_tan, network.is_one_dependence, network.is_semi_naive) == (
        False,
        True,
        True,
        True,
    )
    assert network.n_parameters == 1 + 2 + 4
    assert (
        repr(network)
        == "<Network: tree-augmented naive Bayes (TAN), 2 features, 2 classes, 1 arc between features, 7 parameters>"
    )
    again = tg.BayesNetClassifier(st.FixedStructure(network.arcs)).fit(FRAME, PLAY)
    assert again.network_.arcs == network.arcs


def test_tables_are_labeled(network):
    table = network.cpt("wind")
    assert table.names == ("sky", "wind", "play")
    assert table.labels == (["rain", "sun"], ["strong", "weak"], ["no", "yes"])
    np.testing.assert_allclose(table.values.sum(axis=1), 1)
    assert table[{"sky": "rain", "wind": "weak", "play": "no"}] == pytest.approx(2 / 4)
    assert table[{"sky": "sun", "wind": "weak", "play": "yes"}] == pytest.approx(3 / 4)
    np.testing.assert_allclose(table[{"sky": "sun", "play": "yes"}], [1 / 4, 3 / 4])
    frame = table.to_frame()
    assert frame.loc[("sun", "yes"), "weak"] == pytest.approx(3 / 4)
    prior = network.cpt("play")
    assert prior[{"play": "yes"}] == 0.5
    assert prior.to_frame().shape == (1, 2)
    assert repr(prior).splitlines() == ["P(play)", " no  yes", "0.5  0.5"]
    assert repr(table).splitlines()[0] == "P(wind | sky, play)"
    with pytest.raises(KeyError, match="no variable 'rain'"):
        network.cpt("rain")
    with pytest.raises(KeyError, match="no value 'fog'"):
        table[{"sky": "fog"}]
    with pytest.raises(KeyError, match="has no axis 'x'"):
        table[{"x": 1}]


def test_scores_are_sums_over_rows(network):
    clf = tg.BayesNetClassifier(st.FixedStructure([("sky", "wind")])).fit(FRAME, PLAY)
    joint = clf.predict_joint_log_proba(FRAME)
    rows = np.arange(4), (PLAY == "yes").astype(int)
    log_likelihood = joint[rows].sum()
    assert network.log_likelihood(FRAME, PLAY) == pytest.approx(log_likelihood)
    assert network.aic(FRAME, PLAY) == pytest.approx(log_likelihood - 7)
    assert network.bic(FRAME, PLAY) == pytest.approx(log_likelihood - 3.5 * np.log(4))
    conditional = clf.predict_log_proba(FRAME)[rows].sum()
    assert network.conditional_log_likelihood(FRAME, PLAY) == pytest.approx(conditional)
    with pytest.raises(ValueError, match="X: expected 2 features, got 3"):
        network.log_likelihood(FRAME.assign(z=1), PLAY)
    with pytest.raises(ValueError, match="X and y: expected the same number of rows, got 4 and 3"):
        network.log_likelihood(FRAME, PLAY[:3])


def test_maximum_likelihood_makes_the_data_most_probable():
    data = tg.datasets.load("tic-tac-toe")
    best = tg.BayesNetClassifier("tan", "maximum-likelihood").fit(data.X, data.y).network_
    for parameters in (pr.Dirichlet(alpha=0.1), pr.Dirichlet(equivalent_sample_size=3.0)):
        other = tg.BayesNetClassifier("tan", parameters).fit(data.X, data.y).network_
        assert other.log_likelihood(data.X, data.y) < best.log_likelihood(data.X, data.y)


def test_equivalent_sample_size_is_spread_over_the_table():
    clf = tg.BayesNetClassifier("tan", pr.Dirichlet(equivalent_sample_size=8.0)).fit(FRAME, PLAY)
    table = clf.network_.cpt(clf.network_.feature_arcs[0][1])
    np.testing.assert_allclose(table.values.sum(axis=1), 1)
    child = clf.network_.cpt("sky")  # wind is the root, so sky has one feature parent: 8 cells, 1 each
    assert child[{"wind": "weak", "sky": "sun", "play": "yes"}] == pytest.approx((2 + 1) / (2 + 2))


def test_the_class_name_never_collides():
    frame = pd.DataFrame({"class": ["a", "b"]})
    assert tg.NaiveBayesClassifier().fit(frame, [0, 1]).network_.class_name == "class_"
