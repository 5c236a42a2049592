"""Sizes and time budgets of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import workloads


@dataclass(frozen=True)
class Options:
    """Sizes and budgets of a run."""

    quick: bool = False
    #: Runs of each contender; the best counts.
    repeats: int = 7
    #: Seconds for repeated short calls.
    seconds: float = 1.0
    #: Seconds each slow library may spend per model.
    peer_seconds: float = 90.0
    #: Build folder of the C++ benchmark programs, for figures that only they measure.
    programs: Path | None = None
    #: Rows, type of values and folder of the Parquet file of streams.
    rows: int = 10_000_000
    kind: str = "int8"
    folder: Path | None = None

    def size(self, work: workloads.Workload) -> workloads.Workload:
        """Return the workload to measure: the full one, or a small one in a quick run."""
        return workloads.QUICK[work] if self.quick else work


QUICK = Options(quick=True, repeats=3, seconds=0.1, peer_seconds=2.0, rows=1_000_000)
