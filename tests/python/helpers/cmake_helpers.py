"""What tests that build C++ share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from paths import ROOT

import tanager


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command; on failure show what it said."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def configure(cmake_bin: Path, source: Path, folder: Path, *options: str) -> None:
    """Configure a build with the machine's compiler, and with ninja if it came with the test requirements."""
    try:
        import ninja
    except ImportError:
        pass
    else:
        options += ("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={Path(ninja.BIN_DIR, 'ninja')}")
    run(cmake_bin / "cmake", "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *options)


def build(cmake_bin: Path, folder: Path) -> None:
    run(cmake_bin / "cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1))


def installed_library() -> Path | None:
    """Return the library that came with the package, if it is one and newer than every file that it is made from."""
    try:
        found = Path(tanager.get_cmake_dir()).parents[1] / "libtanager.a"
    except FileNotFoundError:
        return None
    sources = [ROOT / "CMakeLists.txt", *(path for path in (ROOT / "cpp").rglob("*") if path.is_file())]
    newest = max(path.stat().st_mtime for path in sources)
    return found if found.is_file() and found.stat().st_mtime > newest else None
