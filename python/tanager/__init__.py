"""Discrete Bayesian network classifiers: a C++ core under scikit-learn estimators.

>>> import tanager as tg
>>> data = tg.datasets.load("monks-1")
>>> clf = tg.TANClassifier().fit(data.X, data.y)
>>> clf.score(data.X, data.y)
1.0
"""

from __future__ import annotations

from pathlib import Path

from . import (
    _core,
    averaging,
    datasets,
    discretize,
    evaluation,
    interop,
    network,
    parameters,
    plotting,
    scores,
    structure,
    tree_sums,
)
from ._acll_constants import acll_constants
from ._classifier import BayesNetClassifier
from ._core import ModelFileError, __version__
from ._model_file import load
from ._warnings import EstimateWarning, FallbackWarning
from .averaging import AODEClassifier, TBMATANClassifier, TreePosterior
from .discretize import EqualFrequencyDiscretizer, EqualWidthDiscretizer, MDLPDiscretizer
from .network import Network
from .shortcuts import KDBClassifier, NaiveBayesClassifier, TANClassifier

__all__ = [
    "AODEClassifier",
    "BayesNetClassifier",
    "EqualFrequencyDiscretizer",
    "EqualWidthDiscretizer",
    "EstimateWarning",
    "FallbackWarning",
    "KDBClassifier",
    "MDLPDiscretizer",
    "ModelFileError",
    "NaiveBayesClassifier",
    "Network",
    "TANClassifier",
    "TBMATANClassifier",
    "TreePosterior",
    "__version__",
    "acll_constants",
    "averaging",
    "datasets",
    "discretize",
    "evaluation",
    "get_cmake_dir",
    "get_include",
    "interop",
    "load",
    "network",
    "parameters",
    "plotting",
    "scores",
    "structure",
    "tree_sums",
]


def _installed(part: str) -> str:
    # The compiled module's own folder: in an editable install the Python files lie elsewhere.
    folder = Path(_core.__file__).resolve().parent / part
    if not folder.is_dir():
        raise FileNotFoundError(
            f"this installation of tanager has no {part}; install it with pip to get the C++ library"
        )
    return str(folder)


def get_include() -> str:
    """Return the folder of the C++ headers that came with this installation."""
    return _installed("include")


def get_cmake_dir() -> str:
    """Return the folder to pass to CMake as ``tanager_DIR``."""
    return _installed("lib/cmake/tanager")
