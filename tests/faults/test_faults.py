"""Memory, disks and processes that fail in the middle: a clean error, whole files, and the same results afterwards."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tanager as tg

FAULTS = Path(__file__).resolve().parent
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and its kin are those of Linux"),
]


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """The library that lets calls fail, compiled as the C++ tests are."""
    library = tmp_path_factory.mktemp("faults") / "shim.so"
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", FAULTS / "shim.cpp"]
    subprocess.run([*command, "-o", library, "-ldl"], check=True)
    return library


@pytest.fixture(scope="module")
def raised(shim):
    """How many failures of a kind of call each scenario raised, by kind and name. All in one process, to save time."""
    written = "save,report,write_bif"
    # The C++ tests let every allocation fail; here it is the way through Python that matters.
    through = "fit,fit_threads,fit_words,fit_numbers,fit_search,fit_em,predict_gaps,save,load,report,stream,judge,trees"
    given = [f"1:{written},load,read_bif:open", f"1:{written}:write,fsync,rename,close"]
    given += [f"17:{through}:new", "101:predict_average:new", "1:fit,fit_words,fit_numbers,fit_elr:array"]
    environment = {**os.environ, "LD_PRELOAD": str(shim), "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, FAULTS / "scenarios.py", *given]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {}
    for name, kind, count in re.findall(r"(\w+) (\w+): \d+ calls, (\d+) raised", done.stdout):
        found.setdefault(kind, {})[name] = int(count)
    return found


@pytest.mark.parametrize("kind", ["open", "write", "fsync", "rename", "close"])
def test_files_are_whole_whichever_call_fails(raised, kind):
    assert len(raised[kind]) == (5 if kind == "open" else 3)
    assert min(raised[kind].values()) > 0


def test_memory_may_run_out_anywhere(raised):
    assert len(raised["new"]) == 14
    assert min(raised["new"].values()) > 0


def test_arrays_may_find_no_memory(raised):
    assert len(raised["array"]) == 4
    assert min(raised["array"].values()) > 0


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A model, a table to predict, and the program that does it."""
    folder = tmp_path_factory.mktemp("job")
    X = np.random.default_rng(0).integers(0, 3, size=(300, 4))
    tg.TANClassifier().fit(X, X[:, 0]).save(folder / "model.tng")
    rows = np.vstack([X] * 40)
    np.savetxt(folder / "rows.csv", rows, "%d", ",", header="x0,x1,x2,x3", comments="")
    program = shutil.which(
        "tanager-predict", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    assert program
    command = [program, folder / "model.tng", folder / "rows.csv", "-o"]
    subprocess.run([*command, folder / "expected.csv"], check=True)
    return command, (folder / "expected.csv").read_bytes()


@pytest.mark.parametrize("kind", ["new", "open", "write", "fsync", "rename", "close"])
def test_predictions_are_written_whole_or_not_at_all(shim, job, kind, tmp_path):
    command, expected = job
    path = tmp_path / "out.csv"
    ended = set()
    for k in range(1, 400, 23) if kind == "new" else range(1, 30):
        path.write_bytes(b"old")
        environment = {**os.environ, "LD_PRELOAD": str(shim), "TANAGER_FAULT": f"{kind}:{k}:28"}
        done = subprocess.run([*command, path], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1, 2), (k, done.returncode, done.stderr)
        assert path.read_bytes() == (expected if done.returncode == 0 else b"old")
        assert (done.returncode == 0) == (done.stderr == "")
        assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
        ended.add(done.returncode != 0)
        if kind != "new" and k > 5 and done.returncode == 0:
            break  # there are no more calls
    assert ended == {False, True}


X = np.random.default_rng(0).integers(0, 5, size=(3000, 12))
WRITERS = {
    "save": lambda clf, path: clf.save(path),
    "report": lambda clf, path: clf.report(path),
    "stream": lambda clf, path: type(clf)().fit_stream([(X, X[:, 0])] * 2).save(path),
}


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("what", WRITERS)
def test_a_killed_writer_leaves_the_old_or_the_new_file(what, tmp_path):
    models = [tg.TANClassifier().fit(X, X[:, 0]), tg.AODEClassifier().fit(X, X[:, 1] % 2)]
    path = tmp_path / "file"
    whole = []
    for clf in models:
        WRITERS[what](clf, path)
        whole.append(path.read_bytes())
    rng = np.random.default_rng(0)
    left = set()
    for _ in range(25):
        child = os.fork()
        if child == 0:
            try:
                while True:
                    for clf in models:
                        WRITERS[what](clf, path)
            finally:
                os._exit(1)
        try:
            for _ in range(5):  # files are replaced while we look
                time.sleep(rng.uniform(0, 0.01))
                assert path.read_bytes() in whole
        finally:  # or it would go on for ever where this fails
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        assert path.read_bytes() in whole
        # What a killed process has begun nobody else can remove; its names say what it is.
        now = {file.name for file in tmp_path.iterdir()} - {"file"}
        assert all(name.startswith(".") and name.endswith((".tmp", ".part")) for name in now)
        assert len(now - left) <= 1
        left = now


def test_a_killed_prediction_leaves_the_old_or_the_new_file(job, tmp_path):
    command, expected = job
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    rng = np.random.default_rng(0)
    found = set()
    for _ in range(60):
        with subprocess.Popen([*command, path], stderr=subprocess.PIPE) as run:
            time.sleep(rng.uniform(0, 0.02))
            run.send_signal(signal.SIGKILL)
        found.add(path.read_bytes())
        assert found <= {b"old", expected}
        path.write_bytes(b"old")
    assert b"old" in found  # some were killed before they were done
