"""Classifiers to model files and back; pickle goes through the same bytes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core, discretize, parameters, structure
from ._encoding import ColumnEncoder, Encoder

if TYPE_CHECKING:
    from ._base import BaseNetworkClassifier

_LEARNED = ("network_", "counts_", "_core_network", "_predictor")


def load(path: str | os.PathLike[str]) -> BaseNetworkClassifier:
    """Read a classifier from a model file.

    Parameters
    ----------
    path : str or path
        A file written by ``save``.

    Returns
    -------
    BayesNetClassifier or the class that wrote it
        Ready to predict; ready for `partial_fit` if it was saved with its counts.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not a model file, or is not as it was written.
    """
    return from_model(_core.Model.load(str(Path(path))))


def to_model(clf: BaseNetworkClassifier, *, with_counts: bool) -> _core.Model:
    """Return all that a model file holds."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(clf)
    settings = {
        "estimator": type(clf).__name__,
        "params": {name: _to_json(value, name) for name, value in clf.get_params(deep=False).items()},
        "class_name": clf._class_name,
        "named_features": hasattr(clf, "feature_names_in_"),
        "class_type": clf.classes_.dtype.str,
        "category_types": [None if c.kind == "interval" else c.categories.dtype.str for c in clf._encoder.columns],
        "declared": [c.declared for c in clf._encoder.columns],
    }
    return _build(clf, json.dumps(settings), clf.counts_ if with_counts else None, _storable)


def from_model(model: _core.Model) -> BaseNetworkClassifier:
    """Return the classifier that a model file describes."""
    try:
        settings = json.loads(model.settings)
        clf = _estimators()[settings["estimator"]](**{k: _from_json(v) for k, v in settings["params"].items()})
        names, columns = [], []
        kinds = zip(model.features, settings["category_types"], settings["declared"], strict=True)
        for (name, labels, cuts), dtype, declared in kinds:
            names.append(name)
            if labels is None:
                columns.append(ColumnEncoder("interval", cuts=cuts))
            else:
                columns.append(ColumnEncoder("category", categories=_array(labels, dtype), declared=declared))
        classes = _array(model.classes, settings["class_type"])
        named, class_name = bool(settings["named_features"]), str(settings["class_name"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _core.ModelFileError(f"the settings in the model file cannot be understood: {error!r}") from error
    clf.n_features_in_ = len(names)
    if named:
        clf.feature_names_in_ = np.array(names, dtype=object)
    clf._class_name = class_name
    clf._set_learned(Encoder(columns, names if named else None), classes, model.network, model.counts, model.predictor)
    return clf


def get_state(clf: BaseNetworkClassifier, state: dict[str, Any]) -> dict[str, Any]:
    """Replace what lives in the core by the bytes of a model file. Labels of any kind stay as they are, beside it."""
    if not clf._is_fitted():
        return state
    state = {name: value for name, value in state.items() if name not in _LEARNED}
    state["_model"] = _build(clf, "", clf.counts_, _any_as_text).to_bytes()
    return state


def set_state(clf: BaseNetworkClassifier, state: dict[str, Any]) -> dict[str, Any]:
    """Undo `get_state`."""
    if "_model" not in state:
        return state
    state = dict(state)
    model = _core.Model.from_bytes(state.pop("_model"))
    clf.__dict__.update({name: value for name, value in state.items() if name != "_sklearn_version"})
    clf._set_learned(clf._encoder, clf.classes_, model.network, model.counts, model.predictor)
    return state


def _build(clf: BaseNetworkClassifier, settings: str, counts: _core.CountSet | None, convert: Any) -> _core.Model:
    features: list[tuple[str, list[Any] | None, npt.NDArray[np.float64] | None]] = [
        (name, None, column.cuts)
        if column.kind == "interval"
        else (name, [convert(v, i, f"a category of {name!r}") for i, v in enumerate(column.categories.tolist())], None)
        for name, column in zip(clf._feature_names(), clf._encoder.columns, strict=True)
    ]
    classes = [convert(label, i, "a class") for i, label in enumerate(clf.classes_.tolist())]
    return _core.Model.build(clf._core_network, features, classes, settings, counts)


def _storable(label: Any, position: int, what: str) -> bool | int | float | str:  # noqa: ARG001
    if isinstance(label, (bool, int, float, str)):
        return label
    raise ValueError(
        f"{what} is {label!r} of type {type(label).__name__}, but a model file holds strings, integers, floats and "
        "booleans; pickle keeps labels of any kind"
    )


def _any_as_text(label: Any, position: int, what: str) -> bool | int | float | str:  # noqa: ARG001
    # Unpickling takes the labels from beside the model, so that a text in their place need only be unique.
    return f"{position}"


def _array(labels: list[Any], dtype: str) -> npt.NDArray[Any]:
    if np.dtype(dtype).kind not in "biufUO":
        raise ValueError(f"labels of type {dtype}")
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array if np.dtype(dtype).kind == "O" else array.astype(dtype)


def _to_json(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_to_json(item, name) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_to_json(k, name), _to_json(v, name)] for k, v in value.items()]}
    if type(value) in _settings_classes().values():
        params = {key: _to_json(v, f"{name}__{key}") for key, v in value.get_params(deep=False).items()}
        return {"object": type(value).__name__, "params": params}
    raise ValueError(
        f"{name} is a {type(value).__name__}, which a model file cannot hold; use a name, a number, a list or an object "
        "of tanager, or pickle"
    )


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if isinstance(value, dict) and "dict" in value:
        return {_from_json(k): _from_json(v) for k, v in value["dict"]}
    if isinstance(value, dict):
        return _settings_classes()[value["object"]](**{k: _from_json(v) for k, v in value["params"].items()})
    return value


def _settings_classes() -> dict[str, type]:
    modules = (structure, parameters, discretize)
    found = [getattr(module, name) for module in modules for name in module.__all__]
    return {cls.__name__: cls for cls in found if isinstance(cls, type)}


def _estimators() -> dict[str, type[BaseNetworkClassifier]]:
    from ._classifier import BayesNetClassifier
    from .shortcuts import NaiveBayesClassifier, TANClassifier

    return {cls.__name__: cls for cls in (BayesNetClassifier, NaiveBayesClassifier, TANClassifier)}
