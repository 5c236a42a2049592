"""Parameter learners: estimates of the conditional probability tables of a structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .._learning.settings import resolve
from .._learning.traces import FitStep, FitTrace
from .._utils.public import set_public_path
from ._acll import AcllOptimal
from ._base import ParameterLearner
from ._counts import DataTemperature, Dirichlet, MaximumLikelihood, ModelAveraged, Softened
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

BY_NAME: Mapping[str, Callable[[], ParameterLearner]] = {
    "acll-optimal": AcllOptimal,
    "apn": APN,
    "attribute-weighted": AttributeWeighted,
    "data-temperature": DataTemperature,
    "dirichlet": Dirichlet,
    "elr": ELR,
    "em": EM,
    "maximum-likelihood": MaximumLikelihood,
    "model-averaged": ModelAveraged,
    "softened": Softened,
    "wanbia": Wanbia,
}


def resolve_parameters(value: object) -> ParameterLearner:
    """Return the learner that the setting ``parameters`` stands for."""
    return resolve(value, ParameterLearner, BY_NAME, "dirichlet", "parameters")  # type: ignore[type-abstract]


set_public_path(__name__, globals())
