"""The command-line interface: ``tanager fit | predict | cv | compare | inspect | report | convert | demo``.

`commands` has one module per command, each with ``HELP``, ``add_options(parser)`` and ``run(options)``; a module is imported
only when its command is used. `tables` reads and writes files. The other modules are shared by commands.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from .errors import BAD_INPUT, FAILURE, INTERRUPTED, OK, leave, run_safely

__all__ = ["BAD_INPUT", "COMMANDS", "FAILURE", "INTERRUPTED", "OK", "build_parser", "main"]

#: What each command does, in the order of the help.
COMMANDS = {
    "fit": "train a classifier on a dataset and write a model file",
    "predict": "predict the class of each row with a model file",
    "cv": "cross-validate one classifier and show the score of each fold",
    "compare": "cross-validate many classifiers on one dataset and rank them",
    "inspect": "show the contents of a model file: structure, features, tables",
    "report": "write an HTML report on a model, with scores on held-out data",
    "convert": "convert data, model files and networks between formats",
    "demo": "guided tour on bundled datasets: fit, compare, save, load, predict",
}

_EPILOG = """\
input: CSV (also .gz), Parquet, Arrow IPC (file or stream), a folder of such
files, or - for standard input.
Run 'tanager COMMAND --help' for the options of a command, and examples.

exit codes: 0 success, 1 failure, 2 invalid input or option, 130 interrupted
(Ctrl-C).
"""


class Parser(argparse.ArgumentParser):
    """A parser that prints each error on one line."""

    _given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse options, and keep the arguments for error messages."""
        self._given = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print an error message and exit with code 2."""
        unknown = [name for name in self._given if name.startswith("--") and not self._has_option(name)]
        if message.startswith("the following arguments are required") and unknown:
            # argparse reports missing arguments first, which hides a misspelled option.
            message = f"unknown option {unknown[0].partition('=')[0]}; {message}"
        self.exit(BAD_INPUT, f"{self.prog}: {message}; see '{self.prog} --help'\n")

    def _has_option(self, text: str) -> bool:
        name = text.partition("=")[0]
        return any(option.startswith(name) for option in self._option_string_actions)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; errors are one line on standard error, never a traceback."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    code = run_safely(lambda: _run(given), at_end=arguments is None)
    return leave(code) if arguments is None else code


def _run(given: list[str]) -> int:
    command = next((argument for argument in given if not argument.startswith("-")), None)
    try:
        parser = build_parser({command} & COMMANDS.keys())  # type: ignore[arg-type]
        options = parser.parse_args(given)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else OK
    if "run" not in options:
        parser.print_help()
        return BAD_INPUT
    run: Callable[[argparse.Namespace], None] = options.run
    run(options)
    return OK


def build_parser(with_options: Sequence[str] | set[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """Build the parser; only the given commands are imported and get their options."""
    form = argparse.RawDescriptionHelpFormatter
    parser = Parser(
        prog="tanager", description="Discrete Bayesian network classifiers.", epilog=_EPILOG, formatter_class=form
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.add_argument(
        "--cmake-dir", action=_Folder, nargs=0, help="show the CMake package folder (for -Dtanager_DIR) and exit"
    )
    parser.add_argument("--include", action=_Folder, nargs=0, help="show the C++ include folder and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=form)
        if name in with_options:
            module = import_module(f".commands.{name}", __name__)
            command.description, _, command.epilog = module.HELP.strip().partition("\n\nexamples:")
            command.epilog = f"examples:{command.epilog}" if command.epilog else None
            module.add_options(command)
            command.set_defaults(run=module.run)
    return parser


class _Version(argparse.Action):
    """Print the version; imports the core only when used."""

    def __call__(self, parser: argparse.ArgumentParser, *_arguments: object) -> None:
        from .. import __version__

        print(f"tanager {__version__}")  # noqa: T201
        parser.exit(OK)


class _Folder(argparse.Action):
    """Print the folder of the C++ headers or of the CMake package."""

    def __call__(self, parser: argparse.ArgumentParser, *_arguments: object) -> None:
        from .. import get_cmake_dir, get_include

        print(get_include() if self.dest == "include" else get_cmake_dir())  # noqa: T201
        parser.exit(OK)
