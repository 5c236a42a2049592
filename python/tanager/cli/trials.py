"""Cross-validation of many methods in turn; one that fails or exceeds the time limit does not stop the others."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from .._utils.progress import stopping
from ..evaluation import cross_validate
from ..evaluation._result import CrossValidation
from .errors import THREADS, one_line

# How long a method may take to stop after its time limit before the next one starts beside it.
_GRACE_SECONDS = 10.0


@dataclass
class Trial:
    """One method: its scores, or the reason why it failed."""

    name: str
    result: CrossValidation | None = None
    n_parameters: int | None = None
    failure: str = ""
    best_in: set[str] = field(default_factory=set)
    worse_in: set[str] = field(default_factory=set)

    def sort_key(self, score: str) -> float:
        """Return the mean of a score, negated where larger is better; NaN sorts last."""
        assert self.result is not None
        mean = self.result.mean[self.name][score]
        if mean != mean:  # noqa: PLR0124  # NaN
            return float("inf")
        return -mean if score == "accuracy" else mean

    @property
    def seconds(self) -> float:
        """Time to fit and predict all folds."""
        assert self.result is not None
        return float(self.result.fit_seconds[self.name].sum() + self.result.predict_seconds[self.name].sum())

    @property
    def shown_seconds(self) -> str:
        """The time with few digits."""
        return f"{self.seconds:.1f}" if self.seconds >= 10 else f"{self.seconds:.3f}"

    def cell(self, score: str, factor: float, digits: int) -> str:
        """Return mean ± standard deviation, and the mark of a significant difference."""
        assert self.result is not None
        mean, std = factor * self.result.mean[self.name][score], factor * self.result.std[self.name][score]
        return f"{mean:.{digits}f} ± {std:.{digits}f} {'▾' if score in self.worse_in else ' '}"

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        if self.result is None:
            return {"method": self.name, "failure": self.failure}
        fields: dict[str, Any] = {"method": self.name}
        for score in self.result.scoring:
            values = {"mean": self.result.mean[self.name][score], "std": self.result.std[self.name][score]}
            fields[score] = {k: v if abs(v) < float("inf") else None for k, v in values.items()}
            fields[score] |= {"best": score in self.best_in, "significantly_worse": score in self.worse_in}
        return {**fields, "seconds": self.seconds, "parameters": self.n_parameters}


def try_methods(
    classifiers: Mapping[str, Any],
    X: Any,
    y: Any,
    weights: Any,
    folds: int,
    seed: int,
    limit: float | None,
    on_start: Callable[[str], None],
) -> Iterator[Trial]:
    """Cross-validate classifiers on the same folds; `on_start` is called with the name of each."""
    for name, clf in classifiers.items():
        on_start(name)

        def evaluate(name: str = name, clf: Any = clf) -> tuple[CrossValidation, int | None]:
            fitted = clone(clf).fit(X, y, weights)
            result = cross_validate({name: clf}, X, y, cv=folds, sample_weight=weights, random_state=seed)
            return result, fitted._describe().n_parameters

        try:
            # Searches warn when stopped; the table reports that already.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result, number = run_with_limit(evaluate, limit)
            yield Trial(name, result, number)
        except TimeoutError:
            yield Trial(name, failure=f"stopped after {limit:g} s (time limit)")
        except (ValueError, TypeError, MemoryError, ArithmeticError) as error:
            yield Trial(name, failure=f"failed: {one_line(error)}")


def run_with_limit(work: Callable[[], Any], seconds: float | None) -> Any:
    """Run a function in a thread that is stopped after a time limit or on Ctrl-C.

    Raises
    ------
    TimeoutError
        If the time limit is exceeded.
    """
    stop = threading.Event()
    outcome: dict[str, Any] = {}

    def run() -> None:
        stopping.set(stop)
        try:
            outcome["result"] = work()
        except BaseException as error:  # noqa: BLE001  # raised again below
            outcome["error"] = error

    thread = threading.Thread(target=run, name=f"{THREADS}trial", daemon=True)
    thread.start()
    end = None if seconds is None else time.monotonic() + seconds
    try:
        while thread.is_alive() and (end is None or time.monotonic() < end):
            thread.join(0.2 if end is None else max(0.0, min(0.2, end - time.monotonic())))
    except BaseException:
        stop.set()
        thread.join(_GRACE_SECONDS)
        raise
    if thread.is_alive():
        stop.set()
        thread.join(_GRACE_SECONDS)
        raise TimeoutError
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]
