"""Classifiers that are not one structure but an average over many."""

from __future__ import annotations

from .._utils.public import set_public_path
from ._posterior import EdgeProbabilities, TreePosterior
from ._tbmatan import AODEClassifier, TBMATANClassifier

__all__ = ["AODEClassifier", "EdgeProbabilities", "TBMATANClassifier", "TreePosterior"]

set_public_path(__name__, globals())
