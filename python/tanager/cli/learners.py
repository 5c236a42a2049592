"""Build classifiers from command-line options."""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Callable, Iterable
from typing import Any

from .. import parameters, structure
from ..averaging import AODEClassifier, TBMATANClassifier
from ..classifiers._base import BaseClassifier
from ..classifiers._bayes_net import BayesNetClassifier
from ..discretize import resolve_discretizer
from .errors import InputError

#: Model averages: classifiers without a single structure and without a choice of parameters.
AVERAGES: dict[str, Callable[[], BaseClassifier]] = {
    "aode": AODEClassifier,
    "tbmatan": TBMATANClassifier,
    "sstbmatan": lambda: TBMATANClassifier(stubbornness=5.0),
}
_STRUCTURES: dict[str, Callable[[], Any]] = {**structure.BY_NAME, "fixed": lambda: structure.FixedStructure([])}
STRUCTURE_NAMES = (*_STRUCTURES, *AVERAGES)
PARAMETER_NAMES = tuple(parameters.BY_NAME)
_PARTS = ("structure", "parameters", "discretizer")


def make_classifier(options: argparse.Namespace) -> BaseClassifier:
    """Build the classifier that the options describe."""
    return build(options.structure, options.parameters, options)


def build(structure_name: str, parameter_name: str | None, options: argparse.Namespace) -> BaseClassifier:
    """Build a classifier from the names of its structure and parameter learners, and the other options."""
    if structure_name in AVERAGES:
        if parameter_name is not None:
            raise InputError(
                f"--parameters cannot be combined with --structure {structure_name}, which estimates its own parameters"
            )
        clf = AVERAGES[structure_name]()
    else:
        chosen = parameters.BY_NAME[parameter_name or "dirichlet"]()
        clf = BayesNetClassifier(_STRUCTURES[structure_name](), chosen)
    clf.set_params(
        discretizer=None if options.discretizer == "none" else options.discretizer,
        numeric_features=numeric_features(options),
        n_jobs=-1 if options.threads is None else options.threads,
        random_state=options.seed,
    )
    apply_settings(clf, options.settings)
    clf._check_settings()
    return clf


def numeric_features(options: argparse.Namespace) -> Any:
    """Return the `numeric_features` setting of classifiers."""
    if options.numeric in (["float"], ["number"]):
        return options.numeric[0]
    return list(options.numeric)


def parse_method(text: str) -> tuple[str, str | None]:
    """Split a method such as ``tan`` or ``tan+elr`` into structure and parameters."""
    first, plus, second = text.partition("+")
    if first not in STRUCTURE_NAMES:
        raise InputError(f"unknown structure {first!r}; choose from {', '.join(STRUCTURE_NAMES)}")
    if plus and second not in PARAMETER_NAMES:
        raise InputError(f"unknown parameters {second!r}; choose from {', '.join(PARAMETER_NAMES)}")
    return first, second if plus else None


def apply_settings(clf: BaseClassifier, settings: Iterable[str]) -> None:
    """Apply settings such as ``structure.k=3``."""
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--set expects NAME=VALUE, such as structure.k=3, got {setting!r}")
        part, dot, key = name.strip().rpartition(".")
        owner: Any = clf
        if dot:
            owner = getattr(clf, part, None) if part in _PARTS else None
            if isinstance(owner, str):  # a discretizer by name
                clf.discretizer = owner = resolve_discretizer(owner)
            if owner is None:
                raise InputError(f"cannot set {name!r}: this classifier has no {part} settings")
        known = sorted(owner.get_params(deep=False))
        if key not in known or (not dot and key in _PARTS):
            names = ", ".join(f"{part}{dot}{k}" for k in known if dot or k not in _PARTS)
            raise InputError(
                f"unknown setting {name!r}; {'choose from ' + names if names else f'the {part} has no settings'}"
            )
        owner.set_params(**{key: parse_value(text)})


def parse_value(text: str) -> Any:
    """Parse a value as JSON or as a Python literal; anything else is a string."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def needs_all_rows(clf: BaseClassifier) -> bool:
    """Whether a classifier needs all rows in memory to fit."""
    try:
        clf._check_stream(can_repeat=True)
    except ValueError:
        return True
    return False
