"""Every public learner with settings to try, and what must hold of what it has learned, by definition.

`STRUCTURES`, `PARAMETERS` and `CLASSIFIERS` are found in the public modules, and each must have an entry in the tables
below: a new learner without a definition to compare with fails at import.
"""

from __future__ import annotations

import inspect
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import reference as ref
from sklearn.base import ClassifierMixin

import tanager as tg
from tanager import parameters as pa
from tanager import structure as st


def public_classes(module, base) -> dict:
    found = {name: getattr(module, name) for name in module.__all__}
    return {n: c for n, c in found.items() if inspect.isclass(c) and issubclass(c, base) and c is not base}


STRUCTURES = public_classes(st, st.StructureLearner)
PARAMETERS = public_classes(pa, pa.ParameterLearner)
CLASSIFIERS = public_classes(tg, ClassifierMixin)


@dataclass
class Fitted:
    """A classifier, the rows that it has learned from, and the tables and structure of its network, if it is one."""

    clf: Any
    rows: ref.Rows
    prior: Any = None

    def __post_init__(self) -> None:
        network = getattr(self.clf, "network_", None)
        if network is not None:
            core = network._core.structure
            self.structure = ref.Structure(core.parents, list(core.class_children), list(core.class_parents))
            names = network.feature_names
            self.tables = {f: np.asarray(network.cpt(names[f]).values) for f in self.structure.features}
            self.tables["class"] = np.asarray(network.cpt(network.class_name).values)


def close(found, expected, what, rtol=1e-9, atol=1e-11) -> None:
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, err_msg=what)


def all_children(fitted: Fitted) -> None:
    assert all(fitted.structure.class_children)
    assert not fitted.structure.class_parents
    assert fitted.structure.features == list(range(fitted.rows.n_features))


def acyclic(structure: ref.Structure) -> None:
    waiting = dict(enumerate(structure.parents))
    waiting = {f: set(found) for f, found in waiting.items() if found is not None}
    waiting = {f: found | ({"class"} if structure.class_children[f] else set()) for f, found in waiting.items()}
    waiting["class"] = set(structure.class_parents)
    while waiting:
        free = [v for v, found in waiting.items() if not found & waiting.keys()]
        assert free, f"the arcs form a circle: {structure}"
        for v in free:
            del waiting[v]


# -- structures: a function that makes settings from a random generator, and one that checks what was found


def check_naive(fitted, learner) -> None:
    all_children(fitted)
    assert not any(fitted.structure.parents)


def check_chow_liu(fitted, learner) -> None:
    all_children(fitted)
    rows, parents = fitted.rows, fitted.structure.parents
    assert all(len(found) <= 1 for found in parents)
    acyclic(fitted.structure)
    n, score = rows.n_features, learner.score
    arcs = [(p, f) for f, found in enumerate(parents) for p in found]
    if score == "loglik":
        assert len(arcs) == n - 1
    weights = [ref.chow_liu_weight(rows, u, v, score) for u, v in arcs]
    if n <= 6:
        close(sum(weights), ref.best_forest(rows, score), "weight of the tree", atol=1e-9 * max(1.0, rows.total))
    root = learner.root
    if root is not None:
        assert parents[root] == []
    group = list(range(n))
    for u, v in arcs:
        group = [group[u] if g == group[v] else g for g in group]
    for members in ([f for f in range(n) if group[f] == g] for g in set(group)):
        expected = root if root in members else members[0]
        assert [f for f in members if not parents[f]] == [expected], "each tree has its first feature or root= as root"


def check_kdb(fitted, learner) -> None:
    all_children(fitted)
    rows = fitted.rows
    found = [sorted(p) for p in fitted.structure.parents]
    settled = [ref.kdb_parents(rows, learner.k, digits) for digits in (8, 9, 10)]
    if settled[0] == settled[1] == settled[2]:
        assert found == settled[0]


def check_acll_tree(fitted, learner) -> None:
    all_children(fitted)
    rows, parents = fitted.rows, fitted.structure.parents
    acyclic(fitted.structure)
    assert [len(p) for p in parents].count(0) == 1
    assert all(len(p) <= 1 for p in parents)
    if learner.root is not None:
        assert parents[learner.root] == []
    if rows.n_features <= 4:
        beta = acll_beta_of(rows, learner)
        gains = [
            ref.acll_gain(rows, p, f, beta, learner.pseudo_counts) for f, found in enumerate(parents) for p in found
        ]
        best = ref.best_acll_tree(rows, beta, learner.pseudo_counts, learner.root)
        close(sum(gains), best, "score of the tree", rtol=1e-8, atol=1e-8 * max(1.0, rows.total))


def acll_beta_of(rows, learner) -> float:
    return ref.acll_beta(
        rows.n_classes, learner.assumption, learner.a, max(1.0, rows.total) if learner.b is None else learner.b
    )


def check_fixed(fitted, learner) -> None:
    names = fitted.clf.network_.feature_names
    class_name = fitted.clf.network_.class_name
    expected = {tuple(names[v] if isinstance(v, int) else v for v in arc) for arc in learner.arcs}
    if learner.class_arcs == "all":
        expected |= {(class_name, name) for i, name in enumerate(names) if i not in (learner.leave_out or ())}
    assert set(fitted.clf.network_.arcs) == expected


def check_search(fitted, learner) -> None:
    """The final score is that of the final structure; every step raises it by epsilon at least."""
    acyclic(fitted.structure)
    steps = fitted.clf.search_trace_
    scores = [step.score for step in steps]
    assert all(b - learner.epsilon >= a - 1e-12 for a, b in itertools.pairwise(scores))
    limit = getattr(learner, "max_parents", 1)
    if not isinstance(learner, (st.ForwardJoin, st.BackwardJoin)):
        assert all(len(p) <= limit for p in fitted.structure.parents)
    if learner.objective != "cll" or not isinstance(learner.cv, np.ndarray) or len(learner.cv) != len(fitted.rows.y):
        return
    rows, s, of_folds = fitted.rows, fitted.structure, []
    folds = np.unique(learner.cv, return_inverse=True)[1]
    for fold in range(folds.max() + 1):
        train, test = rows.take(folds != fold), rows.take(folds == fold)
        tables = ref.dirichlet(train, s, learner.alpha, prior=fitted.prior)
        of_folds.append(ref.conditional_log_likelihood(test, s, tables) / test.total)
    close(scores[-1], np.mean(of_folds), "score of the structure", rtol=1e-8)


def check_constraint(fitted, learner) -> None:
    acyclic(fitted.structure)
    s = fitted.structure
    own = [
        len(p) + (c if isinstance(learner, st.ThreePhase) else 0)
        for p, c in zip(s.parents, s.class_children, strict=True)
    ]
    if learner.max_parents is not None:
        assert max([*own, len(s.class_parents)]) <= learner.max_parents
    if isinstance(learner, st.ConstraintAugmented):
        all_children(fitted)


def fixed_structure(rng, n) -> st.FixedStructure:
    order = rng.permutation(n).tolist()
    arcs = [(a, b) for a, b in itertools.combinations(order, 2) if rng.random() < 0.4]
    if rng.random() < 0.5:
        left_out = [f for f in range(n) if n > 1 and f not in itertools.chain(*arcs) and rng.random() < 0.3]
        return st.FixedStructure(arcs, leave_out=left_out[: n - 1] or None)
    cut = rng.integers(n + 1)  # the class comes after so many features
    arcs += [(f, "class") for f in order[:cut] if rng.random() < 0.5]
    arcs += [("class", f) for f in order[cut:] if rng.random() < 0.7]
    return st.FixedStructure(arcs, class_arcs="listed")


def search_settings(rng) -> dict:
    return {
        "cv": int(rng.integers(2, 4)),
        "epsilon": float(rng.choice([0.0, 0.01])),
        "alpha": float(rng.choice([0.5, 1.0])),
        "objective": str(rng.choice(["accuracy", "cll"])),
    }


def pick(rng, *values):
    return values[int(rng.integers(len(values)))]


def root(rng, n):
    return None if rng.random() < 0.7 else int(rng.integers(n))


OF_STRUCTURES = {
    "NaiveBayes": (lambda rng, n: st.NaiveBayes(), check_naive),
    "ChowLiu": (lambda rng, n: st.ChowLiu(pick(rng, "loglik", "aic", "bic"), root(rng, n)), check_chow_liu),
    "KDB": (lambda rng, n: st.KDB(int(rng.integers(4))), check_kdb),
    "AcllTree": (
        lambda rng, n: st.AcllTree(
            "dirichlet", b=pick(rng, None, 100.0), pseudo_counts=pick(rng, 0.5, 5.0), root=root(rng, n)
        ),
        check_acll_tree,
    ),
    "FixedStructure": (fixed_structure, check_fixed),
    "HillClimb": (lambda rng, n: st.HillClimb(pick(rng, 1, 2), **search_settings(rng)), check_search),
    "SuperParent": (lambda rng, n: st.SuperParent(**search_settings(rng)), check_search),
    "ForwardJoin": (lambda rng, n: st.ForwardJoin(**search_settings(rng)), check_search),
    "BackwardJoin": (lambda rng, n: st.BackwardJoin(**search_settings(rng)), check_search),
    "ConstraintAugmented": (
        lambda rng, n: st.ConstraintAugmented(pick(rng, "mutual-information", "g2"), max_parents=pick(rng, 1, 5)),
        check_constraint,
    ),
    "ThreePhase": (lambda rng, n: st.ThreePhase(pick(rng, "mutual-information", "g2")), check_constraint),
}


# -- parameters: settings, and what must hold of the tables


def same_tables(fitted, expected, rtol=1e-9) -> None:
    for v, table in expected.items():
        close(fitted.tables[v], table, f"table of {v}", rtol=rtol)


def check_dirichlet(fitted, learner) -> None:
    size = learner.equivalent_sample_size
    same_tables(fitted, ref.dirichlet(fitted.rows, fitted.structure, learner.alpha, size, fitted.prior))


def check_maximum_likelihood(fitted, learner) -> None:
    same_tables(fitted, ref.dirichlet(fitted.rows, fitted.structure, 0.0, prior=fitted.prior))


def check_softened(fitted, learner) -> None:
    same_tables(fitted, ref.softened(fitted.rows, fitted.structure, learner.n0, fitted.prior))


def check_data_temperature(fitted, learner) -> None:
    settings = learner.degrees, learner.n_c, learner.added_frequency
    same_tables(fitted, ref.data_temperature(fitted.rows, fitted.structure, *settings, fitted.prior))


def check_model_averaged(fitted, learner) -> None:
    tables, arcs = ref.model_averaged(fitted.rows, fitted.structure, learner.arc_prior, learner.alpha, fitted.prior)
    close(fitted.clf.arc_probabilities_, arcs, "arc probabilities", rtol=1e-7)
    same_tables(fitted, tables, rtol=1e-7)


def check_acll_optimal(fitted, learner) -> None:
    beta = acll_beta_of(fitted.rows, learner)
    same_tables(fitted, ref.acll_optimal(fitted.rows, fitted.structure, beta, learner.pseudo_counts, fitted.prior))


def check_attribute_weighted(fitted, learner) -> None:
    weights = fitted.clf.feature_weights_
    used = weights[fitted.structure.features]
    assert ((used >= 0) & (used <= 1)).all()
    same_tables(fitted, ref.weighted(fitted.rows, fitted.structure, weights, learner.alpha, fitted.prior))


def check_wanbia(fitted, learner) -> None:
    """Weights between 0 and 1 from where no small step improves the objective; posteriors of complete rows."""
    rows, weights = fitted.rows, fitted.clf.feature_weights_
    used = fitted.structure.features
    assert np.isnan(weights[[f for f in range(rows.n_features) if f not in used]]).all()
    assert ((weights[used] >= 0) & (weights[used] <= 1)).all()
    if (rows.codes < 0).any():
        return
    weights = np.where(np.isnan(weights), 0.0, weights)
    at_best, step = ref.wanbia_value(rows, weights, learner.alpha, fitted.prior), 1e-4
    assert at_best <= ref.wanbia_value(rows, np.ones_like(weights), learner.alpha, fitted.prior) + 1e-9
    for f, sign in itertools.product(used, (-1, 1)):
        moved = weights.copy()
        moved[f] = min(1.0, max(0.0, moved[f] + sign * step))
        assert ref.wanbia_value(rows, moved, learner.alpha, fitted.prior) >= at_best - 1e-4 * step - 1e-10
    found = ref.conditional_log_likelihood(rows, fitted.structure, fitted.tables)
    close(-found / rows.total, at_best, "conditional likelihood", rtol=1e-7, atol=1e-9)


def normalized_tables(fitted) -> None:
    for v, table in fitted.tables.items():
        s = fitted.structure
        axis = len(s.class_parents) if v == "class" else len(s.parents[v])
        close(table.sum(axis=axis), 1.0, f"sums of the table of {v}")
        assert (table >= 0).all()


def rising(fitted, objective) -> None:
    """The objective does not fall, and is what the trace says of the last iteration."""
    trace = fitted.clf.parameter_trace_
    values = trace.training[: trace.n_iter + 1]
    scale = np.abs(values).max() + 1
    assert (np.diff(values) >= -1e-9 * scale).all(), values
    close(values[-1], objective(fitted.tables), "objective of the trace", rtol=1e-7, atol=1e-7 * scale)


def is_small(fitted) -> bool:
    """Whether differences by every parameter take no more than a moment."""
    return sum(table.size for table in fitted.tables.values()) <= 300


def check_em(fitted, learner) -> None:
    rows, s, alpha, prior = fitted.rows, fitted.structure, learner.alpha, fitted.prior
    start = ref.dirichlet(rows, s, alpha, prior=prior)
    if not (rows.codes < 0).any():
        same_tables(fitted, start)
        return
    normalized_tables(fitted)

    def objective(tables):
        return ref.penalized_likelihood(rows, s, tables, alpha, prior)

    rising(fitted, objective)
    reached = objective(fitted.tables)
    assert reached >= objective(start) - 1e-9 * abs(reached)
    if fitted.clf.parameter_trace_.stopped == "converged" and not isinstance(learner, pa.APN):
        again = objective(ref.em_step(rows, s, fitted.tables, alpha, prior))
        assert again <= reached + 10 * learner.tol * rows.total + 1e-9 * abs(reached)
    elif fitted.clf.parameter_trace_.stopped == "converged" and is_small(fitted) and rows.total < 1e15:
        # With heavier rows the limit of 40 around the start, where cells without rows are nearly zero, may hold it back.
        slope = ref.softmax_gradient(objective, fitted.tables, s, prior)
        assert slope <= 2 * learner.tol * rows.total + 1e-5 * (1 + abs(reached))


def check_elr(fitted, learner) -> None:
    rows, s, prior = fitted.rows, fitted.structure, fitted.prior
    normalized_tables(fitted)

    def objective(tables):
        return ref.conditional_log_likelihood(rows, s, tables)

    reached = objective(fitted.tables)
    assert reached >= objective(ref.dirichlet(rows, s, learner.alpha, prior=prior)) - 1e-8 * (1 + abs(reached))
    if learner.l2 == 0:
        rising(fitted, objective)
        if fitted.clf.parameter_trace_.stopped == "converged" and learner.tune_by is None and is_small(fitted):
            slope = ref.softmax_gradient(objective, fitted.tables, s, prior) / rows.total
            assert slope <= 2 * learner.tol + 1e-5 * (1 + abs(reached) / rows.total)


OF_PARAMETERS = {
    "Dirichlet": (
        lambda rng: pick(
            rng, pa.Dirichlet(), pa.Dirichlet(0.01), pa.Dirichlet(0.0), pa.Dirichlet(equivalent_sample_size=7.5)
        ),
        check_dirichlet,
    ),
    "MaximumLikelihood": (lambda rng: pa.MaximumLikelihood(), check_maximum_likelihood),
    "Softened": (lambda rng: pa.Softened(pick(rng, 0.0, 1.0, 5.0)), check_softened),
    "DataTemperature": (
        lambda rng: pa.DataTemperature(pick(rng, "log", "linear"), pick(rng, None, 3.0), pick(rng, 0.0, 1e-4)),
        check_data_temperature,
    ),
    "ModelAveraged": (
        lambda rng: pa.ModelAveraged(pick(rng, 0.0, 0.3, 0.5, 1.0), pick(rng, 0.5, 1.0)),
        check_model_averaged,
    ),
    "AcllOptimal": (lambda rng: pa.AcllOptimal(pseudo_counts=pick(rng, 0.5, 5.0)), check_acll_optimal),
    "AttributeWeighted": (lambda rng: pa.AttributeWeighted(n_trees=3), check_attribute_weighted),
    "Wanbia": (lambda rng: pa.Wanbia(), check_wanbia),
    "EM": (lambda rng: pa.EM(pick(rng, 0.5, 1.0), max_iter=300), check_em),
    "APN": (lambda rng: pa.APN(1.0, pick(rng, "cg", "lbfgs"), max_iter=300), check_em),
    "ELR": (
        lambda rng: pa.ELR(1.0, pick(rng, "cg", "lbfgs"), 20, pick(rng, None, "cll"), cv=2, l2=pick(rng, 0.0, 0.5)),
        check_elr,
    ),
}
#: Need structures without arcs between features, and the class as the only parent.
NAIVE_ONLY = {"ModelAveraged", "Wanbia"}
#: Need the class to be a parent of every feature.
AUGMENTED_ONLY = {"ModelAveraged", "AcllOptimal", "Wanbia"}

#: What the classifiers that are no networks must predict, from the classifier, rows and codes.
OF_AVERAGES = {
    "AODEClassifier": lambda clf, rows, codes: ref.aode_log_joint(
        rows, codes, clf.alpha, clf.min_count, clf.class_prior
    ),
    "TBMATANClassifier": lambda clf, rows, codes: ref.tbmatan_log_joint(
        rows, codes, clf.equivalent_sample_size, clf.stubbornness, clf.edge_beliefs, clf.class_prior
    ),
}
NETWORKS = {"BayesNetClassifier", "NaiveBayesClassifier", "TANClassifier", "KDBClassifier"}

assert set(OF_STRUCTURES) == set(STRUCTURES), "every structure learner needs a definition to compare with"
assert set(OF_PARAMETERS) == set(PARAMETERS), "every parameter learner needs a definition to compare with"
assert set(OF_AVERAGES) | NETWORKS == set(CLASSIFIERS), "every classifier needs a definition to compare with"


def check_learned(clf, rows: ref.Rows) -> None:
    """Compare all that was learned, except predictions, with the definition."""
    fitted = Fitted(clf, rows, None if clf.class_prior is None else np.asarray(clf.class_prior))
    if not hasattr(clf, "network_"):
        return
    structure = clf._structure_learner()
    OF_STRUCTURES[type(structure).__name__][1](fitted, structure)
    parameters = pa.resolve_parameters(clf.parameters)
    OF_PARAMETERS[type(parameters).__name__][1](fitted, parameters)


def expected_log_joint(clf, rows: ref.Rows, codes) -> np.ndarray:
    """ln P(class, row) by definition; for networks from their own tables, which `check_learned` compares."""
    if type(clf).__name__ in OF_AVERAGES:
        return OF_AVERAGES[type(clf).__name__](clf, rows, codes)
    fitted = Fitted(clf, rows)
    return ref.log_joint(fitted.structure, fitted.tables, codes, rows.cards, rows.n_classes)


def needs_rows(clf) -> bool:
    return hasattr(clf, "parameters") and (
        clf._structure_learner()._needs_rows or pa.resolve_parameters(clf.parameters)._needs_rows
    )
