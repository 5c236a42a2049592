"""Exit codes, and the one place that turns exceptions into a line on standard error."""

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

from .signals import Terminated, exit_on_signals

#: Exit codes: success, failure, invalid input, interrupted.
OK, FAILURE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

#: Name prefix of the threads that a command starts.
THREADS = "tanager-"

_OPTIONAL = {"pyarrow": "to read files", "rich": "to print tables"}
# Errors caused by the file name, as opposed to a failing disk.
_WRONG_NAME = {errno.ENOENT, errno.EACCES, errno.EISDIR, errno.ENOTDIR, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP}


class InputError(ValueError):
    """Invalid input; the message is shown unchanged."""


def not_numeric(column: str, value: str) -> str:
    """Return the message about a value that is not a number in a numeric column."""
    return f"column {column!r} must be numeric, but contains {value}; if that means a missing value, list it with --missing"


def delimiter_hint(names: Sequence[str]) -> str:
    """Return a hint if the only column name looks like several with another delimiter; an empty string otherwise."""
    mark = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    return "" if mark is None else f"; if columns are separated by {mark!r}, use --delimiter {mark!r}"


class ReadFailure(OSError):
    """Reading an existing file failed; the message is shown unchanged."""


def run_safely(run: Callable[[], int], *, at_end: bool = False) -> int:
    """Run a command and return its exit code; an error is one line on standard error.

    Signals end the command, or the process if `at_end`.
    """
    with exit_on_signals(program=at_end):
        try:
            return _code_of(run)
        except KeyboardInterrupt:
            return print_message("interrupted", INTERRUPTED)
        except Terminated as end:
            return int(str(end.code))


def _code_of(run: Callable[[], int]) -> int:
    try:
        with _warnings_on_one_line():
            code = run()
            if sys.stdout is not None:  # it may be closed
                sys.stdout.flush()
            return code
    except BrokenPipeError:
        # The reader of our output has exited. Without this, Python fails when it flushes the rest at exit.
        _drop_stdout()
        return FAILURE
    except ModuleNotFoundError as error:
        if error.name not in _OPTIONAL:
            return _internal_error(error)
        return print_message(f"{error.name} is required {_OPTIONAL[error.name]}: pip install 'tanager[cli]'", FAILURE)
    except (ValueError, TypeError, KeyError) as error:
        return print_message(one_line(error), BAD_INPUT)
    except MemoryError:
        return print_message("out of memory", FAILURE)
    except OSError as error:
        return print_message(one_line(error), FAILURE)
    except Exception as error:  # noqa: BLE001  # a bug in tanager
        return _internal_error(error)


def print_message(message: str, code: int = OK) -> int:
    """Write a line to standard error and return the exit code."""
    print(f"tanager: {message}", file=sys.stderr)  # noqa: T201
    return code


@contextmanager
def reading(name: str, reworded: Callable[[str], str] = str) -> Iterator[None]:
    """Add the file name to errors raised while reading it; `reworded` rewrites messages of pyarrow."""
    try:
        yield
    except (InputError, ReadFailure):
        raise
    except OSError as error:
        if error.errno not in _WRONG_NAME:
            raise ReadFailure(f"cannot read {name}: {_reason(error)}") from error
        raise InputError(f"cannot read {name}: {_reason(error)}") from error
    except (EOFError, zlib.error) as error:  # truncated or corrupted files
        raise ReadFailure(f"cannot read {name}: {one_line(error)}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {name}: it is not UTF-8 text") from error
    except (ValueError, KeyError, NotImplementedError) as error:
        raise InputError(f"cannot read {name}: {reworded(one_line(error))}") from error


def _reason(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else one_line(error)


def one_line(error: BaseException) -> str:
    """Return the message of an exception on one line."""
    if isinstance(error, OSError) and error.errno is not None:
        text = error.strerror or os.strerror(error.errno)
        return f"{error.filename}: {text.lower()}" if error.filename else text
    # str() of a KeyError would be the repr of its message.
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines) if lines else type(error).__name__


def _internal_error(error: Exception) -> int:
    if os.environ.get("TANAGER_DEBUG"):
        traceback.print_exception(error)
    return print_message(
        f"internal error ({type(error).__name__}): {one_line(error)}; set TANAGER_DEBUG=1 for a traceback", FAILURE
    )


def leave(code: int) -> int:
    """Return the exit code, or exit now if a thread still waits for input that may never arrive."""
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
        pass  # not a real file, as in tests


@contextmanager
def _warnings_on_one_line() -> Iterator[None]:
    printed: set[str] = set()

    def show(message: Any, *_arguments: Any, **_options: Any) -> None:
        text = one_line(message)
        if text not in printed:
            printed.add(text)
            print_message(f"warning: {text}")

    with warnings.catch_warnings():
        # Show warnings meant for users, not those meant for developers, such as deprecations.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        # For models without feature names, commands select the columns by position.
        warnings.filterwarnings("ignore", message="X has feature names")
        warnings.showwarning = show
        yield
