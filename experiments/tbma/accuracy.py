"""Accuracy of the average over all TANs: class posteriors compared with mpmath, and three ways of summing over trees.

Every model is fitted on all rows of a dataset, with numbers in five bins of equal frequency and missing values as a separate
category. mpmath works from gamma functions and determinants of Laplacians, shares only the counts with the core, and
doubles its digits until the result no longer changes. The three ways of summing (all edges; only edges and steps that can matter; an
exponent for every number) are compared on every training row and class, the last, which is slow, on some. A difference of
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
#: Tolerances: posteriors compared with mpmath, and logarithms of sums over trees between methods.
POSTERIOR_LIMIT, METHOD_LIMIT = 1e-12, 5e-14
#: Rows compared with mpmath, and for the slow way of summing; then the datasets of a quick run.
MPMATH_ROWS, EXACT_ROWS = 5, 128
QUICK_TABLES, QUICK_ROWS = ("car", "vote"), 2

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """A fitted core model, and the encoded rows."""

    model: Any
    predictors: dict[str, Any]
    columns: list[NDArray[Any]]
    n_rows: int

    def log_joint(self, method: str, rows: slice = slice(None)) -> Floats:
        """Return ln P(class, row) by one method."""
        columns = [np.ascontiguousarray(column[rows]) for column in self.columns]
        return np.asarray(self.predictors[method].predict(columns, len(columns[0]), "log_joint"))


def fit(name: str) -> Fitted:
    """Fit on all rows; a fallback to mpmath is an error."""
    import tanager as tg
    from tanager import _core

    table = cut_tables.cut(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = tg.TBMATANClassifier().fit(table.X, table.y)
    model = clf._core_model
    if not isinstance(model, _core.Tbmatan):
        raise TypeError(f"{name}: expected a model of the core, got {type(model).__name__}")
    predictors = {method: _core.TbmatanPredictor(model, method) for method in ("auto", "schedule", "dense", "exact")}
    columns, n_rows = clf._encode(table.X)
    return Fitted(model, predictors, columns, n_rows)


def posterior_error(fitted: Fitted, n_rows: int, seed: int) -> float:
    """Return the largest difference of class posteriors from mpmath's, over some random rows."""
    from tanager.averaging._mp import log_joint_mp

    chosen = np.sort(np.random.default_rng(seed).choice(fitted.n_rows, min(n_rows, fitted.n_rows), replace=False))
    columns = [np.ascontiguousarray(column[chosen]) for column in fitted.columns]
    own = np.asarray(fitted.predictors["auto"].predict(columns, len(chosen), "posterior"))
    codes = np.stack(columns, axis=1).astype(np.int64)
    exact = log_joint_mp(fitted.model.counts, codes, fitted.model.equivalent_sample_size)
    # Differences are taken before rounding: the logarithms themselves are large.
    shifted = np.array([[float(value - max(row)) for value in row] for row in exact])
    expected = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    return float(np.abs(own - expected).max())


def _posterior(joint: Floats) -> Floats:
    shifted = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def agreement(fitted: Fitted, method: str, n_rows: int, dense: Floats) -> tuple[float, float]:
    """Return the largest differences from the dense way: of logarithms of sums, and of posteriors."""
    own, other = fitted.log_joint(method, slice(n_rows)), dense[:n_rows]
    return float(np.abs(own - other).max()), float(np.abs(_posterior(own) - _posterior(other)).max())


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: one dataset each."""
    settings = (("mpmath_rows", QUICK_ROWS if quick else MPMATH_ROWS), ("exact_rows", EXACT_ROWS))
    return [
        Part(
            "tbma_accuracy", name, ("auto", "dense", "schedule", "exact"), settings=settings, sources=(name,), seed=seed
        )
        for name in (QUICK_TABLES if quick else TABLES)
    ]


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    """Return the largest differences, and the numbers of rows, features and classes."""
    fitted = fit(part.data)
    dense = fitted.log_joint("dense")
    yield "table", "rows", 0, fitted.n_rows
    yield "table", "features", 0, fitted.model.n_features
    yield "table", "classes", 0, fitted.model.n_classes
    yield "auto", "exact", 0, float(fitted.predictors["auto"].method == "exact")
    for method, n_rows in (("schedule", fitted.n_rows), ("exact", part["exact_rows"])):
        sums, posteriors = agreement(fitted, method, n_rows, dense)
        yield method, "sums", 0, sums
        yield method, "posteriors", 0, posteriors
    seed = int(part.random(0).integers(2**31))
    yield "mpmath", "posteriors", 0, posterior_error(fitted, part["mpmath_rows"], seed)


def of_rounding(gap: float) -> str:
    """Return whether the difference of two logarithms is one unit in the last place."""
    power = round(np.log2(gap)) + 52
    if gap != 2.0 ** (power - 52):
        return "the difference is not one unit in the last place"
    return f"the difference is one unit in the last place of numbers from {2**power} to {2 ** (power + 1)}, the rounding of a logarithm"


def report(results: Results, page: Page) -> None:
    page.heading("Accuracy of averages over all trees", 3)
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
        "Largest differences of ln(sum over trees) and of posteriors between two ways of summing, and of posteriors from mpmath"
    )
    ways = ("dense and schedule, sums", "posteriors", "dense and exact, sums", "posteriors", "posteriors, from mpmath")
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
