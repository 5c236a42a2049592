"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from .tables.formats import TABLE_FORMATS

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
DEFAULT_MEMORY = "256M"


def add_data(parser: argparse.ArgumentParser, *, positional: bool = True, what: str = "the table") -> None:
    """Add the table to be read, and how."""
    text = f"{what}: a CSV (also .gz), Parquet or Arrow file, a folder of such files, or - for standard input"
    if positional:
        parser.add_argument("data", metavar="DATA", help=text)
    group = parser.add_argument_group("reading tables")
    if not positional:
        group.add_argument("--data", metavar="DATA", help=text)
    group.add_argument(
        "--format", choices=TABLE_FORMATS, help="format of DATA (default: by its first bytes and its name)"
    )
    group.add_argument(
        "--delimiter",
        metavar="CHAR",
        type=_delimiter,
        help="what stands between the cells of a CSV file; \\t is a tab (default: a comma, a tab in .tsv files)",
    )
    group.add_argument(
        "--no-header", action="store_true", help="a CSV file has no line of names; its columns are named x0, x1, ..."
    )
    group.add_argument(
        "--missing",
        metavar="MARKER",
        nargs="+",
        action="extend",
        help="cells of CSV files that mean 'missing'; '' is the empty cell (default: '' ? #N/A N/A NA NULL NaN n/a nan null)",
    )
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=memory_size,
        default=memory_size(DEFAULT_MEMORY),
        help=f"about how much memory the rows at work may take, such as 64M or 2G (default: {DEFAULT_MEMORY}); learners "
        "that need all rows at once take what these need",
    )


def add_columns(parser: argparse.ArgumentParser, *, need_class: bool = True) -> None:
    """Add which column is the class, which are features, and how they are taken."""
    group = parser.add_argument_group("columns")
    group.add_argument("--class", dest="class_name", metavar="NAME", required=need_class, help="the column to predict")
    group.add_argument(
        "--ignore", metavar="COLUMN", nargs="+", action="extend", default=[], help="columns that are no features"
    )
    group.add_argument("--weight", metavar="COLUMN", help="column with the weights of the rows; it is no feature")
    group.add_argument(
        "--numeric",
        metavar="WHICH",
        nargs="+",
        default=["float"],
        help="columns of numbers to cut into intervals: 'float' those with fractions (the default), 'number' all of numbers, "
        "or the names of columns; all others are categories. A column of a CSV file is of numbers if all its cells are; a "
        "leading zero, as in 007, makes it text",
    )
    group.add_argument(
        "--discretizer",
        choices=("mdlp", "equal-frequency", "equal-width", "none"),
        default="mdlp",
        help="how columns of numbers are cut (default: mdlp); 'none' takes every number for a category",
    )


def add_learner(parser: argparse.ArgumentParser) -> None:
    """Add which classifier is to be learned."""
    from .learners import PARAMETER_NAMES, STRUCTURE_NAMES

    group = parser.add_argument_group("the classifier")
    group.add_argument(
        "--structure",
        "--classifier",
        metavar="NAME",
        default="naive",
        choices=STRUCTURE_NAMES,
        help=f"how features depend on each other: {', '.join(STRUCTURE_NAMES)} (default: naive)",
    )
    group.add_argument(
        "--parameters",
        metavar="NAME",
        choices=PARAMETER_NAMES,
        help=f"how the tables are estimated: {', '.join(PARAMETER_NAMES)} (default: dirichlet; aode and the tbmatans have "
        "their own)",
    )
    add_settings(group)


def add_settings(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add the option for all other settings."""
    group.add_argument(
        "--set",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="any setting, as in Python: structure.k=3, parameters.alpha=0.5, discretizer.n_bins=4, unseen=error; lists and "
        "null as in JSON; may be given several times",
    )


def add_running(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    """Add threads and seed."""
    group = parser.add_argument_group("running")
    group.add_argument(
        "--threads",
        metavar="N",
        type=at_least(1),
        help="number of threads (default: one per processor); results do not depend on it",
    )
    if seed:
        group.add_argument(
            "--seed", metavar="N", type=at_least(0), default=0, help="seed of all that is drawn at random (default: 0)"
        )


def add_output_format(group: argparse._ArgumentGroup | argparse.ArgumentParser, default: str) -> None:
    """Add the format of a table to be written."""
    group.add_argument(
        "--output-format", choices=TABLE_FORMATS, help=f"format of the output (default: by its name; {default})"
    )


def add_folds(parser: argparse.ArgumentParser) -> None:
    """Add the number of folds."""
    parser.add_argument(
        "--folds", metavar="N", type=at_least(2), default=10, help="number of cross-validation folds (default: 10)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for output that programs read."""
    parser.add_argument("--json", action="store_true", help="write JSON instead of text")


def memory_size(text: str) -> int:
    """Read a size such as 512M."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if size < 1 << 20:
        raise argparse.ArgumentTypeError(f"a size of at least 1M, such as 64M or 2G, was expected, but {text!r} came")
    return size


def at_least(least: int) -> Callable[[str], int]:
    """Return what reads an integer from an option."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"expected an integer >= {least}, got {text!r}")
        return value

    return convert


def _delimiter(text: str) -> str:
    text = "\t" if text == "\\t" else text
    if len(text) != 1 or not text.isascii() or text in '"\r\n':
        raise argparse.ArgumentTypeError(f"one character was expected, but {text!r} came")
    return text
