"""Other libraries: one module each.

A module defines ``PEER`` and imports its library only inside the functions that use it. Every module of this package is found
automatically, so a new library is one new file.
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
    """A classifier in scikit-learn's style, which is timed."""

    def fit(self, X: NDArray[Any], y: NDArray[Any], /) -> object: ...

    def predict_proba(self, X: NDArray[Any], /) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Peer:
    """A library, and functions that create its naive Bayes and TAN classifiers."""

    name: str
    #: Module that must be importable.
    requires: str
    #: "naive_bayes" or "tan" -> creates an unfitted classifier with settings close to tanager's defaults.
    models: Mapping[str, Callable[[], Contender]] = field(default_factory=dict)
    #: Slow libraries run in a child process with a time limit, on as many rows as the limit allows.
    slow: bool = True
    #: Tolerance for its posteriors if it fits the same model as tanager; None if it fits another.
    agrees_to: float | None = None

    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.requires) is not None


def all_peers() -> dict[str, Peer]:
    """Return every library, installed or not, by the name of its module."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").PEER for name in names}


def peers_for(model: str) -> dict[str, Peer]:
    """Return the installed libraries that provide a model."""
    return {name: peer for name, peer in all_peers().items() if model in peer.models and peer.is_installed()}


def make(who: str, model: str) -> Contender:
    """Return an unfitted classifier of tanager (one thread) or of another library."""
    if who != "tanager":
        return all_peers()[who].models[model]()
    import tanager

    classifiers = {"naive_bayes": tanager.NaiveBayesClassifier, "tan": tanager.TANClassifier}
    classifier: Contender = classifiers[model](n_jobs=1)
    return classifier
