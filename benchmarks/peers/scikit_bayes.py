"""scikit-bayes: MixedNB with all features categorical. It has no TAN."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from . import Contender, Peer


class _MixedNaiveBayes:
    def fit(self, X: NDArray[Any], y: NDArray[Any], /) -> object:
        from skbn.mixed_nb import MixedNB

        self._model = MixedNB(categorical_features=list(range(X.shape[1])))
        return self._model.fit(X, y)

    def predict_proba(self, X: NDArray[Any], /) -> NDArray[Any]:
        posterior: NDArray[Any] = self._model.predict_proba(X)
        return posterior


def _mixed_nb() -> Contender:
    return _MixedNaiveBayes()


PEER = Peer("scikit-bayes MixedNB", "skbn", {"naive_bayes": _mixed_nb})
