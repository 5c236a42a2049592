"""Estimated times of parts, from measured CPU seconds in seconds.csv next to this file."""

from __future__ import annotations

import csv
import heapq
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from experiments.runner import Cache, Part

MEASURED = Path(__file__).with_name("seconds.csv")
#: Estimate for a split of an experiment without measurements.
UNKNOWN = 1.0


class Plan:
    """Estimated seconds of parts: per split of parts of the same kind, else the mean of the experiment."""

    def __init__(self, path: Path = MEASURED) -> None:
        self.path = path
        self.measured: dict[tuple[str, str], float] = {}
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                for experiment, kind, seconds in list(csv.reader(file))[1:]:
                    self.measured[experiment, kind] = float(seconds)

    def seconds(self, part: Part) -> float:
        known = self.measured.get((part.experiment, part.kind))
        if known is None:
            others = [value for (experiment, _), value in self.measured.items() if experiment == part.experiment]
            known = float(np.mean(others)) if others else UNKNOWN
        return known * len(part.splits)

    def elapsed(self, parts: Iterable[Part], jobs: int) -> float:
        """Return the wall time on `jobs` processes, each of which takes the longest remaining part."""
        ends = [0.0] * jobs
        for seconds in sorted(map(self.seconds, parts), reverse=True):
            heapq.heappushpop(ends, ends[0] + seconds)
        return max(ends)

    def measure(self, parts: Iterable[Part], cache: Cache) -> None:
        """Record the times of finished parts."""
        found: dict[tuple[str, str], list[float]] = {}
        for part in parts:
            if (finished := cache.read(part)) is not None:
                found.setdefault((part.experiment, part.kind), []).append(finished[1] / len(part.splits))
        self.measured.update({key: float(np.median(values)) for key, values in found.items()})
        with self.path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("experiment", "kind", "seconds of CPU per split"))
            for (experiment, kind), value in sorted(self.measured.items()):
                writer.writerow((experiment, kind, f"{value:.3g}"))
