"""How soon long calls notice Ctrl-C.

    python tests/faults/ctrl_c.py [--jobs 1 2 8] [--at 0.02 0.15 0.4] [--wall] [--only NAME ...]

Every call is interrupted at these moments of its work. Prints the time from the signal to the end of the call, and ends
with 1 if one is longer than 0.3 s. Times are those of processors, divided by how many may be at work, so that a busy
machine does not change them; with --wall they are those of a clock.
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import tanager as tg
from tanager import _core
from tanager import parameters as pm
from tanager import structure as st

ALLOWED = 0.3
#: The tests run these: they are soon prepared, and at work in all parts of the core.
QUICK = [
    *(
        "counting many values",
        "hill climbing",
        "PC",
        "ELR",
        "EM",
        "WANBIA",
        "trees of weights",
        "bins",
        "words",
        "missing values",
    ),
    *("average", "average, assignments", "average, trees", "posterior", "sample", "edge probabilities", "random trees"),
    *("cross-validation", "stream"),
]
Call = Callable[[], object]


@cache
def table(n_rows: int, n_features: int, n_values: int = 4, n_classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_values, size=(n_rows, n_features), dtype=np.int8)
    return X, (X[:, 0] + X[:, 1] + rng.integers(0, 2, n_rows)) % n_classes


def gaps_in(X: Any, share: float = 0.5) -> Any:
    gaps = X.astype(np.float32)
    gaps[np.random.default_rng(1).random(X.shape) < share] = np.nan
    return gaps


def known(n_features: int, n_values: int = 4) -> list[list[int]]:
    return [list(range(n_values))] * n_features


def fit(clf: Any, *shape: int, share: float = 0.0) -> Call:
    X, y = table(*shape)
    rows = gaps_in(X, share) if share else X
    return lambda: clf.fit(rows, y)


def method(name: str, clf: Any, *shape: int, share: float = 0.0, fitted: int = 3000) -> Call:
    X, y = table(*shape)
    clf.fit(X[:fitted], y[:fitted])
    rows = gaps_in(X, share) if share else X
    return lambda: getattr(clf, name)(rows)


predict = partial(method, "predict_proba")


def first_prediction(clf: Any, *shape: int) -> Call:
    X, y = table(*shape)
    kept, rows = pickle.dumps(clf.fit(X, y)), gaps_in(X)[:3]
    return lambda: pickle.loads(kept).predict_proba(rows)  # what is made only once takes longest


def dense_network(jobs: int) -> Any:
    X, y = table(400, 13, 4, 2)
    arcs = [(i, j) for i in range(13) for j in range(i + 1, min(13, i + 9))]
    return tg.BayesNetClassifier(st.FixedStructure(arcs), n_jobs=jobs, categories=known(13)).fit(X, y).network_


def weights(n: int) -> Any:
    logs = np.random.default_rng(0).random((n, n))
    return _core.EdgeWeights.from_logs(np.log(logs + logs.T))


def large_model(jobs: int) -> Any:
    return tg.AODEClassifier(n_jobs=jobs).fit(*table(5000, 100, 16, 3))


def saved(jobs: int) -> Call:
    path = Path(tempfile.mkdtemp()) / "model"
    clf = large_model(jobs)
    return lambda: clf.save(path)


def loaded(jobs: int) -> Call:
    path = Path(tempfile.mkdtemp()) / "model"
    large_model(jobs).save(path)
    return lambda: tg.load(path).predict_proba(table(5000, 100, 16, 3)[0])


def reported(jobs: int) -> Call:
    path = Path(tempfile.mkdtemp()) / "report.html"
    X, y = table(100_000, 30)
    clf = tg.TANClassifier(n_jobs=jobs).fit(X, y)
    return lambda: clf.report(path, X, y)


def numbers(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 1)), rng.integers(0, 2, n)


def too_many_words(jobs: int) -> Call:
    words = np.array([f"v{i}" for i in range(600_000)], dtype=object)[:, None]

    def call() -> None:
        with suppress(ValueError):  # at the end, for there are more than 65,534
            tg.NaiveBayesClassifier(n_jobs=jobs).fit(words, np.zeros(len(words)))

    return call


def stream(jobs: int, *, read: bool) -> Call:
    X, y = table(100_000, 60)
    clf = tg.TANClassifier(n_jobs=jobs)
    if not read:
        return lambda: clf.fit_stream([(X, y)] * 40)
    clf.fit(X, y)
    return lambda: list(clf.predict_stream([X] * 40))


def cases(jobs: int) -> dict[str, Callable[[], Call]]:
    """Return calls that take some time each, by name."""
    n_jobs: dict[str, Any] = {"n_jobs": jobs, "random_state": 0}
    net = partial(tg.BayesNetClassifier, **n_jobs)
    evaluation = tg.evaluation

    def judge(function: Callable[..., object], clf: Any, *shape: int) -> Call:
        return lambda: function(clf, *table(*shape), **n_jobs)

    searches = {
        "hill climbing": st.HillClimb(cv=10),
        "super parents": st.SuperParent(cv=10),
        "forward joining": st.ForwardJoin(cv=10),
        "backward joining": st.BackwardJoin(cv=10),
    }
    parameters: dict[str, tuple[Any, tuple[int, ...]]] = {
        "ELR": (pm.ELR(), (60_000, 20)),
        "WANBIA": (pm.Wanbia(), (60_000, 20)),
        "trees of weights": (pm.AttributeWeighted(), (60_000, 20)),
        "model averaging": (pm.ModelAveraged(), (3_000_000, 60)),
    }
    return {
        "counting": lambda: fit(tg.TANClassifier(n_jobs=jobs), 3_000_000, 60),
        "counting many values": lambda: fit(tg.TANClassifier(n_jobs=jobs), 100_000, 60, 100, 20),
        "weighted rows": lambda: partial(
            lambda X, y: tg.TANClassifier(n_jobs=jobs).fit(X, y, np.full(len(y), 0.5)), *table(300_000, 80)
        ),
        "partial_fit": lambda: partial(
            lambda X, y: [tg.TANClassifier(n_jobs=jobs).partial_fit(X, y) for _ in range(99)], *table(100_000, 60)
        ),
        "AODE": lambda: fit(tg.AODEClassifier(n_jobs=jobs), 500_000, 100, 30, 3),
        "KDB": lambda: fit(tg.KDBClassifier(k=3, n_jobs=jobs), 3_000_000, 60),
        "aCLL": lambda: fit(net(st.AcllTree(), pm.AcllOptimal()), 3_000_000, 60),
        **{name: partial(fit, net(search), 100_000, 30) for name, search in searches.items()},
        "PC": lambda: fit(net(st.ConstraintAugmented()), 50_000, 30),
        "three phases": lambda: fit(net(st.ThreePhase()), 50_000, 30),
        **{
            name: partial(fit, net("naive" if name != "ELR" else "tan", learner), *shape)
            for name, (learner, shape) in parameters.items()
        },
        "EM": lambda: fit(net("tan", pm.EM(tol=0), categories=known(20)), 50_000, 20, share=0.3),
        "APN": lambda: fit(net("tan", pm.APN(tol=0), categories=known(20)), 50_000, 20, share=0.3),
        "bins": lambda: partial(tg.NaiveBayesClassifier(n_jobs=jobs).fit, *numbers(2_000_000)),
        "MDL": lambda: partial(tg.MDLPDiscretizer().fit, *numbers(2_000_000)),
        "quantiles": lambda: partial(tg.EqualFrequencyDiscretizer(10).fit, numbers(6_000_000)[0]),
        "words": lambda: too_many_words(jobs),
        "average": lambda: predict(tg.TBMATANClassifier(n_jobs=jobs), 30_000, 60, 3, 2),
        "average, assignments": lambda: predict(
            tg.TBMATANClassifier(max_assignments=2**22, categories=known(20), n_jobs=jobs), 3000, 20, share=0.5
        ),
        "average, trees": lambda: predict(
            tg.TBMATANClassifier(n_trees=2000, categories=known(20), n_jobs=jobs), 3000, 20, share=0.5
        ),
        "average, first trees": lambda: first_prediction(
            tg.TBMATANClassifier(n_trees=5000, categories=known(40), n_jobs=jobs), 1000, 40
        ),
        "prediction": lambda: predict(tg.TANClassifier(n_jobs=jobs), 1_000_000, 60),
        "classes": lambda: method("predict", tg.TANClassifier(n_jobs=jobs), 1_000_000, 60),
        "AODE prediction": lambda: predict(tg.AODEClassifier(n_jobs=jobs), 100_000, 100),
        "missing values": lambda: predict(tg.TANClassifier(categories=known(30), n_jobs=jobs), 100_000, 30, share=0.5),
        "AODE, missing values": lambda: predict(
            tg.AODEClassifier(categories=known(30), n_jobs=jobs), 100_000, 30, share=0.5
        ),
        "explanation": lambda: method("explain", tg.TANClassifier(n_jobs=jobs), 300_000, 30),
        "posterior": lambda: partial(dense_network(jobs).posterior, {}, ["x0", "x12"]),
        "most probable": lambda: partial(dense_network(jobs).most_probable, {}),
        "sample": lambda: partial(dense_network(jobs).sample, 2_000_000, 0),
        "edge probabilities": lambda: partial(_core.edge_probabilities, weights(400), jobs),
        "random trees": lambda: partial(_core.sample_trees, weights(300), 3000, 1, jobs),
        "cross-validation": lambda: judge(evaluation.cross_validate, tg.TBMATANClassifier(), 8000, 40, 3, 2),
        "cross-validated search": lambda: judge(
            evaluation.cross_validate, tg.BayesNetClassifier(st.HillClimb(cv=10)), 20_000, 30
        ),
        "learning curve": lambda: judge(evaluation.learning_curve, tg.AODEClassifier(), 50_000, 30),
        "stream": lambda: stream(jobs, read=False),
        "predicted stream": lambda: stream(jobs, read=True),
        "save": lambda: saved(jobs),
        "load": lambda: loaded(jobs),
        "report": lambda: reported(jobs),
    }


def late(call: Call, after: float, *, wall: bool) -> float:
    """Interrupt a call after some time, repeated until then; return how much later it ended."""
    clock = time.perf_counter if wall else time.process_time
    sent, came = 0.0, False

    def interrupt(*_signal: object) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    def send() -> None:  # not a timer: those of processor time wake up whichever thread is at work
        nonlocal sent
        due = clock() + after
        while (sent := clock()) < due:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, interrupt)
    sender = threading.Thread(target=send)
    with suppress(KeyboardInterrupt):
        sender.start()
        while not came:  # some return what they have
            call()
    ended = clock()
    sender.join()
    return ended - sent


def measure(jobs: int, names: Sequence[str], moments: Sequence[float], *, wall: bool = False) -> float:
    """Interrupt every call at these moments; return the longest time."""
    at_once = 1 if wall else min(jobs, os.cpu_count() or 1)
    longest = 0.0
    for name, make in cases(jobs).items():
        if names and name not in names:
            continue
        call = make()
        found = [late(call, moment, wall=wall) / at_once for moment in moments]
        shown = ", ".join(f"{time:.3f}" for time in found)
        print(f"{name}, n_jobs={jobs}: {shown} s{' TOO LATE' if max(found) > ALLOWED else ''}", flush=True)
        longest = max(longest, *found)
    return longest


def main() -> int:
    """Measure what is asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 8])
    parser.add_argument("--at", type=float, nargs="+", default=[0.02, 0.15, 0.4])
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--quick", action="store_true", help="some calls only")
    parser.add_argument("--only", metavar="NAME", nargs="+", default=[])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    names = QUICK if given.quick else given.only
    longest = max(measure(jobs, names, given.at, wall=given.wall) for jobs in given.jobs)
    print(f"the longest: {longest:.3f} s")
    return int(longest > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
