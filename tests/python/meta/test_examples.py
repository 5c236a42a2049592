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
PACKAGES = ["tanager", *(module.name for module in pkgutil.walk_packages(tanager.__path__, "tanager."))]
MODULES = [name for name in PACKAGES if not name.endswith(("__main__", "_core"))]
#: How many examples there were when modules moved into folders: a module that is no longer found would take its examples along.
DOCSTRING_EXAMPLES, GUIDE_EXAMPLES = 355, 298


class Finder(doctest.DocTestFinder):
    """Finds classes where they are defined; their ``__module__`` is the public path."""

    def _from_module(self, module, obj):
        if inspect.isclass(obj):
            functions = (value for value in vars(obj).values() if isinstance(value, FunctionType))
            return module.__name__ in ({function.__globals__["__name__"] for function in functions} or {obj.__module__})
        return super()._from_module(module, obj)


def examples_of(name):
    return Finder().find(importlib.import_module(name), name)


def run_examples(name):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in examples_of(name):
        runner.run(test)
    return runner.summarize(verbose=False)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


# Old versions of matplotlib call new versions of their parser by old names.
@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:matplotlib")
@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, attempted = run_examples(name)
    assert failed == 0
    assert attempted == sum(
        doctest.SKIP not in example.options for test in examples_of(name) for example in test.examples
    )


def test_no_example_got_lost():
    found = {test.docstring: len(test.examples) for name in MODULES for test in examples_of(name)}
    assert sum(found.values()) >= DOCSTRING_EXAMPLES
    parser = doctest.DocTestParser()
    assert sum(len(parser.get_examples(guide.read_text("utf-8"))) for guide in GUIDES) >= GUIDE_EXAMPLES


def test_public_classes_have_examples():
    for name in tanager.__all__:
        item = getattr(tanager, name)
        if isinstance(item, type) and name != "Network" and not issubclass(item, Exception):
            assert ">>>" in item.__doc__, name


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:matplotlib")
@pytest.mark.parametrize(
    "guide",
    # One of them starts a cluster.
    [
        pytest.param(guide, id=guide.name, marks=[pytest.mark.slow] if guide.name == "dask.md" else [])
        for guide in GUIDES
    ],
)
def test_guides(guide, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples save files
    failed, attempted = doctest.testfile(str(guide), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
    assert attempted > 0
