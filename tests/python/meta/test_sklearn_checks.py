"""scikit-learn's own checks of the estimator contract, none left out but for a reason that is said."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

import tanager as tg
from tanager import parameters as pr
from tanager import structure as st

# Folds are drawn from rows: a row that comes twice may be learned from in the fold that tests it, one that weighs two
# may not. In test_search_api.py the folds are given, and then both are the same.
DRAWN_FOLDS = {"check_sample_weight_equivalence_on_dense_data": "rows that repeat are spread over the folds"}
# Rows are drawn for trees as often by weight as by repetition, but other ones, and more of them if there are more.
DRAWN_ROWS = {"check_sample_weight_equivalence_on_dense_data": "trees draw other rows from rows that repeat"}


def expected_failures(clf):
    if getattr(clf, "structure", None) == "forward-join":
        return DRAWN_FOLDS
    return DRAWN_ROWS if isinstance(getattr(clf, "parameters", None), pr.AttributeWeighted) else {}


@parametrize_with_checks(
    [
        tg.AODEClassifier(),
        tg.AODEClassifier(alpha=0.1, min_count=5, n_jobs=2),
        tg.BayesNetClassifier(),
        tg.BayesNetClassifier(structure=st.ChowLiu(score="bic"), parameters=pr.Dirichlet(equivalent_sample_size=5.0)),
        tg.BayesNetClassifier(structure="tan", parameters="data-temperature"),
        tg.BayesNetClassifier(structure="tan", parameters="softened"),
        tg.BayesNetClassifier(parameters="model-averaged"),
        tg.BayesNetClassifier(parameters=pr.AttributeWeighted(n_trees=3)),
        tg.BayesNetClassifier(structure="tan", parameters=pr.AttributeWeighted(n_trees=3, max_depth=2), n_jobs=2),
        tg.BayesNetClassifier(parameters="wanbia"),
        tg.BayesNetClassifier(parameters=pr.Wanbia(objective="mse", renormalize=True), n_jobs=2),
        tg.BayesNetClassifier(structure="tan", parameters="em"),
        tg.BayesNetClassifier(structure="tan", parameters=pr.APN(optimizer="lbfgs"), n_jobs=2),
        tg.BayesNetClassifier(parameters=pr.ELR(max_iter=10)),
        tg.BayesNetClassifier(structure="tan", parameters=pr.ELR(tune_by=None, max_iter=20, optimizer="lbfgs")),
        tg.BayesNetClassifier(structure="acll-tree", parameters="acll-optimal"),
        tg.BayesNetClassifier(structure="hill-climb"),
        tg.BayesNetClassifier(structure=st.HillClimb(max_parents=2, objective="cll"), n_jobs=2),
        tg.BayesNetClassifier(structure="super-parent"),
        tg.BayesNetClassifier(structure="forward-join"),
        tg.BayesNetClassifier(structure="backward-join"),
        tg.BayesNetClassifier(structure="pc"),
        tg.BayesNetClassifier(structure=st.ThreePhase(test="g2"), n_jobs=2),
        tg.KDBClassifier(),
        tg.KDBClassifier(k=1),
        tg.TBMATANClassifier(),
        tg.TBMATANClassifier(stubbornness=5, max_assignments=4, n_jobs=2),
        tg.NaiveBayesClassifier(),
        tg.NaiveBayesClassifier(discretizer="equal-frequency"),
        tg.TANClassifier(),
        tg.TANClassifier(structure_score="aic", n_jobs=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_contract(estimator, check):
    check(estimator)
