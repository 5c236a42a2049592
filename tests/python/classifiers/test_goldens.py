"""Structures, tables, scores and posteriors against what R's bnclassify computes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from goldens import COMPLETE, TOLERANCE, assert_cpts

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as st

STRUCTURES = {
    "nb": st.NaiveBayes(),
    "tan_cl_loglik": st.ChowLiu(),
    "tan_cl_aic": st.ChowLiu(score="aic"),
    "tan_cl_bic": st.ChowLiu(score="bic"),
}
ALPHAS = ["0", "0.01", "1"]


def fit(data, structure, alpha):
    # Declared classes that do not occur count too; partial_fit receives them.
    clf = tg.BayesNetClassifier(structure, pr.Dirichlet(alpha=float(alpha)))
    return clf.partial_fit(data.X, pd.Series(data.y, name=data.target), classes=data.classes)


def feature_parents(families, target):
    return {f: [p for p in family[1:] if p != target] for f, family in families.items() if f != target}


def undirected(parents):
    return {frozenset((child, p)) for child, found in parents.items() for p in found}


@pytest.mark.parametrize("name", [*COMPLETE, "voting_incomplete"])
@pytest.mark.parametrize("kind", STRUCTURES)
def test_structure(load, shared, name, kind):
    data = load(name)
    clf = fit(data, STRUCTURES[kind], 1)
    expected = feature_parents(data.golden["structures"][kind]["families"], data.target)
    found = feature_parents({f: [f, *p] for f, p in clf.network_.families.items()}, data.target)
    uniqueness = json.loads((shared / "goldens" / "tan_uniqueness.json").read_text())
    if kind == "nb" or uniqueness.get(name, {}).get(kind.removeprefix("tan_cl_"), {}).get("unique", True):
        assert undirected(found) == undirected(expected)
        assert sum(not p for p in found.values()) == sum(not p for p in expected.values())
        if kind == "tan_cl_loglik":
            assert found == expected  # one tree with the same root: the same directions too
    else:
        names = list(data.X.columns)
        weights = _core.chow_liu_weights(clf.counts_, STRUCTURES[kind].score)
        position = {
            frozenset(pair): i for i, pair in enumerate((a, b) for j, a in enumerate(names) for b in names[j + 1 :])
        }
        total = [sum(weights[position[edge]] for edge in undirected(parents)) for parents in (found, expected)]
        assert total[0] == pytest.approx(total[1], abs=1e-8)
        assert len(undirected(found)) == len(undirected(expected))


@pytest.mark.parametrize("name", [*COMPLETE, "voting_incomplete"])
def test_pair_weights(load, name):
    data = load(name)
    clf = fit(data, st.ChowLiu(), 1)
    golden = data.golden["pairwise"]
    names = list(data.X.columns)
    order = [names.index(a) * len(names) + names.index(b) for a, b in golden["pairs"]]
    assert order == sorted(order)  # the same order as ours
    weights = {score: _core.chow_liu_weights(clf.counts_, score) for score in ("loglik", "aic", "bic")}
    counts = np.array([clf.counts_.pair(names.index(a), names.index(b)).sum() for a, b in golden["pairs"]])
    if "N" in golden:
        np.testing.assert_array_equal(counts, golden["N"])
    np.testing.assert_allclose(weights["loglik"] / len(data.y), golden["cmi_given_class"], atol=TOLERANCE)
    for score in ("aic", "bic"):
        np.testing.assert_allclose(weights[score], golden[score], atol=1e-8, rtol=1e-10)


def fit_golden_structure(data, kind, alpha):
    # The golden's own arcs, to compare tables where the best tree is not unique.
    parents = feature_parents(data.golden["structures"][kind]["families"], data.target)
    arcs = [(p, child) for child, found in parents.items() for p in found]
    clf = fit(data, st.FixedStructure(arcs), alpha)
    clf._golden_classes = data.classes
    return clf


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("name", COMPLETE)
def test_complete_fits(load, name, kind, alpha):
    data = load(name)
    golden = data.golden["fits"][kind][alpha]
    clf = fit_golden_structure(data, kind, alpha)
    network = clf.network_
    assert_cpts(clf, golden["cpts"], data.target)
    assert network.n_parameters == golden["nparams"]
    for ours, theirs in [
        (network.log_likelihood(data.X, data.y), golden["loglik"]),
        (network.aic(data.X, data.y), golden["aic"]),
        (network.bic(data.X, data.y), golden["bic"]),
        (network.conditional_log_likelihood(data.X, data.y), golden["cloglik"]),
    ]:
        assert ours == pytest.approx(theirs, rel=TOLERANCE, abs=TOLERANCE)
    rows = np.array(golden["predict"]["rows_1based"]) - 1
    proba = clf.predict_proba(data.X.iloc[rows])
    order = [list(clf.classes_).index(c) for c in golden["predict"]["classes"]]
    np.testing.assert_allclose(proba[:, order], golden["predict"]["posterior"], atol=TOLERANCE)
    ties = np.array(golden["predict"]["rows_within_maxcol_tie_tol_1based"], dtype=int) - 1
    joint = clf.predict_joint_log_proba(data.X)[:, order]
    clear = np.setdiff1d(np.arange(len(data.y)), ties)
    np.testing.assert_array_equal(joint.argmax(axis=1)[clear], np.array(golden["predict"]["argmax_all_0based"])[clear])


@pytest.mark.parametrize("alpha", ["0.01", "1"])
@pytest.mark.parametrize("kind", STRUCTURES)
def test_incomplete_fits(load, kind, alpha):
    data = load("voting_incomplete")
    golden = data.golden["fits"][kind][alpha]
    clf = fit_golden_structure(data, kind, alpha)
    assert_cpts(clf, golden["cpts"], data.target)
    assert clf.network_.n_parameters == golden["nparams"]
    rows = np.array(golden["rows_1based"]) - 1
    order = [list(clf.classes_).index(c) for c in golden["classes"]]
    X = data.X.iloc[rows]
    np.testing.assert_allclose(
        clf.predict_joint_log_proba(X)[:, order], golden["log_joint_marginalised"], atol=TOLERANCE, rtol=TOLERANCE
    )
    proba = clf.predict_proba(X)[:, order]
    np.testing.assert_allclose(proba, golden["posterior_marginalised"], atol=TOLERANCE)
    if golden["posterior_grain"] is not None:
        np.testing.assert_allclose(proba, golden["posterior_grain"], atol=TOLERANCE)


@pytest.mark.parametrize("name", COMPLETE)
def test_information(load, name):
    data = load(name)
    for row in data.golden["cmi"]:
        x, y, z = (data.X[row[c]].astype(object).to_numpy() for c in "xyz")
        assert tg.scores.mutual_information(x, y) == pytest.approx(row["mi"], abs=TOLERANCE)
        assert tg.scores.mutual_information(x, data.y) == pytest.approx(row["mi_x_class"], abs=TOLERANCE)
        assert tg.scores.conditional_mutual_information(x, y, data.y) == pytest.approx(row["cmi_class"], abs=TOLERANCE)
        assert tg.scores.conditional_mutual_information(x, y, z) == pytest.approx(row["cmi_z"], abs=TOLERANCE)
