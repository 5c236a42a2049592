"""Traces: the accepted steps of a structure search and the iterations of a parameter learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._utils.optional import import_optional
from .._utils.text import display_label, plural
from .._utils.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FitStep", "FitTrace", "SearchStep", "SearchTrace"]


@dataclass(frozen=True)
class SearchStep:
    """An accepted step of a structure search.

    Attributes
    ----------
    change : str
        The change, such as "maint -> buying"; "initial structure" for the first step.
    score : float
        Mean of `fold_scores`.
    fold_scores : tuple of float
        The objective on the test rows of each fold.
    n_candidates : int
        Number of candidates scored to find this step.
    seconds : float
        Seconds since the search began.
    """

    change: str
    score: float
    fold_scores: tuple[float, ...]
    n_candidates: int
    seconds: float


class SearchTrace(Sequence[SearchStep]):
    """The accepted steps of a structure search, in order; the first one is the initial structure.

    Attributes
    ----------
    objective : str
        The objective that the scores measure: "accuracy" or "cll".
    stopped : str
        Why the search stopped: "no improvement", "nothing left", "perfect", "step limit", "time limit" or "interrupted".
    n_candidates : int
        Total number of candidates scored.
    seconds : float
        Duration of the search.
    """

    def __init__(self, steps: Sequence[SearchStep], objective: str, stopped: str, n_candidates: int, seconds: float):
        self._steps = tuple(steps)
        self.objective = objective
        self.stopped = stopped
        self.n_candidates = n_candidates
        self.seconds = seconds

    @property
    def scores(self) -> Floats:
        """The score after each step."""
        return np.array([step.score for step in self._steps])

    @property
    def fold_scores(self) -> Floats:
        """The score of each step and fold, shape (n_steps, n_folds)."""
        return np.array([step.fold_scores for step in self._steps])

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per step."""
        pd = import_optional("pandas", "to_frame")
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
        changes = [display_label(step.change) for step in self._steps]
        width = max(map(len, changes))
        lines = [f"{'step':>4}  {'change':{width}}  {self.objective:>10}  {'candidates':>10}  {'seconds':>8}"]
        for i, (s, change) in enumerate(zip(self._steps, changes, strict=True)):
            lines.append(f"{i:4}  {change:{width}}  {s.score:10.6g}  {s.n_candidates:10}  {s.seconds:8.3g}")
        return "\n".join([head, *lines])


#: Objectives of a search in words.
OBJECTIVES = {"accuracy": "accuracy", "cll": "mean conditional log-likelihood"}

#: Values of `SearchTrace.stopped` in words.
SEARCH_ENDS = {
    "no improvement": "no candidate improves the score enough",
    "nothing left": "no candidates are left",
    "perfect": "the score is perfect",
    "step limit": "max_steps was reached",
    "time limit": "time_limit was reached",
    "interrupted": "interrupted",
}


def search_text(trace: SearchTrace) -> str:
    """Return a description of a search: a summary, then one line per step."""
    steps, scores = list(trace), trace.scores
    gain = float(scores[-1] - scores[0])
    objective = OBJECTIVES.get(trace.objective, trace.objective)
    spread = float(trace.fold_scores[-1].std())
    end = SEARCH_ENDS.get(trace.stopped, trace.stopped)
    folds = plural(trace.fold_scores.shape[1], "fold")
    lines = [
        f"{plural(len(steps) - 1, 'step')}, {plural(trace.n_candidates, 'candidate')}, {trace.seconds:.3g} s; stopped: {end}",
        f"{objective} {scores[0]:.4f} initially, {scores[-1]:.4f} finally ({gain:+.4f}); {folds}, standard deviation {spread:.4f}",
    ]
    for number, (before, step) in enumerate(pairwise(steps), 1):
        n_better = sum(b > a for a, b in zip(before.fold_scores, step.fold_scores, strict=True))
        lines.append(
            f"{number:3}. {display_label(step.change)}: {step.score:.4f} ({step.score - before.score:+.4f}; better in {n_better} of "
            f"{len(step.fold_scores)} folds), best of {plural(step.n_candidates, 'candidate')}"
        )
    return "\n".join(lines)


@dataclass(frozen=True)
class FitStep:
    """An iteration of a parameter learner.

    Attributes
    ----------
    training : float
        The objective on all rows: a sum of log-probabilities minus penalties. NaN for iterations that were only run to
        tune the number of iterations.
    held_out : float
        Mean conditional log-likelihood ln P(class | features) of the held-out rows. NaN without tuning.
    held_out_error : float
        Error rate on the held-out rows. NaN without tuning.
    """

    training: float
    held_out: float
    held_out_error: float


class FitTrace(Sequence[FitStep]):
    """The iterations of a parameter learner, in order; the first one is the initial estimate.

    Attributes
    ----------
    n_iter : int
        Number of iterations after which the parameters were taken.
    stopped : str
        Why the learner stopped: "converged", "iteration limit" or "tuned" (after the best number of iterations for
        held-out rows).
    training, held_out, held_out_error : ndarray of shape (n_steps,)
        The values of `FitStep` for all iterations.
    fold_held_out, fold_error : ndarray of shape (n_folds, n_steps)
        `held_out` and `held_out_error` of each fold; empty without tuning.
    """

    def __init__(
        self,
        training: Floats,
        stopped: str,
        held_out: Floats | None = None,
        held_out_error: Floats | None = None,
        fold_held_out: Any = (),
        fold_error: Any = (),
    ):
        n_tuned = 0 if held_out is None else len(held_out)
        n_steps = max(len(training), n_tuned)
        self.n_iter = len(training) - 1
        self.stopped = stopped
        self.training = _padded(training, n_steps)
        self.held_out = _padded(held_out, n_steps)
        self.held_out_error = _padded(held_out_error, n_steps)
        self.fold_held_out = np.array(fold_held_out, dtype=np.float64)
        self.fold_error = np.array(fold_error, dtype=np.float64)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per iteration."""
        pd = import_optional("pandas", "to_frame")
        columns = {"training": self.training, "held_out": self.held_out, "held_out_error": self.held_out_error}
        return pd.DataFrame(columns).rename_axis("iteration")

    def __len__(self) -> int:
        return len(self.training)

    @overload
    def __getitem__(self, index: int) -> FitStep: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FitStep]: ...
    def __getitem__(self, index: int | slice) -> FitStep | Sequence[FitStep]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"expected an index below {len(self)}, the number of iterations, got {index}")
        return FitStep(float(self.training[index]), float(self.held_out[index]), float(self.held_out_error[index]))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FitTrace)
            and (self.n_iter, self.stopped) == (other.n_iter, other.stopped)
            and all(
                np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True)
                for name in ("training", "held_out", "held_out_error", "fold_held_out", "fold_error")
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        head = f"{self.n_iter} iterations; stopped: {self.stopped}"
        if np.isnan(self.held_out).all():
            lines = [f"{'iteration':>9}  {'training':>12}"]
            lines += [f"{i:9}  {value:12.6f}" for i, value in enumerate(self.training)]
            return "\n".join([head, *lines])
        lines = [f"{'iteration':>9}  {'training':>12}  {'held out':>12}  {'error':>8}"]
        for i, step in enumerate(self):
            lines.append(f"{i:9}  {step.training:12.6f}  {step.held_out:12.6f}  {step.held_out_error:8.4f}")
        return "\n".join([head, *lines])


def _padded(values: Floats | None, n_steps: int) -> Floats:
    padded = np.full(n_steps, np.nan)
    if values is not None:
        padded[: len(values)] = values
    return padded
