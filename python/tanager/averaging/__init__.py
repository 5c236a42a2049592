"""Classifiers that average over many structures."""

from __future__ import annotations

from .._utils.public import set_public_path
from ._aode import AODEClassifier
from ._posterior import EdgeProbabilities, TreePosterior
from ._tbmatan import TBMATANClassifier

__all__ = ["AODEClassifier", "EdgeProbabilities", "TBMATANClassifier", "TreePosterior"]

set_public_path(__name__, globals())
