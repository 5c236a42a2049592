"""Reproduce the experiments of the papers whose methods tanager implements, and report our results next to the published ones.

python -m experiments all                 everything, within an hour on two cores; writes docs/reproduction.md
python -m experiments all --quick         few datasets and samples, within three minutes; writes into the cache
python -m experiments mfe tbma            some experiments, printed on the terminal
python -m experiments all --plan          list the parts and their estimated times

Finished parts are cached in a folder (`--cache`): an interrupted run continues where it stopped.
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
    """Read all datasets from a folder; worker processes inherit the setting."""
    if not (folder / "schema.json").is_file():
        raise SystemExit(f"expected a folder with datasets and their schema.json, got {folder}")
    os.environ["TANAGER_DATA"] = str(folder.resolve())


def facts(results: Results, quick: bool, seed: int, wall: float) -> list[str]:
    """Return what was run, the versions of the libraries, and how long it took."""
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
    total = f"{sum(results.seconds.values()):.0f} in total. This run took {wall:.0f} s; parts finished earlier were not repeated."
    about = [f"Written by `{command}`, seed {seed}; {used}.", "", f"CPU seconds: {seconds}; {total}"]
    if results.n_older:
        about[-1] += (
            f" {results.n_older:,} of {results.n_parts:,} parts were computed by other revisions of the code or with other versions of these libraries."
        )
    if quick:
        about += ["", "**A quick run: too few datasets and samples to evaluate most claims.**"]
    return about


def write(results: Results, names: Sequence[str], page: Page) -> None:
    """Add the sections of every experiment that has results."""
    for name in names:
        found = results.of(name)
        if found.rows:
            catalog.report(name).report(found, page)


def document(page: Page, about: Sequence[str]) -> str:
    """Return the report: the summary, every published result with its claims, then the details."""
    met = [line for line in LINES if page.verdict(line) == "met"]
    evaluated = [claim for claim in page.claims if claim.met is not None]
    count = (
        f"{len(met)} of {len(LINES)} results are reproduced in all their claims. Of {len(evaluated)} evaluated claims on this page, "
        f"{sum(bool(claim.met) for claim in evaluated)} are met; the reasons for the others are given below their tables."
    )
    lines = ["# Reproducing published results", "", *about, "", *page.summary]
    lines += ["## Published results and ours", "", count, "", *page.lines_table(LINES)]
    lines += ["", "Further results of the papers:", "", *page.lines_table(MORE)]
    for line, what in (LINES | MORE).items():
        lines += page.claims_of(line, what)
    lines += page.lines
    squeezed = [line for k, line in enumerate(lines) if line or k == 0 or lines[k - 1]]
    return "\n".join(squeezed).rstrip() + "\n"


def at_least_one(text: str) -> int:
    """Parse a number of processes."""
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
    found.add_argument("--quick", action="store_true", help="few datasets and samples")
    found.add_argument(
        "--data", type=Path, metavar="FOLDER", help="the datasets (default: shared/data next to the clone)"
    )
    found.add_argument(
        "--cache",
        type=Path,
        default=ROOT / "build" / "papers",
        metavar="FOLDER",
        help="cache of finished parts (default: build/papers)",
    )
    found.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="the report (default with all: docs/reproduction.md, with --quick reproduction.md in the cache)",
    )
    found.add_argument("--csv", type=Path, metavar="FILE", help="all results (default: results.csv in the cache)")
    found.add_argument("--jobs", type=at_least_one, default=os.cpu_count() or 1, help="processes (default: all cores)")
    found.add_argument(
        "--fresh",
        action="store_true",
        help="repeat parts that were computed by other code or with other versions of libraries",
    )
    found.add_argument("--seed", type=int, default=0, help="seed of all splits and samples (default: 0)")
    found.add_argument("--plan", action="store_true", help="only list what would run")
    found.add_argument("--only", nargs="+", metavar="DATASET", help="run only the parts of these datasets; no report")
    found.add_argument(
        "--trial", action="store_true", help="run only the first part of every kind; writes seconds.csv, no report"
    )
    return found


def show_plan(parts: Sequence[Part], plan: Plan, jobs: int) -> None:
    """Print the parts of every experiment and their estimated times."""
    for name in dict.fromkeys(part.experiment for part in parts):
        own = [part for part in parts if part.experiment == name]
        longest = max(own, key=plan.seconds)
        print(
            f"{name}: {len(own)} parts, {sum(map(plan.seconds, own)):.0f} CPU s; the longest "
            f"{plan.seconds(longest):.0f} s ({longest.data} {' '.join(longest.methods)})"
        )
    print(f"all: {sum(map(plan.seconds, parts)):.0f} CPU s, {plan.elapsed(parts, jobs):.0f} s on {jobs} processes")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    options = parser().parse_args(arguments)
    try:
        return follow(options)
    except FileNotFoundError as error:  # a dataset
        raise SystemExit(str(error)) from error
    except KeyboardInterrupt:
        print("\nstopped; run the same command to continue", file=sys.stderr)
        return 130


def planned(options: argparse.Namespace, names: Sequence[str]) -> list[Part]:
    """Return the parts that the command line selects."""
    modules = [catalog.experiment(name) for name in names]
    parts = [part for module in modules for part in module.parts(options.quick, options.seed)]
    if options.only:
        known = {part.data for part in parts}
        if unknown := [name for name in options.only if name not in known]:
            raise SystemExit(f"--only: expected datasets of {', '.join(sorted(known))}, got {', '.join(unknown)}")
        parts = [part for part in parts if part.data in options.only]
    if options.trial:
        parts = list({(part.experiment, part.kind): part for part in reversed(parts)}.values())[::-1]
    return parts


def make_room(path: Path) -> None:
    """Create the folder of an output file and check that it is writable, before the experiments run."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        existed = path.exists()
        path.open("a").close()
        if not existed:
            path.unlink()
    except OSError as error:
        raise SystemExit(f"cannot write {path}: {error}") from error


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
        if options.quick:  # evaluates only claims that any run must meet
            failed += [f"{claim.line}: {claim.what}" for claim in page.claims if claim.met is False]
    for one in failed:
        print(f"FAILED: {one}", file=sys.stderr)
    return 1 if failed else 0


def publish(text: str, path: Path | None) -> None:
    """Write the report, or print it."""
    if path is None:
        print(text)
        return
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
