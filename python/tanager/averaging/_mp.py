"""The average over all TANs in numbers of many digits: from gamma functions and determinants, and nothing of the core.

It is what tests compare the core with, and what predicts where the core cannot vouch for its results.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._utils.typing import Floats, missing_code
from ..tree_sums._mp import required_bits
from ..tree_sums._weights import CheckedWeights

__all__ = ["MpAverage", "MpPredictor", "log_joint_mp"]

#: Results of two precisions that agree to this number of bits are accepted.
_AGREEMENT = 80
#: The largest equivalent sample size for estimating networks.
_MAX_DIRICHLET = 1e200
#: The initial number of bits of weights and lifts.
_WEIGHT_BITS = 160


def log_joint_mp(
    counts: _core.CountSet,
    codes: Any,
    equivalent_sample_size: float,
    edge_beliefs: Any = None,
    stubbornness: float | None = None,
    digits: int | None = None,
    *,
    class_prior: Any = None,
) -> npt.NDArray[np.object_]:
    """Return ln P(class, row) of the average over all TANs, correct to at least 20 digits, but slowly.

    Parameters
    ----------
    counts : CountSet
        Counts of all pairs.
    codes : array-like of int of shape (n_rows, n_features)
        The codes of every row; negative codes are missing values, which are summed over exactly.
    equivalent_sample_size : float
        The weight of the prior, any positive number.
    edge_beliefs : array-like of shape (n_features, n_features) or None, default=None
        The prior weight of every edge.
    stubbornness : float or None, default=None
        As in `TBMATANClassifier`.
    digits : int or None, default=None
        The initial number of decimal digits of the determinants, by default derived from the range of the weights. It is
        doubled until the result no longer changes.
    class_prior : sequence of float or None, default=None
        Class probabilities, used instead of estimates.

    Returns
    -------
    ndarray of mpmath.mpf of shape (n_rows, n_classes)
    """
    beliefs = None if edge_beliefs is None else np.asarray(edge_beliefs, dtype=np.float64)
    prior = None if class_prior is None or not len(class_prior) else [float(p) for p in class_prior]
    average = MpAverage(counts, equivalent_sample_size, stubbornness, beliefs, prior)
    return average.log_joint(np.asarray(codes, dtype=np.int64), digits)


@dataclass(frozen=True)
class MpAverage:
    """The counterpart of `_core.Tbmatan` for any prior; without ``edge_beliefs`` all prior edge weights are one."""

    counts: _core.CountSet
    equivalent_sample_size: float
    stubbornness: float | None = None
    edge_beliefs: Floats | None = None
    class_prior: list[float] | None = None
    max_assignments: int = 4096

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.counts.n_features

    @property
    def cardinalities(self) -> list[int]:
        """Number of values of every feature."""
        return self.counts.cardinalities

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.counts.n_classes

    @cached_property
    def class_probabilities(self) -> Floats:
        """The class probabilities as floats."""
        numbers = _Numbers(self, _WEIGHT_BITS)
        return np.array([float(numbers.class_probability(c)) for c in range(self.counts.n_classes)])

    @cached_property
    def edge_weights(self) -> tuple[Floats, npt.NDArray[np.int64]]:
        """The weights of the edges as floating-point mantissas and integer exponents."""
        return _Numbers(self, _WEIGHT_BITS).rounded_weights

    def network_of(self, edges: list[tuple[int, int]]) -> _core.Network:
        """Return the network of one tree, rooted at the first feature, with posterior means as parameters."""
        parents: list[list[int] | None] = [[] for _ in range(self.n_features)]
        reached, waiting = {0}, [0]
        while waiting:
            parent = waiting.pop()
            for u, v in edges:
                child = v if u == parent else u if v == parent else parent
                if child not in reached:
                    parents[child] = [parent]
                    reached.add(child)
                    waiting.append(child)
        prior = self.class_probabilities.tolist()
        # Beyond the limit of the core, the counts are negligible compared with the prior anyway.
        size = min(self.equivalent_sample_size, _MAX_DIRICHLET)
        return _core.estimate_dirichlet(parents, self.counts, 1.0, size, prior)

    def log_joint(self, codes: npt.NDArray[np.int64], digits: int | None = None) -> npt.NDArray[np.object_]:
        """Return ln P(class, row) of rows of codes; negative codes are missing values."""
        numbers = cache(lambda bits: _Numbers(self, bits))
        found = [
            [_settled(numbers, self, row, c, digits) for c in range(self.counts.n_classes)] for row in codes.tolist()
        ]
        result = np.empty((len(found), self.counts.n_classes), dtype=object)
        for i, values in enumerate(found):
            result[i] = values
        return result

    def assignments(self, row: list[int]) -> Iterator[tuple[int, ...]]:
        """Yield a row with every combination of its missing values."""
        known = zip(row, self.cardinalities, strict=True)
        return itertools.product(*([code] if code >= 0 else range(values) for code, values in known))

    def __getstate__(self) -> dict[str, Any]:
        counts = self.counts
        cells = counts.cardinalities, counts.n_classes, counts.scope, counts.families, counts.cells()
        names = ("equivalent_sample_size", "stubbornness", "edge_beliefs", "class_prior", "max_assignments")
        return {"cells": cells, **{name: getattr(self, name) for name in names}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        counts = _core.CountSet.from_cells(*state.pop("cells"))
        self.__dict__.update({"counts": counts, **state})


class MpPredictor:
    """The counterpart of the core's predictors; row by row, in arbitrary precision."""

    def __init__(self, average: MpAverage) -> None:
        self._average = average

    def predict(self, columns: list[npt.NDArray[Any]], n_rows: int, output: str, threads: int = 1) -> Floats:  # noqa: ARG002
        """Return the same as `_core.Predictor.predict`."""
        joint = self._log_joint(columns, n_rows)
        if output == "log_joint":
            return joint.astype(np.float64)
        result = np.empty(joint.shape)
        for i, row in enumerate(joint):
            # Subtract before rounding, since both logarithms are large.
            shifted = [float(value - max(row)) for value in row]
            log_sum = math.log(math.fsum(math.exp(value) for value in shifted))
            result[i] = [value - log_sum for value in shifted]
        return result if output == "log_posterior" else np.exp(result)

    def predict_classes(self, columns: list[npt.NDArray[Any]], n_rows: int, threads: int = 1) -> npt.NDArray[np.uint32]:  # noqa: ARG002
        """Return the most probable class of every row; ties go to the first."""
        joint = self._log_joint(columns, n_rows)
        return np.array([max(range(len(row)), key=row.__getitem__) for row in joint], dtype=np.uint32)

    def _log_joint(self, columns: list[npt.NDArray[Any]], n_rows: int) -> npt.NDArray[np.object_]:
        codes = np.empty((n_rows, len(columns)), dtype=np.int64)
        for f, column in enumerate(columns):
            codes[:, f] = np.where(column == missing_code(column), -1, column.astype(np.int64))
        for row in codes:
            cells = math.prod(r for r, code in zip(self._average.cardinalities, row.tolist(), strict=True) if code < 0)
            if cells > self._average.max_assignments:
                raise ValueError(
                    f"a row has missing values with {cells:,} combinations; with this equivalent_sample_size at most "
                    f"max_assignments={self._average.max_assignments:,} can be summed over"
                )
        # Equal rows are computed only once.
        distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
        found = self._average.log_joint(distinct)
        return found[inverse.reshape(-1)]


def _settled(numbers: Callable[[int], _Numbers], average: MpAverage, row: list[int], c: int, digits: int | None) -> Any:
    """Return one log-joint probability, doubling the precision until the result no longer changes."""
    import mpmath

    before, factor = None, 1
    while True:
        exact = numbers(_WEIGHT_BITS * factor)
        total: Any = 0
        for assignment in average.assignments(row):
            part = exact.joint(assignment, c, digits, factor)
            if part is None:
                total = None
                break
            total += part
        if (
            total is not None
            and before is not None
            and abs(total - before) <= abs(total) * mpmath.ldexp(1, -_AGREEMENT)
        ):
            exact.context.prec = _WEIGHT_BITS
            # Convert to the user's context, keeping the precision of the result.
            return mpmath.mp.make_mpf(exact.context.log(total)._mpf_)
        before, factor = total, 2 * factor


class _Numbers:
    """The numbers for predictions in one precision, with a separate mpmath context."""

    def __init__(self, average: MpAverage, bits: int) -> None:
        import mpmath

        self.context = mpmath.MPContext()  # the precision of the global context belongs to the user
        self.bits = bits + 64  # guard bits
        self.context.prec = self.bits
        self.average = average
        self.counts = average.counts
        self.size = self.context.mpf(average.equivalent_sample_size)
        self._sums: dict[tuple[Any, ...], Any] = {}
        self._rising = cache(self._log_rising)

    # -- fitting

    def _log_rising(self, count: float, n_cells: int) -> Any:
        """Return ln Gamma(a + N) / Gamma(a), where a is the prior weight of one of the cells."""
        a = self.size / n_cells
        x = self.context.mpf(count)
        # Log-gamma of a huge number is huge, but the difference of two is not.
        with self.context.extraprec(2 * max(0, self.context.mag(a + x))):
            return self.context.loggamma(a + x) - self.context.loggamma(a)

    def _log_likelihood(self, counts: Floats, n_cells: int) -> Any:
        values, times = np.unique(counts[counts > 0], return_counts=True)
        terms = (t * self._rising(v, n_cells) for v, t in zip(values.tolist(), times.tolist(), strict=True))
        return self.context.fsum(terms)

    @cached_property
    def log_weights(self) -> dict[tuple[int, int], Any]:
        """The logarithms of the non-zero edge weights: equations 20 to 22 of the paper, and 25 to 29 with stubbornness."""
        self.context.prec = self.bits
        logs, s = {}, self.counts.n_classes
        for u, v in itertools.combinations(range(self.counts.n_features), 2):
            table = self.counts.pair(u, v)
            r_u, r_v = table.shape[:2]
            both = self._log_likelihood(table, s * r_u * r_v) + self._log_likelihood(table.sum(axis=(0, 1)), s)
            alone = self._log_likelihood(table.sum(axis=1), s * r_u) + self._log_likelihood(table.sum(axis=0), s * r_v)
            logs[u, v] = both - alone
        if self.average.stubbornness is not None and logs:
            logs = self._confined(logs, self.context.mpf(self.average.stubbornness))
        beliefs = self.average.edge_beliefs
        if beliefs is None:
            return logs
        return {e: log + self.context.log(beliefs[e].item()) for e, log in logs.items() if beliefs[e] > 0}

    def _confined(self, logs: dict[tuple[int, int], Any], stubbornness: Any) -> dict[tuple[int, int], Any]:
        ten = self.context.log(10)
        least, most = min(logs.values()) / ten, max(logs.values()) / ten
        a = stubbornness / (most - least) if most - least > stubbornness else self.context.one
        return {edge: (a * (log / ten - least) - stubbornness) * ten for edge, log in logs.items()}

    @cached_property
    def weights(self) -> dict[tuple[int, int], Any]:
        """The edge weights, with the precision of their logarithms."""
        self.context.prec = self.bits
        return {edge: self.context.exp(log) for edge, log in self.log_weights.items()}

    @cached_property
    def rounded_weights(self) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Return mantissas and exponents as symmetric matrices."""
        return self._as_parts(self.weights)

    def _as_parts(self, weights: dict[tuple[int, int], Any]) -> tuple[Floats, npt.NDArray[np.int64]]:
        n = self.counts.n_features
        mantissas, exponents = np.zeros((n, n)), np.zeros((n, n), dtype=np.int64)
        for (u, v), weight in weights.items():
            mantissa, exponent = self.context.frexp(weight)
            mantissas[u, v] = mantissas[v, u] = float(mantissa)
            exponents[u, v] = exponents[v, u] = int(exponent)
        return mantissas, exponents

    def class_probability(self, c: int) -> Any:
        """P(class)."""
        if self.average.class_prior is not None:
            return self.context.mpf(self.average.class_prior[c])
        share = self.size / self.counts.n_classes
        counts = self.counts.class_counts
        return (self.context.mpf(counts[c].item()) + share) / (self.context.mpf(self.counts.n_rows) + self.size)

    # -- prediction

    def joint(self, row: tuple[int, ...], c: int, digits: int | None, factor: int) -> Any:
        """Return P(class, row); None if the precision was too low."""
        self.context.prec = self.bits
        naive = self.class_probability(c)
        for f, code in enumerate(row):
            values = self.cells(f)
            share = self.size / self.counts.n_classes
            total = self.context.fsum(values[:, c].tolist())
            naive *= (self.context.mpf(values[code, c].item()) + share / len(values)) / (total + share)
        lifted = {(u, v): weight * self.lift(u, v, row[u], row[v], c) for (u, v), weight in self.weights.items()}
        with_row, without = self.tree_sum(lifted, digits, factor), self._all_trees(digits, factor)
        if with_row is None or without is None:
            return None
        self.context.prec = self.bits
        return naive * with_row / without

    def cells(self, f: int) -> Floats:
        """Return the counts of a feature by class."""
        counts: Floats = self._kept(("single", f), lambda: self.counts.single(f))
        return counts

    def lift(self, u: int, v: int, i: int, j: int, c: int) -> Any:
        """Return the ratio of the probability of a pair of values to that under independence given the class."""

        def tables() -> tuple[Floats, Floats, Floats, Floats]:
            table = self.counts.pair(u, v)
            return table, table.sum(axis=1), table.sum(axis=0), table.sum(axis=(0, 1))

        both, of_u, of_v, of_class = self._kept(("pair", u, v), tables)
        share = self.size / self.counts.n_classes
        r_u, r_v = both.shape[:2]

        def real(table: Floats, index: Any, cells: int) -> Any:
            return self.context.mpf(table[index].item()) + share / cells

        numerator = real(both, (i, j, c), r_u * r_v) * real(of_class, c, 1)
        return numerator / (real(of_u, (i, c), r_u) * real(of_v, (j, c), r_v))

    def _all_trees(self, digits: int | None, factor: int) -> Any:
        return self._kept(("all", digits, factor), lambda: self.tree_sum(self.weights, digits, factor))

    def _kept(self, key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        if key not in self._sums:
            self._sums[key] = compute()
        return self._sums[key]

    def tree_sum(self, weights: dict[tuple[int, int], Any], digits: int | None, factor: int) -> Any:
        """Return the sum over all trees by Kirchhoff's determinant; None if the precision was too low."""
        n = self.counts.n_features
        if n == 1:
            return self.context.one
        bits = required_bits(CheckedWeights(*self._as_parts(weights)))
        if bits is None:
            raise ValueError("edge_beliefs allow no tree over all features: too many of them are zero")
        if digits is not None:
            bits = math.ceil(digits * math.log2(10))
        self.context.prec = max(bits * factor, self.bits)
        laplacian = [[self.context.zero] * n for _ in range(n)]
        for (u, v), weight in weights.items():
            laplacian[u][v] -= weight  # u < v
            laplacian[u][u] += weight
            laplacian[v][v] += weight
        return self._determinant([row[u:-1] for u, row in enumerate(laplacian[:-1])])

    def _determinant(self, rows: list[list[Any]]) -> Any:
        """Return the determinant of a symmetric matrix, given by the upper triangle of its rows."""
        determinant = self.context.one
        for k, first in enumerate(rows):
            pivot = first[0]
            if not pivot > 0:
                return None
            determinant *= pivot
            inverse = 1 / pivot  # divisions of thousands of digits are much slower than products
            for i in range(1, len(first)):
                if not first[i]:
                    continue
                quotient, row = first[i] * inverse, rows[k + i]
                for j in range(len(row)):
                    row[j] -= quotient * first[i + j]
        return determinant
