"""Other libraries: one plug-in module each.

A plug-in defines ``PEER``, a :class:`Peer`, and imports its library only inside the functions that use it. Every module
of this package is a plug-in, so a new library is one new file.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray


class Contender(Protocol):
    """What is timed: a classifier in scikit-learn's style."""

    def fit(self, X: NDArray[Any], y: NDArray[Any], /) -> object: ...

    def predict_proba(self, X: NDArray[Any], /) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Peer:
    """A library, and how to make its naive Bayes and TAN classifiers."""

    name: str
    #: Module that must be importable.
    requires: str
    #: "naive_bayes" or "tan" -> makes an unfitted classifier of the settings nearest to tanager's defaults.
    models: Mapping[str, Callable[[], Contender]] = field(default_factory=dict)
    #: Slow libraries run in a child process with a time limit, on as many rows as the limit allows.
    slow: bool = True
    #: How far its posteriors may differ from tanager's if it learns the same model; None if it learns another.
    agrees_to: float | None = None

    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.requires) is not None


def all_peers() -> dict[str, Peer]:
    """Every plug-in, installed or not, by the name of its module."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").PEER for name in names}


def peers_for(model: str) -> dict[str, Peer]:
    """The installed libraries that offer a model."""
    return {name: peer for name, peer in all_peers().items() if model in peer.models and peer.is_installed()}


def make(who: str, model: str) -> Contender:
    """An unfitted classifier of tanager (one thread) or of a peer."""
    if who != "tanager":
        return all_peers()[who].models[model]()
    import tanager

    classifiers = {"naive_bayes": tanager.NaiveBayesClassifier, "tan": tanager.TANClassifier}
    classifier: Contender = classifiers[model](n_jobs=1)
    return classifier
