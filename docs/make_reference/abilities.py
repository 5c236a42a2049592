"""Tables of what every method supports, found by trying it on small data; part of ``docs/which-method.md``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import tanager as tg
from tanager import parameters, structure

PAGE = Path(__file__).resolve().parents[1] / "which-method.md"
BEGIN, END = "<!-- abilities: written by python -m docs.make_reference -->", "<!-- end of abilities -->"

#: Entries of the tables.
YES, NO = "yes", "–"


def ability_tables() -> str:
    """Return the tables of structures and averages, and of parameters."""
    lines = ["| structure | `partial_fit`, `merge` | `fit_stream`, Dask | one `network_`, BIF |", "|---|---|---|---|"]
    for name, clf in _structures().items():
        lines.append(f"| {name} | {_adds_up(clf)} | {_passes(clf)} | {YES if _has_network(clf) else NO} |")
    lines += ["", "| parameters | structures | `partial_fit`, `merge` | `fit_stream`, Dask |", "|---|---|---|---|"]
    for name, learner in _parameters().items():
        naive = tg.BayesNetClassifier("naive", learner, random_state=0)
        lines.append(f"| {name} | {_structures_of(learner)} | {_adds_up(naive)} | {_passes(naive)} |")
    return "\n".join(lines)


def with_tables(page: str) -> str:
    """Return the page with up-to-date tables."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{ability_tables()}\n\n{END}{rest.split(END)[1]}"


def all_methods() -> dict[str, Any]:
    """Return every structure with default parameters, every average, and every parameter learner with naive Bayes."""
    learners = _parameters().items()
    return _structures() | {name: tg.BayesNetClassifier("naive", learner, random_state=0) for name, learner in learners}


def _structures() -> dict[str, Any]:
    learners = {f"`{learner!r}`": learner for learner in [*_distinct(structure.BY_NAME), structure.KDB(k=1)]}
    learners |= {"`FixedStructure(arcs)`": structure.FixedStructure([("a", "b")])}
    found: dict[str, Any] = {
        name: tg.BayesNetClassifier(learner, random_state=0) for name, learner in sorted(learners.items())
    }
    averages = [tg.AODEClassifier(), tg.TBMATANClassifier(), tg.TBMATANClassifier(stubbornness=5)]
    return found | {f"`{clf!r}`": clone(clf).set_params(random_state=0) for clf in averages}


def _parameters() -> dict[str, Any]:
    return {f"`{learner!r}`": learner for learner in _distinct(parameters.BY_NAME)}


def _distinct(by_name: Any) -> list[Any]:
    learners = [make() for make in by_name.values()]
    return [learner for i, learner in enumerate(learners) if repr(learner) not in map(repr, learners[:i])]


# -- messy data, and what is tried on it


def messy_table() -> tuple[pd.DataFrame, pd.Series]:
    """Return strings, integers, floats and missing values, with a class that depends on two features."""
    rng = np.random.default_rng(0)
    n = 120
    a, b = rng.integers(0, 3, n), rng.integers(0, 2, n)
    X = pd.DataFrame({"a": np.array(["x", "y", "z"])[a], "b": b, "c": a + rng.random(n), "d": rng.random(n) < 0.5})
    for name in ("a", "c"):
        X.loc[rng.random(n) < 0.1, name] = None
    return X, pd.Series(np.where((a == 1) ^ (b == 1), "yes", "no"), name="class")


def complete_table() -> tuple[pd.DataFrame, pd.Series]:
    """Return the data without missing values and floats, for which fitting in parts equals fitting the whole."""
    X, y = messy_table()
    return X.drop(columns="c").fillna({"a": "x"}), y


def is_rejected(call: Callable[[], Any]) -> bool:
    """Whether a call raises an error about unsupported input; any other error is a bug."""
    try:
        call()
    except (AttributeError, TypeError, ValueError):
        return True
    return False


def _adds_up(clf: Any) -> str:
    X, y = complete_table()
    half = len(X) // 2
    if not hasattr(clf, "partial_fit"):
        return NO
    parts = clone(clf).partial_fit(X[:half], y[:half]).partial_fit(X[half:], y[half:])
    merged = clone(clf).fit(X[:half], y[:half]).merge(clone(clf).fit(X[half:], y[half:]))
    whole = clone(clf).fit(X, y).predict_proba(X)
    same = (parts.predict_proba(X) == whole).all() and (merged.predict_proba(X) == whole).all()
    return YES if same else "not the same as `fit`"


def _passes(clf: Any) -> str:
    X, y = complete_table()
    batches = [(X[i : i + 50], y[i : i + 50]) for i in range(0, len(X), 50)]
    for source, passes in ((iter(batches), "one pass"), (batches, "two passes")):
        learner = clone(clf)
        if not is_rejected(lambda learner=learner, source=source: learner.fit_stream(source)):
            same = (learner.predict_proba(X) == clone(clf).fit(X, y).predict_proba(X)).all()
            return passes if same else "not the same as `fit`"
    return NO


def _has_network(clf: Any) -> bool:
    fitted = clone(clf).fit(*complete_table())
    return hasattr(fitted, "network_") and "network" in fitted.network_.to_bif()


def _structures_of(learner: Any) -> str:
    X, y = complete_table()
    general = structure.FixedStructure([("a", "class"), ("class", "b"), ("class", "d")], class_arcs="listed")
    for shape, words in ((general, "any"), ("tan", "class parent of all")):
        if not is_rejected(lambda shape=shape: tg.BayesNetClassifier(shape, learner, random_state=0).fit(X, y)):
            return words
    return "naive"
