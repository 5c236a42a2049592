"""The command line: ``tanager demo``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import __version__

#: Exit codes: all went well, it failed, the input was bad, it was interrupted.
OK, FAILURE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; errors are one sentence on standard error, never a traceback."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if "run" not in options:
        parser.print_help()
        return BAD_INPUT
    try:
        run: Callable[[argparse.Namespace], None] = options.run
        run(options)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except ModuleNotFoundError as error:
        if error.name != "rich":
            raise
        return _say("the command line needs rich: pip install 'tanager[cli]'", FAILURE)
    except (ValueError, TypeError) as error:
        return _say(str(error), BAD_INPUT)
    except OSError as error:
        return _say(str(error), FAILURE)
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tanager", description="Discrete Bayesian network classifiers.")
    parser.add_argument("--version", action="version", version=f"tanager {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="learn, compare, save, load and predict on tables that come with the package",
        description="Learns naive Bayes and TAN on tables that come with the package, cross-validates them beside "
        "scikit-learn's CategoricalNB, saves a model, loads it again, predicts, and writes a report.",
    )
    demo.add_argument(
        "--output", type=Path, default=Path("tanager-demo"), help="folder for model, predictions and report"
    )
    demo.add_argument("--folds", type=int, default=10, help="number of cross-validation folds (default: 10)")
    demo.add_argument("--seed", type=int, default=0, help="seed of the folds (default: 0)")
    demo.add_argument("--tables", nargs="+", metavar="NAME", help="tables to use (default: a small tour)")
    demo.set_defaults(run=_demo)
    return parser


def _demo(options: argparse.Namespace) -> None:
    from ._demo import run_demo

    run_demo(options.output, folds=options.folds, seed=options.seed, tables=options.tables)


def _say(message: str, code: int) -> int:
    print(f"tanager: {message}", file=sys.stderr)  # noqa: T201
    return code
