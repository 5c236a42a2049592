"""The core's counting loops, called through the extension module without the estimators around them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.machine import has_avx512
from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, Row
from benchmarks.harness.timing import TWO_CORES, best_of, race, race_when_quiet
from benchmarks.harness.workloads import NAIVE_BAYES, TAN, Workload, sample
from benchmarks.peers import make

Call = Callable[[], object]


def counting(report: Report, options: Options) -> None:
    """All pairs in nanoseconds per row and pair; naive Bayes counts compared with reading the bytes."""
    from tanager import _core

    work = options.size(TAN)
    report.begin("counting", "column-major 8-bit codes in the core, one thread")
    data, _ = _dataset(work)
    timing = best_of(lambda: _core.CountSet.count(data, "pairs"), 3 * options.repeats)
    report.table(f"all pairs with the class, {work}", [Row("CountSet.count(pairs)", timing)])
    pairs = work.features * (work.features - 1) // 2
    report.figure(
        "all pairs, per row and pair",
        timing.cpu / (work.rows * pairs) * 1e9,
        "ns",
        at_most=0.06 if has_avx512() else 0.12,
        remark="target for AVX-512" if has_avx512() else "target for AVX2",
    )

    work = options.size(NAIVE_BAYES)
    data, table = _dataset(work)
    contenders: dict[str, Call] = {
        "CountSet.count(singles)": lambda: _core.CountSet.count(data, "singles"),
        **_readers(table),
    }
    times = race(contenders, 3 * options.repeats)
    report.table(f"features with the class, {work}", [Row(name, t) for name, t in times.items()])
    fastest_read = min(t.cpu for name, t in times.items() if name.startswith("read"))
    own = times["CountSet.count(singles)"].cpu
    report.figure("naive Bayes counts, times the fastest read of the bytes", own / fastest_read, "x", at_most=4)
    report.figure("naive Bayes counts, per code", own / (work.rows * work.features) * 1e9, "ns")


def threads(report: Report, options: Options) -> None:
    """Speedup by a second thread in wall time, on an idle machine."""
    from tanager import _core

    work = options.size(NAIVE_BAYES)
    report.begin("two threads", f"{work}, wall time of one thread over that of two")
    data, _ = _dataset(work)
    X, y = sample(work)
    one: Any = make("tanager", "tan")
    two: Any = make("tanager", "tan")
    two.set_params(n_jobs=2)
    one.fit(X, y)
    two.fit(X, y)
    tasks: dict[str, tuple[Call, Call]] = {
        "all pairs counted in the core": (
            lambda: _core.CountSet.count(data, "pairs", threads=1),
            lambda: _core.CountSet.count(data, "pairs", threads=2),
        ),
        "TAN fit": (partial(one.fit, X, y), partial(two.fit, X, y)),
        "TAN predict_proba": (partial(one.predict_proba, X), partial(two.predict_proba, X)),
    }
    for name, (single, double) in tasks.items():
        two_threads(report, options, name, single, double, 1.6 if "core" in name else None)


def two_threads(
    report: Report, options: Options, name: str, single: Call, double: Call, at_least: float | None = None
) -> None:
    """Report the wall time of one thread divided by that of two, and the speedup of a pure loop in the same turns.

    A speedup below the target is not conclusive if the machine was never idle, or if the pure loop shows that two cores were not
    available.
    """
    times, idle = race_when_quiet(single, double, 20 * options.seconds)
    report.table(name, [Row(n, t) for n, t in times.items()])
    gain = times["one thread"].wall / times["two threads"].wall
    ceiling = times["pure loop, one thread"].wall / times["pure loop, two threads"].wall
    why = "" if idle else "; the machine was never idle"
    if idle and ceiling < TWO_CORES and at_least is not None and gain < at_least:
        why = "; two cores were never available"
    remark = f"a pure loop: {ceiling:.2f} x{why}"
    checked = report.checks_targets and not why
    report.figure(f"{name}, two threads", gain, "x", checked=checked, remark=remark, at_least=at_least)


def _dataset(work: Workload) -> tuple[Any, NDArray[np.uint8]]:
    """Return the workload as the core's Dataset, and its codes by feature, with the class in the last row."""
    from tanager import _core

    X, y = sample(work)
    table = np.vstack([np.ascontiguousarray(X.T), y[None]]).view(np.uint8)
    return _core.Dataset(list(table[:-1]), [work.values] * work.features, table[-1], work.classes), table


def _readers(table: NDArray[np.uint8]) -> dict[str, Call]:
    """Return functions that read all bytes. Summing 8-bit numbers is slow in NumPy, which widens them; these are fast.

    They are memory-bound, so the fastest of them is the fair measure of "merely reading".
    """
    flat = table.reshape(-1)
    whole = flat[: flat.size // 8 * 8].view(np.uint64)
    memchr = ctypes.CDLL(None).memchr
    memchr.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    memchr.restype = ctypes.c_void_p
    return {
        "read: xor of 64-bit words": lambda: np.bitwise_xor.reduce(whole),
        "read: largest byte": flat.max,
        "read: memchr for a byte that is not there": lambda: memchr(flat.ctypes.data, 0xFE, flat.size),
    }


BENCHMARKS = {"kernels": counting, "threads": threads}
