"""Measures learners that go over the rows again and again: ELR, EM and APN, beside what others offer for the same task.

python -m benchmarks.incomplete                  everything, some minutes
python -m benchmarks.incomplete --quick          small tables, under a minute; targets are not judged
python -m benchmarks.incomplete --only elr       one benchmark
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
from benchmarks.options import QUICK, Options
from benchmarks.row_fits import elr, expectation, prediction, regression

#: One line for each; a benchmark is a function of a report and options, in a module of its own.
BENCHMARKS: dict[str, command.Benchmark] = {
    "elr": elr,
    "em": expectation,
    "regression": regression,
    "prediction": prediction,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks that the command line asks for."""
    description = "the speed of tanager's learners from rows"
    chosen = command.parser("incomplete", description, BENCHMARKS).parse_args(arguments)
    options = replace(QUICK if chosen.quick else Options(), programs=chosen.programs)
    return command.run(BENCHMARKS, chosen, options)


if __name__ == "__main__":
    sys.exit(main())
