"""How accurate the average over all TANs is: class posteriors beside mpmath's, and three ways of summing over trees.

Every table is learned from all of its rows, with numbers in five intervals of equal frequency and missing cells as a value of
their own. mpmath works from gamma functions and determinants of Laplacians, shares nothing with the core but the counts, and
doubles its digits until that changes nothing. The three ways of summing (all edges; only edges and steps that can matter; an
exponent for every number) are compared on every training row and class, the last of them, which is slow, on some. A difference of
ln P(class, row) is the relative difference of two sums over trees.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import cut_tables
from experiments.page import Page
from experiments.runner import Part, Results

VERSION = 1
TABLES = (
    *("car", "nursery", "vote", "tic-tac-toe", "mushroom", "chess", "letter"),
    *("waveform-21", "soybean", "segment", "satimage"),
)
#: What posteriors may differ from mpmath's, and logarithms of sums over trees between methods.
POSTERIOR_LIMIT, METHOD_LIMIT = 1e-12, 5e-14
#: Rows beside mpmath, and for the slow way of summing; tables that a quick run has.
MPMATH_ROWS, EXACT_ROWS = 5, 128
QUICK_TABLES, QUICK_ROWS = ("car", "vote"), 2

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
    from tanager.averaging._mp import log_joint_mp

    chosen = np.sort(np.random.default_rng(seed).choice(learned.n_rows, min(n_rows, learned.n_rows), replace=False))
    columns = [np.ascontiguousarray(column[chosen]) for column in learned.columns]
    own = np.asarray(learned.predictors["auto"].predict(columns, len(chosen), "posterior"))
    codes = np.stack(columns, axis=1).astype(np.int64)
    exact = log_joint_mp(learned.model.counts, codes, learned.model.equivalent_sample_size)
    # Differences are taken before rounding: the logarithms themselves are large.
    shifted = np.array([[float(value - max(row)) for value in row] for row in exact])
    expected = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    return float(np.abs(own - expected).max())


def _posterior(joint: Floats) -> Floats:
    shifted = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def agreement(learned: Learned, method: str, n_rows: int, dense: Floats) -> tuple[float, float]:
    """Return the largest differences from the dense way: of logarithms of sums, and of posteriors."""
    own, other = learned.log_joint(method, slice(n_rows)), dense[:n_rows]
    return float(np.abs(own - other).max()), float(np.abs(_posterior(own) - _posterior(other)).max())


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: a table each."""
    settings = (("mpmath_rows", QUICK_ROWS if quick else MPMATH_ROWS), ("exact_rows", EXACT_ROWS))
    return [
        Part(
            "tbma_accuracy", name, ("auto", "dense", "schedule", "exact"), settings=settings, sources=(name,), seed=seed
        )
        for name in (QUICK_TABLES if quick else TABLES)
    ]


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    """Return the largest differences, and how many rows and features there are."""
    learned = learn(part.data)
    dense = learned.log_joint("dense")
    yield "table", "rows", 0, learned.n_rows
    yield "table", "features", 0, learned.model.n_features
    yield "table", "classes", 0, learned.model.n_classes
    yield "auto", "exact", 0, float(learned.predictors["auto"].method == "exact")
    for method, n_rows in (("schedule", learned.n_rows), ("exact", part["exact_rows"])):
        sums, posteriors = agreement(learned, method, n_rows, dense)
        yield method, "sums", 0, sums
        yield method, "posteriors", 0, posteriors
    seed = int(part.random(0).integers(2**31))
    yield "mpmath", "posteriors", 0, posterior_error(learned, part["mpmath_rows"], seed)


def of_rounding(gap: float) -> str:
    """Say what the difference of two logarithms is as a unit in the last place, if it is one."""
    power = round(np.log2(gap)) + 52
    if gap != 2.0 ** (power - 52):
        return "it is no unit in the last place"
    return f"it is one unit in the last place of numbers from {2**power} to {2 ** (power + 1)}: the rounding of a logarithm on the way"


def report(results: Results, page: Page) -> None:
    page.heading("How accurate averages over all trees are", 3)
    page.text((__doc__ or "").partition("\n\n")[2])
    rows, worst = [], {"schedule": 0.0, "exact": 0.0, "mpmath": 0.0}
    for name in results.data():
        cells = [f"{results.mean(name, 'table', what):,.0f}" for what in ("rows", "features", "classes")]
        for method in ("schedule", "exact"):
            found = [results.mean(name, method, what) for what in ("sums", "posteriors")]
            worst[method] = max(worst[method], *found)
            cells += [f"{value:.1e}" for value in found]
        beside = results.mean(name, "mpmath", "posteriors")
        worst["mpmath"] = max(worst["mpmath"], beside)
        rows.append([name, *cells, f"{beside:.1e}"])
    page.text(
        "Largest differences; of ln(sum over trees), then of posteriors, between two ways; then of posteriors beside mpmath"
    )
    ways = ("dense and schedule, sums", "posteriors", "dense and exact, sums", "posteriors", "posteriors beside mpmath")
    page.table(("", "rows", "features", "classes", *ways), rows)
    plain = not any(results.mean(name, "auto", "exact") for name in results.data())
    line = "TBMA, arithmetic"
    for method, text in (("schedule", "dense and schedule"), ("exact", "dense and exact")):
        met = worst[method] <= METHOD_LIMIT
        largest = max(results.data(), key=lambda name, way=method: results.mean(name, way, "sums"))
        apart = results.mean(largest, method, "posteriors")
        page.claim(
            line,
            f"{text} differ by at most {METHOD_LIMIT:g}",
            "ill-conditioned",
            f"{worst[method]:.1e}",
            met,
            f"on {largest}, whose posteriors agree to {apart:.1e}; {of_rounding(worst[method])}",
            always=True,
        )
    met = worst["mpmath"] <= POSTERIOR_LIMIT and plain
    page.claim(
        line,
        f"posteriors within {POSTERIOR_LIMIT:g} of mpmath's, without slow arithmetic",
        "needs special arithmetic",
        f"{worst['mpmath']:.1e}",
        met,
        always=True,
    )
