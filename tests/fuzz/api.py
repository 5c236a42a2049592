"""Fuzz the Python API for as long as wanted: python tests/fuzz/api.py --minutes 30 [--seed 1].

Every run draws a table, a classifier and a series of calls at random, and compares every result with the definitions in
reference.py (see api_machine.py). A failure is shrunk, printed with the calls that lead to it, and kept count of; the same
seed gives the same runs. Exits with 1 if anything failed. The short form is test_api.py, which pytest runs.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

import hypothesis
from api_machine import Api
from hypothesis.stateful import run_state_machine_as_test


def settings(n_runs) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=n_runs,
        stateful_step_count=8,
        database=None,
        deadline=None,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to go on (5)")
    parser.add_argument("--seed", type=int, default=0, help="where to begin (0)")
    options = parser.parse_args()
    until, seed, failures, runs = time.monotonic() + 60 * options.minutes, options.seed, 0, 0
    while time.monotonic() < until:
        machine = hypothesis.seed(seed)(type("Api", (Api,), {}))
        try:
            run_state_machine_as_test(machine, settings=settings(100))
        except Exception:  # noqa: BLE001  # whatever it is, it is told
            failures += 1
            print(f"-- seed {seed}", flush=True)
            traceback.print_exc()
        runs += 100
        seed += 1
        print(f"{runs} runs, {failures} failures", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
