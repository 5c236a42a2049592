"""Ctrl-C ends every long call within 0.3 s, however many threads are at work."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tanager as tg
from tanager._utils.progress import stopping
from tanager.evaluation import _counted_folds

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("ctrl_c.py")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX systems")
def test_long_calls_notice_interrupts_soon():
    command = [sys.executable, SCRIPT, "--quick", "--jobs", "1", "2", "8", "--at", "0.05"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("n_jobs=8: 0.") == 19


def test_folds_that_have_begun_are_told_to_end_while_others_are_handed_out(monkeypatch):
    told = []
    submit = ThreadPoolExecutor.submit

    def evaluate(*_given):
        told.append(stopping.get().wait(20))
        return []

    def interrupted(self, function, *given):
        if given == (2,):
            raise KeyboardInterrupt
        return submit(self, function, *given)

    monkeypatch.setattr(_counted_folds, "_evaluate_fold", evaluate)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    X = np.random.default_rng(0).integers(0, 3, size=(60, 4))
    with pytest.raises(KeyboardInterrupt):
        tg.evaluation.cross_validate(tg.NaiveBayesClassifier(), X, X[:, 0], cv=4, n_jobs=4)
    assert told == [True, True]
