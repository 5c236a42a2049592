"""Model files: writing and reading classifiers; pickles contain the same bytes."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from . import _core, averaging, classifiers, discretize, parameters, structure
from ._encoding.column_encoder import ColumnEncoder, Order
from ._encoding.encoder import Encoder
from ._encoding.schema import Schema
from ._learning.contract import FEATURE_ATTRIBUTES, ExtraAttributes, FittedModel
from ._learning.traces import FitTrace
from ._utils.validation import MAX_CELLS
from .averaging._mp import MpPredictor
from .classifiers._base import BaseClassifier
from .exceptions import ModelFileError, ModelFileNotFoundError
from .network._network import LazyPredictor

#: The order of categories as model files name it, and the other way round.
_STORED_ORDERS: dict[Order, str] = {"sorted": "", "dtype": "dtype", "declared": "user"}
_ORDERS = {stored: order for order, stored in _STORED_ORDERS.items()}

_LEARNED = ("network_", "n_parameters_", "posterior_", "counts_", "_core_model", "_predictor")


def load(path: str | os.PathLike[str]) -> BaseClassifier:
    """Load a classifier from a model file.

    Parameters
    ----------
    path : str or path
        A file written by ``save``.

    Returns
    -------
    BayesNetClassifier or the class that wrote it
        Ready to predict; also ready for `partial_fit` if it was saved with its counts, as a `TBMATANClassifier` always is.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not a model file, or is corrupted. If there is no such file, the error is also a
        FileNotFoundError.
    """
    name = os.fsdecode(path)
    try:
        model = _core.Model.load(name)
    except ModelFileError as error:
        if error.problem == "not found":
            raise ModelFileNotFoundError(error, name) from None
        raise
    return from_model(model)


load.__module__ = "tanager"


def to_model(clf: BaseClassifier, *, with_counts: bool) -> _core.Model:
    """Return the content of a model file."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(clf)
    if _estimator(type(clf).__name__) is not type(clf):
        raise ValueError(
            f"a model file can store only tanager's own classifiers, not a {type(clf).__name__}; use pickle"
        )
    if not clf._describe().is_storable:
        raise ValueError(
            f"a model file cannot store a model with equivalent_sample_size={clf._core_model.equivalent_sample_size:g}, which "
            "only mpmath can predict with; use pickle"
        )
    if with_counts and clf.counts_ is None:
        raise ValueError("with_counts=True: this model was loaded from a file without counts")
    settings = {
        "estimator": type(clf).__name__,
        "params": {name: _to_json(value, name) for name, value in clf.get_params(deep=False).items()},
        "class_name": clf._schema.class_name,
        "named_features": clf._schema.names is not None,
        "class_type": _type_name(clf.classes_, "the classes"),
        "category_types": [
            None if column.kind == "interval" else _type_name(column.categories, f"the categories of {name!r}")
            for name, column in zip(clf._schema.feature_names, clf._encoder.columns, strict=True)
        ],
        "declared": [_STORED_ORDERS[column.order] for column in clf._encoder.columns],
        "shown": {name: values.tolist() for name, values in _shown(clf).items()},
        "dependence_threshold": clf.__dict__.get("dependence_threshold_"),
    }
    counts = clf._separate_counts() if with_counts else None
    return _build(clf, json.dumps(settings), counts, clf._schema.feature_names, _storable)


def from_model(model: _core.Model) -> BaseClassifier:
    """Return the classifier that a model file contains."""
    try:
        return _read_settings(model, json.loads(model.settings))
    except _MALFORMED as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        damaged = ModelFileError(f"the settings in the model file are invalid: {reason}")
        damaged.problem = "damaged"
        raise damaged from error


# The errors that malformed or malicious settings can cause.
_MALFORMED = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def _read_settings(model: _core.Model, settings: Any) -> BaseClassifier:
    estimator = _estimator(settings["estimator"])
    if estimator is None:
        raise ValueError(f"there is no classifier {settings['estimator']!r:.50}")
    clf: BaseClassifier = estimator(**_read_params(settings["estimator"], settings["params"]))
    clf._check_settings()
    if not isinstance(model.classifier, clf._core_type):
        raise TypeError(f"a {type(clf).__name__} cannot predict with a {type(model.classifier).__name__}")
    names, columns = [], []
    kinds = zip(model.features, settings["category_types"], settings["declared"], strict=True)
    for (name, labels, cuts), dtype, declared in kinds:
        names.append(name)
        if declared not in _ORDERS:
            raise ValueError(f"unknown order of categories: {declared!r}")
        if cuts is None:
            columns.append(ColumnEncoder("category", categories=_array(labels or [], dtype), order=_ORDERS[declared]))
        else:
            columns.append(ColumnEncoder("interval", cuts=cuts))
    classes = _array(model.classes, settings["class_type"])
    schema = Schema(names if settings["named_features"] else None, len(names), str(settings["class_name"]))
    encoder = Encoder(columns, schema.names)
    shown = {name: _feature_numbers(name, values, len(names)) for name, values in settings.get("shown", {}).items()}
    threshold = settings.get("dependence_threshold")
    if threshold is not None and (type(threshold) not in (int, float) or not threshold >= 0):
        raise ValueError(f"dependence_threshold: expected a non-negative number, got {threshold!r:.50}")
    clf._adopt(schema, encoder, classes, replace(clf._restored(model), attributes=shown, threshold=threshold))
    return clf


def _shown(clf: BaseClassifier) -> ExtraAttributes:
    return {name: clf.__dict__[name] for name in FEATURE_ATTRIBUTES & clf.__dict__.keys()}


def _feature_numbers(name: str, values: Any, n_features: int) -> npt.NDArray[np.float64]:
    if name not in FEATURE_ATTRIBUTES or not isinstance(values, list) or len(values) != n_features:
        raise ValueError(f"{name!r}: expected one of {sorted(FEATURE_ATTRIBUTES)}, with a number for each feature")
    for value in values:
        if type(value) not in (int, float) or value < 0 or value > 1:  # NaN for features that are left out
            raise ValueError(f"{name!r}: expected numbers from 0 to 1 or NaN, got {value!r:.50}")
    return np.array(values, dtype=np.float64)


def get_state(clf: BaseClassifier, state: dict[str, Any]) -> dict[str, Any]:
    """Return the state for pickle: objects of the core as the bytes of a model file, labels of any type unchanged."""
    if not clf._is_fitted():
        return state
    state = {name: value for name, value in state.items() if name not in _LEARNED}
    if not clf._describe().is_storable:
        return {**state, "_average": clf._core_model}
    # Names and labels are pickled separately; in the model file, unique placeholders are enough.
    names = [str(i) for i in range(clf._schema.n_features)]
    state["_model"] = _build(clf, "", clf._separate_counts(), names, _any_as_text).to_bytes()
    if isinstance(clf._predictor, LazyPredictor):
        state["_max_cells"] = clf._predictor.max_cells
    return state


def set_state(clf: BaseClassifier, state: dict[str, Any]) -> dict[str, Any]:
    """Undo `get_state`."""
    if "_model" not in state and "_average" not in state:
        return state
    state = dict(state)
    if "_average" in state:
        average = state.pop("_average")
        found = FittedModel(average, cast(_core.Predictor, MpPredictor(average)), average.counts)
    else:
        found = clf._restored(_core.Model.from_bytes(state.pop("_model")))
        if isinstance(found.predictor, LazyPredictor):
            found.predictor.max_cells = state.pop("_max_cells", MAX_CELLS)
    _check_fit(found, state)
    clf.__dict__.update({name: value for name, value in state.items() if name != "_sklearn_version"})
    trace, of_parameters = clf.__dict__.get("search_trace_"), clf.__dict__.get("parameter_trace_")
    trace = None if isinstance(trace, FitTrace) else trace
    shown, threshold = _shown(clf), clf.__dict__.get("dependence_threshold_")
    learned = replace(found, trace=trace, attributes=shown, parameter_trace=of_parameters, threshold=threshold)
    clf._adopt(clf._schema, clf._encoder, clf.classes_, learned)
    return state


def _check_fit(found: FittedModel, state: dict[str, Any]) -> None:
    """Reject a state whose parts belong to different models: codes of one would be read as those of the other."""
    expected = list(found.core.cardinalities)
    sizes = [column.cardinality for column in state["_encoder"].columns]
    for what, n in (("categories", len(sizes)), ("names", state["_schema"].n_features)):
        if n != len(expected):
            raise ValueError(
                f"the pickled model has {len(expected)} features, but {what} of {n}: the parts belong to different models"
            )
    for feature, (n_values, n_categories) in enumerate(zip(expected, sizes, strict=True)):
        if n_values != n_categories:
            raise ValueError(
                f"feature {feature} of the pickled model has {n_values} values, but {n_categories} categories: the parts belong "
                "to different models"
            )
    n_classes = found.core.n_classes
    if len(state["classes_"]) != n_classes:
        raise ValueError(
            f"the pickled model has {n_classes} classes, but {len(state['classes_'])} labels: the parts belong to different "
            "models"
        )


def _build(
    clf: BaseClassifier, settings: str, counts: _core.CountSet | None, names: list[str], convert: Any
) -> _core.Model:
    features: list[tuple[str, list[Any] | None, npt.NDArray[np.float64] | None]] = [
        (name, None, column.cuts)
        if column.kind == "interval"
        else (name, [convert(v, i, f"a category of {name!r}") for i, v in enumerate(column.categories.tolist())], None)
        for name, column in zip(names, clf._encoder.columns, strict=True)
    ]
    classes = [convert(label, i, "a class") for i, label in enumerate(clf.classes_.tolist())]
    return _core.Model.build(clf._core_model, features, classes, settings, counts)


def _storable(label: Any, position: int, what: str) -> bool | int | float | str:  # noqa: ARG001
    if isinstance(label, (bool, int, float, str)):
        return label
    raise ValueError(
        f"{what} is {label!r} of type {type(label).__name__}, but a model file can store only strings, integers, floats and "
        "booleans; use pickle for other labels"
    )


def _any_as_text(label: Any, position: int, what: str) -> bool | int | float | str:  # noqa: ARG001
    return f"{position}"


def _type_name(labels: npt.NDArray[Any], what: str) -> str:
    if labels.dtype.kind == "U":  # the width of the longest label, not of the array
        return f"<U{max([1, *map(len, labels.tolist())])}"
    if labels.dtype.kind in _KINDS:
        return str(labels.dtype.str)
    if labels.dtype.kind == "T":  # NumPy's variable-width strings
        return "|O"
    raise ValueError(
        f"{what} have type {labels.dtype}, but a model file can store only strings, integers, floats and booleans; use pickle "
        "for other labels"
    )


_KINDS = "biufUO"
_MAX_STRING_BYTES = 1 << 26


def _array(labels: list[Any], type_name: str) -> npt.NDArray[Any]:
    dtype = np.dtype(type_name)
    if dtype.kind not in _KINDS:
        raise ValueError(f"labels cannot have type {type_name}")
    if dtype.kind == "U" and dtype.itemsize > 4 * max(1, *map(len, labels), 1):
        raise ValueError(f"labels of type {type_name} would be longer than the longest label")
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    # Fixed-width strings all take the space of the longest one; a small file could make that gigabytes.
    if dtype.kind == "O" or (dtype.kind == "U" and len(labels) * dtype.itemsize > _MAX_STRING_BYTES):
        return array
    # Not every version of NumPy rejects integers that do not fit.
    if dtype.kind in "iu" and any(not np.iinfo(dtype).min <= label <= np.iinfo(dtype).max for label in labels):
        raise ValueError(f"a label does not fit the type {type_name}")
    typed = array.astype(dtype)
    if any(type(a) is not type(b) or a != b for a, b in zip(typed.tolist(), labels, strict=True)):
        raise ValueError(f"the labels do not have type {type_name}")
    return typed


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
        f"{name} is a {type(value).__name__}, which a model file cannot store; use a name, a number, a list or an object of "
        "tanager, or pickle"
    )


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if isinstance(value, dict) and "dict" in value:
        return {_key(_from_json(k)): _from_json(v) for k, v in value["dict"]}
    if isinstance(value, dict):
        return _settings_classes()[value["object"]](**_read_params(value["object"], value["params"]))
    return value


#: Settings and values that were renamed since some files were written.
_RENAMED_SETTINGS = {("TANClassifier", "criterion"): "structure_score"}
_RENAMED_VALUES = {("objective", "log_score"): "cll", ("tune_by", "loglik"): "cll"}


def _read_params(kind: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a classifier or learner by their current names."""
    result = {}
    for stored_name, stored in params.items():
        name, value = _RENAMED_SETTINGS.get((kind, stored_name), stored_name), _from_json(stored)
        result[name] = _RENAMED_VALUES.get((name, value), value) if isinstance(value, str) else value
    return result


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # pairs of names


def _settings_classes() -> dict[str, type]:
    modules = (structure, parameters, discretize)
    found = [getattr(module, name) for module in modules for name in module.__all__]
    return {cls.__name__: cls for cls in found if isinstance(cls, type) and issubclass(cls, BaseEstimator)}


def _estimator(name: Any) -> type[BaseClassifier] | None:
    """Return the classifier of this name; None if there is none."""
    modules = (classifiers, averaging)
    known = [getattr(module, item) for module in modules for item in module.__all__]
    return next((cls for cls in known if issubclass(cls, BaseClassifier) and cls.__name__ == name), None)
