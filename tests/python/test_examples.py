"""Every example in a docstring, in the README or in a guide runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import tanager

MODULES = ["tanager", *(f"tanager.{module.name}" for module in pkgutil.iter_modules(tanager.__path__))]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(("__main__", "_core"))])
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_public_classes_have_examples():
    for name in tanager.__all__:
        item = getattr(tanager, name)
        if isinstance(item, type) and name != "Network" and not issubclass(item, Exception):
            assert ">>>" in item.__doc__, name


@pytest.mark.parametrize(
    "name", ["README.md", "docs/big-data.md", "docs/cluster.md", "docs/reading.md", "docs/report.md", "docs/sharing.md"]
)
def test_guides(name, tmp_path, monkeypatch):
    guide = Path(__file__).resolve().parents[2] / name
    monkeypatch.chdir(tmp_path)  # examples save files
    failed, attempted = doctest.testfile(str(guide), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
    assert attempted > 0
