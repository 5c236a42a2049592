"""What the commands of this package have in common: options, facts of the machine, summary."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from benchmarks import harness
from benchmarks.options import Options
from benchmarks.report import Report

Benchmark = Callable[[Report, Options], None]


def parser(name: str, description: str, benchmarks: Iterable[str]) -> argparse.ArgumentParser:
    """Options that every command takes."""
    options = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    options.add_argument("--quick", action="store_true", help="small tables, under a minute; targets are not judged")
    options.add_argument("--only", action="append", choices=benchmarks, metavar="NAME", help=", ".join(benchmarks))
    options.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE as well")
    options.add_argument(
        "--programs",
        type=Path,
        metavar="DIR",
        help="where the C++ benchmark programs were built, for what only they tell",
    )
    return options


def run(benchmarks: Mapping[str, Benchmark], chosen: argparse.Namespace, options: Options, remark: str = "") -> int:
    """Run the benchmarks that the command line asks for. The remark, if any, goes before them."""
    start = time.perf_counter()
    report = Report(harness.machine_facts(), judge=not chosen.quick)
    for name, fact in report.facts.items():
        print(f"{name}: {fact}")
    if remark:
        print(remark)
    print("Times are the best of several runs; CPU is that of all threads, and ratios are of CPU times.")
    for name in chosen.only or benchmarks:
        benchmarks[name](report, options)
    report.summary()
    print(f"\n{time.perf_counter() - start:.0f} s in all; load average now {harness.load_average()}")
    if chosen.json:
        report.save(chosen.json)
    return 0
