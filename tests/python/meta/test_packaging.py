"""What an installation of tanager holds, and that other builds find it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from paths import ROOT

import tanager
from tanager import _core


@pytest.fixture(scope="module")
def distribution() -> metadata.Distribution:
    """The installed distribution; a source tree that was merely put on the path has none."""
    try:
        found = metadata.distribution("tanager")
    except metadata.PackageNotFoundError:
        pytest.skip("tanager is importable but not installed")
    if json.loads(found.read_text("direct_url.json") or "{}").get("dir_info", {}).get("editable"):
        pytest.skip("an editable installation has the files of the source tree")
    return found


def run(*arguments: str, **options: str) -> str:
    """Run the interpreter; on failure show what it said."""
    environment = {**os.environ, **options}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_the_version_is_the_same_everywhere(distribution: metadata.Distribution) -> None:
    stated = re.search(r"project\(tanager VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    header = Path(tanager.get_include(), "tanager", "version.hpp").read_text(encoding="utf-8")
    config = Path(tanager.get_cmake_dir(), "tanagerConfigVersion.cmake").read_text(encoding="utf-8")
    assert stated
    assert tanager.__version__ == stated[1]
    assert distribution.version == stated[1]
    assert f'#define TANAGER_VERSION "{stated[1]}"' in header
    assert f'set(PACKAGE_VERSION "{stated[1]}")' in config
    assert f"## {stated[1]}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_installation_holds_exactly_what_it_should(distribution: metadata.Distribution) -> None:
    # Relative to the package; what pip itself writes, compiled Python files and the command are left out.
    installed = {
        path.relative_to("tanager").as_posix()
        for path in distribution.files or []
        if path.parts[0] == "tanager" and "__pycache__" not in path.parts
    }
    package, headers = ROOT / "python" / "tanager", ROOT / "cpp" / "include" / "tanager"
    kinds = {".py", ".pyi", ".html", ".css", ".js"}
    python = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.suffix in kinds}
    cmake = {"Config", "ConfigVersion", "Targets", "Targets-release"}
    assert installed == {
        *python,
        "py.typed",
        f"_core{EXTENSION_SUFFIXES[0]}",
        "lib/libtanager.a",
        "lib/libtanager_predict.a",
        *(f"lib/cmake/tanager/tanager{part}.cmake" for part in cmake),
        *(f"include/tanager/{path.name.removesuffix('.in')}" for path in headers.iterdir()),
    }


def test_tests_run_against_the_installation_and_not_the_source_tree(distribution: metadata.Distribution) -> None:
    assert Path(tanager.__file__) == Path(str(distribution.locate_file("tanager/__init__.py")))
    assert ROOT / "python" not in Path(tanager.__file__).parents


@pytest.mark.usefixtures("distribution")
def test_the_extension_is_small_and_stripped() -> None:
    extension = Path(_core.__file__).read_bytes()
    assert len(extension) < 5_000_000
    assert b".symtab" not in extension
    assert b".debug_info" not in extension


@pytest.mark.usefixtures("distribution")
def test_cmake_files_can_be_moved() -> None:
    files = sorted(Path(tanager.get_cmake_dir()).glob("*.cmake"))
    assert files
    for path in files:
        # A path of the machine that built the wheel would be an absolute path in quotes.
        assert re.findall(r'"(?:/|[A-Z]:)\w[^"$]*"', path.read_text(encoding="utf-8")) == [], path.name


def test_the_command_and_the_cmake_root_are_declared(distribution: metadata.Distribution) -> None:
    declared = {(point.group, point.name): point.value for point in distribution.entry_points}
    assert declared == {
        ("console_scripts", "tanager"): "tanager.cli:main",
        ("cmake.root", "tanager"): "tanager.lib.cmake.tanager",
    }


@pytest.mark.usefixtures("distribution")
def test_the_module_says_where_the_library_is() -> None:
    assert run("-m", "tanager", "--version") == tanager.__version__
    assert run("-m", "tanager", "--include") == tanager.get_include()
    assert run("-m", "tanager", "--cmake-dir") == tanager.get_cmake_dir()
    assert Path(tanager.get_include(), "tanager", "tanager.hpp").is_file()


def test_optional_dependencies_may_be_absent() -> None:
    optional = ["pandas", "polars", "pyarrow", "rich", "matplotlib", "dask", "mpmath", "pytest", "hypothesis"]
    program = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {optional}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import numpy as np
import tanager as tg
X = np.array([["a", "x"], ["b", "x"], ["b", "y"], ["a", "y"]])
print(tg.TANClassifier().fit(X, ["no", "yes", "yes", "no"]).predict(X))
"""
    assert run("-c", program).splitlines()[-1] == "['no' 'yes' 'yes' 'no']"


CONSUMER = {
    "pyproject.toml": """
[build-system]
requires = ["scikit-build-core", "tanager"]
build-backend = "scikit_build_core.build"
[project]
name = "consumer"
version = "1.0"
""",
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.22)
project(consumer CXX)
find_package(tanager {version} CONFIG REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE tanager::tanager)
install(TARGETS consumer DESTINATION consumer)
""",
    "main.cpp": """
#include <tanager/tanager.hpp>
#include <cstdio>
#include <vector>
int main() {
  const tanager::Network network(tanager::Structure({{}, {0}}), {2, 2}, {0.5, 0.5},
                                 {{0.2, 0.7, 0.8, 0.3}, {0.1, 0.6, 0.9, 0.4, 0.3, 0.5, 0.7, 0.5}});
  try {
    tanager::load_model("no such file");
  } catch (const tanager::ModelFileError&) {
    std::printf("%s %zu", TANAGER_VERSION, tanager::NetworkPredictor(network).n_features());
  }
}
""",
}


@pytest.mark.usefixtures("distribution")
@pytest.mark.cpp
def test_another_wheel_finds_the_library_with_no_path_given(tmp_path: Path, cmake_bin: Path) -> None:
    pytest.importorskip("scikit_build_core")
    version = ".".join(tanager.__version__.split(".")[:2])
    for name, text in CONSUMER.items():
        (tmp_path / name).write_text(text.replace("{version}", version), encoding="utf-8")
    # Nothing may come from anywhere else, and cmake is that of the test requirements.
    path = os.pathsep.join([str(cmake_bin), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    run("-m", "pip", "wheel", *offline, "--wheel-dir", str(tmp_path), str(tmp_path), PATH=path)
    (wheel,) = tmp_path.glob("consumer-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        program = Path(archive.extract("consumer/consumer", tmp_path / "unpacked"))
    program.chmod(0o755)
    said = subprocess.run([str(program)], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert said == f"{tanager.__version__} 2"
