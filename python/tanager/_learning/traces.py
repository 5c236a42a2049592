"""What a search did: every accepted step with its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from .._utils.optional import import_pandas
from .._utils.text import shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SearchStep", "SearchTrace"]


@dataclass(frozen=True)
class SearchStep:
    """One accepted candidate.

    Attributes
    ----------
    change : str
        What it changed, such as "maint -> buying"; "start" for the structure that the search began with.
    score : float
        Mean of `fold_scores`.
    fold_scores : tuple of float
        The objective on the test rows of every fold.
    n_candidates : int
        How many candidates were scored to find it.
    seconds : float
        Time since the search began.
    """

    change: str
    score: float
    fold_scores: tuple[float, ...]
    n_candidates: int
    seconds: float


class SearchTrace(Sequence[SearchStep]):
    """The accepted steps of a search, in order, the start first.

    Attributes
    ----------
    objective : str
        What the scores are: "accuracy" or "log_score".
    stopped : str
        Why the search ended: "no improvement", "nothing left", "perfect", "step limit", "time limit" or "interrupted".
    n_candidates : int
        How many candidates were scored in all.
    seconds : float
        How long it took.
    """

    def __init__(self, steps: Sequence[SearchStep], objective: str, stopped: str, n_candidates: int, seconds: float):
        self._steps = tuple(steps)
        self.objective = objective
        self.stopped = stopped
        self.n_candidates = n_candidates
        self.seconds = seconds

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The score after every step."""
        return np.array([step.score for step in self._steps])

    @property
    def fold_scores(self) -> npt.NDArray[np.float64]:
        """The score of every step and fold, shape (n_steps, n_folds)."""
        return np.array([step.fold_scores for step in self._steps])

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row per step."""
        pd = import_pandas()
        rows = [(s.change, s.score, s.n_candidates, s.seconds, *s.fold_scores) for s in self._steps]
        folds = [f"fold {i}" for i in range(len(self._steps[0].fold_scores))]
        return pd.DataFrame(rows, columns=["change", self.objective, "candidates", "seconds", *folds])

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, index: int) -> SearchStep: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SearchStep]: ...
    def __getitem__(self, index: int | slice) -> SearchStep | Sequence[SearchStep]:
        return self._steps[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchTrace) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        head = f"{len(self) - 1} steps, {self.n_candidates} candidates, {self.seconds:.3g} s; stopped: {self.stopped}"
        changes = [shown(step.change) for step in self._steps]
        width = max(map(len, changes))
        lines = [f"{'step':>4}  {'change':{width}}  {self.objective:>10}  {'candidates':>10}  {'seconds':>8}"]
        for i, (s, change) in enumerate(zip(self._steps, changes, strict=True)):
            lines.append(f"{i:4}  {change:{width}}  {s.score:10.6g}  {s.n_candidates:10}  {s.seconds:8.3g}")
        return "\n".join([head, *lines])
