"""Signals end a command, and leave no half-written file behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .._utils.files import unfinished


class Ended(SystemExit):
    """A signal asked the process to end; what is half done is removed on the way out."""


@contextmanager
def ended_by_signals(*, program: bool) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end what is at work.

    Parameters
    ----------
    program : bool
        Whether this is all that the process does. It is then ended on the spot, as soon as Python sees the signal: an
        exception may be dropped on its way, for one by modules that are just being imported, and a second signal would cut
        cleaning up short. Otherwise signals are exceptions, and handled as before afterwards.
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
        raise KeyboardInterrupt if number == signal.SIGINT else Ended(128 + number)

    # Who ignores them for us, as nohup does, or handles them in another way, means it.
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
    said = b"tanager: interrupted\n" if number == signal.SIGINT else b""
    # Not print: the signal may have come in the midst of one.
    with suppress(OSError, ValueError, AttributeError):
        if sys.stderr.isatty() and os.environ.get("TERM") not in (None, "dumb", "unknown"):
            said = b"\r\x1b[K\x1b[?25h" + said  # where progress is shown, it hid the cursor
        os.write(sys.stderr.fileno(), said)
    os._exit(128 + number)
