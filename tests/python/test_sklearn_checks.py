"""scikit-learn's own checks of the estimator contract, none left out."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

import tanager as tg
from tanager import parameters as pr
from tanager import structure as st


@parametrize_with_checks(
    [
        tg.AODEClassifier(),
        tg.AODEClassifier(alpha=0.1, min_count=5, n_jobs=2),
        tg.BayesNetClassifier(),
        tg.BayesNetClassifier(structure=st.ChowLiu(score="bic"), parameters=pr.Dirichlet(equivalent_sample_size=5.0)),
        tg.KDBClassifier(),
        tg.KDBClassifier(k=1),
        tg.NaiveBayesClassifier(),
        tg.NaiveBayesClassifier(discretizer="equal-frequency"),
        tg.TANClassifier(),
        tg.TANClassifier(criterion="aic", n_jobs=2),
    ]
)
def test_contract(estimator, check):
    check(estimator)
