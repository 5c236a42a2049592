from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

# scikit-learn leaves its array-API check out unless this is set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data, which is not part of the repository."""
    place = os.environ.get("TANAGER_SHARED")
    folder = Path(place) if place else Path(__file__).resolve().parents[3] / "shared"
    if not (folder / "data" / "MANIFEST.csv").is_file():
        pytest.skip(f"no reference data in {folder}; set TANAGER_SHARED to the folder that holds it")
    return folder


@pytest.fixture(scope="session")
def cmake_bin() -> Path:
    """The folder of cmake and ctest: those that came with the test requirements, else the machine's own."""
    try:
        import cmake
    except ImportError:
        found = shutil.which("cmake")
        assert found, "the C++ tests need cmake: pip install cmake"
        return Path(found).parent
    return Path(cmake.CMAKE_BIN_DIR)


@pytest.fixture(scope="session")
def cpp_build(cmake_bin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the library and its C++ tests, kept between runs so that only what changed is compiled again."""
    folder = ROOT / "build" / "cpp-tests" if os.access(ROOT, os.W_OK) else tmp_path_factory.mktemp("cpp-tests")
    # CI is set on machines that build for others to see: there a warning is a failure.
    strict = "ON" if os.environ.get("CI") else "OFF"
    options = [f"-DTANAGER_WARNINGS_AS_ERRORS={strict}", "-DTANAGER_BUILD_TESTS=ON"]
    try:
        import ninja
    except ImportError:
        pass
    else:
        options += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={Path(ninja.BIN_DIR, 'ninja')}"]
    cmake = str(cmake_bin / "cmake")
    for command in (
        [cmake, "-S", str(ROOT), "-B", str(folder), *options],
        [cmake, "--build", str(folder), "--parallel", str(os.cpu_count() or 1)],
    ):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{' '.join(command)}\n{run.stdout}{run.stderr}"
    return folder
