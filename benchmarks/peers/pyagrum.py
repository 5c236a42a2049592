"""pyAgrum's BNClassifier: C++ learning behind a temporary CSV file, prediction row by row in Python."""

from __future__ import annotations

from typing import Any

from . import Contender, Peer


def _classifier(method: str) -> Contender:
    import pyagrum
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    pyagrum.setNumberOfThreads(1)
    # A column with at most this many distinct values is kept instead of being discretized.
    processor = DiscreteTypeProcessor(discretizationThreshold=255)
    make: Any = BNClassifier  # has no type hints
    classifier: Contender = make(
        learningMethod=method, prior="Smoothing", priorWeight=1.0, type_processor=processor, significant_digit=16
    )
    return classifier


PEER = Peer(
    "pyAgrum BNClassifier",
    "pyagrum",
    {"naive_bayes": lambda: _classifier("NaiveBayes"), "tan": lambda: _classifier("TAN")},
)
