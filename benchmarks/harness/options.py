"""How large and how long a run is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import workloads


@dataclass(frozen=True)
class Options:
    """Sizes and budgets of a run."""

    quick: bool = False
    #: Times each contender is run; the best counts.
    repeats: int = 7
    #: Seconds for a figure that is a short call repeated.
    seconds: float = 1.0
    #: Seconds each slow library may spend per model.
    peer_seconds: float = 90.0
    #: Folder of the built C++ benchmark programs, for figures that only they measure.
    programs: Path | None = None
    #: Rows of the Parquet table of streams, what its values are, and where it is made.
    rows: int = 10_000_000
    kind: str = "int8"
    folder: Path | None = None

    def size(self, work: workloads.Workload) -> workloads.Workload:
        """Give the workload to measure: the full one, or a small one in a quick run."""
        return workloads.QUICK[work] if self.quick else work


QUICK = Options(quick=True, repeats=3, seconds=0.1, peer_seconds=2.0, rows=1_000_000)
