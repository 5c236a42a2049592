"""pgmpy: structure and parameters learned through pandas, prediction by variable elimination for every row."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Contender, Peer

_CLASS = "class"


class _Network:
    """A network over the columns f0, f1, ... and the class, NumPy in and out."""

    def __init__(self, tree: bool) -> None:
        self._tree = tree

    def fit(self, X: NDArray[Any], y: NDArray[Any], /) -> object:
        import pandas as pd
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.parameter_estimator import DiscreteBayesianEstimator

        logging.getLogger("pgmpy").setLevel(logging.ERROR)
        self._names = [f"f{i}" for i in range(X.shape[1])]
        frame = pd.DataFrame(X, columns=self._names)
        frame[_CLASS] = y
        # K2 means one pseudo-count per cell.
        estimator = DiscreteBayesianEstimator(prior_type="K2", n_jobs=1)
        self._model = DiscreteBayesianNetwork(self._arcs(frame)).fit(frame, estimator)
        self._classes = np.unique(y)
        return self

    def _arcs(self, frame: Any) -> list[tuple[str, str]]:
        if not self._tree:
            return [(_CLASS, name) for name in self._names]
        from pgmpy.estimators import TreeSearch

        # A given root saves a pass over all pairs that only chooses one.
        search = TreeSearch(frame, root_node=self._names[0], n_jobs=1)
        return list(search.estimate("tan", class_node=_CLASS, show_progress=False).edges())

    def predict_proba(self, X: NDArray[Any], /) -> NDArray[Any]:
        import pandas as pd

        posterior = self._model.predict_probability(pd.DataFrame(X, columns=self._names))
        return np.asarray(posterior[[f"{_CLASS}_{c}" for c in self._classes]])


def _naive_bayes() -> Contender:
    return _Network(tree=False)


def _tan() -> Contender:
    return _Network(tree=True)


PEER = Peer("pgmpy", "pgmpy", {"naive_bayes": _naive_bayes, "tan": _tan})
