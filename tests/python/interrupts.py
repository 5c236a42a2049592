"""Programs that are interrupted, as Ctrl-C does it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time


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
