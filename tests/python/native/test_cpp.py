"""The C++ tests, to run everything with one command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cmake_helpers import run
from paths import ROOT

pytestmark = pytest.mark.cpp


def test_all_cpp_tests_pass(cpp_build: Path, cmake_bin: Path) -> None:
    # Without --no-tests=error a build without tests would count as passed.
    options = ("--no-tests=error", "--output-on-failure", f"--parallel={os.cpu_count() or 1}")
    run(cmake_bin / "ctest", *options, cwd=cpp_build)


def test_every_cpp_test_file_is_registered(cpp_build: Path, cmake_bin: Path) -> None:
    listed = run(cmake_bin / "ctest", "--show-only", cwd=cpp_build)
    tests = ROOT / "tests"
    files = sorted(path.stem for path in (*tests.glob("cpp/**/test_*.cpp"), *tests.glob("fuzz/fuzz_*.cpp")))
    assert files
    assert sorted(line.split()[-1] for line in listed.splitlines() if "Test #" in line or "Test  #" in line) == files
