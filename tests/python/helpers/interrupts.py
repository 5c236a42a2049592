"""Programs and functions that are interrupted, as Ctrl-C does it."""

from __future__ import annotations

import gc
import inspect
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def interrupted(code: str, after: float) -> str:
    """Run code that prints "ready" and then works for minutes, interrupt it after some seconds, and return its last line."""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout.readline() == "ready\n"
        time.sleep(after)
        run.send_signal(signal.SIGINT)
        try:
            error = run.communicate(timeout=30)[1]  # alone it would take minutes
        except subprocess.TimeoutExpired:
            run.kill()
            raise
    return error.splitlines()[-1]


def interrupt_at(first: int, second: int | None, run: Callable[[], Any]) -> int:
    """Run a function with an interrupt at one of the points where Python looks for signals, and perhaps another later.

    These points are the beginnings of functions and the returns of those in C. Returns how many interrupts there were.
    No garbage is collected meanwhile: others may have functions called then, whose interrupts only pytest would hear of.
    """
    raised = 0
    passed = 0

    def watch(frame: Any, event: str, _argument: Any) -> None:
        nonlocal raised, passed
        # Generators go on without a look at signals where an exception is thrown into them.
        if event == "c_return" or (event == "call" and not frame.f_code.co_flags & inspect.CO_GENERATOR):
            passed += 1
            if passed == (second if raised else first):
                raised += 1
                passed = 0
                raise KeyboardInterrupt  # and Python forgets this function

    def again(_frame: Any, event: str, _argument: Any) -> Any:
        nonlocal passed
        if event == "exception" and raised == 1 and sys.getprofile() is None:
            sys.settrace(None)
            passed = -1  # the return of the line below
            sys.setprofile(watch)
        return again

    before = sys.gettrace(), sys.getprofile()
    collects = gc.isenabled()
    gc.disable()
    try:
        sys.settrace(again)
        sys.setprofile(watch)
        run()
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(before[1])
        sys.settrace(before[0])
        if collects:
            gc.enable()
    return raised
