"""Every example in a docstring, in the README or in a guide runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import sys
from types import FunctionType

import pytest
from paths import ROOT

import tanager

#: Pages with examples; those of the reference are docstrings.
GUIDES = [page for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))] if ">>> " in page.read_text("utf-8")]
MODULES = ["tanager", *(module.name for module in pkgutil.walk_packages(tanager.__path__, "tanager."))]


class Finder(doctest.DocTestFinder):
    """Finds classes where they are defined; their ``__module__`` is the public path."""

    def _from_module(self, module, obj):
        if inspect.isclass(obj):
            functions = (value for value in vars(obj).values() if isinstance(value, FunctionType))
            return module.__name__ in ({function.__globals__["__name__"] for function in functions} or {obj.__module__})
        return super()._from_module(module, obj)


def run_examples(name):
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in Finder().find(module, name):
        runner.run(test)
    return runner.summarize(verbose=False)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


# Old versions of matplotlib call new versions of their parser by old names.
@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:matplotlib")
@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(("__main__", "_core"))])
def test_docstrings(name):
    assert run_examples(name).failed == 0


def test_public_classes_have_examples():
    for name in tanager.__all__:
        item = getattr(tanager, name)
        if isinstance(item, type) and name != "Network" and not issubclass(item, Exception):
            assert ">>>" in item.__doc__, name


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:matplotlib")
@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_guides(guide, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples save files
    failed, attempted = doctest.testfile(str(guide), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
    assert attempted > 0
