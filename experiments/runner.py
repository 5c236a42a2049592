"""Run experiments in parts: on all cores, seeded, and without repeating finished parts.

A part is a dataset (or a synthetic distribution), some methods, a fraction of the rows, a share of missing values, and some splits. Its
result is cached in a small file whose name is a hash of what it depends on: the settings, the data, and the versions of the
experiment and of tanager. The file also records a hash of the code that computed it: parts of other code are counted, and repeated on
request. Random numbers depend only on the experiment, the dataset, the seed and the number of the split. Methods, fractions and missing
rates are therefore compared on the same rows, and neither the order of the parts nor the number of processes matters.
"""

from __future__ import annotations

import csv
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import tables
from experiments import catalog
from experiments.code import digest_of_code
from experiments.plan import Plan

#: Environment of worker processes: one per core, each with a single thread.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
COLUMNS = ("experiment", "data", "method", "split", "fraction", "missing", "measure", "value")

Floats = NDArray[np.float64]


class Row(NamedTuple):
    """One measured value."""

    method: str
    measure: str
    split: int
    value: float


@dataclass(frozen=True)
class Part:
    """A unit of work of an experiment.

    Parameters
    ----------
    data : str
        Name of a dataset, or of a distribution that the experiment defines.
    splits : tuple of int
        Indices of the folds, partitions or samples.
    settings : tuple of (str, value)
        Further settings that the result depends on.
    sources : tuple of str
        Names of the data files, without suffix.
    """

    experiment: str
    data: str = ""
    methods: tuple[str, ...] = ()
    splits: tuple[int, ...] = (0,)
    fraction: float = 1.0
    missing: float = 0.0
    settings: tuple[tuple[str, Any], ...] = ()
    sources: tuple[str, ...] = ()
    seed: int = 0

    def __getitem__(self, name: str) -> Any:
        return dict(self.settings)[name]

    def random(self, split: int) -> np.random.Generator:
        """Return the random generator of a split, the same for every part of this experiment and dataset."""
        text = json.dumps([self.experiment, self.data, self.seed, split])
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little"))

    @property
    def kind(self) -> str:
        """Everything but the splits: parts of the same kind take equally long per split."""
        settings = " ".join(f"{name}={value}" for name, value in self.settings if name != "code")
        return "; ".join([self.data, " ".join(self.methods), f"{self.fraction:g}", f"{self.missing:g}", settings])

    def key(self) -> str:
        """Return a hash of everything that the result depends on."""
        import tanager as tg

        version = catalog.experiment(self.experiment).VERSION
        content = [asdict(self), version, tg.__version__, [digest(source) for source in self.sources]]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


@cache
def digest(source: str) -> str:
    """Return a hash of a data file and of its schema."""
    for ending in (".csv", ".csv.gz", ".py"):
        path = tables.folder() / f"{source}{ending}"
        if path.is_file():
            about = json.dumps(tables.schema(source), sort_keys=True) if ending != ".py" else ""
            return hashlib.sha256(path.read_bytes() + about.encode()).hexdigest()
    tables.read(source)  # raises an error that names the expected file
    raise FileNotFoundError(source)


@dataclass
class Results:
    """All rows of some parts."""

    rows: list[tuple[Part, Row]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    #: Number of parts computed by other code, and of all parts.
    n_older: int = 0
    n_parts: int = 0
    _index: dict[tuple[Any, ...], dict[int, float]] = field(default_factory=dict)
    _parts: dict[Part, None] = field(default_factory=dict)

    def add(self, part: Part, rows: Iterable[Row]) -> None:
        for row in rows:
            self._parts[part] = None
            self.rows.append((part, row))
            key = (part.experiment, part.data, row.method, row.measure, part.fraction, part.missing)
            self._index.setdefault(key, {})[row.split] = row.value

    def of(self, experiment: str) -> Results:
        """Return the results of one experiment."""
        found = Results(seconds={experiment: self.seconds.get(experiment, 0.0)})
        for part, row in self.rows:
            if part.experiment == experiment:
                found.add(part, [row])
        return found

    def values(
        self, data: str, method: str, measure: str, *, fraction: float = 1.0, missing: float = 0.0, experiment: str = ""
    ) -> Floats:
        """Return a measure of a method by split, in the order of the splits; empty without results."""
        name = experiment or self.rows[0][0].experiment
        found = self._index.get((name, data, method, measure, fraction, missing), {})
        return np.array([found[split] for split in sorted(found)])

    def mean(self, data: str, method: str, measure: str, **rest: Any) -> float:
        """Return the mean over splits; NaN without results."""
        values = self.values(data, method, measure, **rest)
        return float(values.mean()) if len(values) else float("nan")

    def data(self, **wanted: Any) -> list[str]:
        """Return the datasets that have results, in the order of the parts."""
        return list(dict.fromkeys(p.data for p in self._parts if all(getattr(p, k) == v for k, v in wanted.items())))

    def methods(self) -> list[str]:
        return list(dict.fromkeys(row.method for _, row in self.rows))

    def save(self, path: Path) -> None:
        """Write all results as one tidy CSV file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for part, row in self.rows:
                place = (part.experiment, part.data, row.method, row.split, part.fraction, part.missing)
                writer.writerow((*place, row.measure, repr(float(row.value))))


class Cache:
    """Finished parts, one file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, part: Part) -> Path:
        return self.folder / part.experiment / f"{part.key()}.json"

    def read(self, part: Part) -> tuple[list[Row], float] | None:
        """Return the rows and seconds of a part, or None if it is not finished or its file is damaged."""
        content = self._content(part)
        try:
            return None if content is None else ([Row(*row) for row in content["rows"]], float(content["seconds"]))
        except (KeyError, TypeError, ValueError):
            return None

    def is_older(self, part: Part) -> bool:
        """Whether a part was computed by other code."""
        return (self._content(part) or {}).get("code") != digest_of_code(part.experiment)

    def _content(self, part: Part) -> dict[str, Any] | None:
        path = self.path(part)  # raises if a dataset does not exist
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):  # not finished, or not JSON
            return None
        return content if isinstance(content, dict) else None

    def write(self, part: Part, rows: Sequence[Row], seconds: float) -> None:
        """Save a part atomically."""
        path = self.path(part)
        path.parent.mkdir(parents=True, exist_ok=True)
        code = digest_of_code(part.experiment)
        content = {"part": asdict(part), "code": code, "seconds": seconds, "rows": [list(row) for row in rows]}
        half = path.with_suffix(f".{os.getpid()}")
        half.write_text(json.dumps(content), encoding="utf-8")
        half.replace(path)


def work_on(part: Part) -> tuple[list[Row], float]:
    """Run a part in this process, without the learners' warnings (rare classes, iteration limits)."""
    module = catalog.experiment(part.experiment)
    start = cpu_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [Row(method, measure, int(split), float(value)) for method, measure, split, value in module.work(part)]
    return rows, cpu_seconds() - start


def cpu_seconds() -> float:
    """Return the CPU time of this process and its finished child processes."""
    return sum(os.times()[:4])


class Progress:
    """A progress line on standard error: rewritten on a terminal, otherwise a new line every ten seconds."""

    def __init__(self, n_parts: int, work: float, jobs: int) -> None:
        self.n_parts, self.work, self.jobs = n_parts, work, jobs
        self.n_done, self.done = 0, 0.0
        self.start = self.last = time.perf_counter()

    def advance(self, part: Part, expected: float) -> None:
        self.n_done += 1
        self.done += expected
        now = time.perf_counter()
        live = sys.stderr.isatty()
        if not live and now - self.last < 10 and self.n_done < self.n_parts:
            return
        self.last = now
        left = max(0.0, (now - self.start) * (self.work - self.done) / self.done) if self.done > 0 else 0.0
        text = f"{self.n_done} of {self.n_parts} parts, {now - self.start:.0f} s, about {left:.0f} s left"
        text += f"; {part.experiment} {part.data}"
        end = "\n" if not live or self.n_done == self.n_parts else ""
        print(f"\r{text:<100.100}" if live else text, end=end, file=sys.stderr, flush=True)


def _finished(waiting: dict[Future[Any], Part]) -> Iterator[tuple[Part, Future[Any]]]:
    while waiting:
        done, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            yield waiting.pop(future), future


def _done_here(parts: Sequence[Part]) -> Iterator[tuple[Part, Future[Any]]]:
    for part in parts:
        future: Future[Any] = Future()
        try:
            future.set_result(work_on(part))
        except Exception as error:  # noqa: BLE001 - reported with the part, like that of a worker
            future.set_exception(error)
        yield part, future


@contextmanager
def _workers(jobs: int, parts: Sequence[Part]) -> Iterator[Iterator[tuple[Part, Future[Any]]]]:
    """Run the parts on worker processes, or here if there is one job; an interrupted run does not wait for them."""
    os.environ.update(ONE_THREAD)
    if jobs == 1:
        yield _done_here(parts)
        return
    context = multiprocessing.get_context("spawn")  # workers must not inherit thread pools
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        try:
            with _interrupts_held_back():
                waiting = {pool.submit(work_on, part): part for part in parts}
            yield _finished(waiting)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                if worker not in others:
                    worker.terminate()
            raise


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Defer Ctrl-C; processes started meanwhile never receive it, although a terminal sends it to them as well.

    The parent terminates them. Ignoring the signal in the workers would be too late for one that is still importing, so they
    inherit a mask that blocks it. In this process another thread may still receive it, so a handler records it.
    """
    interrupted = threading.Event()
    handler = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, handler)
    if interrupted.is_set():
        signal.raise_signal(signal.SIGINT)


def run(parts: Sequence[Part], cache: Cache, plan: Plan, jobs: int, fresh: bool = False) -> tuple[Results, list[str]]:
    """Run unfinished parts, longest first, and return all results and failures. `fresh`: repeat parts computed by other code."""
    known = {part: cache.read(part) for part in parts}
    older = [part for part, found in known.items() if found is not None and cache.is_older(part)]
    if fresh:
        known.update(dict.fromkeys(older))
        older = []
    rest = sorted((p for p, found in known.items() if found is None), key=plan.seconds, reverse=True)
    work = sum(map(plan.seconds, rest))
    about = plan.elapsed(rest, jobs)
    print(
        f"{len(parts)} parts, {len(parts) - len(rest)} of them finished earlier; the others: about {work:.0f} CPU s, "
        f"{about:.0f} s on {jobs} processes",
        file=sys.stderr,
        flush=True,
    )
    if older:
        print(
            f"{len(older)} were computed by other code or with other versions of libraries; --fresh repeats them",
            file=sys.stderr,
        )
    failed: list[str] = []
    if rest:
        progress = Progress(len(rest), work, jobs)
        with _workers(jobs, rest) as finished:
            for part, future in finished:
                if (error := future.exception()) is not None:
                    failed.append(f"{part.experiment} {part.kind}: {type(error).__name__}: {error}")
                    print("".join(traceback.format_exception(error)), file=sys.stderr)
                else:
                    cache.write(part, *future.result())
                    known[part] = future.result()
                progress.advance(part, plan.seconds(part))
    results = collect(known)
    results.n_older, results.n_parts = len(older), len(known)
    return results, failed


def collect(known: Mapping[Part, tuple[list[Row], float] | None]) -> Results:
    """Collect the rows of finished parts, in the order of the parts."""
    results = Results()
    for part, found in known.items():
        if found is not None:
            results.add(part, found[0])
            results.seconds[part.experiment] = results.seconds.get(part.experiment, 0.0) + found[1]
    return results
