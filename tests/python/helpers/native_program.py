"""Runs tanager-predict, the program without Python."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tanager
from tanager import _core


@pytest.fixture(scope="module")
def program() -> Path:
    """The program of the installed package, or that of the build that the extension module was linked to."""
    try:
        metadata.distribution("tanager")
    except metadata.PackageNotFoundError:
        found = Path(_core.__file__).resolve().parents[2] / "cpp" / "programs" / "tanager-predict"
        if not found.is_file():
            pytest.skip("tanager is importable but not installed, and its build has no programs")
        return found
    found = Path(sysconfig.get_path("scripts")) / "tanager-predict"
    assert found.is_file()
    return found


Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def run(program: Path, tmp_path: Path) -> Run:
    def run(*arguments: str | Path, text: str | bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
        data = text.encode() if isinstance(text, str) else text
        command = [str(program), *map(str, arguments)]
        return subprocess.run(command, input=data, capture_output=True, check=False, cwd=tmp_path, **options)

    return run


@pytest.fixture
def model(tmp_path: Path) -> tanager.NaiveBayesClassifier:
    """A small model in the file model.tng."""
    X = pd.DataFrame(
        {"sky": ["sun", "rain", "rain", "sun"], "wind": [3.5, 20.0, 14.0, 2.0], "wet": [False, True, True, False]}
    )
    clf = tanager.NaiveBayesClassifier(discretizer=tanager.EqualWidthDiscretizer(2)).fit(
        X, ["play", "stay", "stay", "play"]
    )
    clf.save(tmp_path / "model.tng")
    return clf
