"""Repeats the experiments of the papers whose methods tanager has, and writes what came out beside what they print.

python -m experiments all                 everything, within an hour on two cores; writes docs/reproduction.md
python -m experiments all --quick         few tables and draws, within three minutes; writes into the cache
python -m experiments mfe tbma            some experiments, shown on the terminal
python -m experiments all --plan          what would be done, and how long that takes

Finished parts are kept in a folder (`--cache`): a run that was stopped continues where it was.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.machine import ROOT
from experiments import catalog
from experiments.catalog import EXPERIMENTS
from experiments.lines import LINES, MORE
from experiments.page import Page, sealed
from experiments.plan import Plan
from experiments.runner import Cache, Part, Results, run

REPORT = ROOT / "docs" / "reproduction.md"


def use(folder: Path) -> None:
    """Let all tables be read from a folder; workers inherit it."""
    if not (folder / "schema.json").is_file():
        raise SystemExit(f"expected a folder with tables and their schema.json, but {folder} has none")
    os.environ["TANAGER_DATA"] = str(folder.resolve())


def facts(results: Results, quick: bool, seed: int, wall: float) -> list[str]:
    """Say what was run, with what, and how long it took."""
    import matplotlib as mpl
    import numpy as np
    import scipy
    import sklearn

    import tanager as tg

    versions = [("tanager", tg), ("NumPy", np), ("SciPy", scipy), ("scikit-learn", sklearn), ("matplotlib", mpl)]
    lightgbm = importlib.util.find_spec("lightgbm")
    if lightgbm:
        versions.append(("LightGBM", importlib.import_module("lightgbm")))
    seconds = ", ".join(f"{name} {value:.0f}" for name, value in results.seconds.items())
    command = f"python -m experiments all{' --quick' if quick else ''}"
    used = ", ".join(f"{name} {module.__version__}" for name, module in versions)
    used += "" if lightgbm else "; LightGBM was not installed"
    total = (
        f"together {sum(results.seconds.values()):.0f}. This run took {wall:.0f} s, without what was finished before."
    )
    about = [f"Written by `{command}`, seed {seed}; {used}.", "", f"Seconds of CPU: {seconds}; {total}"]
    if results.n_older:
        about[-1] += (
            f" {results.n_older:,} of {results.n_parts:,} parts were finished by other revisions of the code, or with other versions of these libraries."
        )
    if quick:
        about += ["", "**A quick run: few tables and draws, from which hardly any claim can be judged.**"]
    return about


def write(results: Results, names: Sequence[str], page: Page) -> None:
    """Let every experiment that led to something write its pages."""
    for name in names:
        found = results.of(name)
        if found.rows:
            catalog.report(name).report(found, page)


def document(page: Page, about: Sequence[str]) -> str:
    """Return the whole report: the gist, every line with its claims, then everything in detail."""
    met = [line for line in LINES if page.verdict(line) == "met"]
    judged = [claim for claim in page.claims if claim.met is not None]
    count = (
        f"{len(met)} of {len(LINES)} lines are met in all their claims; of {len(judged)} claims that are judged, here and below, "
        f"{sum(bool(claim.met) for claim in judged)} are. Where one is not, the reason stands below its table."
    )
    lines = ["# What the papers report, and what comes out here", "", *about, "", *page.gist]
    lines += ["## What the papers say, and whether it comes out", "", count, "", *page.lines_table(LINES)]
    lines += ["", "What else they say:", "", *page.lines_table(MORE)]
    for line, what in (LINES | MORE).items():
        lines += page.claims_of(line, what)
    lines += page.lines
    squeezed = [line for k, line in enumerate(lines) if line or k == 0 or lines[k - 1]]
    return "\n".join(squeezed).rstrip() + "\n"


def at_least_one(text: str) -> int:
    """Read a number of processes."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, got {text}")
    return int(text)


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found.add_argument(
        "experiments",
        nargs="+",
        choices=("all", *EXPERIMENTS),
        metavar="EXPERIMENT",
        help=", ".join(("all", *EXPERIMENTS)),
    )
    found.add_argument("--quick", action="store_true", help="few tables and draws")
    found.add_argument("--data", type=Path, metavar="FOLDER", help="the tables (default: shared/data beside the clone)")
    found.add_argument(
        "--cache",
        type=Path,
        default=ROOT / "build" / "papers",
        metavar="FOLDER",
        help="finished parts (default: build/papers)",
    )
    found.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="the report (default with all: docs/reproduction.md, if quick reproduction.md in the cache)",
    )
    found.add_argument("--csv", type=Path, metavar="FILE", help="all results (default: results.csv in the cache)")
    found.add_argument("--jobs", type=at_least_one, default=os.cpu_count() or 1, help="processes (default: all cores)")
    found.add_argument(
        "--fresh",
        action="store_true",
        help="do parts again that other code or libraries than the present ones finished",
    )
    found.add_argument("--seed", type=int, default=0, help="seed of all splits and samples (default: 0)")
    found.add_argument("--plan", action="store_true", help="only list what would be done")
    found.add_argument("--only", nargs="+", metavar="TABLE", help="parts of these tables alone; no report")
    found.add_argument(
        "--trial", action="store_true", help="only the first part of every kind; writes seconds.csv, no report"
    )
    return found


def show_plan(parts: Sequence[Part], plan: Plan, jobs: int) -> None:
    """Print the parts of every experiment, and how long they should take."""
    for name in dict.fromkeys(part.experiment for part in parts):
        own = [part for part in parts if part.experiment == name]
        longest = max(own, key=plan.seconds)
        print(
            f"{name}: {len(own)} parts, {sum(map(plan.seconds, own)):.0f} s of CPU; the longest "
            f"{plan.seconds(longest):.0f} s ({longest.data} {' '.join(longest.methods)})"
        )
    print(f"all: {sum(map(plan.seconds, parts)):.0f} s of CPU, {plan.elapsed(parts, jobs):.0f} s on {jobs} processes")


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    options = parser().parse_args(arguments)
    try:
        return follow(options)
    except FileNotFoundError as error:  # a table
        raise SystemExit(str(error)) from error
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from what is finished", file=sys.stderr)
        return 130


def planned(options: argparse.Namespace, names: Sequence[str]) -> list[Part]:
    """Return the parts that the command line asks for."""
    modules = [catalog.experiment(name) for name in names]
    parts = [part for module in modules for part in module.parts(options.quick, options.seed)]
    if options.only:
        known = {part.data for part in parts}
        if unknown := [name for name in options.only if name not in known]:
            raise SystemExit(f"expected tables of {', '.join(sorted(known))}, but got {', '.join(unknown)}")
        parts = [part for part in parts if part.data in options.only]
    if options.trial:
        parts = list({(part.experiment, part.kind): part for part in reversed(parts)}.values())[::-1]
    return parts


def make_room(path: Path) -> None:
    """Make the folder of a file that is to be written, and see that it can be: better now than when all is done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        existed = path.exists()
        path.open("a").close()
        if not existed:
            path.unlink()
    except OSError as error:
        raise SystemExit(f"expected to be able to write {path}, but: {error}") from error


def follow(options: argparse.Namespace) -> int:
    """Plan, run and report."""
    everything = "all" in options.experiments
    if options.data:
        use(options.data)
    names = list(EXPERIMENTS) if everything else list(dict.fromkeys(options.experiments))
    parts = planned(options, names)
    plan, cache = Plan(), Cache(options.cache)
    if options.plan:
        show_plan(parts, plan, options.jobs)
        return 0
    rows = options.csv or options.cache / "results.csv"
    path = options.report or ((options.cache / REPORT.name if options.quick else REPORT) if everything else None)
    for file in filter(None, (rows, path)):
        make_room(file)
    start = time.perf_counter()
    results, failed = run(parts, cache, plan, options.jobs, options.fresh)
    results.save(rows)
    if options.trial:
        plan.measure(parts, cache)
    elif not options.only:
        page = Page(options.quick, path.with_suffix("") if path else None, results)
        write(results, names, page)
        text = sealed(document(page, facts(results, options.quick, options.seed, time.perf_counter() - start)))
        publish(text, path)
        if options.quick:  # it judges only what any run must meet
            failed += [f"{claim.line}: {claim.what}" for claim in page.claims if claim.met is False]
    for one in failed:
        print(f"FAILED: {one}", file=sys.stderr)
    return 1 if failed else 0


def publish(text: str, path: Path | None) -> None:
    """Write the report, or show it."""
    if path is None:
        print(text)
        return
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
