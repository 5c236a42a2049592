"""Measures tanager beside its peers in one run and prints ratios, with the targets the project sets itself.

python -m benchmarks.speed                 everything, some minutes
python -m benchmarks.speed --quick         small tables, under a minute; targets are not judged
python -m benchmarks.speed --only tan      one benchmark
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

if __package__ in (None, ""):  # started as a script: make the package importable, not its modules as top-level ones
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks import harness

os.environ.update(harness.ONE_THREAD)  # before NumPy is loaded

from benchmarks import command
from benchmarks.classifiers import naive_bayes, one_row, tan
from benchmarks.frames import strings
from benchmarks.kernels import counting, threads
from benchmarks.memory import memory
from benchmarks.options import QUICK, Options
from benchmarks.peers import all_peers

BENCHMARKS: dict[str, command.Benchmark] = {
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
    chosen = command.parser("speed", "tanager's speed beside its peers", BENCHMARKS).parse_args(arguments)
    absent = [peer.name for peer in all_peers().values() if not peer.is_installed()]
    remark = f"not installed, so left out: {', '.join(absent)}" if absent else ""
    options = replace(QUICK if chosen.quick else Options(), programs=chosen.programs)
    return command.run(BENCHMARKS, chosen, options, remark)


if __name__ == "__main__":
    sys.exit(main())
