"""scikit-learn's CategoricalNB, the most common naive Bayes."""

from __future__ import annotations

from . import Contender, Peer


def _categorical_nb() -> Contender:
    from sklearn.naive_bayes import CategoricalNB

    classifier: Contender = CategoricalNB(alpha=1.0)
    return classifier


# It does not smooth the class frequencies, while tanager adds a pseudo-count: a difference of the order of 1/rows.
PEER = Peer("scikit-learn CategoricalNB", "sklearn", {"naive_bayes": _categorical_nb}, slow=False, agrees_to=1e-5)
