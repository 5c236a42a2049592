"""Information measures, and scores of families of variables."""

from __future__ import annotations

from .._utils.public import set_public_path
from ._acll import (
    AcllConstants,
    AcllEstimate,
    acll_constants,
    dirichlet_sampler,
    estimate_acll_constants,
    uniform_sampler,
)
from ._information import acll_score, conditional_mutual_information, entropy, family_score, mutual_information

__all__ = [
    "AcllConstants",
    "AcllEstimate",
    "acll_constants",
    "acll_score",
    "conditional_mutual_information",
    "dirichlet_sampler",
    "entropy",
    "estimate_acll_constants",
    "family_score",
    "mutual_information",
    "uniform_sampler",
]

set_public_path(__name__, globals())
