"""Model files as commands name them."""

from __future__ import annotations

import argparse
from typing import Any

from .. import _core
from .._model_file import from_model
from .errors import InputError
from .tables.formats import DASH, standard_input


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
    """Return a command's model and a classifier that predicts with its threads; `what` is what DATA is called."""
    if options.model == options.data == DASH:
        raise InputError(f"standard input can be the model or the {what}, but not both")
    model = read_model(options.model)
    clf = from_model(model)
    clf.set_params(n_jobs=-1 if options.threads is None else options.threads)
    return model, clf
