"""Measure the speed of tanager and other libraries, and print ratios and the project's targets.

python -m benchmarks list                        groups, suites and benchmarks
python -m benchmarks run speed --quick           small datasets, under a minute; targets are not checked
python -m benchmarks run predict.tan encoding    one benchmark, one suite
python -m benchmarks compare BEFORE AFTER        files of --json, or folders of them
python -m benchmarks profile tan-fit             time of one call, function by function
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.harness.machine import ONE_THREAD, load_average, machine_facts

os.environ.update(ONE_THREAD)  # before NumPy is loaded

from benchmarks import suites
from benchmarks.harness import comparison, profiling
from benchmarks.harness.options import QUICK, Options
from benchmarks.harness.report import Report
from benchmarks.peers import all_peers


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = found.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("list", help="list groups, suites and benchmarks")
    command.set_defaults(run=list_names)
    command = commands.add_parser("run", help="run benchmarks")
    command.set_defaults(run=run)
    command.add_argument("names", nargs="+", metavar="NAME", help="groups, suites or benchmarks")
    command.add_argument("--quick", action="store_true", help="small datasets, seconds each; targets are not checked")
    command.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[],
        metavar="A,B",
        help="run only these of the selected benchmarks",
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to FILE")
    command.add_argument(
        "--programs", type=Path, metavar="DIR", help="build folder of the C++ programs (TANAGER_BUILD_BENCHMARKS)"
    )
    command.add_argument("--rows", type=int, help="rows of the Parquet file of streams (default 10,000,000)")
    command.add_argument("--kind", choices=("int8", "int64", "string", "dictionary"), help="type of its values")
    command.add_argument("--folder", type=Path, metavar="DIR", help="folder of that file")
    command = commands.add_parser("compare", help="compare the times and figures of two runs, or of two sets of runs")
    command.set_defaults(run=compare)
    command.add_argument("before", type=Path, help="a file, or a folder of files, of which the best times count")
    command.add_argument("after", type=Path)
    command.add_argument("--tolerance", type=float, default=5.0, metavar="PERCENT", help="allowed slowdown (5)")
    command = commands.add_parser("profile", help="profile calls")
    command.set_defaults(run=lambda chosen: profiling.show(chosen.names or profiling.NAMES, chosen.lines))
    command.add_argument("names", nargs="*", choices=profiling.NAMES, metavar="NAME", help=", ".join(profiling.NAMES))
    command.add_argument("--lines", type=int, default=12, help="functions to show for each call")
    return found


def list_names(_: argparse.Namespace) -> int:
    """Print all benchmarks with the first line of their docstrings, and all groups."""
    for name, run_it in suites.benchmarks().items():
        print(f"{name:27} {(run_it.__doc__ or '').splitlines()[0]}")
    print()
    for name, members in suites.GROUPS.items():
        print(f"{name:27} {', '.join(members)}")
    return 0


def run(chosen: argparse.Namespace) -> int:
    """Run the benchmarks that the command line names."""
    selected = suites.select(chosen.names, chosen.only)
    given = {name: getattr(chosen, name) for name in ("programs", "rows", "kind", "folder")}
    options = replace(QUICK if chosen.quick else Options(), **{k: v for k, v in given.items() if v is not None})
    start = time.perf_counter()
    report = Report({**machine_facts(), "command": f"python -m benchmarks {' '.join(sys.argv[1:])}"}, not chosen.quick)
    for name, fact in report.facts.items():
        print(f"{name}: {fact}")
    if absent := [peer.name for peer in all_peers().values() if not peer.is_installed()]:
        print(f"skipped, not installed: {', '.join(absent)}")
    print("Times are the best of several runs; CPU times include all threads, and ratios are of CPU times.")
    for benchmark in selected.values():
        benchmark(report, options)
    report.summary()
    print(f"\n{time.perf_counter() - start:.0f} s in total; load average {load_average()}")
    if chosen.json:
        report.save(chosen.json)
    return 0


def compare(chosen: argparse.Namespace) -> int:
    """Print every time and figure of two runs; return 1 if one is worse by more than the tolerance."""
    return comparison.compare(chosen.before, chosen.after, chosen.tolerance / 100)


def main() -> int:
    """Run the command line."""
    chosen = parser().parse_args()
    try:
        return int(chosen.run(chosen) or 0)
    except (ValueError, FileNotFoundError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
