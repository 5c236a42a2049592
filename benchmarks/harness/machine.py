"""The machine that benchmarks run on, and where the repository is."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Every contender gets one thread. The variables must be set before NumPy is imported.
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


def machine_facts() -> dict[str, str]:
    """Return CPU, load and versions, for the header of the report."""
    facts = {
        "date": time.strftime("%Y-%m-%d"),
        "commit": _commit(),
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
    """Return the load average over the last 1, 5 and 15 minutes."""
    return ", ".join(f"{x:.2f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"


def idle_share(seconds: float) -> float:
    """Return the idle share of all CPU time while this process sleeps; estimated from the load average outside Linux."""
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
    """Return the version of an installed distribution, "" if it is not installed."""
    if package == "tanager":  # may be on the path without being installed
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


def _commit() -> str:
    """Return the current commit, with a plus sign if files differ from it."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


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
    """Whether the AVX-512 loops run here, whose target is stricter."""
    return _instruction_set() == "avx512"
