"""What a model is, in words and numbers."""

from __future__ import annotations

from typing import Any

from ._base import BaseClassifier


def n_parameters(clf: BaseClassifier) -> int | None:
    """Return the number of free parameters, if the model has a number of them."""
    if hasattr(clf, "network_"):
        return int(clf.network_.n_parameters)
    found = getattr(clf, "n_parameters_", None)
    return None if found is None else int(found)


def kind_of(clf: BaseClassifier) -> str:
    """Say what kind of model it is."""
    if hasattr(clf, "posterior_"):
        return "average over all trees"
    if not hasattr(clf, "network_"):
        return "average of one-dependence estimators"
    network = clf.network_
    if network.is_naive:
        return "naive Bayes"
    if network.is_tan:
        return "tree-augmented naive Bayes"
    return "Bayesian network"


def one_line(clf: BaseClassifier) -> str:
    """Say the most important in one line."""
    parts = [kind_of(clf), counted(clf.n_features_in_, "feature"), counted(len(clf.classes_), "class", "classes")]
    if hasattr(clf, "network_"):
        left_out = len(clf.network_.left_out)
        if left_out:
            parts.append(f"{left_out:,} left out")
        parts.append(f"{counted(len(clf.network_.feature_arcs), 'arc')} between features")
    number = n_parameters(clf)
    if number is not None:
        parts.append(counted(number, "parameter"))
    return ", ".join(parts)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with the word for what is counted."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def settings_of(clf: BaseClassifier) -> dict[str, Any]:
    """Return the settings that say something: those of learners in full, others where they are not the default."""
    shown: dict[str, Any] = {"classifier": type(clf).__name__}
    defaults = type(clf)().get_params(deep=False)
    for name, value in clf.get_params(deep=False).items():
        if name in ("n_jobs", "verbose"):
            continue  # of a run, not of the model
        if name in ("structure", "parameters") or repr(value) != repr(defaults[name]):
            shown[name] = value if value is None or isinstance(value, (bool, int, float, str, list)) else repr(value)
    return shown
