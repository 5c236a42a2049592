"""What tanager computes, by definition: plain and slow NumPy code that shares nothing with the library.

docs/math.md has the formulas. A table is `Rows`: codes of features (-1 is missing), classes and weights. A `Structure`
says who the parents are; `log_tables` are the logarithms of the conditional tables, with one axis for every feature
parent, then the feature, then the class if it is a parent; that of the class has its feature parents first.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, field

import mpmath
import numpy as np
from scipy.special import gammaln, logsumexp, polygamma

UNIFORM_BETA = {2: (math.pi**2 - 18) / 24, 3: -0.200173155727, 4: -0.142314291220, 5: -0.110547703813}


@dataclass
class Rows:
    """Coded training rows."""

    codes: np.ndarray
    cards: list[int]
    y: np.ndarray
    n_classes: int
    w: np.ndarray

    @property
    def n_features(self) -> int:
        return len(self.cards)

    @property
    def total(self) -> float:
        return float(self.w.sum())

    def take(self, rows) -> Rows:
        return Rows(self.codes[rows], self.cards, self.y[rows], self.n_classes, self.w[rows])

    def counts(self, members) -> np.ndarray:
        """Weight of every combination of values of some features and the class, where all of them are observed."""
        found = np.zeros([*(self.cards[m] for m in members), self.n_classes])
        seen = np.flatnonzero((self.codes[:, list(members)] >= 0).all(axis=1))
        np.add.at(found, (*(self.codes[seen, m] for m in members), self.y[seen]), self.w[seen])  # row by row
        return found


@dataclass
class Structure:
    """Feature parents of every feature (None: left out), which of them the class is a parent of, and its own parents."""

    parents: list[list[int] | None]
    class_children: list[bool] = field(default_factory=list)
    class_parents: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.class_children:
            self.class_children = [found is not None for found in self.parents]

    @property
    def features(self) -> list[int]:
        return [f for f, found in enumerate(self.parents) if found is not None]


# -- tables from counts


def normalized(cells, axis) -> np.ndarray:
    """Divide by the sum along an axis; uniform where that is zero."""
    total = cells.sum(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, cells / total, 1 / cells.shape[axis])


def family_counts(rows: Rows, structure: Structure, f: int) -> np.ndarray:
    found = rows.counts([*structure.parents[f], f])
    return found if structure.class_children[f] else found.sum(axis=-1)


def class_counts(rows: Rows, structure: Structure) -> np.ndarray:
    return rows.counts(structure.class_parents)


def make_tables(rows: Rows, structure: Structure, estimate, prior=None) -> dict:
    """Tables of all variables, "class" included; `estimate` turns counts into probabilities along an axis."""
    tables = {f: estimate(family_counts(rows, structure, f), len(structure.parents[f]), f) for f in structure.features}
    own = len(structure.class_parents)
    tables["class"] = estimate(class_counts(rows, structure), own, "class") if prior is None else np.asarray(prior)
    return tables


def dirichlet(rows, structure, alpha=1.0, size=None, prior=None) -> dict:
    def estimate(n, axis, _):
        return normalized(n + (alpha if size is None else size / n.size), axis)

    return make_tables(rows, structure, estimate, prior)


def softened(rows, structure, n0=5.0, prior=None) -> dict:
    def estimate(n, axis, variable):
        if variable == "class":
            share = normalized(rows.counts([]), 0)
            if axis == 0:
                return share
        else:
            share = normalized(rows.counts([variable]).sum(axis=-1), 0)
        shape = [1] * n.ndim
        shape[axis] = -1
        share, total = share.reshape(shape), n.sum(axis=axis, keepdims=True) + n0
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0, (n + n0 * share) / total, share)

    return make_tables(rows, structure, estimate, prior)


def data_temperature(rows, structure, degrees="log", n_c=None, added=1e-4, prior=None) -> dict:
    def estimate(n, axis, _):
        r = n.shape[axis]
        freedom = math.log(r) if degrees == "log" else r - 1
        if freedom == 0:
            return np.ones_like(n)
        rows_needed = freedom * ((2 if degrees == "log" else 1) if n_c is None else n_c)
        total = n.sum(axis=axis, keepdims=True)
        beta = -np.expm1(-total / rows_needed)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.where(total > 0, n / total, 1.0) + added)
            powers = np.where(beta > 0, beta * logs, 0.0)
        powers = np.where(np.isnan(powers), -np.inf, powers)
        return normalized(np.exp(powers - powers.max(axis=axis, keepdims=True)), axis)

    return make_tables(rows, structure, estimate, prior)


def model_averaged(rows, structure, arc_prior=0.5, alpha=1.0, prior=None) -> tuple[dict, np.ndarray]:
    """Tables, and the posterior probability of every arc from the class."""
    arcs = np.full(rows.n_features, np.nan)

    def log_evidence(n):
        r = n.shape[0]
        return (
            gammaln(r * alpha) - gammaln(r * alpha + n.sum(axis=0)) + (gammaln(alpha + n) - gammaln(alpha)).sum(0)
        ).sum()

    def estimate(n, axis, variable):
        if variable == "class":
            return normalized(n + alpha, axis)
        alone = n.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            odds = np.log(arc_prior) - np.log1p(-arc_prior) + log_evidence(n) - log_evidence(alone)
        p = arcs[variable] = 1 / (1 + math.exp(-odds)) if odds > -700 else math.exp(odds)
        return p * normalized(n + alpha, 0) + (1 - p) * normalized(alone + alpha, 0)

    return make_tables(rows, structure, estimate, prior), arcs


def acll_beta(s, assumption="dirichlet", a=1.0, b=1.0) -> float:
    if s == 1:
        return -1.0
    if assumption == "uniform":
        return UNIFORM_BETA[s]
    at_all = polygamma(1, s * a + b)
    return float(-(polygamma(1, s * a) - at_all) / (polygamma(1, a) - s * at_all))


def acll_weights(n, beta) -> np.ndarray:
    return n + beta * n.sum(axis=-1, keepdims=True)


def acll_optimal(rows, structure, beta, pseudo_counts=5.0, prior=None) -> dict:
    def estimate(n, axis, _):
        return normalized(np.maximum(acll_weights(n, beta), pseudo_counts), axis)

    return make_tables(rows, structure, estimate, prior)


def weighted(rows, structure, weights, alpha=1.0, prior=None) -> dict:
    """Dirichlet tables to the power of the feature's weight, normalized again."""
    tables = dirichlet(rows, structure, alpha, prior=prior)
    with np.errstate(divide="ignore"):
        return {
            v: t
            if v == "class"
            else normalized(np.where(weights[v] == 0, 1.0, t ** weights[v]), len(structure.parents[v]))
            for v, t in tables.items()
        }


# -- inference


def completions(row, cards, features) -> np.ndarray:
    """All rows that agree with what is observed, one below the other."""
    values = [
        range(r) if code < 0 and f in features else [code] for f, (code, r) in enumerate(zip(row, cards, strict=True))
    ]
    return np.array(list(itertools.product(*values)), dtype=np.int64).reshape(-1, len(cards))


def complete_log_joint(structure: Structure, logs: dict, codes, n_classes) -> np.ndarray:
    """ln P(class, row) of rows without missing values; `logs` are logarithms of tables."""
    classes = np.arange(n_classes)
    out = logs["class"][(*(codes[:, p, None] for p in structure.class_parents), classes[None, :])]
    out = np.broadcast_to(out, (len(codes), n_classes)).copy()
    for f in structure.features:
        index = tuple(codes[:, m, None] for m in (*structure.parents[f], f))
        out += logs[f][(*index, classes[None, :])] if structure.class_children[f] else logs[f][index]
    return out


def log_joint(structure: Structure, tables: dict, codes, cards, n_classes) -> np.ndarray:
    """ln P(class, observed values): the sum over everything that the missing ones can be."""
    with np.errstate(divide="ignore"):
        logs = {v: np.log(t) for v, t in tables.items()}
    known, features = {}, set(structure.features)
    for row in {tuple(row) for row in codes.tolist()}:
        joint = complete_log_joint(structure, logs, completions(row, cards, features), n_classes)
        known[row] = log_sum(joint, 0)
    return np.array([known[tuple(row)] for row in codes.tolist()]).reshape(-1, n_classes)


def log_sum(values, axis) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return logsumexp(values, axis=axis)


def log_posterior(joint) -> np.ndarray:
    """ln P(class | row); classes are alike where the row is impossible with all of them."""
    joint = np.where(np.isneginf(joint).all(axis=1, keepdims=True), 0.0, joint)
    return joint - log_sum(joint, 1)[:, None]


# -- structures


def information(n) -> float:
    """I(X;Y|C) from counts with the axes X, Y, C: relative frequencies of the rows counted."""
    total = n.sum()
    if not total > 0:
        return 0.0
    p = n / total
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = p * p.sum(axis=(0, 1)) / (p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True))
        terms = p * np.log(ratio)
    return max(0.0, float(terms[p > 0].sum()))


def chow_liu_weight(rows: Rows, u, v, score) -> float:
    n = rows.counts([u, v])
    if score == "loglik":
        return rows.total * information(n)
    degrees = (rows.cards[u] - 1) * (rows.cards[v] - 1) * rows.n_classes
    penalty = 1.0 if score == "aic" else 0.5 * math.log(max(1.0, n.sum()))  # a weight below one row is no bonus
    return n.sum() * information(n) - degrees * penalty


def all_trees(n) -> list[list[tuple[int, int]]]:
    """All spanning trees of n nodes, by trying every set of n - 1 edges."""
    trees = []
    for edges in itertools.combinations(itertools.combinations(range(n), 2), n - 1):
        group = list(range(n))
        for u, v in edges:
            group = [group[u] if g == group[v] else g for g in group]
        if len(set(group)) == 1:
            trees.append(list(edges))
    return trees


def best_forest(rows: Rows, score) -> float:
    """The greatest weight of a tree; with a penalty, of a forest."""
    n = rows.n_features
    weights = {pair: chow_liu_weight(rows, *pair, score) for pair in itertools.combinations(range(n), 2)}
    if score != "loglik":
        weights = {pair: max(0.0, weight) for pair, weight in weights.items()}  # what does not pay is left out
    return max(math.fsum(weights[edge] for edge in tree) for tree in all_trees(n))


def mutual_information(rows: Rows, f) -> float:
    return information(rows.counts([f])[:, :, None])


def kdb_parents(rows: Rows, k, digits=9) -> list[list[int]]:
    """Sahami's structure; informations that are equal to so many digits are tied, and ties go to the first."""
    n = rows.n_features
    about_class = [round(mutual_information(rows, f), digits) for f in range(n)]
    ranking = sorted(range(n), key=lambda f: -about_class[f])
    parents = [[] for _ in range(n)]
    for i, child in enumerate(ranking):
        between = {f: round(information(rows.counts([f, child])), digits) for f in ranking[:i]}
        parents[child] = sorted(sorted(between, key=lambda f: -between[f])[:k])
    return parents


def acll_family_score(n, beta, pseudo_counts) -> float:
    weights = acll_weights(n, beta)
    return float((weights * np.log(normalized(np.maximum(weights, pseudo_counts), n.ndim - 2))).sum())


def acll_gain(rows: Rows, u, v, beta, pseudo_counts) -> float:
    """What the arc from u to v adds to the score, from the rows that have both, scaled up to all rows."""
    n = rows.counts([u, v])
    if not n.sum() > 0:
        return 0.0
    with_arc, without = (acll_family_score(cells, beta, pseudo_counts) for cells in (n, n.sum(axis=0)))
    return (with_arc - without) * rows.total / n.sum()


def best_acll_tree(rows: Rows, beta, pseudo_counts, root=None) -> float:
    """The greatest score of all rooted trees."""
    n = rows.n_features
    gain = np.array(
        [[0.0 if u == v else acll_gain(rows, u, v, beta, pseudo_counts) for v in range(n)] for u in range(n)]
    )
    roots = range(n) if root is None else [root]
    return max(sum(gain[p, c] for p, c in rooted(tree, r)) for tree in all_trees(n) for r in roots)


def rooted(edges, root) -> list[tuple[int, int]]:
    """The edges of a tree as (parent, child), away from the root."""
    arcs, reached, left = [], {root}, list(edges)
    while left:
        u, v = next(edge for edge in left if reached & set(edge))
        left.remove((u, v))
        arcs.append((u, v) if u in reached else (v, u))
        reached |= {u, v}
    return arcs


# -- averages


def aode_log_joint(rows: Rows, codes, alpha=1.0, min_count=0.0, prior=None) -> np.ndarray:
    """The mean over super-parents of their models; with min_count, over those seen often enough in that row."""
    n, s = rows.n_features, rows.n_classes
    values = [rows.counts([f]).sum(axis=1) for f in range(n)]
    naive = Structure([[] for _ in range(n)])
    models = [Structure([[] if f == p else [p] for f in range(n)]) for p in range(n)]
    joints = [log_joint(m, dirichlet(rows, m, alpha, prior=prior), codes, rows.cards, s) for m in models]
    alone = log_joint(naive, dirichlet(rows, naive, alpha, prior=prior), codes, rows.cards, s)
    out = []
    for i, row in enumerate(codes):
        chosen = [p for p in range(n) if min_count == 0 or (row[p] >= 0 and values[p][row[p]] >= min_count)]
        out.append(log_sum(np.array([joints[p][i] for p in chosen]), 0) - math.log(len(chosen)) if chosen else alone[i])
    return np.array(out)


@functools.cache
def log_gamma(x):
    """With more digits than a float has: what is left of large ones after subtraction must be right."""
    with mpmath.workdps(40):
        return mpmath.loggamma(x)


def tbmatan_log_weights(rows: Rows, size, stubbornness=None, beliefs=None) -> dict:
    """ln of the weight of every edge."""

    def log_gammas(n):
        a = size / n.size
        return mpmath.fsum(log_gamma(mpmath.mpf(a) + float(cell)) - log_gamma(mpmath.mpf(a)) for cell in n.flat if cell)

    logs = {}
    with mpmath.workdps(40):
        for u, v in itertools.combinations(range(rows.n_features), 2):
            n = rows.counts([u, v])
            logs[u, v] = log_gammas(n) + log_gammas(n.sum(axis=(0, 1)))
            logs[u, v] -= log_gammas(n.sum(axis=0)) + log_gammas(n.sum(axis=1))
        if stubbornness is not None and logs:
            ten = mpmath.log(10)
            least, most = min(logs.values()) / ten, max(logs.values()) / ten
            a = stubbornness / (most - least) if most - least > stubbornness else 1
            logs = {e: (a * (x / ten - least) - stubbornness) * ten for e, x in logs.items()}
        if beliefs is not None:
            logs = {(u, v): x + mpmath.log(beliefs[u][v]) for (u, v), x in logs.items()}
        return logs


def tbmatan_log_joint(rows: Rows, codes, size=10.0, stubbornness=None, beliefs=None, prior=None) -> np.ndarray:
    """The average over all trees, one after the other."""
    n, s = rows.n_features, rows.n_classes
    weights = tbmatan_log_weights(rows, size, stubbornness, beliefs)
    trees = all_trees(n)
    with mpmath.workdps(40):
        sums = [mpmath.fsum(weights[e] for e in tree) for tree in trees]
        of_trees = np.array([float(x - max(sums)) for x in sums])
    pairs = {(u, v): rows.counts([u, v]) for u, v in weights}
    lifts = {}
    for edge, count in pairs.items():
        star = count + size / count.size
        lifts[edge] = np.log(star) + np.log(star.sum(axis=(0, 1)))
        lifts[edge] = lifts[edge] - np.log(star.sum(axis=1, keepdims=True)) - np.log(star.sum(axis=0, keepdims=True))
    naive = Structure([[] for _ in range(n)])
    tables = dirichlet(rows, naive, size=size, prior=prior)
    with np.errstate(divide="ignore"):
        logs = {v: np.log(t) for v, t in tables.items()}
    out = []
    for row in codes:
        full = completions(row, rows.cards, set(range(n)))
        lifted = [sum((lifts[u, v][full[:, u], full[:, v]] for u, v in t), np.zeros((len(full), s))) for t in trees]
        average = log_sum(of_trees[:, None, None] + np.array(lifted), 0) - log_sum(of_trees, 0)
        out.append(log_sum(complete_log_joint(naive, logs, full, s) + average, 0))
    return np.array(out)


# -- objectives of learners that iterate


def log_likelihood(rows: Rows, structure, tables) -> float:
    """The weighted sum of ln P(class, observed values)."""
    joint = log_joint(structure, tables, rows.codes, rows.cards, rows.n_classes)
    return float(rows.w @ joint[np.arange(len(rows.y)), rows.y])


def conditional_log_likelihood(rows: Rows, structure, tables) -> float:
    posterior = log_posterior(log_joint(structure, tables, rows.codes, rows.cards, rows.n_classes))
    return float(rows.w @ posterior[np.arange(len(rows.y)), rows.y])


def penalized_likelihood(rows: Rows, structure, tables, alpha, prior=None) -> float:
    """What EM and APN maximize. A given class distribution is a constant factor of it, which is left out."""
    if prior is not None:
        tables = {**tables, "class": np.ones_like(tables["class"])}
    with np.errstate(divide="ignore"):
        logs = [np.log(t).sum() for t in tables.values()]
    return log_likelihood(rows, structure, tables) + (alpha * math.fsum(logs) if alpha else 0.0)


def em_step(rows: Rows, structure, tables, alpha, prior=None) -> dict:
    """Expected counts by enumeration, then new tables."""
    expected = {v: np.zeros_like(t) for v, t in tables.items()}
    with np.errstate(divide="ignore"):
        logs = {v: np.log(t) for v, t in tables.items()}
    for row, c, w in zip(rows.codes, rows.y, rows.w, strict=True):
        full = completions(row, rows.cards, set(structure.features))
        joint = complete_log_joint(structure, logs, full, rows.n_classes)[:, c]
        share = np.exp(joint - log_sum(joint, 0)) * w
        for f in structure.features:
            index = tuple(full[:, m] for m in (*structure.parents[f], f))
            np.add.at(expected[f], (*index, c) if structure.class_children[f] else index, share)
        np.add.at(expected["class"], (*(full[:, p] for p in structure.class_parents), np.full(len(full), c)), share)
    new = {f: normalized(expected[f] + alpha, len(structure.parents[f])) for f in structure.features}
    new["class"] = (
        normalized(expected["class"] + alpha, len(structure.class_parents)) if prior is None else tables["class"]
    )
    return new


def softmax_gradient(objective, tables, structure, prior=None, step=1e-5) -> float:
    """The largest derivative of an objective by a softmax parameter, by finite differences."""
    largest = 0.0
    for v, table in tables.items():
        if v == "class" and prior is not None:
            continue
        axis = len(structure.class_parents) if v == "class" else len(structure.parents[v])
        for cell in np.ndindex(table.shape):
            values = []
            for sign in (1, -1):
                changed = table.copy()
                changed[cell] *= math.exp(sign * step)
                values.append(objective({**tables, v: normalized(changed, axis)}))
            largest = max(largest, abs(values[0] - values[1]) / (2 * step))
    return largest


def wanbia_value(rows: Rows, weights, alpha=1.0, prior=None) -> float:
    """Mean of -ln P(class | row) under weighted naive Bayes; for rows without missing values."""
    naive = Structure([[] for _ in rows.cards])
    tables = dirichlet(rows, naive, alpha, prior=prior)
    with np.errstate(divide="ignore"):
        logs = {v: np.log(t) * (1.0 if v == "class" else weights[v]) for v, t in tables.items()}
    posterior = log_posterior(complete_log_joint(naive, logs, rows.codes, rows.n_classes))
    return float(-(rows.w @ posterior[np.arange(len(rows.y)), rows.y]) / rows.total)
