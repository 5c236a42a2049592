"""Profiles of fit and predict_proba, function by function, including calls into the core.

The profiler slows down every Python call, so the shares matter here, not the totals; `run speed` reports totals. Use a sampling
profiler for the inside of core calls: ``perf record -g python -m benchmarks profile tan-fit``.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness.report import print_columns, seconds
from benchmarks.harness.timing import best_call, once
from benchmarks.harness.workloads import NAIVE_BAYES, STRINGS, TAN, sample
from benchmarks.peers import make
from benchmarks.suites.encoding import string_frame

Call = Callable[[], object]


def _arrays(model: str, work: Any) -> tuple[Call, Call, Call]:
    X, y = sample(work)
    fitted: Any = make("tanager", model).fit(X, y)
    return partial(fitted.fit, X, y), partial(fitted.predict_proba, X), partial(fitted.predict_proba, X[:1])


def _strings() -> tuple[Call, Call]:
    frame, y = string_frame(STRINGS)
    fitted: Any = make("tanager", "naive_bayes").fit(frame, y)
    return partial(fitted.fit, frame, y), partial(fitted.predict_proba, frame)


def scenarios(names: list[str]) -> dict[str, Call]:
    """Return the calls to profile, by name."""
    calls: dict[str, Call] = {}
    for prefix, build in (
        ("naive", partial(_arrays, "naive_bayes", NAIVE_BAYES)),
        ("tan", partial(_arrays, "tan", TAN)),
        ("strings", _strings),
    ):
        if any(name.startswith(prefix) for name in names):
            calls.update(zip((f"{prefix}-{what}" for what in ("fit", "predict", "row")), build(), strict=False))
    return {name: calls[name] for name in names}


NAMES = [
    "naive-fit",
    "naive-predict",
    "naive-row",
    "tan-fit",
    "tan-predict",
    "tan-row",
    "strings-fit",
    "strings-predict",
]


def profile(call: Call, lines: int) -> None:
    """Print the functions with the largest own time."""
    repeats = max(3, int(1.0 / max(once(call).wall, 1e-5)))
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(repeats):
        call()
    profiler.disable()
    stats = pstats.Stats(profiler)
    entries: list[tuple[float, int, str]] = []
    for (file, line, function), (_, n_calls, own, _, _) in stats.stats.items():  # type: ignore[attr-defined]
        where = function if file == "~" else f"{Path(file).parent.name}/{Path(file).name}:{line} {function}"
        entries.append((own, n_calls, where))
    entries.sort(reverse=True)
    total = sum(own for own, _, _ in entries)
    rows = [("share", "own time", "calls", "")]
    rows += [
        (f"{100 * own / total:.1f} %", seconds(own / repeats), f"{n_calls / repeats:g}", where)
        for own, n_calls, where in entries[:lines]
    ]
    print_columns(rows, "rrrl")


def show(names: list[str], lines: int) -> None:
    """Profile calls by name."""
    for name, call in scenarios(names).items():
        timing = best_call(call, 0.5)
        print(f"\n## {name}: {seconds(timing.cpu)} CPU, {seconds(timing.wall)} wall, without the profiler")
        profile(call, lines)
