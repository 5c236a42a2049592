"""Import and export of networks: BIF and XMLBIF files, pgmpy and pyAgrum objects, and ONNX models.

A `Network` also has the methods ``to_bif``, ``to_xmlbif``, ``to_networkx``, and ``to_classifier`` to predict with it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._utils.text import join_names, shortened
from ..classifiers._base import BaseClassifier
from ..network import Network
from ._bif_reader import parse_bif
from ._onnx import onnx_model, save_model
from ._pgmpy import pgmpy_model, variables_of_pgmpy
from ._pyagrum import pyagrum_network, variables_of_pyagrum
from ._variables import Variable, make_network, variables_of
from ._xmlbif import parse_xmlbif

__all__ = ["from_pgmpy", "from_pyagrum", "read_bif", "read_xmlbif", "to_onnx", "to_pgmpy", "to_pyagrum"]


def read_bif(source: str | os.PathLike[str], class_name: str | None = None) -> Network:
    """Read a network in BIF format, as written by tanager, bnlearn, pgmpy, pyAgrum or JavaBayes.

    Parameters
    ----------
    source : str or path
        Path of a file; or the text itself, recognized by a "{" in it.
    class_name : str or None, default=None
        Variable to predict; all others are features, in the order of the file. None means the class stored in a file that
        tanager wrote.

    Returns
    -------
    Network
        Use ``to_classifier()`` to predict data and ``save()`` to write a model file.

    Raises
    ------
    ValueError
        If the text is not a valid network; the message contains the line number.

    Notes
    -----
    Distributions whose sum differs from one by at most 0.01 are normalized, because many files contain few digits.

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
    """Read a network in XMLBIF 0.3 format.

    Parameters
    ----------
    source : str or path
        Path of a file; or the text itself, recognized by a "<" in it.
    class_name : str or None, default=None
        As in `read_bif`.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        If the document is not a valid network; the message contains the line number. Files that declare entities are
        rejected.
    """
    data: bytes | str
    if isinstance(source, str) and "<" in source:
        data, name = source.strip(), ""
    else:
        data, name = Path(source).read_bytes(), Path(source).name  # the document declares its encoding
    return _network(*parse_xmlbif(data, name), class_name)


def to_pgmpy(network: Network) -> Any:
    """Convert a network to pgmpy's ``DiscreteBayesianNetwork``. States are the labels; intervals become strings.

    Parameters
    ----------
    network : Network
        Network of a fitted classifier, or one that was read from a file.
    """
    return pgmpy_model(variables_of(network))


def from_pgmpy(model: Any, class_name: str) -> Network:
    """Convert pgmpy's ``DiscreteBayesianNetwork`` to a network.

    Parameters
    ----------
    model : pgmpy.models.DiscreteBayesianNetwork
        Network with all of its conditional probability tables.
    class_name : str
        Variable to predict.
    """
    return make_network(variables_of_pgmpy(model), class_name)


def to_pyagrum(network: Network) -> Any:
    """Convert a network to ``pyagrum.BayesNet``. Labels become strings.

    Parameters
    ----------
    network : Network
        Network of a fitted classifier, or one that was read from a file.
    """
    return pyagrum_network(variables_of(network))


def from_pyagrum(model: Any, class_name: str) -> Network:
    """Convert a ``pyagrum.BayesNet`` to a network. Labels are strings.

    Parameters
    ----------
    model : pyagrum.BayesNet
        Network whose variables have labels.
    class_name : str
        Variable to predict.
    """
    return make_network(variables_of_pyagrum(model), class_name)


def to_onnx(model: Network | BaseClassifier, path: str | os.PathLike[str] | None = None) -> Any:
    """Convert a naive Bayes or one-dependence model to an ONNX model with the outputs of ``predict`` and ``predict_proba``.

    Requires the extra ``onnx``. Every feature of the model is a separate input with its name and shape (rows, 1): strings
    for a string column, 64-bit integers for integers and booleans, doubles for floats. NaN and unknown categories count as
    missing, and missing values are marginalized exactly. The outputs are ``label`` (rows) and ``probabilities`` (rows,
    classes), in double precision.

    Parameters
    ----------
    model : Network, or a fitted classifier that has one
        The class must have no parents, and every feature at most one parent besides the class: naive Bayes, TAN and forests.
    path : str or path or None, default=None
        If given, the model is also written to this file, atomically.

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
        raise TypeError(f"model: expected a classifier of tanager or a Network, got {type(clf).__name__}")
    network = clf._describe().network
    if network is None:
        raise TypeError(
            f"to_onnx supports classifiers with a single network, but {type(clf).__name__} averages over many"
        )
    return network


def _text_of(source: str | os.PathLike[str], sign: str) -> tuple[str, str]:
    """Return the text, and the name of its file if it comes from one."""
    if isinstance(source, str) and sign in source:
        return source, ""
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8-sig"), path.name
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not valid UTF-8: byte {error.start} is {error.object[error.start]}") from None


def _network(variables: list[Variable], stored: str | None, class_name: str | None) -> Network:
    if class_name is None and stored is None:
        names = [v.name for v in variables]
        raise ValueError(
            f"class_name: required to select the class; the variables are {join_names(map(shortened, names))}"
        )
    return make_network(variables, stored if class_name is None else class_name)  # type: ignore[arg-type]
