"""Timing of calls, of contenders in turn, and of one and two threads."""

from __future__ import annotations

import gc
import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from benchmarks.harness.machine import idle_share


@dataclass(frozen=True)
class Timing:
    """Best of several repeats, in seconds.

    `cpu` is the CPU time of the whole process, all of its threads: nobody gains by a hidden thread. On a busy
    machine it is the trustworthy one; with one thread on an idle machine both agree.
    """

    wall: float
    cpu: float

    def scaled(self, factor: float) -> Timing:
        return Timing(self.wall * factor, self.cpu * factor)


def race(contenders: Mapping[str, Callable[[], object]], repeats: int, warm_up: bool = True) -> dict[str, Timing]:
    """Time contenders in turn, so other load affects all of them alike, and return the best of each."""
    best = {name: Timing(float("inf"), float("inf")) for name in contenders}
    for turn in range(-1 if warm_up else 0, repeats):
        for name, run in contenders.items():
            timing = in_a_row(run)
            if turn >= 0:
                best[name] = Timing(min(best[name].wall, timing.wall), min(best[name].cpu, timing.cpu))
    return best


def in_a_row(run: Callable[[], object]) -> Timing:
    """Return the best time of a call; short calls are repeated without a pause.

    Garbage collection and the other contenders evict the data of a short call from the CPU caches. As in `timeit`, garbage is
    therefore collected once, before the first call.
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
    """Return the times of one and two threads, and whether the machine was idle.

    Another busy program would hide any speedup, so the load is checked before every try, and the best try on an idle machine
    counts; if there is none, the best on a busy one. Even an apparently idle machine may provide less than two cores, if another
    guest uses one or both are threads of one core: a pure loop, timed in the same turns, shows how much was available.
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
    """Run some milliseconds of CPU-bound work, divided among threads."""
    # Deriving a key needs only registers, and OpenSSL runs it without the GIL.
    work = partial(hashlib.pbkdf2_hmac, "sha256", b"pure", b"loop", _LOOP // threads)
    others = [threading.Thread(target=work) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        thread.join()


#: Seconds of repeated calls in a contender's turn; a longer call runs once.
_ROW_SECONDS = 0.03

#: Iterations of the pure loop: about as long as the shortest work it is compared with, because the length of a call
#: determines how often other load interrupts it.
_LOOP = 30_000

#: Share of all cores that must be idle before a try, and the number of tries: other guests of the same machine, which are
#: not visible here, may occupy a core for seconds.
_IDLE = 0.9
_TRIES = 24

#: Speedup of a pure loop by a second thread on two cores; below this value, fewer cores are available.
TWO_CORES = 1.85


def best_of(run: Callable[[], object], repeats: int, warm_up: bool = True) -> Timing:
    """Time one function."""
    return race({"": run}, repeats, warm_up)[""]


def best_within(run: Callable[[], object], seconds: float, repeats: int) -> Timing:
    """Time a slow function: once, and up to `repeats` times within `seconds`."""
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
    del result  # freeing the result is not part of the call
    return timing


def best_call(run: Callable[[], object], seconds: float = 0.5) -> Timing:
    """Return the time of one short call, from the best of several batches long enough for the clock."""
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


def race_calls(runs: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Timing]:
    """Time short calls in turn, in batches long enough for the clock; the best batch of each counts."""
    calls = {name: _calls_per_turn(run) for name, run in runs.items()}
    batches = {name: partial(_repeat, run, calls[name]) for name, run in runs.items()}
    return {name: timing.scaled(1 / calls[name]) for name, timing in race(batches, 5 * repeats).items()}


def _calls_per_turn(run: Callable[[], object], seconds: float = 3e-3) -> int:
    return max(1, round(seconds / max(best_of(run, 3).cpu, 1e-6)))


def _repeat(run: Callable[[], object], times: int) -> None:
    for _ in range(times):
        run()
