"""Rules of the source tree that no compiler or linter knows: layers, layout, sizes, and what must not be in a file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SOURCES = ROOT / "cpp" / "src"
HEADERS = ROOT / "cpp" / "include" / "tanager"

#: The stages of the core. Each may include only itself and what stands to its left.
STAGES = [
    *("support", "simd", "data", "counts", "scores", "graph", "model", "inference", "predict", "parameters", "rows"),
    *("weights", "aode", "tbmatan", "evaluation", "structure", "search", "constraint", "model_file", "csv"),
]
#: The stage that each public header belongs to; what includes the header depends on that stage.
HEADER_STAGES = {
    "errors": "support",
    "version": "support",
    "dataset": "data",
    "encode": "data",
    "discretize": "data",
    "counts": "counts",
    "scores": "scores",
    "branching": "graph",
    "tree_sums": "graph",
    "structure": "model",
    "network": "model",
    "inference": "inference",
    "queries": "inference",
    "predictor": "predict",
    "network_predictor": "predict",
    "learn_parameters": "parameters",
    "learn_rows": "rows",
    "learn_weights": "weights",
    "aode": "aode",
    "tbmatan": "tbmatan",
    "evaluation": "evaluation",
    "learn_trees": "structure",
    "learn_search": "search",
    "learn_constraint": "constraint",
    "model": "model_file",
    "tanager": "csv",
}
TOP_LEVEL = {
    *("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "CHANGELOG.md"),
    *("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"),
    *("cpp", "python", "tests", "benchmarks", "experiments", "docs", "third_party"),
}
LONGEST_FILE = 500
CODE = {".py", ".pyi", ".cpp", ".hpp", ".cmake", ".in", ".toml", ".sh", ".js", ".css", ".html"}
TEXT = CODE | {".md", ".txt", ".json", ".csv", ""}


@cache
def tracked_files() -> list[Path]:
    """Every file of the project: what git would track, or all but build products where there is no repository."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        files = [ROOT / name for name in names if name]
    else:
        files = [path for path in ROOT.rglob("*") if not is_build_product(path.relative_to(ROOT))]
    return sorted(path for path in files if path.is_file())


def is_build_product(path: Path) -> bool:
    names = path.parts
    return names[0] in {"build", "dist", "tanager-demo", "PKG-INFO"} or any(
        name.startswith(".") or "__pycache__" in name for name in names
    )


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)


def system_includes(path: Path) -> set[str]:
    return set(re.findall(r"^\s*#\s*include\s+<([^>]+)>", path.read_text(encoding="utf-8"), re.MULTILINE))


def core_files() -> list[Path]:
    return [p for p in tracked_files() if SOURCES in p.parents and p.suffix in {".cpp", ".hpp"}]


def public_headers() -> list[Path]:
    return [p for p in tracked_files() if p.parent == HEADERS]


def header_name(path: Path) -> str:
    return path.name.split(".")[0]


def stage_of_include(name: str) -> str:
    folder, _, rest = name.partition("/")
    return HEADER_STAGES[rest.removesuffix(".hpp")] if folder == "tanager" else folder


def test_every_stage_and_header_is_in_the_order() -> None:
    assert {path.relative_to(SOURCES).parts[0] for path in core_files()} <= set(STAGES)
    assert {header_name(path) for path in public_headers()} == set(HEADER_STAGES)


def test_every_source_file_is_in_the_build_once() -> None:
    text = (SOURCES / "sources.cmake").read_text(encoding="utf-8")
    stages = re.findall(r"^add_stage\(\w+ (\w+)\s+([^)]+)\)", text, re.MULTILINE)
    listed = [f"{folder}/{name}" for folder, names in stages for name in names.split()]
    assert sorted(listed) == sorted(p.relative_to(SOURCES).as_posix() for p in core_files() if p.suffix == ".cpp")
    bindings = ROOT / "python" / "bindings"
    names = re.findall(r"\w+\.cpp\b", (bindings / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert sorted(names) == sorted(path.name for path in bindings.glob("*.cpp"))


def wrong_includes(path: Path, own: str, folders: set[str]) -> list[str]:
    """Includes of stages to its right, and of anything outside the given folders."""
    allowed = set(STAGES[: STAGES.index(own) + 1])
    return [
        f"{path.relative_to(ROOT)} includes {name}"
        for name in includes(path)
        if name.split("/")[0] not in folders or stage_of_include(name) not in allowed
    ]


def test_stages_include_only_what_stands_to_their_left() -> None:
    folders = {*STAGES, "tanager"}
    found = [wrong_includes(path, path.relative_to(SOURCES).parts[0], folders) for path in core_files()]
    assert len(found) > 20
    assert [name for names in found for name in names] == []


def test_public_headers_follow_the_same_order_and_show_nothing_private() -> None:
    found = [wrong_includes(path, HEADER_STAGES[header_name(path)], {"tanager"}) for path in public_headers()]
    assert [name for names in found for name in names] == []


def test_private_headers_declare_only_internal_names() -> None:
    headers = {path.name: path.read_text(encoding="utf-8") for path in core_files() if path.suffix == ".hpp"}
    assert len(headers) > 50
    # The one exception completes a class of a public header.
    assert [name for name, text in headers.items() if "namespace tanager {" in text] == ["queries_impl.hpp"]


def test_the_header_of_everything_includes_every_other() -> None:
    every = {f"tanager/{header_name(path)}.hpp" for path in public_headers()} - {"tanager/tanager.hpp"}
    assert set(includes(HEADERS / "tanager.hpp")) == every


def test_the_core_knows_neither_python_nor_streams_and_threads_only_in_one_place() -> None:
    rules = {
        "input and output": ({"iostream", "fstream", "cstdio", "filesystem", "sys/mman.h"}, {"model_file"}),
        "threads": ({"thread", "mutex", "condition_variable", "future", "omp.h"}, {"support"}),
        # Distributions and shuffles of <random> differ between standard libraries; names of temporary files may.
        "random numbers": ({"random"}, {"model_file"}),
        "Python": ({"pybind11/pybind11.h", "pybind11/numpy.h", "Python.h"}, set()),
    }
    wrong = []
    for path in core_files() + public_headers():
        stage = path.relative_to(SOURCES).parts[0] if SOURCES in path.parents else "include"
        for what, (names, allowed) in rules.items():
            if stage not in allowed and system_includes(path) & names:
                wrong.append(f"{what} in {path.relative_to(ROOT)}")
    assert wrong == []


def test_headers_have_include_guards() -> None:
    headers = [path for path in tracked_files() if path.suffix == ".hpp"]
    assert headers
    assert [str(path) for path in headers if "#pragma once" not in path.read_text(encoding="utf-8")] == []


def test_constants_of_headers_have_distinct_names() -> None:
    # Two of one name and namespace are one variable to the linker, which takes the value of either.
    pattern = re.compile(r"^inline constexpr [\w:<> ]+? (k\w+) ?[={]", re.MULTILINE)
    headers = [path for path in [*core_files(), *public_headers()] if path.suffix == ".hpp"]
    names = [name for path in dict.fromkeys(headers) for name in pattern.findall(path.read_text(encoding="utf-8"))]
    assert len(names) > 10
    assert sorted(names) == sorted(set(names))


def test_the_top_level_holds_what_the_layout_says() -> None:
    top = {path.relative_to(ROOT).parts[0] for path in tracked_files()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL
    assert {"pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "CHANGELOG.md"} <= top


def n_code_lines(path: Path) -> int:
    """Return the number of lines; of Python files, without docstrings, comments and blank lines."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if path.suffix != ".py":
        return len(lines)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    code = (line.strip() for number, line in enumerate(lines, 1) if number not in docstrings)
    return sum(bool(line) and not line.startswith("#") for line in code)


def test_no_file_is_too_long() -> None:
    code = [path for path in tracked_files() if path.suffix in CODE or path.name == "CMakeLists.txt"]
    lengths = {str(path.relative_to(ROOT)): n_code_lines(path) for path in code}
    del lengths["python/tanager/_core.pyi"]  # a module has one stub, however much it holds
    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


# This file is the one that may contain them.
FORBIDDEN = {
    "a path of one machine": r"(?<![\w.])/(?:work|root|home|Users)/\w",
    "the host of a package registry": r"pypi\.org|pythonhosted|anaconda\.org|debian\.org",
    "a conflict marker": r"^(?:<{7}|>{7}) ",
    "a note to finish later": r"\b(?:TODO|FIXME|XXX)\b",
    "British spelling": r"(?i)\b(?:discreti|normali|optimi|initiali|seriali|maximi|minimi|penali)s(?:e|es|ed|ing|ation)\b"
    r"|\b(?:behavi|col|fav|neighb)our|\blicence|\bcentre\b",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_contains(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what], re.MULTILINE)
    texts = [path for path in tracked_files() if path.suffix in TEXT and path != Path(__file__).resolve()]
    found = {str(path.relative_to(ROOT)): pattern.findall(path.read_text(encoding="utf-8")) for path in texts}
    assert {name: matches for name, matches in found.items() if matches} == {}


def build_files() -> list[Path]:
    return [p for p in tracked_files() if p.name in {"CMakeLists.txt", "pyproject.toml"} or ".cmake" in p.name]


def test_builds_are_portable_and_fetch_nothing() -> None:
    pattern = re.compile(
        r"FetchContent|ExternalProject|file\(DOWNLOAD|-march=|-mtune=|-mcpu=|-ffast-math|-Ofast|_COMPILE_WARNING_AS_ERROR ON"
    )
    assert len(build_files()) >= 5
    assert [
        f"{p.relative_to(ROOT)}: {m}" for p in build_files() for m in pattern.findall(p.read_text(encoding="utf-8"))
    ] == []


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        needed += extra
    names = {re.split(r"[\[><=!~; ]", need)[0] for need in needed} - {"tanager"}
    explained = (ROOT / "third_party" / "README.md").read_text(encoding="utf-8").lower()
    assert {name for name in names if not re.search(rf"\b{re.escape(name)}\b", explained)} == set()


def test_the_readme_opens_with_the_two_commands() -> None:
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:40]
    commands = [line.strip() for line in first_screen if line.strip().startswith("python3 -m venv ")]
    assert len(commands) == 2
    assert commands[0].endswith("tanager demo")
    assert commands[1].endswith("-m pytest")
