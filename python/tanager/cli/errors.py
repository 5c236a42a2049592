"""Exit codes, and the one place where errors become a sentence on standard error."""

from __future__ import annotations

import errno
import os
import sys
import threading
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from .signals import Ended, ended_by_signals

#: Exit codes: all went well, it failed, the input was bad, it was interrupted.
OK, FAILURE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

#: How the names of threads begin that work for a command.
THREADS = "tanager-"

_OPTIONAL = {"pyarrow": "files", "rich": "tables in the terminal"}
# What is wrong with the name of a file, and not with the machine.
_WRONG_NAME = {errno.ENOENT, errno.EACCES, errno.EISDIR, errno.ENOTDIR, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP}


class InputError(ValueError):
    """Input that cannot be used; the message is shown as it is."""


def not_numbers(column: str, held: str) -> str:
    """Say that a column of numbers holds something else, and what to do if that stands for nothing."""
    return f"column {column!r} needs numbers, but holds {held}; --missing tells which cells are missing"


def other_delimiter(names: Sequence[str]) -> str:
    """Return how to go on if the only name of a column looks like several with another character between; else nothing."""
    found = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    return "" if found is None else f"; if {found!r} stands between cells, --delimiter says so"


class ReadFailure(OSError):
    """Reading failed, though the file is there; the message is shown as it is."""


def run_safely(run: Callable[[], int], *, at_end: bool = False) -> int:
    """Run a command; return its exit code, after one sentence on standard error if it failed.

    Signals end the command, or the whole program if that ends afterwards in any case.
    """
    with ended_by_signals(program=at_end):
        try:
            return _code_of(run)
        except KeyboardInterrupt:
            return say("interrupted", INTERRUPTED)
        except Ended as end:
            return int(str(end.code))


def _code_of(run: Callable[[], int]) -> int:
    try:
        with _warnings_as_sentences():
            code = run()
            if sys.stdout is not None:  # it may be closed
                sys.stdout.flush()
            return code
    except BrokenPipeError:
        # Whoever read the output has seen enough. Python would complain when it flushes the rest on its way out.
        _drop_stdout()
        return FAILURE
    except ModuleNotFoundError as error:
        if error.name not in _OPTIONAL:
            return _say_unexpected(error)
        return say(f"{error.name} is needed for {_OPTIONAL[error.name]}: pip install 'tanager[cli]'", FAILURE)
    except (ValueError, TypeError, KeyError) as error:
        return say(sentence(error), BAD_INPUT)
    except MemoryError:
        return say("there is not enough memory for this", FAILURE)
    except OSError as error:
        return say(sentence(error), FAILURE)
    except Exception as error:  # noqa: BLE001  # a mistake of ours
        return _say_unexpected(error)


def say(message: str, code: int = OK) -> int:
    """Write a sentence to standard error and return the exit code."""
    print(f"tanager: {message}", file=sys.stderr)  # noqa: T201
    return code


@contextmanager
def reading(name: str, reworded: Callable[[str], str] = str) -> Iterator[None]:
    """Name the file in errors of reading it, and let what pyarrow says be said in better words."""
    try:
        yield
    except (InputError, ReadFailure):
        raise
    except OSError as error:
        if error.errno not in _WRONG_NAME:
            raise ReadFailure(f"{name} cannot be read: {_reason(error)}") from error
        raise InputError(f"{name} cannot be read: {_reason(error)}") from error
    except (EOFError, zlib.error) as error:  # of files that are cut or damaged
        raise ReadFailure(f"{name} cannot be read: {sentence(error)}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name} cannot be read: it is no text in UTF-8") from error
    except (ValueError, KeyError, NotImplementedError) as error:
        raise InputError(f"{name} cannot be read: {reworded(sentence(error))}") from error


def _reason(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else sentence(error)


def sentence(error: BaseException) -> str:
    """Return what an error says as one line."""
    if isinstance(error, OSError) and error.errno is not None:
        text = error.strerror or os.strerror(error.errno)
        return f"{error.filename}: {text.lower()}" if error.filename else text
    # str() of a KeyError would be the repr of its message.
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines) if lines else type(error).__name__


def _say_unexpected(error: Exception) -> int:
    if os.environ.get("TANAGER_DEBUG"):
        traceback.print_exception(error)
    return say(
        f"unexpected {type(error).__name__}: {sentence(error)}; TANAGER_DEBUG=1 in the environment shows where", FAILURE
    )


def leave(code: int) -> int:
    """Return the exit code of a program, or end it now where a thread of ours still waits for input that may never come."""
    if any(thread.name.startswith(THREADS) for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    return code


def _drop_stdout() -> None:
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        pass  # it is no file, as in tests


@contextmanager
def _warnings_as_sentences() -> Iterator[None]:
    shown: set[str] = set()

    def show(message: Any, *_arguments: Any, **_options: Any) -> None:
        text = sentence(message)
        if text not in shown:
            shown.add(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        # What is meant for users; what is meant for developers, such as deprecations, is not.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        # Where a model knows no names, commands choose its columns by position.
        warnings.filterwarnings("ignore", message="X has feature names")
        warnings.showwarning = show
        yield
