"""scikit-learn's own checks of the estimator contract, none left out but for a reason that is said."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import tanager as tg
from tanager import parameters as pr
from tanager import structure as st

pytestmark = pytest.mark.slow

# Folds are drawn from rows: a row that comes twice may be learned from in the fold that tests it, one that weighs two
# may not. In test_search_api.py the folds are given, and then both are the same.
DRAWN_FOLDS = {"check_sample_weight_equivalence_on_dense_data": "rows that repeat are spread over the folds"}
# Rows are drawn for trees as often by weight as by repetition, but other ones, and more of them if there are more.
DRAWN_ROWS = {"check_sample_weight_equivalence_on_dense_data": "trees draw other rows from rows that repeat"}


def expected_failures(clf):
    if getattr(clf, "structure", None) == "forward-join":
        return DRAWN_FOLDS
    return DRAWN_ROWS if isinstance(getattr(clf, "parameters", None), pr.AttributeWeighted) else {}


#: Every class of classifiers, structure learners and parameter learners once; test_every_learner.py has more settings of each.
ESTIMATORS = [
    tg.NaiveBayesClassifier(discretizer="equal-frequency"),
    tg.TANClassifier(structure_score="aic", n_jobs=2),
    tg.KDBClassifier(),
    tg.AODEClassifier(),
    tg.TBMATANClassifier(stubbornness=5, max_assignments=4, n_jobs=2),
    tg.BayesNetClassifier(),
    tg.BayesNetClassifier(structure="tan", parameters=pr.Dirichlet(equivalent_sample_size=5.0)),
    tg.BayesNetClassifier(structure="acll-tree", parameters="acll-optimal"),
    tg.BayesNetClassifier(st.HillClimb(max_parents=2, objective="cll"), "data-temperature", n_jobs=2),
    tg.BayesNetClassifier(structure="super-parent", parameters="softened"),
    tg.BayesNetClassifier(structure="forward-join"),
    tg.BayesNetClassifier(structure="backward-join", parameters="maximum-likelihood"),
    tg.BayesNetClassifier(structure="pc"),
    tg.BayesNetClassifier(structure=st.ThreePhase(test="g2"), parameters="em", n_jobs=2),
    tg.BayesNetClassifier(parameters="model-averaged"),
    tg.BayesNetClassifier(structure="tan", parameters=pr.AttributeWeighted(n_trees=3, max_depth=2), n_jobs=2),
    tg.BayesNetClassifier(parameters="wanbia"),
    tg.BayesNetClassifier(structure="tan", parameters=pr.APN(optimizer="lbfgs"), n_jobs=2),
    tg.BayesNetClassifier(parameters=pr.ELR(max_iter=10)),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_contract(estimator, check):
    check(estimator)


def test_every_learner_is_checked():
    networks = [clf for clf in ESTIMATORS if isinstance(clf, tg.BayesNetClassifier)]
    structures = {type(st.resolve_structure(clf.structure)) for clf in networks} | {st.KDB}  # of KDBClassifier
    parameters = {type(pr.resolve_parameters(clf.parameters)) for clf in networks}
    assert structures == {type(make()) for make in st.BY_NAME.values()}
    assert parameters == {type(make()) for make in pr.BY_NAME.values()}
