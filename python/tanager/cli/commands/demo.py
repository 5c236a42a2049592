"""``tanager demo``: the whole road on tables that come with the package."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = """
Learn naive Bayes and TAN on tables that come with the package, cross-validate
them beside scikit-learn's CategoricalNB, save a model, load it again, predict,
and write a report to open in a browser.

examples:
  tanager demo
  tanager demo --tables iris digits --folds 5 --output /tmp/tour
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--output",
        "-o",
        metavar="FOLDER",
        type=Path,
        default=Path("tanager-demo"),
        help="folder for model, predictions, comparison and report (default: tanager-demo)",
    )
    parser.add_argument(
        "--folds", metavar="N", type=int, default=10, help="number of cross-validation folds (default: 10)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the folds (default: 0)")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="tables to use (default: a small tour)")


def run(options: argparse.Namespace) -> None:
    """Run the tour."""
    from .. import demo_tour as _demo

    _demo.run_demo(options.output, folds=options.folds, seed=options.seed, tables=options.tables)
