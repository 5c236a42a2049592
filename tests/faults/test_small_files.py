"""No file of at most 1 MB takes 10 seconds or a gigabyte, whatever is in it: models, BIF, XMLBIF and CSV."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("small_files.py")
MOST_SECONDS, MOST_MEGABYTES = 10, 1000


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What every case took, in processor time and peak memory of a process of its own."""
    native = Path(sysconfig.get_path("scripts")) / "tanager-predict"
    command = [sys.executable, SCRIPT, tmp_path_factory.mktemp("small"), str(native) if native.is_file() else ""]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_small_files_take_neither_long_nor_much(figures: list[dict[str, object]]) -> None:
    assert len(figures) > 30
    too_much = [
        figure
        for figure in figures
        if figure["status"] != 0 or figure["seconds"] > MOST_SECONDS or figure["megabytes"] > MOST_MEGABYTES
    ]
    assert not too_much


def test_small_files_are_read_or_rejected_in_words(figures: list[dict[str, object]]) -> None:
    for figure in figures:
        rejections = ("ValueError: ", "ModelFileError: ", "CliqueTooLargeError: ")
        is_rejection = str(figure["found"]).startswith((*rejections, "1: ", "2: "))
        assert is_rejection or "Error" not in str(figure["found"]), figure
