"""Warnings point at the line of the user, however deep in the package they are issued."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import tanager as tg
from tanager.evaluation import cross_validate
from tanager.parameters import EM
from tanager.structure import HillClimb

data = tg.datasets.load("tic-tac-toe", as_frame=True)
X, y = data.X, data.y
unseen = X.assign(**{"top-left-square": "?"})
holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
tan = tg.TANClassifier().fit(X, y)
network = tan.network_
estimating = tg.TBMATANClassifier(max_assignments=2)
tbmatan = tg.TBMATANClassifier(max_assignments=2).fit(X, y)

CALLS: dict[str, Callable[[], Any]] = {
    "predict": lambda: tan.predict(unseen),
    "predict without names": lambda: tan.predict(X.to_numpy()),
    "predict_proba": lambda: tan.predict_proba(unseen),
    "predict_log_proba without names": lambda: tan.predict_log_proba(X.to_numpy()),
    "predict of estimates": lambda: tbmatan.predict(holes),
    "predict_proba of estimates": lambda: tbmatan.predict_proba(holes),
    "predict_stream": lambda: list(tan.predict_stream([unseen])),
    "score": lambda: tan.score(unseen, y),
    "explain": lambda: tan.explain(unseen[:2]),
    "explain estimates": lambda: tbmatan.explain(holes[:5]),
    "log likelihood": lambda: network.bic(unseen, y),
    "fit, column of labels": lambda: tg.NaiveBayesClassifier().fit(X, np.asarray(y).reshape(-1, 1)),
    "fit, search stopped": lambda: tg.BayesNetClassifier(HillClimb(time_limit=1e-9)).fit(X, y),
    "fit, no convergence": lambda: tg.TANClassifier(parameters=EM(max_iter=1)).fit(holes, y),
    "fit, slow": lambda: tg.TBMATANClassifier(equivalent_sample_size=1e200).fit(X.iloc[:, :2], y),
    "partial_fit": lambda: tg.TBMATANClassifier(equivalent_sample_size=1e200).partial_fit(X.iloc[:, :2], y),
    "fit_stream": lambda: tg.TBMATANClassifier(equivalent_sample_size=1e200).fit_stream([(X.iloc[:, :2], y)]),
    "cross_validate": lambda: cross_validate(estimating, holes, y, cv=2),
    "cross_val_score": lambda: cross_val_score(estimating, holes, y, cv=2),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_warning_points_at_the_line_of_the_user(call: str) -> None:
    line = CALLS[call].__code__.co_firstlineno
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[call]()
    assert caught
    assert {(warning.filename, warning.lineno) for warning in caught} == {(__file__, line)}


def test_merge() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, second = (
            tg.TBMATANClassifier(equivalent_sample_size=1e200).fit(X.iloc[i::2, :2], y[i::2]) for i in (0, 1)
        )
        caught.clear()
        first.merge(second)
        line = sys._getframe().f_lineno - 1
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]


def test_threads_have_no_line_of_the_user() -> None:
    with pytest.warns(tg.EstimateWarning) as caught:
        cross_validate(estimating, holes, y, cv=2, n_jobs=2)
    assert all("tanager" not in warning.filename for warning in caught)
