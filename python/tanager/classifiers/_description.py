"""What a fitted classifier is, in one place, for reports, plots, exports, model files and the command line."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ..network import Network
from ..network._summary import kind_of, one_line

if TYPE_CHECKING:
    from ._base import BaseClassifier


class ModelDescription(ABC):
    """A fitted classifier at a glance; made by ``clf._describe()``, which every family of classifiers implements.

    Attributes
    ----------
    kind : str
        The field's name for the model, such as "tree-augmented naive Bayes (TAN)".
    one_line : str
        Kind and size.
    n_parameters : int or None
        Number of free parameters, if the model has a fixed number of them.
    network : Network or None
        The network that the model is; None if it is an average of several.
    posterior : TreePosterior or None
        The posterior over trees, if the model is an average over them.
    is_storable : bool
        Whether a model file can hold the model.
    """

    kind: str
    one_line: str
    n_parameters: int | None = None
    network: Network | None = None
    posterior: Any = None
    is_storable: bool = True

    @property
    def shown_network(self) -> Network | None:
        """The network to plot and to show tables of: that of the model, or the most probable tree; None if there is none."""
        return self.network

    @abstractmethod
    def class_probabilities(self) -> list[float] | None:
        """Return P(class); None if it cannot be computed."""

    @abstractmethod
    def information(self) -> list[float]:
        """Return the mutual information of every feature and the class, in nats; NaN where the model leaves one out."""


class NetworkDescription(ModelDescription):
    """A classifier that is one network."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.kind, self.one_line, self.n_parameters = kind_of(network), one_line(network), int(network.n_parameters)

    def class_probabilities(self) -> list[float] | None:
        """Return P(class); None if exact inference would be too large."""
        assert self.network is not None
        try:
            return [float(p) for p in self.network.posterior().values]
        except ValueError:  # the class has so many ancestors that inference is too large
            return None

    def information(self) -> list[float]:
        """Return the mutual information of every feature and the class."""
        assert self.network is not None
        return network_information(self.network)


def network_information(network: Network) -> list[float]:
    """Return the mutual information of every feature of a network and the class; NaN for features left out."""
    information = network.summary().information
    return [information.get(name, math.nan) for name in network.feature_names]


def settings_of(clf: BaseClassifier) -> dict[str, Any]:
    """Return the settings that characterize a model: its learners, and all others that are not the default."""
    settings: dict[str, Any] = {"classifier": type(clf).__name__}
    defaults = type(clf)().get_params(deep=False)
    for name, value in clf.get_params(deep=False).items():
        if name in ("n_jobs", "verbose"):
            continue  # they do not change the model
        if name in ("structure", "parameters") or repr(value) != repr(defaults[name]):
            settings[name] = value if value is None or isinstance(value, (bool, int, float, str, list)) else repr(value)
    return settings
