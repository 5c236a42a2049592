"""Classes and functions say where users import them from, and pickles hold no private path of theirs."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pickletools

import pytest

import tanager as tg

FOLDERS = [
    *("averaging", "dask", "datasets", "discretize", "evaluation", "explain", "interop", "network", "parameters"),
    *("plotting", "scores", "structure", "tree_sums"),
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_public_folders(folder):
    module = importlib.import_module(f"tanager.{folder}")
    items = {name: getattr(module, name) for name in module.__all__}
    paths = {n: v.__module__ for n, v in items.items() if inspect.isclass(v) or inspect.isfunction(v)}
    assert paths
    assert set(paths.values()) == {f"tanager.{folder}"}


def test_the_root():
    for name in tg.__all__:
        item = getattr(tg, name)
        if inspect.isclass(item) or inspect.isfunction(item):
            assert getattr(importlib.import_module(item.__module__), name) is item
            assert not any(part.startswith("_") for part in item.__module__.split("."))
    assert tg.BayesNetClassifier.__module__ == "tanager"
    assert tg.ModelFileError.__module__ == tg.UnseenWarning.__module__ == tg.load.__module__ == "tanager"
    assert tg.structure.HillClimb.__module__ == "tanager.structure"


def test_pickles_name_public_paths():
    for item in (
        tg.TANClassifier(),
        tg.AODEClassifier(),
        tg.structure.HillClimb(),
        tg.parameters.EM(),
        tg.datasets.Dataset,
    ):
        names = [value for _, value, _ in pickletools.genops(pickle.dumps(item)) if isinstance(value, str)]
        modules = [name for name in names if name.startswith("tanager")]
        assert modules
        assert not any("._" in name for name in modules)
