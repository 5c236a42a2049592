"""The benchmarks by name: one module per layer of the library, and groups of benchmarks that belong together."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from benchmarks.harness.options import Options
from benchmarks.harness.report import Report

Benchmark = Callable[[Report, Options], None]

#: A suite is a module of this package with `BENCHMARKS`: functions of a report and options, by name.
SUITES = ("encoding", "counting", "predict", "structure", "parameters", "averaging", "streams", "plotting", "memory")

#: Names for several benchmarks. "all" excludes those that need valgrind and built programs.
GROUPS = {
    "speed": ("predict.naive-bayes", "predict.tan", "predict.one-row", "counting", "encoding", "memory"),
    "search": (
        *("structure.chess", "structure.letter", "structure.cross-validation"),
        *("averaging.aode", "structure.wide", "structure.threads"),
    ),
    "tbmatan": tuple(f"averaging.tbmatan-{what}" for what in ("predict", "mpmath", "fit", "growth", "wide")),
    "incomplete": ("parameters.elr", "parameters.em", "parameters.regression", "predict.missing-values"),
    "all": SUITES,
}
LEFT_OUT = ("structure.instructions",)


def benchmarks() -> dict[str, Benchmark]:
    """Return every benchmark by its full name, SUITE.BENCHMARK."""
    modules = {suite: importlib.import_module(f"{__name__}.{suite}") for suite in SUITES}
    return {f"{suite}.{name}": run for suite, module in modules.items() for name, run in module.BENCHMARKS.items()}


def select(names: Sequence[str], only: Sequence[str] = ()) -> dict[str, Benchmark]:
    """Return the benchmarks of groups, suites and benchmarks; `only` restricts them by the last part of their names."""
    known = benchmarks()
    found: dict[str, Benchmark] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name in GROUPS:
            waiting = [*GROUPS[name], *waiting]
        elif name in SUITES:
            waiting = [*(n for n in known if n.startswith(f"{name}.") and n not in LEFT_OUT), *waiting]
        elif name in known:
            found[name] = known[name]
        else:
            raise ValueError(
                f"expected the name of a group, suite or benchmark, got {name}: see python -m benchmarks list"
            )
    if not only:
        return found
    last = {name.partition(".")[2]: name for name in found} | {name: name for name in found}
    if unknown := [name for name in only if name not in last]:
        raise ValueError(f"expected some of {', '.join(found)}, got {', '.join(unknown)}")
    return {last[name]: found[last[name]] for name in only}
