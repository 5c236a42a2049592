"""How accurate the average over all TANs is: class posteriors beside mpmath's, and three ways of summing over trees.

python -m benchmarks.papers.tbma_accuracy                     all tables, 50 rows each beside mpmath; slow without gmpy2
python -m benchmarks.papers.tbma_accuracy --rows 2            a quick look
python -m benchmarks.papers.tbma_accuracy --only vote chess   some tables

Every table is learned from all of its rows, with numbers in five intervals of equal frequency and missing cells as a value of
their own. mpmath works from gamma functions and determinants of Laplacians, shares nothing with the core but the counts, and
doubles its digits until that changes nothing. The three ways of summing (all edges; only edges and steps that can matter; an
exponent for every number) are compared on every training row and class, the last of them, which is slow, for as long as
`--seconds` allow. A difference of ln P(class, row) is the relative difference of two sums over trees.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as a script: make the package importable, not its modules as top-level ones
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import numpy as np
from numpy.typing import NDArray

from benchmarks import cut_tables

TABLES = (
    *("car", "nursery", "vote", "tic-tac-toe", "mushroom", "chess", "letter"),
    *("waveform-21", "soybean", "segment", "satimage"),
)
#: What posteriors may differ from mpmath's, and logarithms of sums over trees between methods.
POSTERIOR_LIMIT, METHOD_LIMIT = 1e-12, 5e-14
#: Rows that the slow method gets at a time.
PART = 64

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Learned:
    """What a table taught the core, and its rows as codes."""

    model: Any
    predictors: dict[str, Any]
    columns: list[NDArray[Any]]
    n_rows: int

    def log_joint(self, method: str, rows: slice = slice(None)) -> Floats:
        """Return ln P(class, row) by one method."""
        columns = [np.ascontiguousarray(column[rows]) for column in self.columns]
        return np.asarray(self.predictors[method].predict(columns, len(columns[0]), "log_joint"))


def learn(name: str) -> Learned:
    """Learn from all rows; a fallback to mpmath is an error."""
    import tanager as tg
    from tanager import _core

    table = cut_tables.cut(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = tg.TBMATANClassifier().fit(table.X, table.y)
    model = clf._core_model
    if not isinstance(model, _core.Tbmatan):
        raise TypeError(f"{name} was not learned by the core but by {type(model).__name__}")
    predictors = {method: _core.TbmatanPredictor(model, method) for method in ("auto", "schedule", "dense", "exact")}
    columns, n_rows = clf._encode(table.X)
    return Learned(model, predictors, columns, n_rows)


def posterior_error(learned: Learned, n_rows: int, seed: int) -> float:
    """Return the largest difference of class posteriors from mpmath's, over some random rows."""
    from tanager._tbmatan_mp import log_joint_mp

    chosen = np.sort(np.random.default_rng(seed).choice(learned.n_rows, min(n_rows, learned.n_rows), replace=False))
    columns = [np.ascontiguousarray(column[chosen]) for column in learned.columns]
    own = np.asarray(learned.predictors["auto"].predict(columns, len(chosen), "posterior"))
    codes = np.stack(columns, axis=1).astype(np.int64)
    exact = log_joint_mp(learned.model.counts, codes, learned.model.equivalent_sample_size)
    # Differences are taken before rounding: the logarithms themselves are large.
    shifted = np.array([[float(value - max(row)) for value in row] for row in exact])
    expected = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    return float(np.abs(own - expected).max())


@dataclass(frozen=True)
class Agreement:
    """Largest differences of a method from the dense one: of logarithms of sums, and of posteriors."""

    n_rows: int
    sums: float
    posteriors: float

    def __str__(self) -> str:
        return f"{self.sums:.1e} / {self.posteriors:.1e}"


def _posterior(joint: Floats) -> Floats:
    shifted = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def agreement(learned: Learned, method: str, seconds: float, dense: Floats) -> Agreement:
    """Compare a method with the dense one, on all rows or as many as there is time for."""
    end = time.perf_counter() + seconds
    step = learned.n_rows if method != "exact" else PART
    done, sums, posteriors = 0, 0.0, 0.0
    while done < learned.n_rows and (done == 0 or time.perf_counter() < end):
        rows = slice(done, done + step)
        own, other = learned.log_joint(method, rows), dense[rows]
        sums = max(sums, float(np.abs(own - other).max()))
        posteriors = max(posteriors, float(np.abs(_posterior(own) - _posterior(other)).max()))
        done += len(own)
    return Agreement(done, sums, posteriors)


def judge(name: str, n_rows: int, seconds: float, seed: int) -> bool:
    """Print a table's line, and return whether it keeps all limits."""
    start = time.perf_counter()
    learned = learn(name)
    auto = learned.predictors["auto"].method
    dense = learned.log_joint("dense")
    schedule, exact = (agreement(learned, method, seconds, dense) for method in ("schedule", "exact"))
    share = "all" if exact.n_rows == learned.n_rows else f"{exact.n_rows:,}"
    print(
        f"{name}: {learned.n_rows:,} rows x {learned.model.n_features} features, {learned.model.n_classes} classes; "
        f"{auto}; dense and schedule {schedule}, dense and exact {exact} ({share} rows)",
        end="",
        flush=True,
    )
    error = posterior_error(learned, n_rows, seed) if n_rows else float("nan")
    met = not error > POSTERIOR_LIMIT and auto != "exact"
    met &= max(schedule.sums, schedule.posteriors, exact.sums, exact.posteriors) <= METHOD_LIMIT
    beside = f"; posteriors of {min(n_rows, learned.n_rows)} rows beside mpmath {error:.1e}" if n_rows else ""
    print(f"{beside}; {'met' if met else 'NOT MET'}; {time.perf_counter() - start:.0f} s", flush=True)
    return met


def main(arguments: list[str] | None = None) -> int:
    """Judge the tables that the command line asks for."""
    description = __doc__.partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.tbma_accuracy", description=description)
    parser.add_argument("--rows", type=int, default=50, help="rows per table beside mpmath (default: 50; 0: none)")
    parser.add_argument("--seconds", type=float, default=30, help="of the slowest method per table (default: 30)")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=TABLES, metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--seed", type=int, default=0, help="seed of the choice of rows (default: 0)")
    options = parser.parse_args(arguments)
    import mpmath

    print(f"mpmath {mpmath.__version__} on {mpmath.libmp.BACKEND}")
    print(
        "differences of ln(sum over trees) / of posteriors, the largest of all rows and classes; "
        f"limits {METHOD_LIMIT:g} between methods, {POSTERIOR_LIMIT:g} beside mpmath"
    )
    met = [judge(name, options.rows, options.seconds, options.seed) for name in options.only]
    print(f"{sum(met)} of {len(met)} tables keep all limits")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
