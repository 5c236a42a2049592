"""A slow wrapper search to compare with: every table and every prediction is recomputed for every candidate."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

Parents = tuple[tuple[int, ...] | None, ...]
#: Log-joints closer than this tie: on paper they may be equal, and then rounding decides.
TIE = 1e-9


class Undecided(Exception):
    """Two classes or two candidates are so close that rounding decides between them."""


@dataclass
class Problem:
    """Coded rows (-1 is missing), their folds, and the settings of a search."""

    codes: np.ndarray
    cards: list[int]
    y: np.ndarray
    folds: np.ndarray
    method: str = "hill-climb"
    objective: str = "accuracy"
    weights: np.ndarray | None = None
    alpha: float = 1.0
    prior: list[float] | None = None
    epsilon: float = 0.01
    max_parents: int = 1
    symmetric: bool = False
    start: list[tuple[int, int]] | None = None
    required: list[tuple[int, int]] = field(default_factory=list)
    forbidden: list[tuple[int, int]] = field(default_factory=list)
    max_steps: int | None = None

    @property
    def n_features(self) -> int:
        return self.codes.shape[1]

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    def frame(self) -> pd.DataFrame:
        """The rows as a table with declared categories."""
        return pd.DataFrame(
            {
                f"f{i}": pd.Categorical.from_codes(self.codes[:, i], categories=[f"v{v}" for v in range(card)])
                for i, card in enumerate(self.cards)
            }
        )


class Judge:
    """Scores structures by cross-validation; nothing but the tables is kept from one to the next."""

    def __init__(self, problem: Problem) -> None:
        self.p = problem
        self.n_folds = int(problem.folds.max()) + 1
        self.w = np.ones(len(problem.y)) if problem.weights is None else problem.weights
        self.table = lru_cache(maxsize=None)(self._table)  # a table depends on nothing but its family

    def counts(self, members: list[int], fold: int) -> np.ndarray:
        """Training counts of joint values and the class; rows with a missing member do not count."""
        p = self.p
        rows = (p.folds != fold) & (p.codes[:, members] >= 0).all(axis=1)
        found = np.zeros([*(p.cards[m] for m in members), p.n_classes])
        np.add.at(found, (*(p.codes[rows, m] for m in members), p.y[rows]), self.w[rows])
        return found

    def _table(self, child: int, parents: tuple[int, ...], fold: int) -> np.ndarray:
        """P(child | parents, class), axes parents, child, class; uniform where nothing is known."""
        n = self.counts([*parents, child], fold)
        r, a = self.p.cards[child], self.p.alpha
        total = n.sum(axis=-2, keepdims=True) + r * a
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0, (n + a) / total, 1.0 / r)

    def class_prior(self, fold: int) -> np.ndarray:
        if self.p.prior is not None:
            return np.array(self.p.prior)
        n = self.counts([], fold)
        total = n.sum() + len(n) * self.p.alpha
        return (n + self.p.alpha) / total

    def log_joint(self, parents: Parents, fold: int) -> np.ndarray:
        """ln P(class, row) for the test rows of a fold; missing values are marginalized over all completions."""
        p = self.p
        rows = np.flatnonzero(p.folds == fold)
        tables = {f: self.table(f, found, fold) for f, found in enumerate(parents) if found is not None}
        with np.errstate(divide="ignore"):
            logs = {f: np.log(t) for f, t in tables.items()}
            out = np.tile(np.log(self.class_prior(fold)), (len(rows), 1))
            complete = (p.codes[rows][:, list(tables)] >= 0).all(axis=1)
            codes = p.codes[rows[complete]]
            for f, table in logs.items():
                out[complete] += table[(*(codes[:, m] for m in (*parents[f], f)),)]
            for i in np.flatnonzero(~complete):
                out[i] += np.log(self._summed(p.codes[rows[i]].copy(), parents, tables))
        return out

    def _summed(self, row: np.ndarray, parents: Parents, tables: dict[int, np.ndarray]) -> np.ndarray:
        missing = [f for f in tables if row[f] < 0]
        total = np.zeros(self.p.n_classes)
        for values in itertools.product(*(range(self.p.cards[f]) for f in missing)):
            row[missing] = values
            product = np.ones(self.p.n_classes)
            for f, table in tables.items():
                product *= table[(*(row[m] for m in (*parents[f], f)),)]
            total += product
        return total

    def fold_scores(self, parents: Parents) -> list[float]:
        scores = []
        for fold in range(self.n_folds):
            rows = np.flatnonzero(self.p.folds == fold)
            joint = self.log_joint(parents, fold)
            value = self._log_posteriors if self.p.objective == "cll" else self._hits
            found = value(joint, rows, parents, fold)
            scores.append(float((self.w[rows] * found).sum() / self.w[rows].sum()))
        return scores

    def _log_posteriors(self, joint: np.ndarray, rows: np.ndarray, parents: Parents, fold: int) -> np.ndarray:
        impossible = np.isneginf(joint).all(axis=1)
        joint = np.where(impossible[:, None], 0.0, joint)  # nothing is known: all classes alike
        largest = joint.max(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            posterior = joint - largest - np.log(np.exp(joint - largest).sum(axis=1, keepdims=True))
        return posterior[np.arange(len(rows)), self.p.y[rows]]

    def _hits(self, joint: np.ndarray, rows: np.ndarray, parents: Parents, fold: int) -> np.ndarray:
        labels, best = self.p.y[rows], joint.max(axis=1, keepdims=True)
        near = (joint == best) | (joint > best - TIE)
        tied = (near.sum(axis=1) > 1) & near[np.arange(len(rows)), labels] & np.isfinite(best[:, 0])
        for i in np.flatnonzero(tied):
            factors = [self._factors(rows[i], c, parents, fold) for c in np.flatnonzero(near[i])]
            if factors[0] is None or any(f != factors[0] for f in factors):
                raise Undecided(f"row {rows[i]}")
        return np.argmax(near, axis=1) == labels

    def _factors(self, row: int, c: int, parents: Parents, fold: int) -> Counter[Any] | None:
        """The counts that are multiplied and divided by: where they are equal, rounding cannot distinguish classes."""
        codes, p = self.p.codes[row], self.p
        if p.weights is not None:
            return None  # sums of weights have their own rounding
        factors: Counter[Any] = Counter([("prior", round(float(self.class_prior(fold)[c]), 12))])
        used = {m for found in parents if found for m in found}
        for f, found in enumerate(parents):
            if found is None or (codes[f] < 0 and f not in used):
                continue
            members = [*found, f]
            if (codes[members] < 0).any():
                return None  # a sum, not a product
            n = self.counts(members, fold)[tuple(codes[list(found)])][:, c]
            if n.sum() + p.alpha == 0:
                factors[("uniform", p.cards[f])] += 1
            else:
                factors[("n", int(n[codes[f]]), 0)] += 1
                factors[("n", int(n.sum()), p.cards[f] if p.alpha else 0)] -= 1
        return Counter({key: n for key, n in factors.items() if n})


@dataclass
class Step:
    parents: Parents
    fold_scores: list[float]
    score: float
    n_candidates: int


@dataclass
class Outcome:
    steps: list[Step]
    stopped: str
    batches: list[list[float]]  # the scores of all candidates, in the order in which they were tried


def mean(numbers: list[float]) -> float:
    total = 0.0
    for number in numbers:  # in plain order: sum() would be more exact than the library
        total += number
    return total / len(numbers)


def replaced(parents: Parents, changes: dict[int, tuple[int, ...] | None]) -> Parents:
    return tuple(changes.get(f, found) for f, found in enumerate(parents))


def reaches(parents: Parents, ancestor: int, feature: int) -> bool:
    return ancestor == feature or any(reaches(parents, ancestor, q) for q in parents[feature] or ())


class Search:
    """The greedy loop, with the candidates of all four methods in the order in which ties are decided."""

    def __init__(self, problem: Problem) -> None:
        self.p = problem
        self.judge = Judge(problem)
        self.batches: list[list[float]] = []
        self.parents, self.groups = self._start()

    def _start(self) -> tuple[Parents, list[list[int]]]:
        p = self.p
        arcs = sorted({*(p.start or []), *p.required})
        named = {f for arc in arcs for f in arc}
        absent_unless_named = p.method == "forward-join"
        parents: Parents = tuple(
            None if absent_unless_named and f not in named else tuple(sorted(a for a, b in arcs if b == f))
            for f in range(p.n_features)
        )
        groups: list[list[int]] = []
        for f, found in enumerate(parents):
            if found is None:
                continue
            linked = {f, *found, *(c for c, q in enumerate(parents) if q and f in q)}
            if min(linked) == f:
                groups.append(sorted(linked, key=lambda m: len(parents[m] or ())))
        return parents, groups

    def run(self) -> Outcome:
        steps = [self._step(self.parents, 0)]
        while True:
            score = steps[-1].score
            if self.p.objective == "accuracy" and score >= 1:
                return Outcome(steps, "perfect", self.batches)
            if self.p.max_steps is not None and len(steps) > self.p.max_steps:
                return Outcome(steps, "step limit", self.batches)
            tried = len(self.batches)
            candidates = list(self.candidates())
            if not candidates:
                return Outcome(steps, "nothing left", self.batches)
            scores = self._scores([found for found, _ in candidates])
            best = self.first_best(scores)
            if not self._improves(scores[best], score):
                return Outcome(steps, "no improvement", self.batches)
            self.parents, self.groups = candidates[best]
            steps.append(self._step(self.parents, sum(map(len, self.batches[tried:]))))

    def _step(self, parents: Parents, n_candidates: int) -> Step:
        fold_scores = self.judge.fold_scores(parents)
        return Step(parents, fold_scores, mean(fold_scores), n_candidates)

    def _scores(self, batch: list[Parents]) -> list[float]:
        self.batches.append([mean(self.judge.fold_scores(parents)) for parents in batch])
        return self.batches[-1]

    @property
    def _is_exact(self) -> bool:
        return self.p.objective == "accuracy" and self.p.weights is None

    def first_best(self, scores: list[float]) -> int:
        best = max(scores)
        gaps = [best - score if score != best else 0.0 for score in scores]
        if any(1e-13 < gap < TIE for gap in gaps):
            raise Undecided("candidates")
        return next(i for i, gap in enumerate(gaps) if gap <= 1e-13)

    def _improves(self, candidate: float, present: float) -> bool:
        if math.isinf(present):
            return candidate > present
        if not self._is_exact and abs(candidate - self.p.epsilon - present) < TIE:
            raise Undecided("epsilon")
        return candidate - self.p.epsilon >= present

    def candidates(self) -> Iterator[tuple[Parents, list[list[int]]]]:
        arcs = {"hill-climb": self.arcs, "super-parent": self.super_parent_arcs}
        if self.p.method in arcs:
            for parent, child in arcs[self.p.method]():
                yield replaced(self.parents, {child: tuple(sorted((*self.parents[child], parent)))}), []
        else:
            yield from self.additions() if self.p.method == "forward-join" else self.removals()

    def _is_possible(self, parent: int, child: int, most: int) -> bool:
        found = self.parents[child]
        return (
            len(found) < most
            and parent not in found
            and (parent, child) not in self.p.forbidden
            and not reaches(self.parents, child, parent)
        )

    def arcs(self) -> Iterator[tuple[int, int]]:
        """Full parents first, children in column order; then the others, first with later and then earlier children."""
        n, most = self.p.n_features, self.p.max_parents
        for full in (True, False):
            for parent in range(n):
                if (len(self.parents[parent]) >= most) != full:
                    continue
                order = range(n) if full else [*range(parent + 1, n), *range(parent)]
                for child in order:
                    twin = (
                        self.p.symmetric
                        and child > parent
                        and not self.parents[parent]
                        and not self.parents[child]
                        and (child, parent) not in self.p.forbidden
                    )
                    if self._is_possible(parent, child, most) and not twin:
                        yield parent, child

    def super_parent_arcs(self) -> Iterator[tuple[int, int]]:
        n = self.p.n_features
        children = {parent: [c for c in range(n) if self._is_possible(parent, c, 1)] for parent in range(n)}
        possible = [parent for parent in range(n) if children[parent]]
        if not possible:
            return
        scores = self._scores([replaced(self.parents, dict.fromkeys(children[q], (q,))) for q in possible])
        best = possible[self.first_best(scores)]
        yield from ((best, child) for child in children[best])

    def additions(self) -> Iterator[tuple[Parents, list[list[int]]]]:
        absent = [f for f, found in enumerate(self.parents) if found is None]
        for f in absent:
            yield replaced(self.parents, {f: ()}), [*self.groups, [f]]
        for f in absent:
            for i, group in enumerate(self.groups):
                if not any((m, f) in self.p.forbidden for m in group):
                    groups = [*self.groups[:i], [*group, f], *self.groups[i + 1 :]]
                    yield replaced(self.parents, {f: tuple(sorted(group))}), groups

    def removals(self) -> Iterator[tuple[Parents, list[list[int]]]]:
        kept = {f for arc in self.p.required for f in arc}
        for f, found in enumerate(self.parents):
            if found is None or f in kept:
                continue
            changes: dict[int, tuple[int, ...] | None] = {f: None}
            for c, q in enumerate(self.parents):
                if q and f in q:
                    changes[c] = tuple(m for m in q if m != f)
            groups = [[m for m in group if m != f] for group in self.groups]
            yield replaced(self.parents, changes), [group for group in groups if group]
        for (i, children), (j, parents) in itertools.combinations(enumerate(self.groups), 2):
            if any((a, b) in self.p.forbidden for a in parents for b in children):
                continue
            joins = {c: tuple(sorted((*self.parents[c], *parents))) for c in children}
            groups = [*self.groups[:i], [*parents, *children], *self.groups[i + 1 : j], *self.groups[j + 1 :]]
            yield replaced(self.parents, joins), groups
