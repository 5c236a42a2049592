"""scikit-learn's CategoricalNB: the naive Bayes everybody has."""

from __future__ import annotations

from . import Contender, Peer


def _categorical_nb() -> Contender:
    from sklearn.naive_bayes import CategoricalNB

    classifier: Contender = CategoricalNB(alpha=1.0)
    return classifier


PEER = Peer("scikit-learn CategoricalNB", "sklearn", {"naive_bayes": _categorical_nb}, slow=False, exact=True)
