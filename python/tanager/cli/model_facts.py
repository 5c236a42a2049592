"""Reading model files, and describing models as plain values for text, JSON and reports."""

from __future__ import annotations

import argparse
import struct
from pathlib import Path
from typing import Any

from .. import _core
from .._model_file import from_model
from ..classifiers._base import BaseClassifier
from ..classifiers._description import settings_of
from .errors import InputError
from .tables.formats import DASH, first_bytes, standard_input

# The format version follows the eight bytes of the signature.
_VERSION = struct.Struct("<8xI")


def read_model(name: str) -> _core.Model:
    """Read a model file, or standard input."""
    if name == DASH:
        return _core.Model.from_bytes(standard_input().read())
    try:
        return _core.Model.load(name)
    except _core.ModelFileError as error:
        message = str(error)
        raise InputError(message if name in message else f"{name}: {message}") from None


def open_predictor(options: argparse.Namespace, what: str) -> tuple[_core.Model, Any]:
    """Return the model of a command and its classifier, set to the requested threads; `what` names DATA in errors."""
    if options.model == options.data == DASH:
        raise InputError(f"standard input can be either the model or the {what}, not both")
    model = read_model(options.model)
    clf = from_model(model)
    clf.set_params(n_jobs=-1 if options.threads is None else options.threads)
    return model, clf


def file_facts(name: str, content: _core.Model) -> dict[str, Any]:
    """Return a description of the file."""
    start = content.to_bytes()[: _VERSION.size] if name == DASH else first_bytes(name)
    counts = content.counts is not None or isinstance(content.classifier, _core.Tbmatan)
    return {
        "name": "standard input" if name == DASH else name,
        "format": _VERSION.unpack_from(start)[0],
        "bytes": None if name == DASH else Path(name).stat().st_size,
        "with_counts": counts,
    }


def facts(clf: BaseClassifier) -> dict[str, Any]:
    """Return a description of the model."""
    description = clf._describe()
    network = description.network
    features: list[dict[str, Any]] = []
    for name, column in zip(clf._schema.feature_names, clf._encoder.columns, strict=True):
        feature: dict[str, Any] = {
            "name": name,
            "cardinality": column.cardinality,
            "kind": column.kind,
            "values": column.labels(),
        }
        if network is not None:
            feature["parents"] = network.parents(name) if name in network.features else None
        for attribute in ("feature_weights_", "arc_probabilities_"):
            if hasattr(clf, attribute):
                number = float(getattr(clf, attribute)[len(features)])
                feature[attribute.strip("_")] = number if number == number else None  # noqa: PLR0124  # NaN
        features.append(feature)
    found: dict[str, Any] = {
        "summary": description.one_line,
        "kind": description.kind,
        "settings": settings_of(clf),
        "parameters": description.n_parameters,
        "class": clf._schema.class_name,
        "classes": clf.classes_.tolist(),
        "class_probabilities": None,
        "features": features,
    }
    if network is not None:
        found["arcs"] = [list(arc) for arc in network.arcs]
        if not network.parents(network.class_name):
            found["class_probabilities"] = network.cpt(network.class_name).values.tolist()
    if description.posterior is not None:
        found["trees"] = _trees(description.posterior)
    return found


def _trees(posterior: Any) -> dict[str, Any]:
    edges = posterior.edge_probabilities
    return {
        "probability": posterior.map_probability,
        "entropy": float(posterior.entropy),
        "most_probable_tree": [[a, b, edges[a, b]] for a, b in posterior.map_edges],
    }


def table_of(clf: BaseClassifier, name: str) -> Any:
    """Return a conditional probability table (CPT) of the model."""
    description = clf._describe()
    network = description.network
    if network is None:
        raise InputError(f"this model has no conditional probability tables: {description.kind}")
    if name in network.left_out:
        raise InputError(f"the network does not use {name!r}, so there is no table for it")
    return network.cpt(name)
