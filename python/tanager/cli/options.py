"""Options that several commands share."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable

from .tables.formats import TABLE_FORMATS

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
DEFAULT_MEMORY = "256M"


def add_data(parser: argparse.ArgumentParser, *, positional: bool = True, what: str = "the dataset") -> None:
    """Add the dataset and how to read it."""
    text = f"{what}: a CSV (also .gz), Parquet or Arrow file, a folder of such files, or - for standard input"
    if positional:
        parser.add_argument("data", metavar="DATA", help=text)
    group = parser.add_argument_group("reading data")
    if not positional:
        group.add_argument("--data", metavar="DATA", help=text)
    group.add_argument(
        "--format", choices=TABLE_FORMATS, help="format of DATA (default: detected from its content and name)"
    )
    group.add_argument(
        "--delimiter",
        metavar="CHAR",
        type=_delimiter,
        help="field delimiter of CSV files; \\t is a tab (default: comma, or tab for .tsv files)",
    )
    group.add_argument(
        "--no-header", action="store_true", help="CSV files have no header; columns are named x0, x1, ..."
    )
    group.add_argument(
        "--missing",
        metavar="MARKER",
        nargs="+",
        action="extend",
        help="values of CSV files that mean 'missing'; '' is an empty field (default: '' ? #N/A N/A NA NULL NaN n/a nan null)",
    )
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=memory_size,
        default=memory_size(DEFAULT_MEMORY),
        help=f"approximate memory for batches of rows, such as 64M or 2G (default: {DEFAULT_MEMORY}); learners that need "
        "all rows at once may use more",
    )


def add_columns(parser: argparse.ArgumentParser, *, need_class: bool = True) -> None:
    """Add the roles of columns and how numeric ones are discretized."""
    group = parser.add_argument_group("columns")
    group.add_argument("--class", dest="class_name", metavar="NAME", required=need_class, help="the column to predict")
    group.add_argument(
        "--ignore",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="columns to exclude from the features",
    )
    group.add_argument("--weight", metavar="COLUMN", help="column of sample weights (not used as a feature)")
    group.add_argument(
        "--numeric",
        metavar="WHICH",
        nargs="+",
        default=["float"],
        help="numeric columns to discretize: 'float' for columns with fractions (the default), 'number' for all numeric "
        "columns, or column names; all others are categories. A CSV column is numeric if all its values are; a leading "
        "zero, as in 007, makes it text",
    )
    group.add_argument(
        "--discretizer",
        choices=("mdlp", "equal-frequency", "equal-width", "none"),
        default="mdlp",
        help="discretization method (default: mdlp); 'none' treats every number as a category",
    )


def add_learner(parser: argparse.ArgumentParser) -> None:
    """Add the choice of classifier."""
    from .learners import PARAMETER_NAMES, STRUCTURE_NAMES

    group = parser.add_argument_group("classifier")
    group.add_argument(
        "--structure",
        "--classifier",
        metavar="NAME",
        default="naive",
        choices=STRUCTURE_NAMES,
        help=f"structure learner, or a model average: {', '.join(STRUCTURE_NAMES)} (default: naive)",
    )
    group.add_argument(
        "--parameters",
        metavar="NAME",
        choices=PARAMETER_NAMES,
        help=f"parameter learner: {', '.join(PARAMETER_NAMES)} (default: dirichlet); not available for aode, tbmatan and "
        "sstbmatan",
    )
    add_settings(group)


def add_settings(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add the option for any other setting."""
    group.add_argument(
        "--set",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="any setting of the Python classes, such as structure.k=3, parameters.alpha=0.5, discretizer.n_bins=4 or "
        "unseen=error; lists and null as in JSON; may be repeated",
    )


def add_running(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    """Add threads and seed."""
    group = parser.add_argument_group("execution")
    group.add_argument(
        "--threads",
        metavar="N",
        type=at_least(1),
        help="number of threads (default: one per CPU); does not change the results",
    )
    if seed:
        group.add_argument("--seed", metavar="N", type=at_least(0), default=0, help="random seed (default: 0)")


def add_output_format(group: argparse._ArgumentGroup | argparse.ArgumentParser, default: str) -> None:
    """Add the format of the output data."""
    group.add_argument(
        "--output-format", choices=TABLE_FORMATS, help=f"format of the output (default: from its name; {default})"
    )


def add_folds(parser: argparse.ArgumentParser) -> None:
    """Add the number of folds."""
    parser.add_argument(
        "--folds", metavar="N", type=at_least(2), default=10, help="number of cross-validation folds (default: 10)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for machine-readable output."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def memory_size(text: str) -> int:
    """Parse a size such as 512M."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if size < 1 << 20:
        raise argparse.ArgumentTypeError(f"expected a size of at least 1M, such as 64M or 2G, got {text!r}")
    return size


def at_least(minimum: int) -> Callable[[str], int]:
    """Return a parser of integers for argparse."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if value < minimum:
            raise argparse.ArgumentTypeError(f"expected an integer >= {minimum}, got {text!r}")
        return value

    return convert


def positive(text: str) -> float:
    """Parse a positive number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected a number > 0, got {text!r}")
    return value


def _delimiter(text: str) -> str:
    text = "\t" if text == "\\t" else text
    if len(text) != 1 or not text.isascii() or text in '"\r\n':
        raise argparse.ArgumentTypeError(f"expected a single ASCII character, got {text!r}")
    return text
