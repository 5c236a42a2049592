"""Bridges to other tools: BIF and XMLBIF in and out; objects of networkx, pgmpy and pyAgrum; ONNX.

A `Network` has ``to_bif``, ``to_xmlbif`` and ``to_networkx``, and ``to_classifier`` makes it predict.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..classifiers._base import BaseClassifier
from ..network import Network
from ._bif_reader import parse_bif
from ._onnx import onnx_model, save_model
from ._pgmpy import pgmpy_model, variables_of_pgmpy
from ._pyagrum import pyagrum_network, variables_of_pyagrum
from ._variables import Variable, listed, make_network, variables_of
from ._xmlbif import parse_xmlbif

__all__ = ["from_pgmpy", "from_pyagrum", "read_bif", "read_xmlbif", "to_onnx", "to_pgmpy", "to_pyagrum"]


def read_bif(source: str | os.PathLike[str], class_name: str | None = None) -> Network:
    """Read a network in BIF: of tanager, bnlearn, pgmpy, pyAgrum or JavaBayes.

    Parameters
    ----------
    source : str or path
        A file, or the text itself, which has a "{" in it.
    class_name : str or None, default=None
        The variable to predict; all others are features, in the order of the file. None takes the one that tanager wrote
        as the class.

    Returns
    -------
    Network
        Answers questions at once; ``to_classifier()`` predicts tables, ``save()`` makes a model file.

    Raises
    ------
    ValueError
        If it cannot be understood or is no network, with the line.

    Notes
    -----
    Probabilities that sum to one up to 0.01 are divided by their sum, since many files print few digits.

    Examples
    --------
    >>> from tanager.interop import read_bif
    >>> network = read_bif('''
    ... network rain { }
    ... variable cloudy { type discrete [ 2 ] { yes, no }; }
    ... variable rain { type discrete [ 2 ] { yes, no }; }
    ... probability ( cloudy ) { table 0.5, 0.5; }
    ... probability ( rain | cloudy ) { (yes) 0.8, 0.2; (no) 0.1, 0.9; }
    ... ''', class_name="rain")
    >>> network.posterior({"cloudy": "yes"})
    P(rain)
    rain
     yes  0.8
      no  0.2
    >>> import pandas as pd
    >>> network.to_classifier().predict(pd.DataFrame({"cloudy": ["no", None]})).tolist()
    ['no', 'no']
    """
    text, name = _text_of(source, "{")
    return _network(*parse_bif(text, name), class_name)


def read_xmlbif(source: str | os.PathLike[str], class_name: str | None = None) -> Network:
    """Read a network in XMLBIF 0.3.

    Parameters
    ----------
    source : str or path
        A file, or the text itself, which has a "<" in it.
    class_name : str or None, default=None
        As in `read_bif`.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        If it cannot be understood or is no network, with the line. Files that declare entities are refused.
    """
    data: bytes | str
    if isinstance(source, str) and "<" in source:
        data, name = source.strip(), ""
    else:
        data, name = Path(source).read_bytes(), Path(source).name  # the document itself tells its encoding
    return _network(*parse_xmlbif(data, name), class_name)


def to_pgmpy(network: Network) -> Any:
    """Return a network as pgmpy's ``DiscreteBayesianNetwork``; its states are the labels, intervals as texts.

    Parameters
    ----------
    network : Network
        What a classifier has learned, or what was read.
    """
    return pgmpy_model(variables_of(network))


def from_pgmpy(model: Any, class_name: str) -> Network:
    """Return pgmpy's ``DiscreteBayesianNetwork`` as a network.

    Parameters
    ----------
    model : pgmpy.models.DiscreteBayesianNetwork
        A network with all of its tables.
    class_name : str
        The variable to predict.
    """
    return make_network(variables_of_pgmpy(model), class_name)


def to_pyagrum(network: Network) -> Any:
    """Return a network as ``pyagrum.BayesNet``; its labels are the texts of ours.

    Parameters
    ----------
    network : Network
        What a classifier has learned, or what was read.
    """
    return pyagrum_network(variables_of(network))


def from_pyagrum(model: Any, class_name: str) -> Network:
    """Return a ``pyagrum.BayesNet`` as a network; its labels are texts.

    Parameters
    ----------
    model : pyagrum.BayesNet
        A network whose variables have labels.
    class_name : str
        The variable to predict.
    """
    return make_network(variables_of_pyagrum(model), class_name)


def to_onnx(model: Network | BaseClassifier, path: str | os.PathLike[str] | None = None) -> Any:
    """Return what ``predict`` and ``predict_proba`` do as an ONNX model: of naive Bayes and one-dependence models.

    It needs the extra ``onnx``. Every feature that the model looks at is an input of its own, under its name and of shape
    (rows, 1): strings for a column of strings, 64-bit integers for one of integers or booleans, doubles for one of floats.
    Anything that is no known category counts as missing, and so does NaN; features that are missing are summed out
    exactly. Outputs are ``label`` (rows) and ``probabilities`` (rows, classes), in double precision.

    Parameters
    ----------
    model : Network, or a fitted classifier that has one
        The class must have no parents, and every feature at most one besides the class: naive Bayes, TAN, forests.
    path : str or path or None, default=None
        Where to write it as well, whole or not at all.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1", as_frame=True)
    >>> clf = tg.TANClassifier().fit(data.X, data.y)
    >>> model = tg.interop.to_onnx(clf, "monks.onnx")  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession("monks.onnx")  # doctest: +SKIP
    >>> inputs = {name: data.X[[name]].to_numpy() for name in data.X}
    >>> labels, probabilities = session.run(None, inputs)  # doctest: +SKIP
    """
    network = model if isinstance(model, Network) else _network_of(model)
    made = onnx_model(network)
    if path is not None:
        save_model(made, path)
    return made


def _network_of(clf: Any) -> Network:
    if not isinstance(clf, BaseClassifier):
        raise TypeError(f"model must be a classifier of tanager or its network, but is a {type(clf).__name__}")
    network = clf._describe().network
    if network is None:
        raise TypeError(
            f"to_onnx takes classifiers that are one network, but {type(clf).__name__} is an average of many"
        )
    return network


def _text_of(source: str | os.PathLike[str], sign: str) -> tuple[str, str]:
    """Return a text, and the name of its file if it comes from one."""
    if isinstance(source, str) and sign in source:
        return source, ""
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8-sig"), path.name
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} is not text in UTF-8: byte {error.start} is {error.object[error.start]}"
        ) from None


def _network(variables: list[Variable], told: str | None, class_name: str | None) -> Network:
    if class_name is None and told is None:
        names = [v.name for v in variables]
        raise ValueError(f"class_name must say which variable is the class; the variables are {listed(names)}")
    return make_network(variables, told if class_name is None else class_name)  # type: ignore[arg-type]
