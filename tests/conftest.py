from __future__ import annotations

import os
import shutil
from pathlib import Path

import hypothesis
import pytest

# How long an example takes says more about what else the machine does than about the example.
hypothesis.settings.register_profile("tanager", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("tanager")

# Many tests start Python. Where it keeps no bytecode, each would spend seconds on compiling pandas and scikit-learn.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).resolve().parents[1] / "build" / "bytecode"))

# scikit-learn leaves its array-API check out unless this is set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from cli_helpers import run, weather  # noqa: F401  # fixtures
from cmake_helpers import ROOT, build, configure, installed_library
from goldens import load  # noqa: F401  # a fixture


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data, which is not part of the repository."""
    place = os.environ.get("TANAGER_SHARED")
    folder = Path(place) if place else Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "data" / "MANIFEST.csv").is_file():
        reason = f"no reference data in {folder}; set TANAGER_SHARED to the folder that holds it"
        if os.environ.get("TANAGER_REQUIRE_SHARED"):
            pytest.fail(f"TANAGER_REQUIRE_SHARED is set, but there is {reason}")
        pytest.skip(reason)
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
    """A build of the C++ tests, kept between runs so that only what changed is compiled again.

    They are linked with the library that came with the installed package: it is what users get, and it is compiled
    already. Where there is none, or an old one, the whole project is built.
    """
    library = installed_library()
    source, name = (ROOT / "tests" / "cpp", "cpp-tests-alone") if library else (ROOT, "cpp-tests")
    folder = ROOT / "build" / name if os.access(ROOT, os.W_OK) else tmp_path_factory.mktemp(name)
    # CI is set on machines that build for others to see: there a warning is a failure.
    strict = "ON" if os.environ.get("CI") else "OFF"
    options = [f"-Dtanager_DIR={library.parent / 'cmake' / 'tanager'}"] if library else ["-DTANAGER_BUILD_TESTS=ON"]
    configure(cmake_bin, source, folder, f"-DTANAGER_WARNINGS_AS_ERRORS={strict}", *options)
    build(cmake_bin, folder)
    return folder
