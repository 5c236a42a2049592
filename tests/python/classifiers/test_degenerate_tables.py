"""Every public learner on tables at the edge: a few rows, one class, constant columns, hundreds of classes, extreme weights.

What is learned and predicted is compared with the definition (tests/fuzz/reference.py), or the documented error is
expected. The learners are those of the public modules: one that is new and has no definition there fails at import.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass

import api_learners as learners
import numpy as np
import pytest
import reference as ref
from reference_encoding import Undecided, equal_frequency_cuts, equal_width_cuts, mdl_cuts
from sklearn.base import TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning

import tanager as tg
from tanager import parameters as pa
from tanager import structure as st

SIZES = (1, 2, 254, 255, 256, 257, 1000)


@dataclass
class Table:
    """Columns of integers (None is missing), classes and weights."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray | None = None

    @functools.cached_property
    def rows(self) -> ref.Rows:
        """Codes are ranks among the values that occur in rows of some weight."""
        w = np.ones(len(self.y)) if self.w is None else np.asarray(self.w, dtype=float)
        used = w > 0
        y = np.searchsorted(np.unique(self.y), self.y)
        codes = self.codes(self.X)[used]
        cards = [max(1, len(values)) for values in self.values]
        return ref.Rows(codes, cards, y[used], len(np.unique(self.y)), w[used])

    @functools.cached_property
    def values(self) -> list[np.ndarray]:
        used = np.ones(len(self.y), dtype=bool) if self.w is None else np.asarray(self.w) > 0
        return [np.unique([v for v in column if v is not None]) for column in self.X[used].T]

    def codes(self, X) -> np.ndarray:
        found = np.full(X.shape, -1)
        for f, known in enumerate(self.values):
            for row, value in enumerate(X[:, f]):
                if value is not None and value in known:
                    found[row, f] = np.searchsorted(known, value)
        return found

    def asked(self) -> np.ndarray:
        """Some rows to predict: of the table, with missing values, and with values never seen."""
        some = self.X[np.linspace(0, len(self.X) - 1, min(4, len(self.X))).astype(int)].astype(object)
        blank, partly, strange = some[:1].copy(), some[:1].copy(), some[:1].copy()
        blank[:] = None
        partly[:, ::2] = None
        strange[:, 0] = -77
        return np.vstack([some, blank, partly, strange])


def make(n_rows, *, n_classes=2, n_values=3, seed=0) -> Table:
    """Features that depend on the class and on each other; every class and every value of the first column occurs."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    first = rng.permutation(n_rows) % n_values
    second = np.where(rng.random(n_rows) < 0.6, y % 3, rng.integers(3, size=n_rows))
    third = np.where(rng.random(n_rows) < 0.6, second % 2, rng.integers(2, size=n_rows))
    return Table(np.column_stack([first, second, third]), y)


def changed(table: Table, **columns) -> Table:
    """Replace columns, by position as in c1=...; None is missing."""
    X = table.X.astype(object)
    for name, values in columns.items():
        X[:, int(name[1:])] = values
    return Table(X if any(None in list(X[:, f]) for f in range(X.shape[1])) else X.astype(int), table.y, table.w)


def weighted(table: Table, *weights) -> Table:
    return Table(table.X, table.y, np.resize(np.array(weights, dtype=float), len(table.y)))


PLAIN = make(24)
SMALL = {
    "one row": make(1, n_classes=1),
    "two rows": make(2),
    "two rows of one class": Table(make(2).X, np.array([5, 5])),
    "one class": Table(PLAIN.X, np.full(24, 3)),
    "one feature": Table(PLAIN.X[:, :1], PLAIN.y),
    "constant column": changed(PLAIN, c1=7),
    "all constant": changed(PLAIN, c0=7, c1=7, c2=7),
    "missing column": changed(PLAIN, c1=None),
    "all missing": changed(PLAIN, c0=None, c1=None, c2=None),
    "some missing": changed(PLAIN, c0=[None, 1, 2] * 8, c2=[0, 1, None, 1] * 6),
    "missing and constant": changed(PLAIN, c0=None, c1=7),
    "never together": changed(PLAIN, c0=[1, 2, None, None] * 6, c1=[None, None, 0, 1] * 6),
    "distinct column": changed(PLAIN, c0=np.arange(24)),
    "duplicated column": changed(PLAIN, c2=PLAIN.X[:, 1]),
    "column equal to the class": changed(PLAIN, c1=PLAIN.y),
    "some weights zero": weighted(PLAIN, 0.0, 2.0, 1.0),
    "a class of weight zero": Table(PLAIN.X, np.arange(24) % 3, np.resize([1.0, 1.0, 0.0], 24)),
    "one row with weight": Table(PLAIN.X, PLAIN.y, np.eye(24)[3]),
    "weights 1e-300": weighted(PLAIN, 1e-300),
    "subnormal weights": weighted(PLAIN, 5e-324, 1e-323),
    "weights 1e300": weighted(PLAIN, 1e300),
    "tiny beside huge weights": weighted(PLAIN, 1e300, 1e-300, 1.0),
    "tiny beside usual weights": weighted(PLAIN, 1.0, 1e-300, 5e-324, 2.0),
}
SMALL |= {
    f"some missing, {kind}": weighted(SMALL["some missing"], w) for kind, w in (("1e-300", 1e-300), ("1e300", 1e300))
}
LARGE = {f"{n} classes": changed(make(max(300, n + 200), n_classes=n), c2=4) for n in SIZES}
LARGE |= {f"{n} classes, weights": weighted(LARGE[f"{n} classes"], 1.0, 2.0) for n in (256, 1000)}
LARGE |= {f"{n} values": changed(make(max(300, n + 200), n_values=n), c2=4) for n in SIZES}
LARGE |= {f"{n} values and classes": make(n, n_values=n, n_classes=n) for n in (255, 256, 257)}
TABLES = SMALL | LARGE

naive, tan = {"structure": st.NaiveBayes()}, {"structure": st.ChowLiu()}
LEARNERS = {name: {} for name in learners.CLASSIFIERS}
LEARNERS |= {
    name: {"structure": make_it()} for name, make_it in learners.STRUCTURES.items() if name != "FixedStructure"
}
LEARNERS["FixedStructure"] = {"structure": st.FixedStructure([])}
for _name, _class in learners.PARAMETERS.items():
    LEARNERS[_name] = {**(naive if _name in learners.NAIVE_ONLY else tan), "parameters": _class()}
LEARNERS |= {
    "SSTBMATAN": {"stubbornness": 5.0},
    "AODE of values seen": {"min_count": 1},
    "TAN-BIC": {"structure": st.ChowLiu("bic")},
    "ELR to the end": {**tan, "parameters": pa.ELR(tune_by=None, max_iter=30)},
}
CLASSES = {"SSTBMATAN": tg.TBMATANClassifier, "AODE of values seen": tg.AODEClassifier}
#: Too slow, here or by definition, for all large tables: they get three of them.
SLOW = {"HillClimb", "SuperParent", "ForwardJoin", "BackwardJoin", "ConstraintAugmented", "ThreePhase"}
SLOW |= {"APN", "EM", "ELR", "ELR to the end", "Wanbia", "AttributeWeighted", "AcllTree"}
FEW = {"2 classes", "256 classes", "257 values"}
CELLS = [(a, b) for a in LEARNERS for b in TABLES if b in SMALL or a not in SLOW or b in FEW]


def make_classifier(name):
    kind = CLASSES.get(name, learners.CLASSIFIERS.get(name, tg.BayesNetClassifier))
    return kind(
        **{key: clone(v) if hasattr(v, "get_params") else v for key, v in LEARNERS[name].items()}, random_state=1
    )


SEARCHES = {"HillClimb", "SuperParent", "ForwardJoin", "BackwardJoin", "ELR"}
HUGE = {"weights 1e300", "tiny beside huge weights", "some missing, 1e300"}
#: What is rejected: learners, datasets and messages.
REFUSED = [
    (
        SEARCHES,
        {"one row", "one row with weight"},
        r"^\w+ needs at least two rows for its folds, got one sample$",
    ),
    (
        SEARCHES,
        {"two rows", "two rows of one class"},
        "^cv: expected from 2 folds to the number of rows, which is 2, got 5$",
    ),
    (
        {"TBMATANClassifier", "SSTBMATAN"},
        HUGE,
        r"can learn from counts below 4\.29497e\+09, but one is (1\.2e\+301|4e\+300)$",
    ),
    (
        {"AcllTree"},
        HUGE,
        r"^sample_weight: expected a sum of at most 1e\+290 for an aCLL tree, got (2\.4e\+301|8e\+300)$",
    ),
    (
        {"ModelAveraged"},
        HUGE,
        r"^sample_weight: expected a sum of at most 1e\+300 for model averaging, got",
    ),
]


def rejection(learner, table) -> str | None:
    return next((why for names, tables, why in REFUSED if learner in names and table in tables), None)


def test_the_rejected_datasets_exist():
    for names, tables, _ in REFUSED:
        assert names <= set(LEARNERS)
        assert tables <= set(TABLES)


@pytest.mark.parametrize("learner", LEARNERS)
def test_data_without_information_is_rejected(learner):
    clf, some = make_classifier(learner), PLAIN.X
    with pytest.raises(
        ValueError, match=r"^Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\.$"
    ):
        clf.fit(some[:0], PLAIN.y[:0])
    with pytest.raises(ValueError, match=r"^sample_weight: expected at least one positive weight, got only zeros$"):
        clf.fit(some, PLAIN.y, np.zeros(24))
    with pytest.raises(
        ValueError, match=r"^sample_weight: expected weights with a finite sum, got weights that add up to infinity$"
    ):
        clf.fit(some, PLAIN.y, np.full(24, 1e308))
    assert not hasattr(clf, "classes_")


@pytest.mark.parametrize(("learner", "name"), CELLS)
def test_what_is_learned_and_predicted_is_by_definition(learner, name):
    table, clf = TABLES[name], make_classifier(learner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if (why := rejection(learner, name)) is not None:
            with pytest.raises(ValueError, match=why):
                clf.fit(table.X, table.y, table.w)
            return
        clf.fit(table.X, table.y, table.w)
    rows, asked = table.rows, table.asked()
    np.testing.assert_array_equal(clf.classes_, np.unique(table.y))
    learners.check_learned(clf, rows)
    codes = table.codes(asked)
    joint = learners.expected_log_joint(clf, rows, codes)
    posterior = ref.log_posterior(joint)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.UnseenWarning)
        learners.close(clf.predict_joint_log_proba(asked), joint, "log joint", atol=1e-9)
        learners.close(clf.predict_proba(asked), np.exp(posterior), "posterior")
        predicted = np.searchsorted(clf.classes_, clf.predict(asked))
    best = posterior.max(axis=1)
    assert (posterior[np.arange(len(asked)), predicted] >= best - 1e-9).all()


# -- discretizers

DISCRETIZERS = learners.public_classes(tg.discretize, TransformerMixin)
CUTS = {
    "MDLPDiscretizer": mdl_cuts,
    "EqualFrequencyDiscretizer": lambda x, y, w: equal_frequency_cuts(x, w, 5),
    "EqualWidthDiscretizer": lambda x, y, w: equal_width_cuts(x, w, 5),
}


def columns() -> dict:
    rng = np.random.default_rng(0)
    usual = rng.normal(size=40).round(1)
    blank = np.where(rng.random(40) < 0.5, np.nan, usual)
    few = np.resize([1.0, 2.0, 2.0, 5.0], 40)
    spread = np.array([-1.7e308, -1e-320, -0.0, 0.0, 5e-324, 1e-300, 1.0, 1.7e308])
    return {
        "one row": usual[:1],
        "two rows": usual[:2],
        "constant": np.full(40, 7.5),
        "all missing": np.full(40, np.nan),
        "some missing": blank,
        "one number": np.where(np.arange(40) == 3, 1.5, np.nan),
        "all distinct": rng.permutation(300) / 7,
        "ties": few,
        "neighbors": np.resize([1.0, np.nextafter(1.0, 2.0)], 40),
        "extremes": np.resize(spread, 40),
    }


COLUMNS = columns()
N_CLASSES = (1, 2, 30, 255, 256, 257)
WEIGHTS = {"none": None, "whole": (1.0, 3.0, 2.0), "zero": (0.0, 1.0), "tiny": (1e-300,), "huge": (1e300, 2e300)}


def test_every_discretizer_has_a_definition():
    assert set(CUTS) == set(DISCRETIZERS)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_cuts_are_by_definition(discretizer, column, weights):
    x = COLUMNS[column]
    w = np.ones(len(x)) if WEIGHTS[weights] is None else np.resize(WEIGHTS[weights], len(x))
    values = [None if np.isnan(v) else v for v in x]
    for n_classes in N_CLASSES if discretizer == "MDLPDiscretizer" else (2,):
        y = np.minimum(np.argsort(np.argsort(x)) * n_classes // len(x), n_classes - 1)
        y[::5] = 0
        if not w.any():
            continue
        clf = tg.NaiveBayesClassifier(discretizer=DISCRETIZERS[discretizer]())
        found = clf.fit(x[:, None], y, w if WEIGHTS[weights] else None)._encoder.columns[0].cuts
        try:
            expected = CUTS[discretizer](values, y.tolist(), w.tolist())
        except Undecided:
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-12)
