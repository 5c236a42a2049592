"""``tanager demo``: a tour of the library on bundled datasets."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = """
Cross-validate naive Bayes and TAN on bundled datasets, next to scikit-learn's
CategoricalNB; then fit, save and load a model, predict with it, and write an
HTML report.

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
        help="output folder for the model, predictions, comparison and report (default: tanager-demo)",
    )
    parser.add_argument(
        "--folds", metavar="N", type=int, default=10, help="number of cross-validation folds (default: 10)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="random seed of the folds (default: 0)")
    parser.add_argument(
        "--tables", nargs="+", metavar="NAME", help="bundled datasets to use (default: a small selection)"
    )


def run(options: argparse.Namespace) -> None:
    """Run the tour."""
    from ..tour import run_demo

    run_demo(options.output, folds=options.folds, seed=options.seed, tables=options.tables)
