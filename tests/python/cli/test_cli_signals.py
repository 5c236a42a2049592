"""Signals end the program with their exit code, whenever they come, and leave no file behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tanager as tg

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX systems"),
]

ROWS = b"sky,wind\n" + b"sun,1\n" * 10


@pytest.fixture
def model(tmp_path):
    X = np.array([["sun", "1"], ["rain", "2"]], dtype=object)
    pd = pytest.importorskip("pandas")
    tg.NaiveBayesClassifier().fit(pd.DataFrame(X, columns=["sky", "wind"]), ["a", "b"]).save(tmp_path / "m.tng")
    return tmp_path / "m.tng"


@pytest.fixture
def start():
    """Start programs with signals as a terminal would set them, and end them whatever happens to the test."""
    running = []

    def restore():  # these tests may run under nohup, or in the background
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    def start(*command, **options):
        pipe = subprocess.PIPE
        command = list(map(str, command))
        running.append(subprocess.Popen(command, stdin=pipe, stderr=pipe, preexec_fn=restore, **options))  # noqa: PLW1509
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def wait_for_a_file(folder, process):
    deadline = time.monotonic() + 60
    while not any(folder.iterdir()):
        assert process.poll() is None
        assert time.monotonic() < deadline


def ended(process):
    """Return the exit code and what was said; standard input stays open, and nothing more comes from it."""
    code = process.wait(60)
    return code, process.stderr.read()


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_program_and_leave_no_file(start, model, tmp_path, number, times):
    # It waits for more rows on standard input when the signal comes, and they never do.
    folder = tmp_path / "out"
    folder.mkdir()
    process = start(sys.executable, "-m", "tanager", "predict", model, "-", "-o", folder / "p.csv")
    process.stdin.write(ROWS)
    process.stdin.flush()
    wait_for_a_file(folder, process)  # and not a moment longer
    for _ in range(times):
        process.send_signal(number)
    assert ended(process) == (128 + number, b"tanager: interrupted\n" if number == signal.SIGINT else b"")
    assert not list(folder.iterdir())


def test_signals_that_the_caller_ignores_are_ignored(start, model, tmp_path):
    code = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
    )
    command = [sys.executable, "-m", "tanager", "predict", model, "-", "-o", tmp_path / "p.csv"]  # as nohup runs it
    process = start(sys.executable, "-c", code, *command)
    process.stdin.write(ROWS)
    process.stdin.flush()
    while len(list(tmp_path.iterdir())) < 2:
        assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    process.stdin.close()
    assert ended(process) == (0, b"")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 11
    process.stdin = None


# Where an exception would be dropped, as in C modules that are just being imported, in destructors and the like.
DEAF = """
import os, signal, sys, time
from tanager.cli.tables.spool import TemporaryFile
from tanager.cli.signals import exit_on_signals
from tanager._utils.files import atomic_write

with exit_on_signals(program=True), atomic_write("p.csv"):
    kept = TemporaryFile()
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    except BaseException:
        pass
"""


def test_the_program_ends_where_exceptions_are_dropped(start, tmp_path):
    process = start(
        sys.executable, "-c", DEAF, cwd=tmp_path, env={"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    )
    assert ended(process) == (130, b"tanager: interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("after", [0.3, 0.6, 0.9])
def test_signals_while_it_starts_are_one_sentence(start, after, tmp_path):
    process = start(sys.executable, "-m", "tanager", "fit", "-", "--class", "y", "-o", tmp_path / "m.tng")
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    code, said = ended(process)
    assert (code, said) == (
        130,
        b"tanager: interrupted\n",
    ) or code == -signal.SIGINT  # the latter before our first line
    assert not list(tmp_path.iterdir())
