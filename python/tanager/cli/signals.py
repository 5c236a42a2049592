"""Signal handling: commands end cleanly and leave no partial files."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .._utils.files import unfinished


class Terminated(SystemExit):
    """A signal ended the command; partial files are removed on the way out."""


@contextmanager
def exit_on_signals(*, program: bool) -> Iterator[None]:
    """End the running command on Ctrl-C, SIGTERM and SIGHUP.

    Parameters
    ----------
    program : bool
        Whether the process only runs this command. It then exits as soon as Python sees the signal: an exception may get
        lost, for example in a module that is being imported, and a second signal could interrupt the cleanup. Otherwise
        signals raise exceptions, and the previous handlers are restored afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ending = False

    def end(number: int, _frame: Any) -> None:
        nonlocal ending
        if ending:
            return
        if program:
            ending = True
            _end_now(number)
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(128 + number)

    # Keep handlers that somebody else has set, such as nohup's.
    usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    if hasattr(signal, "SIGHUP"):
        usual[signal.SIGHUP] = signal.SIG_DFL
    ours = [number for number, handler in usual.items() if signal.getsignal(number) is handler]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in () if program else ours:
            signal.signal(number, usual[number])


def _end_now(number: int) -> None:
    for name in list(unfinished):
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108
    message = b"tanager: interrupted\n" if number == signal.SIGINT else b""
    # Not print: the signal may have interrupted one.
    with suppress(OSError, ValueError, AttributeError):
        if sys.stderr.isatty() and os.environ.get("TERM") not in (None, "dumb", "unknown"):
            message = b"\r\x1b[K\x1b[?25h" + message  # progress bars hide the cursor
        os.write(sys.stderr.fileno(), message)
    os._exit(128 + number)
