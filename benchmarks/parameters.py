"""Measures parameter learners: beside Dirichlet's smoothing on the same counts, and beside what others needed.

python -m benchmarks.parameters                     everything
python -m benchmarks.parameters --quick             small tables, under a minute; targets are not judged
python -m benchmarks.parameters --only estimates    one benchmark
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
from benchmarks.estimates import estimates
from benchmarks.options import QUICK, Options
from benchmarks.trees import acll_tree
from benchmarks.weights import weights

#: One line for each; a benchmark is a function of a report and options, in a module of its own.
BENCHMARKS: dict[str, command.Benchmark] = {
    "acll-tree": acll_tree,
    "estimates": estimates,
    "weights": weights,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks that the command line asks for."""
    chosen = command.parser("parameters", "the speed of tanager's parameter learners", BENCHMARKS).parse_args(arguments)
    options = replace(QUICK if chosen.quick else Options(), programs=chosen.programs)
    return command.run(BENCHMARKS, chosen, options)


if __name__ == "__main__":
    sys.exit(main())
