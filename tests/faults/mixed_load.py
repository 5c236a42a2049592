"""Many threads that fit, predict, explain, pickle, save and load at once, on shared models: every result must have the
bits that one thread alone gets, and memory must not grow.

    python tests/faults/mixed_load.py --minutes 10
    python tests/faults/mixed_load.py --seconds 5 --threads 4 --no-memory     # as under the thread sanitizer

Prints what was done, and ends with 1 if a result differed or memory grew by more than 2 % after the first fifth.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import hashlib
import pickle
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tanager as tg
from tanager import parameters as pm
from tanager import structure as st

ALLOWED_GROWTH = 0.02


def digest(*arrays: Any) -> str:
    """Return what tells results apart by their bits."""
    return hashlib.sha256(b"|".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


class Work:
    """Models that threads share, and everything they do with them."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        X = rng.integers(0, 4, size=(400, 8))
        y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 400)) % 3
        gaps = X.astype(float)
        gaps[rng.random(X.shape) < 0.2] = np.nan
        few, few_y, numbers, words = X[:120], y[:120], X + rng.random(X.shape), X.astype(str).astype(object)
        known = {"categories": [[0, 1, 2, 3]] * 8}
        arcs = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (1, 5)]
        self.folder = folder
        self.makers: dict[str, Callable[[int], Any]] = {
            "tan": lambda jobs: tg.TANClassifier(n_jobs=jobs, **known).fit(gaps, y),
            "aode": lambda jobs: tg.AODEClassifier(n_jobs=jobs, **known).fit(gaps, y),
            "average": lambda jobs: tg.TBMATANClassifier(n_jobs=jobs, n_trees=20, max_assignments=16, **known).fit(
                gaps, y
            ),
            "general": lambda jobs: tg.BayesNetClassifier(st.FixedStructure(arcs), n_jobs=jobs, **known).fit(gaps, y),
        }
        self.fits: dict[str, Callable[[int], Any]] = {
            "bins": lambda jobs: tg.NaiveBayesClassifier(n_jobs=jobs).fit(numbers, y).predict_proba(numbers),
            "words": lambda jobs: tg.KDBClassifier(n_jobs=jobs).fit(words, y).predict_proba(words),
            "search": lambda jobs: (
                tg.BayesNetClassifier(st.HillClimb(cv=3), n_jobs=jobs, random_state=0)
                .fit(few, few_y)
                .predict_proba(few)
            ),
            "em": lambda jobs: (
                tg.BayesNetClassifier("tan", pm.EM(max_iter=5), n_jobs=jobs, **known)
                .fit(gaps[:120], few_y)
                .predict_proba(gaps[:120])
            ),
            "elr": lambda jobs: (
                tg.BayesNetClassifier("tan", pm.ELR(max_iter=5), n_jobs=jobs, random_state=0)
                .fit(few, few_y)
                .predict_proba(few)
            ),
        }
        self.rows = gaps[:150]
        self.complete = X[:30]
        self.shared: dict[tuple[str, int], Any] = {}
        self.expected: dict[str, str] = {}

    def names(self) -> list[str]:
        """Return everything there is to do."""
        of_models = ["predict", "explain", "pickle", "load", "fit"]
        return [f"{what} {model}" for model in self.makers for what in of_models] + [
            f"fit {name}" for name in self.fits
        ]

    def prepare(self) -> None:
        """Compute what every result must be, alone and on one thread; then make fresh models that threads will share."""
        for name, make in self.makers.items():
            make(1).save(self.folder / name)
            self.shared[name, 1] = make(1)
        self.expected = {name: self.do(name, 1, "alone") for name in self.names()}
        # Fresh, so that threads meet over what is made when it is first needed.
        self.shared = {(name, jobs): make(jobs) for name, make in self.makers.items() for jobs in (1, 2)}

    def do(self, name: str, jobs: int, thread: str) -> str:
        """Do one thing; return the bits of its result."""
        what, of = name.split()
        if of in self.fits:
            return digest(self.fits[of](jobs))
        clf = self.makers[of](jobs) if what == "fit" else self.shared[of, jobs]
        if what == "explain":
            explained = clf.explain(self.complete)
            return digest(explained.contributions, explained.log_odds)
        if what == "pickle":
            clf = pickle.loads(pickle.dumps(clf))
        if what == "load":
            path = self.folder / f"{of}-{thread}"
            clf.save(path)
            clf = tg.load(path)
        return digest(clf.predict_proba(self.rows), clf.predict(self.rows))


def resident() -> int:
    """Return the memory of this process in bytes, without what the allocator could give back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def main() -> int:
    """Run the load and judge it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--no-memory", action="store_true", help="do not look at memory")
    given = parser.parse_args()
    duration = 60 * given.minutes + given.seconds or 10.0
    warnings.simplefilter("ignore")
    sys.setswitchinterval(0.001)
    with tempfile.TemporaryDirectory() as folder:
        done, wrong, sizes = run(Work(Path(folder)), duration, given.threads, memory=not given.no_memory)
    print(f"{sum(done.values())} calls on {given.threads} threads in {duration:g} s: {dict(sorted(done.items()))}")
    print(f"{len(wrong)} differ", *wrong[:10], sep="\n  ")
    growth = sizes[-1] / sizes[0] - 1 if sizes else 0.0
    if sizes:
        shown = ", ".join(f"{size / 1e6:.1f}" for size in sizes)
        print(f"memory after every fifth: {shown} MB; it grew by {100 * growth:.2f} % after the first")
    return int(bool(wrong) or growth > ALLOWED_GROWTH)


def run(work: Work, duration: float, n_threads: int, *, memory: bool) -> tuple[Counter[str], list[str], list[int]]:
    """Let threads work for some seconds; return how much they did of what, what differed, and memory after each fifth."""
    work.prepare()
    names = work.names()
    done: Counter[str] = Counter()
    wrong: list[str] = []
    lock, stop, pause = threading.Lock(), threading.Event(), threading.Event()
    idle = threading.Barrier(n_threads + 1)

    def serve(number: int) -> None:
        rng = np.random.default_rng(number)
        while not stop.is_set():
            if pause.is_set():
                idle.wait()  # while memory is looked at, nobody works
                idle.wait()
            name, jobs = names[rng.integers(len(names))], int(rng.integers(1, 3))
            try:
                found = work.do(name, jobs, str(number))
            except Exception as error:  # noqa: BLE001  # told below
                found = repr(error)
            with lock:
                done[name.split()[0]] += 1
                if found != work.expected[name]:
                    wrong.append(f"{name}, n_jobs={jobs}: {found}")

    def look() -> int:
        pause.set()
        idle.wait()
        pause.clear()
        found = resident()
        idle.wait()
        return found

    threads = [threading.Thread(target=serve, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    sizes: list[int] = []
    for share in (0.2, 0.2, 0.2, 0.2, 0.2):
        time.sleep(duration * share)
        if memory:
            sizes.append(look())
    stop.set()
    for thread in threads:
        thread.join()
    return done, wrong, sizes


if __name__ == "__main__":
    sys.exit(main())
