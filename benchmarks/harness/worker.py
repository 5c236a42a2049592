"""What runs in a child process: slow peers under a time limit, and peak memory from a clean start.

``python -m benchmarks.worker TASK REQUEST FILE`` appends one JSON line to FILE as soon as each figure is known, so that
nothing is lost when the time limit ends the process.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import harness
from benchmarks.peers import make
from benchmarks.workloads import Workload, sample

Report = Callable[..., None]

#: Share of the budget for fitting; the rest is for predicting.
_FIT_SHARE = 0.75
#: Guard against underestimating the next step.
_SAFETY = 1.2


def time_peer(request: dict[str, Any], report: Report) -> None:
    """Fit, then predict, on ever more rows as long as the next step should still end within the budget."""
    work = Workload(**request["work"])
    X, y = sample(work)
    first = make(request["who"], request["model"])
    first.fit(X[:200, :4], y[:200])  # loads whatever is loaded on first use
    first.predict_proba(X[:2, :4])

    model = make(request["who"], request["model"])
    start, seconds = time.perf_counter(), request["seconds"]
    fit_end = start + _FIT_SHARE * seconds
    _climb("fit", lambda rows: model.fit(X[:rows], y[:rows]), (1000, work.rows), fit_end, report)
    predict_end = min(start + seconds, time.perf_counter() + (1 - _FIT_SHARE) * seconds / 2)
    _climb("predict", lambda rows: model.predict_proba(X[:rows]), (20, work.rows), predict_end, report)


def _climb(what: str, run: Callable[[int], object], bounds: tuple[int, int], end: float, report: Report) -> None:
    rows, all_rows = min(bounds), bounds[1]
    last_rows, last_wall = 0, 0.0
    while True:
        timing = harness.once(partial(run, rows))
        report(what=what, rows=rows, wall=timing.wall, cpu=timing.cpu)
        # A first step in doubt about the fixed cost is a small one; then time grows along the line of two points.
        more = min(all_rows, rows * (2 if last_rows == 0 else 5))
        slope = max(timing.wall - last_wall, 0.0) / (rows - last_rows)
        expected = (timing.wall + slope * (more - rows)) * _SAFETY
        # Two sizes are always tried: one alone could not tell the fixed cost from the cost of rows.
        if rows == all_rows or (last_rows > 0 and time.perf_counter() + expected > end):
            return
        last_rows, last_wall = rows, timing.wall
        rows = more


def peak_memory(request: dict[str, Any], report: Report) -> None:
    """How much memory fit needs beyond its input."""
    work = Workload(**request["work"])
    X, y = sample(work)
    make(request["who"], request["model"]).fit(X[:1000], y[:1000])  # loads whatever is loaded on first use
    model = make(request["who"], request["model"])
    peak = harness.PeakMemory()
    with peak.watch():
        model.fit(X, y)
    report(extra=peak.extra)


TASKS = {"time_peer": time_peer, "peak_memory": peak_memory}


def main(task: str, request: str, answers: str) -> None:
    """Run one task and append its answers to the file."""
    warnings.simplefilter("ignore")  # the peers' own; standard error is for what goes wrong
    with Path(answers).open("a", encoding="utf-8") as file:

        def report(**answer: Any) -> None:
            file.write(json.dumps(answer) + "\n")
            file.flush()

        TASKS[task](json.loads(request), report)


if __name__ == "__main__":
    main(*sys.argv[1:])
