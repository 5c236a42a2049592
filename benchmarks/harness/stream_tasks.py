"""Tasks that the suite `streams` runs in separate processes: each prints its times and memory as a line of JSON."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import tanager as tg
from benchmarks.harness.memory import status_kib
from tanager import _core
from tanager._streams.batches import BatchSource

SCHEMA = pa.schema([("class", pa.int8()), ("p0", pa.float64()), ("p1", pa.float64())])


class Inside:
    """CPU time that Python threads spend in calls of the core and of pyarrow."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.other_threads = 0.0  # total time of threads other than the main one
        self._here = threading.local()

    def watch_core(self) -> None:
        """Count the core's row-processing calls as inside, and the total time of other threads."""
        for owner, name in (
            (_core.CountSet, "add_rows"),
            (_core.CodeBooks, "encode"),
            *(
                (_core, name)
                for name in ("recode", "Dataset", "learn_integers", "number_arrow_strings", "learn_chow_liu")
            ),
        ):
            self.watch(owner, name)
        run = threading.Thread.run

        def timed(thread: threading.Thread) -> None:
            run(thread)
            self.other_threads += time.thread_time()

        threading.Thread.run = timed  # type: ignore[method-assign]

    def watch(self, owner: Any, name: str) -> None:
        """Count the calls of a function as inside."""
        setattr(owner, name, self.timed(getattr(owner, name)))

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._here, "inside", False):  # nested calls count once
                return function(*args, **kwargs)
            self._here.inside, start = True, time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._here.inside = False
                self.seconds += time.thread_time() - start

        return call

    def items(self, source: Iterator[Any]) -> Iterator[Any]:
        """Count the time to get items as inside."""
        following = self.timed(lambda: next(source, None))
        while (item := following()) is not None:
            yield item


def _columns(y: Any, proba: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(y), pa.array(proba[:, 0]), pa.array(proba[:, 1])], schema=SCHEMA)


def read(folder: Path, inside: Inside) -> None:  # noqa: ARG001
    for _ in BatchSource(ds.dataset(folder / "table.parquet")).open():
        pass


def fit(folder: Path, inside: Inside) -> None:
    inside.watch_core()
    source = ds.dataset(folder / "table.parquet")
    clf = tg.TANClassifier().fit_stream(lambda: inside.items(BatchSource(source).open()), "class")
    assert clf.counts_.n_rows == source.count_rows()
    clf.save(folder / "model.tng")


def copy(folder: Path, inside: Inside) -> None:  # noqa: ARG001
    """Read the columns that prediction reads, and write precomputed results."""
    clf = tg.load(folder / "model.tng")
    source = BatchSource(ds.dataset(folder / "table.parquet"))
    first = next(source.open(clf.feature_names_in_.tolist()))
    ready = pa.Table.from_batches([_columns(clf.predict(first), clf.predict_proba(first))])
    start_again()
    with pq.ParquetWriter(folder / "copy.parquet", SCHEMA) as writer:
        for batch in source.open(clf.feature_names_in_.tolist()):
            writer.write_table(ready.slice(0, batch.num_rows))


def predict(folder: Path, inside: Inside) -> None:
    clf = tg.load(folder / "model.tng")
    inside.watch_core()
    inside.watch(clf, "_predict_codes")
    source = ds.dataset(folder / "table.parquet")
    batches = inside.items(BatchSource(source).open(clf.feature_names_in_.tolist()))
    with pq.ParquetWriter(folder / "predicted.parquet", SCHEMA) as writer:
        write = inside.timed(writer.write_batch)
        for y, proba in clf.predict_stream(batches, ["predict", "predict_proba"]):
            write(_columns(y, proba))
    assert pq.read_metadata(folder / "predicted.parquet").num_rows == source.count_rows()


def command(words: Sequence[str], inside: Inside) -> None:
    """Run a command of the command line, including its imports."""
    from tanager.classifiers._base import BaseClassifier
    from tanager.cli import main as tanager

    inside.watch_core()
    inside.watch(BaseClassifier, "_predict_codes")
    iter_batches = pq.ParquetFile.iter_batches
    pq.ParquetFile.iter_batches = lambda *args, **kwargs: inside.items(iter_batches(*args, **kwargs))
    for name in ("write_batch", "write_table"):
        inside.watch(pq.ParquetWriter, name)
    code = tanager(list(words))
    if code:
        raise RuntimeError(f"tanager {' '.join(words)} failed with exit code {code}")


STARTED = [0.0, 0.0]


def start_again() -> None:
    STARTED[:] = time.perf_counter(), time.process_time()


def main() -> None:
    """Run the task that the command line names, or a tanager command in the current folder."""
    task, *words = sys.argv[1:]
    inside = Inside()
    if task == "command":
        command(words, inside)
        print(json.dumps({"share": _share(inside, time.thread_time(), time.process_time())}))
        return
    start_again()
    thread = time.thread_time()
    {"read": read, "fit": fit, "copy": copy, "predict": predict}[task](Path(words[0]), inside)
    wall, cpu = time.perf_counter() - STARTED[0], time.process_time() - STARTED[1]
    answer = {"wall": wall, "cpu": cpu, "peak": status_kib("VmHWM") * 1024}
    if task in {"fit", "predict"}:
        answer["share"] = _share(inside, time.thread_time() - thread, cpu)
    print(json.dumps(answer))


def _share(inside: Inside, main_thread: float, cpu: float) -> float:
    """Return the share of CPU time outside of Python code: calls counted as inside, and threads of pyarrow."""
    return 1 - (main_thread + inside.other_threads - inside.seconds) / cpu


if __name__ == "__main__":
    main()
