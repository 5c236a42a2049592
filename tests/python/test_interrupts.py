"""Ctrl-C ends every long call within 0.3 s, however many threads are at work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "faults" / "ctrl_c.py"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX systems")
def test_long_calls_notice_interrupts_soon():
    command = [sys.executable, SCRIPT, "--quick", "--jobs", "1", "2", "8", "--at", "0.05"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("n_jobs=8: 0.") == 19
