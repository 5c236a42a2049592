"""Child processes: slow libraries under a time limit, and peak memory from a clean start.

``python -m benchmarks.harness.worker TASK REQUEST FILE`` appends one JSON line to FILE for each figure as it is measured, so
nothing is lost when the time limit ends the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness.machine import ONE_THREAD, ROOT
from benchmarks.harness.memory import PeakMemory
from benchmarks.harness.timing import once
from benchmarks.harness.workloads import Workload, sample
from benchmarks.peers import make

Report = Callable[..., None]

#: Share of the budget for fitting; the rest is for predicting.
_FIT_SHARE = 0.75
#: Safety factor for the estimate of the next step.
_SAFETY = 1.2


def run_child(task: str, request: Mapping[str, Any], seconds: float) -> tuple[list[dict[str, Any]], str]:
    """Run one of TASKS in a fresh process with a time limit.

    Returns what it had reported when it ended or was stopped, and why it stopped early ("" if it did not).
    """
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.jsonl"
        answers.touch()
        command = [sys.executable, "-m", "benchmarks.harness.worker", task, json.dumps(request), str(answers)]
        why = ""
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=child_environment(), capture_output=True, text=True, timeout=seconds, check=False
            )
            if done.returncode != 0:
                lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
                why = lines[-1]
        except subprocess.TimeoutExpired:
            why = f"stopped after {seconds:.0f} s"
        # A terminated process may leave a partial line.
        complete = answers.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in complete.splitlines()], why


def child_environment() -> dict[str, str]:
    """Return the environment of child processes: the same packages, one thread."""
    paths = [str(ROOT), *(p for p in sys.path if p and Path(p) != ROOT / "benchmarks")]
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)}


def find_program(folder: Path | None, name: str) -> Path:
    """Find a C++ benchmark program in the folder of `--programs`."""
    if folder is None:
        raise FileNotFoundError(f"{name} needs --programs DIR, its build folder")
    found = next((p for p in (folder / name, folder / "benchmarks" / "programs" / name) if p.exists()), None)
    if found is None:
        raise FileNotFoundError(f"expected the program {name} in {folder}")
    return found


def time_peer(request: dict[str, Any], report: Report) -> None:
    """Fit, then predict, on increasing numbers of rows while the estimate for the next step is within the budget."""
    work = Workload(**request["work"])
    X, y = sample(work)
    first = make(request["who"], request["model"])
    first.fit(X[:200, :4], y[:200])  # triggers lazy imports
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
        timing = once(partial(run, rows))
        report(what=what, rows=rows, wall=timing.wall, cpu=timing.cpu)
        # The first step is small because the fixed cost is unknown; then two points give a linear estimate.
        more = min(all_rows, rows * (2 if last_rows == 0 else 5))
        slope = max(timing.wall - last_wall, 0.0) / (rows - last_rows)
        expected = (timing.wall + slope * (more - rows)) * _SAFETY
        # Two sizes are always measured: one alone cannot separate the fixed cost from the cost of rows.
        if rows == all_rows or (last_rows > 0 and time.perf_counter() + expected > end):
            return
        last_rows, last_wall = rows, timing.wall
        rows = more


def peak_memory(request: dict[str, Any], report: Report) -> None:
    """Measure the memory of fit in addition to its input."""
    work = Workload(**request["work"])
    X, y = sample(work)
    make(request["who"], request["model"]).fit(X[:1000], y[:1000])  # triggers lazy imports
    model = make(request["who"], request["model"])
    peak = PeakMemory()
    with peak.watch():
        model.fit(X, y)
    report(extra=peak.extra)


TASKS = {"time_peer": time_peer, "peak_memory": peak_memory}


def main(task: str, request: str, answers: str) -> None:
    """Run one task and append its results to the file."""
    warnings.simplefilter("ignore")  # warnings of other libraries; standard error is for errors
    with Path(answers).open("a", encoding="utf-8") as file:

        def report(**answer: Any) -> None:
            file.write(json.dumps(answer) + "\n")
            file.flush()

        TASKS[task](json.loads(request), report)


if __name__ == "__main__":
    main(*sys.argv[1:])
