"""Measures tanager beside its peers in one run and prints ratios, with the targets the project sets itself.

python -m benchmarks.speed                 everything, some minutes
python -m benchmarks.speed --quick         small tables, under a minute; targets are not judged
python -m benchmarks.speed --only tan      one benchmark
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

if __package__ in (None, ""):  # started as a script: make the package importable, not its modules as top-level ones
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks import harness

os.environ.update(harness.ONE_THREAD)  # before NumPy is loaded

from benchmarks.classifiers import naive_bayes, one_row, tan
from benchmarks.frames import strings
from benchmarks.kernels import counting, threads
from benchmarks.memory import memory
from benchmarks.options import QUICK, Options
from benchmarks.peers import all_peers
from benchmarks.report import Report

BENCHMARKS = {
    "naive-bayes": naive_bayes,
    "tan": tan,
    "one-row": one_row,
    "counting": counting,
    "threads": threads,
    "strings": strings,
    "memory": memory,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description="tanager's speed beside its peers")
    parser.add_argument("--quick", action="store_true", help="small tables, under a minute; targets are not judged")
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE as well")
    parser.add_argument(
        "--programs", type=Path, metavar="DIR", help="where the C++ benchmark programs were built, for the C++ call"
    )
    chosen = parser.parse_args(arguments)
    options = replace(QUICK if chosen.quick else Options(), programs=chosen.programs)

    start = time.perf_counter()
    report = Report(harness.machine_facts(), judge=not chosen.quick)
    for name, fact in report.facts.items():
        print(f"{name}: {fact}")
    absent = [peer.name for peer in all_peers().values() if not peer.is_installed()]
    if absent:
        print(f"not installed, so left out: {', '.join(absent)}")
    print("Times are the best of several runs; CPU is that of all threads, and ratios are of CPU times.")

    for name in chosen.only or BENCHMARKS:
        BENCHMARKS[name](report, options)
    report.summary()
    print(f"\n{time.perf_counter() - start:.0f} s in all; load average now {harness.load_average()}")
    if chosen.json:
        report.save(chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
