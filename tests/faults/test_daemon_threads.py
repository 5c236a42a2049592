"""Daemon threads that are inside the core when the interpreter ends: the process ends cleanly all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

# Every thread repeats one call until the process ends. The main thread leaves after a while, in the middle of them.
PROGRAM = """
import sys, threading, time, warnings
import numpy as np
import tanager as tg
from tanager import parameters as pm, structure as st
from tanager._utils.progress import stopping

after, jobs, calls = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",")
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.integers(0, 4, size=(4000, 12))
y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, size=4000)) % 3
gaps = X.astype(float)
gaps[rng.random(X.shape) < 0.3] = np.nan
few, few_y = X[:600], y[:600]


class Slow:  # what the core calls back gives the lock away, so that a thread may be ended right there
    def __init__(self, value):
        self.value = value

    def is_set(self):
        time.sleep(0.0001)
        return False

    def __hash__(self):
        time.sleep(0.0001)
        return hash(self.value)

    def __eq__(self, other):
        return self.value == other.value


slow = np.array([Slow(int(value)) for value in few[:, 0]] + [None], dtype=object)[:-1]
tan = tg.TANClassifier(n_jobs=jobs).fit(X, y)
aode = tg.AODEClassifier(n_jobs=jobs).fit(X, y)
average = tg.TBMATANClassifier(n_jobs=jobs, n_trees=50, max_assignments=16, categories=[[0, 1, 2, 3]] * 12).fit(gaps, y)
CALLS = {
    "predict": lambda: tan.predict_proba(X),
    "average": lambda: average.predict_proba(gaps[:200]),
    "aode": lambda: aode.predict(X),
    "fit": lambda: tg.TANClassifier(n_jobs=jobs).fit(X, y),
    "search": lambda: tg.BayesNetClassifier(st.HillClimb(cv=3), n_jobs=jobs).fit(few, few_y),
    "elr": lambda: tg.BayesNetClassifier("tan", pm.ELR(max_iter=20), n_jobs=jobs).fit(few, few_y),
    "em": lambda: tg.BayesNetClassifier("tan", pm.EM(max_iter=20), n_jobs=jobs).fit(gaps[:600], few_y),
    "explain": lambda: tan.explain(X[:20]),
    "stream": lambda: tg.NaiveBayesClassifier(n_jobs=jobs).fit_stream([(X, y)] * 5),
    "encode": lambda: tg._core.number_objects(slow),
    "bins": lambda: tg.NaiveBayesClassifier(n_jobs=jobs).fit(X + rng.random(X.shape), y),
    "sample": lambda: tan.network_.sample(20000),
}


def repeat(call):
    stopping.set(Slow(0))
    try:
        while True:
            call()
    except RuntimeError:  # fit_stream has a thread of its own, which Python rejects while it ends
        time.sleep(60)


for name in calls:
    CALLS[name]()
    threading.Thread(target=repeat, args=(CALLS[name],), daemon=True).start()
time.sleep(after)
"""
THREADS = [
    "predict,average,search",
    "average,elr,explain",
    "fit,stream,bins",
    "em,aode,encode",
    "sample,search,average",
]


def ended(after: float, jobs: int, calls: str) -> tuple[int, str]:
    """Return the exit code of the program and what it said."""
    command = [sys.executable, "-c", PROGRAM, str(after), str(jobs), calls]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    return run.returncode, run.stdout + run.stderr


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("calls", THREADS)
def test_the_process_ends_whatever_daemon_threads_are_doing(calls, jobs):
    assert ended(0.02 * len(calls) % 0.3, jobs, calls) == (0, "")
