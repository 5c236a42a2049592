"""Calls that are made to fail at every point, one after the other. Runs under shim.cpp: see test_faults.py.

    LD_PRELOAD=shim.so python scenarios.py STEP:NAME,NAME,...:KIND,KIND,... ...

Lets every STEP-th call of the given kinds fail within the scenarios of these names (or all of them: "all").

After every failure: the exception is one of Python's or tanager's own for such cases (or the call succeeded in spite of
it), an old file is as it was or the new one is whole, no temporary file is left, and the same call works and gives the
same result, bit by bit. Scenarios that pick classes by codes ("predict") do not survive failures of kind "array", for
NumPy does not: that is where it crashes by itself.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

import tanager as tg
from tanager import parameters as pm
from tanager import structure as st

SHIM: Any = ctypes.CDLL(None)
ERRORS = {"new": errno.ENOMEM, "array": errno.ENOMEM, "open": errno.EIO, "fsync": errno.EIO, "rename": errno.EIO}
ERRORS |= {"write": errno.ENOSPC, "close": errno.ENOSPC}
rng = np.random.default_rng(0)
X = rng.integers(0, 3, size=(60, 5))
Y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 60)) % 3
GAPS = X.astype(float)
GAPS[rng.random(X.shape) < 0.3] = np.nan
WORDS = np.array([f"v{value}" for value in X.ravel()], dtype=object).reshape(X.shape)
NUMBERS = X + rng.random(X.shape)
FIVE = [[0, 1, 2]] * 5


def digest(*arrays: Any) -> str:
    """Return what tells results apart by their bits."""
    return hashlib.sha256(b"|".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def fit(make: Callable[[], Any], table: Any = X) -> Callable[[Path], str]:
    def call(_folder: Path) -> str:
        return digest(make().fit(table, Y).predict_proba(table))

    return call


def predict(make: Callable[[], Any], table: Any = X) -> Callable[[Path], str]:
    kept = pickle.dumps(make().fit(table, Y))

    def call(_folder: Path) -> str:
        clf = pickle.loads(kept)  # fresh: whatever is made when it is first needed is made again
        return digest(clf.predict_proba(table), clf.predict(table))

    return call


def writes(write: Callable[[Any, Path], None], read: Callable[[Path], Any] | None = None) -> Callable[[Path], str]:
    """Replace one file by another, of a second model."""
    first, second = tg.TANClassifier().fit(X, Y), tg.AODEClassifier().fit(X, Y)
    if write is write_bif:
        second = tg.NaiveBayesClassifier().fit(X, Y)
    with tempfile.TemporaryDirectory() as name:
        contents = []
        for clf in (first, second):
            write(clf, Path(name) / "file")
            contents.append((Path(name) / "file").read_bytes())

    def call(folder: Path) -> str:
        path = folder / "file"
        path.write_bytes(contents[0])
        try:
            with failing:
                write(second, path)
        finally:
            there = path.read_bytes()
            assert there in contents, "the file is broken"
            assert [file.name for file in folder.iterdir()] == ["file"], list(folder.iterdir())
        assert there == contents[1], "the call succeeded, but the file is the old one"
        if read is not None:
            read(path)
        return hashlib.sha256(there).hexdigest()

    return call


def write_model(clf: Any, path: Path) -> None:
    clf.save(path)


def write_report(clf: Any, path: Path) -> None:
    clf.report(path, X, Y)


def write_bif(clf: Any, path: Path) -> None:
    clf.network_.to_bif(path)


def load() -> Callable[[Path], str]:
    with tempfile.TemporaryDirectory() as name:
        tg.TBMATANClassifier().fit(X, Y).save(Path(name) / "model")
        content = (Path(name) / "model").read_bytes()

    def call(folder: Path) -> str:
        path = folder / "file"
        path.write_bytes(content)
        with failing:
            clf = tg.load(path)
        return digest(clf.predict_proba(X))

    return call


def read_bif() -> Callable[[Path], str]:
    with tempfile.TemporaryDirectory() as name:
        write_bif(tg.TANClassifier().fit(X, Y), Path(name) / "network")
        content = (Path(name) / "network").read_bytes()

    def call(folder: Path) -> str:
        path = folder / "file"
        path.write_bytes(content)
        with failing:
            network = tg.interop.read_bif(path)
        return repr(network.cpt("x1").to_frame().to_numpy().tolist())

    return call


def stream(_folder: Path) -> str:
    parts = [(X[:20], Y[:20]), (X[20:], Y[20:])]
    return digest(tg.TANClassifier().fit_stream(parts, classes=[0, 1, 2]).predict_proba(X))


def judge(_folder: Path) -> str:
    result = tg.evaluation.cross_validate(tg.TANClassifier(), X, Y, cv=3, n_jobs=2, random_state=0)
    return digest(*result.scores["TANClassifier"].values())


def trees(_folder: Path) -> str:
    posterior = tg.TBMATANClassifier(n_jobs=2).fit(X, Y).posterior_
    return digest(np.asarray(posterior.edge_probabilities), posterior.entropy)


SCENARIOS: dict[str, Callable[[], Callable[[Path], str]]] = {
    "fit": lambda: fit(tg.TANClassifier),
    "fit_threads": lambda: fit(lambda: tg.AODEClassifier(n_jobs=2)),
    "fit_words": lambda: fit(tg.NaiveBayesClassifier, WORDS),
    "fit_numbers": lambda: fit(lambda: tg.KDBClassifier(n_jobs=2), NUMBERS),
    "fit_average": lambda: fit(lambda: tg.TBMATANClassifier(n_jobs=2)),
    "fit_search": lambda: fit(lambda: tg.BayesNetClassifier(st.HillClimb(cv=2, max_steps=2), n_jobs=2, random_state=0)),
    "fit_em": lambda: fit(lambda: tg.BayesNetClassifier("tan", pm.EM(max_iter=2), categories=FIVE, n_jobs=2), GAPS),
    "fit_elr": lambda: fit(lambda: tg.BayesNetClassifier("tan", pm.ELR(max_iter=2), n_jobs=2, random_state=0)),
    "fit_constraint": lambda: fit(lambda: tg.BayesNetClassifier("three-phase", n_jobs=2)),
    "predict": lambda: predict(lambda: tg.TANClassifier(n_jobs=2)),
    "predict_gaps": lambda: predict(lambda: tg.TANClassifier(n_jobs=2, categories=FIVE), GAPS),
    "predict_average": lambda: predict(
        lambda: tg.TBMATANClassifier(n_jobs=2, n_trees=5, max_assignments=4, categories=FIVE), GAPS
    ),
    "save": lambda: writes(write_model, tg.load),
    "load": load,
    "report": lambda: writes(write_report),
    "write_bif": lambda: writes(write_bif, tg.interop.read_bif),
    "read_bif": read_bif,
    "stream": lambda: stream,
    "judge": lambda: judge,
    "trees": lambda: trees,
}


class Faults:
    """What fails now: which kind of call, from which one on, and how many."""

    kind, k, times = "new", 0, 1

    def __enter__(self) -> None:
        SHIM.fault_arm(self.kind.encode(), ctypes.c_long(self.k), ERRORS[self.kind], ctypes.c_long(self.times))

    def __exit__(self, *_error: object) -> None:
        SHIM.fault_disarm()

    def set(self, kind: str, k: int = 0, times: int = 1) -> None:
        """Let this fail from now on; nothing for k = 0."""
        self.kind, self.k, self.times = kind, k, times


failing = Faults()
#: These arm the faults themselves, around a part of what they do.
IN_PART = {"save", "load", "report", "write_bif", "read_bif"}


def attempt(name: str, call: Callable[[Path], str]) -> tuple[str | None, int]:
    """Make the call with what fails now; return its result, or None if it raised, and how many calls there were."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with nullcontext() if name in IN_PART else failing:
                result = call(Path(folder))
        except (MemoryError, OSError, tg.ModelFileError):
            result = None
        return result, SHIM.fault_calls(failing.kind.encode())


def run(name: str, kind: str, step: int) -> None:
    """Run one scenario with one kind of call failing, at every `step`-th place."""
    call = SCENARIOS[name]()
    failing.set(kind)
    expected, _ = attempt(name, call)  # what is made only once is made now
    again, n_calls = attempt(name, call)
    assert expected is not None
    assert again == expected
    raised = survived = 0
    for k in range(1, n_calls + 1, step):
        for times in (1, 10**9) if kind in {"write", "open"} else (1,):
            failing.set(kind, k, times)
            result, _ = attempt(name, call)
            assert result in (None, expected), f"{name}, {kind} {k}: another result"
            raised += result is None
            survived += result is not None
        failing.set(kind)
        if kind != "new" or k // step % 10 == 0:
            assert attempt(name, call)[0] == expected, f"{name}, {kind} {k}: another result afterwards"
    assert attempt(name, call)[0] == expected
    print(f"{name} {kind}: {n_calls} calls, {raised} raised, {survived} survived", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    SHIM.fault_calls.restype = ctypes.c_long
    for given in sys.argv[1:]:
        step, names, kinds = given.split(":")
        for name in SCENARIOS if names == "all" else names.split(","):
            for kind in kinds.split(","):
                run(name, kind, int(step))
