"""Timing: calls, contenders that take turns, one thread beside two."""

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
    """Time contenders in turns: a burst of other load affects all of them alike. Returns the best of each."""
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
    timed in the same turns, shows how much there was.
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


def race_calls(runs: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Timing]:
    """Time short calls in turns, so many at a time that the clock can measure it; the best turn of each counts."""
    calls = {name: _calls_per_turn(run) for name, run in runs.items()}
    batches = {name: partial(_repeat, run, calls[name]) for name, run in runs.items()}
    return {name: timing.scaled(1 / calls[name]) for name, timing in race(batches, 5 * repeats).items()}


def _calls_per_turn(run: Callable[[], object], seconds: float = 3e-3) -> int:
    return max(1, round(seconds / max(best_of(run, 3).cpu, 1e-6)))


def _repeat(run: Callable[[], object], times: int) -> None:
    for _ in range(times):
        run()
