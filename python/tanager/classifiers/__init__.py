"""Classifiers that are one network; users import them from the root of the package."""

from __future__ import annotations

from .._utils.public import set_public_path
from ._bayes_net import BayesNetClassifier
from ._shortcuts import KDBClassifier, NaiveBayesClassifier, TANClassifier

__all__ = ["BayesNetClassifier", "KDBClassifier", "NaiveBayesClassifier", "TANClassifier"]

set_public_path("tanager", globals())
