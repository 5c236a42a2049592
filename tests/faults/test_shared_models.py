"""Processes and threads that share models: forks, and many threads at once."""

from __future__ import annotations

import os
import signal
import threading

import mixed_load
import numpy as np
import pytest

import tanager as tg

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system"),
    pytest.mark.filterwarnings("ignore"),  # of approximate answers, and of forks beside threads
]


@pytest.fixture(scope="module")
def shared_models():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(600, 10))
    y = (X[:, 0] + X[:, 1]) % 3
    gaps = X.astype(float)
    gaps[rng.random(X.shape) < 0.3] = np.nan
    known = {"n_jobs": 2, "categories": [[0, 1, 2, 3]] * 10}
    models = [
        tg.TANClassifier(**known).fit(gaps, y),
        tg.AODEClassifier(**known).fit(gaps, y),
        tg.TBMATANClassifier(**known, n_trees=30, max_assignments=16).fit(gaps, y),
    ]
    return models, gaps, [clf.predict_proba(gaps).tobytes() for clf in models]


def child_exit(work):
    """Fork, let the child work, and return its exit code; 1 if the work is wrong, minus a signal if it hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if work() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def all_right(shared_models):
    models, rows, expected = shared_models
    return [clf.predict_proba(rows).tobytes() for clf in models] == expected


def test_children_predict_after_their_parent_used_threads(shared_models):
    for _ in range(5):
        assert all_right(shared_models)
        assert child_exit(lambda: all_right(shared_models)) == 0
        assert child_exit(lambda: child_exit(lambda: all_right(shared_models)) == 0) == 0


def test_children_of_a_process_whose_threads_predict(shared_models):
    stop = threading.Event()
    wrong = []

    def repeat():
        while not stop.is_set():
            if not all_right(shared_models):
                wrong.append(1)

    threads = [threading.Thread(target=repeat) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        codes = [child_exit(lambda: all_right(shared_models)) for _ in range(8)]
        inside = []  # and from one that is no main thread
        forker = threading.Thread(target=lambda: inside.append(child_exit(lambda: all_right(shared_models))))
        forker.start()
        forker.join()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 8
    assert inside == [0]
    assert not wrong


def test_many_threads_get_the_bits_that_one_gets(tmp_path):
    done, wrong, _ = mixed_load.run(mixed_load.Work(tmp_path), 2.0, 4, memory=False)
    assert not wrong
    assert len(done) == 5  # everything there is to do
