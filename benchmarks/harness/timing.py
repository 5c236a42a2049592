"""Timing, peak memory, time-limited child processes and the facts of the machine."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

#: Every contender gets one thread. The variables must be set before NumPy is loaded.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "POLARS_MAX_THREADS",
        "LOKY_MAX_CPU_COUNT",
    ),
    "1",
)


@dataclass(frozen=True)
class Timing:
    """Best of several repeats, in seconds.

    `cpu` is the CPU time of the whole process, all of its threads, so that nobody gains by a hidden thread. On a busy
    machine it is the trustworthy one; with one thread on an idle machine both agree.
    """

    wall: float
    cpu: float

    def scaled(self, factor: float) -> Timing:
        return Timing(self.wall * factor, self.cpu * factor)


def race(contenders: Mapping[str, Callable[[], object]], repeats: int, warm_up: bool = True) -> dict[str, Timing]:
    """Time contenders in turns, so that a burst of other load hits all of them alike, and keep the best of each."""
    best = {name: Timing(float("inf"), float("inf")) for name in contenders}
    for turn in range(-1 if warm_up else 0, repeats):
        for name, run in contenders.items():
            timing = in_a_row(run)
            if turn >= 0:
                best[name] = Timing(min(best[name].wall, timing.wall), min(best[name].cpu, timing.cpu))
    return best


def in_a_row(run: Callable[[], object]) -> Timing:
    """Time a call; a short one several times without a pause, and the best counts.

    The search for garbage before a call, and the other contenders, leave nothing of a short call's data in the caches.
    As in `timeit`, garbage is therefore looked for once, before the first of them.
    """
    gc.collect()
    end = time.perf_counter() + _ROW_SECONDS
    best = once(run, collect=False)
    while time.perf_counter() < end:
        timing = once(run, collect=False)
        best = Timing(min(best.wall, timing.wall), min(best.cpu, timing.cpu))
    return best


def race_when_quiet(
    single: Callable[[], object], double: Callable[[], object], limit: float
) -> tuple[dict[str, Timing], bool]:
    """Times of one and two threads, and whether the machine was idle.

    A program that holds a core spoils any gain, so a look at the machine goes before every try, and the best of the
    tries on an idle machine counts. Without any, the times are those of a busy one. Even a machine that looks idle may
    have less to give than two cores, where another guest has one of them or both are threads of one core: a pure loop,
    timed in the same turns, tells how much there was.
    """
    contenders = {
        "one thread": single,
        "two threads": double,
        "pure loop, one thread": partial(_pure_loop, 1),
        "pure loop, two threads": partial(_pure_loop, 2),
    }
    best = race(contenders, 3)
    end = time.perf_counter() + limit
    tries = 0
    while tries < _TRIES and time.perf_counter() < end:
        if idle_share(0.2) < _IDLE:
            continue
        times = race(contenders, 3)
        if tries > 0:
            times = {n: Timing(min(t.wall, best[n].wall), min(t.cpu, best[n].cpu)) for n, t in times.items()}
        best = times
        tries += 1
    return best, tries > 0


def _pure_loop(threads: int) -> None:
    """Some milliseconds of work that needs nothing but a core, shared out among threads."""
    # Deriving a key is a loop in a few registers, and OpenSSL runs it without Python's lock.
    work = partial(hashlib.pbkdf2_hmac, "sha256", b"pure", b"loop", _LOOP // threads)
    others = [threading.Thread(target=work) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        thread.join()


#: How long calls of a contender follow each other in its turn; a longer call comes once.
_ROW_SECONDS = 0.03

#: Turns of the pure loop: about as long as the shortest work it is compared with, for it is the length of a call that
#: decides how often others come in between.
_LOOP = 30_000

#: The share of all cores that must be idle just before a try, and how many tries make a good best: other guests of the
#: same machine, whom nothing here shows, take a core away for seconds on end.
_IDLE = 0.9
_TRIES = 24

#: What a pure loop gains by a second thread where there are two cores; below, there is less than that to share out.
TWO_CORES = 1.85


def best_of(run: Callable[[], object], repeats: int, warm_up: bool = True) -> Timing:
    """Time one function."""
    return race({"": run}, repeats, warm_up)[""]


def best_within(run: Callable[[], object], seconds: float, repeats: int) -> Timing:
    """Time a function that may last: once, and again up to `repeats` times while `seconds` allow it."""
    best = in_a_row(run)
    end = time.perf_counter() + seconds - best.wall
    for _ in range(repeats - 1):
        if time.perf_counter() + best.wall > end:
            break
        timing = in_a_row(run)
        best = Timing(min(best.wall, timing.wall), min(best.cpu, timing.cpu))
    return best


def once(run: Callable[[], object], collect: bool = True) -> Timing:
    """Time a single call with the garbage collector off."""
    if collect:
        gc.collect()
    gc.disable()
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        result = run()
        timing = Timing(time.perf_counter() - wall, time.process_time() - cpu)
    finally:
        gc.enable()
    del result  # freeing the answer is not part of the call
    return timing


def best_call(run: Callable[[], object], seconds: float = 0.5) -> Timing:
    """Time of one short call: batches of calls long enough for the clock, and the best batch."""
    run()
    calls = 1
    while once(partial(_repeat, run, calls)).cpu < 2e-3:
        calls *= 2
    best = Timing(float("inf"), float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        timing = once(partial(_repeat, run, calls)).scaled(1 / calls)
        best = Timing(min(best.wall, timing.wall), min(best.cpu, timing.cpu))
    return best


def _repeat(run: Callable[[], object], times: int) -> None:
    for _ in range(times):
        run()


class PeakMemory:
    """How far the resident memory of this process rises above its level at the start of a block (Linux only)."""

    def __init__(self) -> None:
        self.extra: int | None = None

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Watch a block; `extra` then holds the rise in bytes, or None where the kernel does not tell."""
        gc.collect()
        # Memory that was freed but kept by the allocator would hide what the block really needs.
        _trim_heap()
        try:
            Path("/proc/self/clear_refs").write_text("5")  # sets the high-water mark back to the present level
            before = _status_kib("VmHWM")
        except OSError:
            yield
            return
        yield
        self.extra = (_status_kib("VmHWM") - before) * 1024


def _trim_heap() -> None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status_kib(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise OSError(f"expected {field} in /proc/self/status, found none")


def run_child(task: str, request: Mapping[str, Any], seconds: float) -> tuple[list[dict[str, Any]], str]:
    """Run a task of benchmarks.worker in a fresh process with a time limit.

    Returns what it had reported when it ended or was stopped, and why it stopped early ("" if it did not).
    """
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.jsonl"
        answers.touch()
        command = [sys.executable, "-m", "benchmarks.worker", task, json.dumps(request), str(answers)]
        why = ""
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=child_environment(), capture_output=True, text=True, timeout=seconds, check=False
            )
            if done.returncode != 0:
                lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
                why = lines[-1]
        except subprocess.TimeoutExpired:
            why = f"stopped after {seconds:.0f} s"
        # A process that is stopped may leave half a line.
        complete = answers.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in complete.splitlines()], why


def child_environment() -> dict[str, str]:
    """The environment of child processes: they import the same packages as this one, with one thread."""
    paths = [str(ROOT), *(p for p in sys.path if p and Path(p) != ROOT / "benchmarks")]
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)}


def find_program(folder: Path | None, name: str) -> Path:
    """Find a C++ benchmark program in the folder of `--programs`."""
    if folder is None:
        raise FileNotFoundError(f"--programs DIR must say where {name} was built")
    found = next((p for p in (folder / name, folder / "benchmarks" / name) if p.exists()), None)
    if found is None:
        raise FileNotFoundError(f"expected the program {name} in {folder}, found none")
    return found


def machine_facts() -> dict[str, str]:
    """CPU, load and versions, for the head of the report."""
    facts = {
        "cpu": _cpu_model(),
        "cores": str(os.cpu_count()),
        "instruction set": _instruction_set(),
        "load average": load_average(),
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
    }
    packages = ("tanager", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "pgmpy", "pyagrum", "scikit-bayes")
    facts["versions"] = ", ".join(f"{p} {v}" for p in packages if (v := version_of(p)))
    return facts


def load_average() -> str:
    """Processes that want a CPU, over the last 1, 5 and 15 minutes."""
    return ", ".join(f"{x:.2f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"


def idle_share(seconds: float) -> float:
    """Share of all CPU time that nobody used while this process slept; guessed from the load outside Linux."""
    statistics = Path("/proc/stat")
    if not statistics.exists():
        time.sleep(seconds)
        return max(0.0, 1 - os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 0.0

    def ticks() -> list[int]:
        return [int(field) for field in statistics.read_text().split("\n", 1)[0].split()[1:]]

    before = ticks()
    time.sleep(seconds)
    spent = [b - a for a, b in zip(before, ticks(), strict=True)]
    return spent[3] / max(sum(spent), 1)


def version_of(package: str) -> str:
    """Version of an installed distribution, "" if it is not installed."""
    if package == "tanager":  # may be on the path without having been installed
        try:
            from tanager import _core
        except ImportError:
            return ""
        return str(_core.__version__)
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _cpu_info(field: str) -> str:
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return ""
    for line in info.read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return ""


def _cpu_model() -> str:
    model = _cpu_info("model name") or platform.processor() or platform.machine()
    family, number = _cpu_info("cpu family"), _cpu_info("model")
    return f"{model} (family {family}, model {number})" if family else model


def _instruction_set() -> str:
    flags = set(_cpu_info("flags").split())
    if {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vpopcntdq"} <= flags:
        best = "avx512"
    elif {"avx2", "bmi2", "popcnt"} <= flags:
        best = "avx2"
    else:
        best = "baseline"
    limit = os.environ.get("TANAGER_ISA")
    return f"{best} (TANAGER_ISA={limit})" if limit else best


def has_avx512() -> bool:
    """Whether the AVX-512 loops run here, which have a tighter target."""
    return _instruction_set() == "avx512"
