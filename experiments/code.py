"""A hash of all sources that fit, predict and measure, to detect cached results of other code.

Versions of the libraries that are compared or used count as code. Python comments and docstrings do not count, nor do the parts of
tanager that only display results, nor the modules that write the report.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.harness.machine import ROOT
from experiments.catalog import EXPERIMENTS

#: Folders and modules of tanager, and modules of the experiments, that do not affect results.
SHOWING = {"plotting", "_layout", "_report", "explain", "interop", "cli", "_html.py", "_summary.py"}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "lightgbm")
REPORTING = ("page", "style", "paired", "plan", "lines", "runner", "code", "catalog")


def digest_of_code(experiment: str) -> str:
    """Return a hash of tanager's sources, of an experiment's sources and of the versions of libraries."""
    own = "".join(meaning(path) for path in sorted(sources_of(experiment)))
    return hashlib.sha256((digest_of_tanager() + own + versions()).encode()).hexdigest()[:16]


@cache
def versions() -> str:
    """Return the libraries that results may depend on, and their versions."""
    found = []
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)


@cache
def digest_of_tanager() -> str:
    """Return a hash of the core, its bindings and the modules that use it."""
    found = hashlib.sha256()
    for folder in ("cpp/include", "cpp/src", "python/bindings"):
        for path in sorted((ROOT / folder).rglob("*.[hc]pp")):
            found.update(path.read_bytes())
    package = ROOT / "python" / "tanager"
    for path in sorted(package.rglob("*.py")):
        if not SHOWING.intersection(path.relative_to(package).parts):
            found.update(meaning(path).encode())
    return found.hexdigest()


def sources_of(experiment: str) -> set[Path]:
    """Return the files of an experiment: its module, and what it imports from the experiments and benchmarks."""
    found: set[Path] = set()
    waiting = [ROOT.joinpath("experiments", *EXPERIMENTS[experiment][0].split(".")).with_suffix(".py")]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file() or path.stem in REPORTING:
            continue
        found.add(path)
        waiting += imported(path)
    return found


def imported(path: Path) -> Iterator[Path]:
    """Iterate over the files of the experiments and benchmarks that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("benchmarks", "experiments")):
            base = ROOT.joinpath(*(node.module or "").split("."))
            yield base.with_suffix(".py")
            yield from (base / f"{alias.name}.py" for alias in node.names)


@cache
def meaning(path: Path) -> str:
    """Return the syntax tree of a Python file as text, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
