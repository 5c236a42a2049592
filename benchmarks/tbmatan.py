"""Measures the average over all TANs: sums over trees beside NumPy's and mpmath's determinants, and learning beside TAN.

python -m benchmarks.tbmatan                     everything, a few minutes
python -m benchmarks.tbmatan --quick             few rows and tables, some seconds; targets are not judged
python -m benchmarks.tbmatan --only prediction   one benchmark
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
from benchmarks.tree_averages import learning, many_digits, prediction
from benchmarks.tree_growth import growth, wide

BENCHMARKS: dict[str, command.Benchmark] = {
    "prediction": prediction,
    "mpmath": many_digits,
    "learning": learning,
    "growth": growth,
    "wide": wide,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks that the command line asks for."""
    parser = command.parser("tbmatan", "the average over all TANs beside determinants and TAN", BENCHMARKS)
    chosen = parser.parse_args(arguments)
    options = replace(QUICK if chosen.quick else Options(), programs=chosen.programs)
    return command.run(BENCHMARKS, chosen, options)


if __name__ == "__main__":
    sys.exit(main())
