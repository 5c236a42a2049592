"""Explanations of single predictions: feature contributions and counterfactual changes."""

from __future__ import annotations

from .._utils.public import set_public_path
from ._changes import EvidenceChange, Flip
from ._explanation import Explanation

__all__ = ["EvidenceChange", "Explanation", "Flip"]

set_public_path(__name__, globals())
