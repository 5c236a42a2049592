"""Discrete Bayesian network classifiers: a C++ core under scikit-learn estimators.

>>> import tanager as tg
>>> data = tg.datasets.load("monks-1")
>>> clf = tg.TANClassifier().fit(data.X, data.y)
>>> clf.score(data.X, data.y)
1.0
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import __version__
from .exceptions import EstimateWarning, FallbackWarning, ModelFileError, UnseenWarning

if TYPE_CHECKING:
    from . import (
        averaging,
        datasets,
        discretize,
        evaluation,
        explain,
        interop,
        network,
        parameters,
        plotting,
        scores,
        structure,
        tree_sums,
    )
    from ._model_file import load
    from .averaging import AODEClassifier, TBMATANClassifier, TreePosterior
    from .classifiers import BayesNetClassifier, KDBClassifier, NaiveBayesClassifier, TANClassifier
    from .discretize import EqualFrequencyDiscretizer, EqualWidthDiscretizer, MDLPDiscretizer
    from .explain import Explanation
    from .network import Network
    from .scores import acll_constants

__all__ = [
    "AODEClassifier",
    "BayesNetClassifier",
    "EqualFrequencyDiscretizer",
    "EqualWidthDiscretizer",
    "EstimateWarning",
    "Explanation",
    "FallbackWarning",
    "KDBClassifier",
    "MDLPDiscretizer",
    "ModelFileError",
    "NaiveBayesClassifier",
    "Network",
    "TANClassifier",
    "TBMATANClassifier",
    "TreePosterior",
    "UnseenWarning",
    "__version__",
    "acll_constants",
    "averaging",
    "datasets",
    "discretize",
    "evaluation",
    "explain",
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

#: The modules of the names in `__all__` that are not modules themselves. They are imported on first use, since they import
#: scikit-learn and SciPy, which ``tanager --help`` and programs that only need paths should not wait for.
_HOMES = {
    "AODEClassifier": ".averaging",
    "BayesNetClassifier": ".classifiers",
    "EqualFrequencyDiscretizer": ".discretize",
    "EqualWidthDiscretizer": ".discretize",
    "Explanation": ".explain",
    "KDBClassifier": ".classifiers",
    "MDLPDiscretizer": ".discretize",
    "NaiveBayesClassifier": ".classifiers",
    "Network": ".network",
    "TANClassifier": ".classifiers",
    "TBMATANClassifier": ".averaging",
    "TreePosterior": ".averaging",
    "acll_constants": ".scores",
    "load": "._model_file",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name], __name__), name)
        globals()[name] = value
        return value
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _installed(part: str) -> str:
    # The folder of the extension module: in an editable install the Python files are elsewhere.
    folder = Path(_core.__file__).resolve().parent / part
    if not folder.is_dir():
        raise FileNotFoundError(
            f"this installation of tanager has no folder {part}; install it with pip to get the C++ library"
        )
    return str(folder)


def get_include() -> str:
    """Return the folder of the C++ headers of this installation."""
    return _installed("include")


def get_cmake_dir() -> str:
    """Return the folder to pass to CMake as ``tanager_DIR``."""
    return _installed("lib/cmake/tanager")
