"""Parameter learners: the conditional probability tables of a given structure."""

from __future__ import annotations

from .._learning.traces import FitStep, FitTrace
from ._acll import AcllOptimal
from ._base import ParameterLearner
from ._counts import BY_NAME as BY_NAME
from ._counts import DataTemperature, Dirichlet, MaximumLikelihood, ModelAveraged, Softened
from ._counts import resolve_parameters as resolve_parameters
from ._iterative import APN, ELR, EM
from ._weights import AttributeWeighted, Wanbia

__all__ = [
    "APN",
    "ELR",
    "EM",
    "AcllOptimal",
    "AttributeWeighted",
    "DataTemperature",
    "Dirichlet",
    "FitStep",
    "FitTrace",
    "MaximumLikelihood",
    "ModelAveraged",
    "ParameterLearner",
    "Softened",
    "Wanbia",
]
