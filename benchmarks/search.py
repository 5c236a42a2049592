"""Measures structure search, cross-validation and averaging against what R's bnclassify needed for the same.

python -m benchmarks.search                 everything, some minutes
python -m benchmarks.search --quick         small tables, under a minute; targets are not judged
python -m benchmarks.search --only chess    one benchmark
python -m benchmarks.search --callgrind --programs DIR    instruction counts as well, which no other load changes
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
from benchmarks.averages import aode
from benchmarks.instructions import instructions
from benchmarks.options import QUICK, Options
from benchmarks.searches import chess, cross_validation, letter, search_threads, wide

BENCHMARKS: dict[str, command.Benchmark] = {
    "chess": chess,
    "letter": letter,
    "cross-validation": cross_validation,
    "aode": aode,
    "wide": wide,
    "threads": search_threads,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks that the command line asks for."""
    parser = command.parser("search", "tanager's search and averaging beside R's bnclassify", BENCHMARKS)
    parser.add_argument(
        "--callgrind", action="store_true", help="count instructions too (needs valgrind and --programs)"
    )
    chosen = parser.parse_args(arguments)
    options = replace(QUICK if chosen.quick else Options(), programs=chosen.programs)
    benchmarks = BENCHMARKS
    if chosen.callgrind:
        benchmarks = {**BENCHMARKS, "instructions": instructions}
        chosen.only = chosen.only and [*chosen.only, "instructions"]
    remark = (
        "R's CPU seconds are constants, recorded elsewhere on this kind of machine: orders of magnitude, not a race."
    )
    return command.run(benchmarks, chosen, options, remark)


if __name__ == "__main__":
    sys.exit(main())
