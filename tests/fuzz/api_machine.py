"""A machine that uses the public API at random, and compares all that comes out with the definition.

One run draws a schema (container, kinds of columns, labels, weights, missing values) and a classifier with settings, and
then calls `fit`, `partial_fit`, `merge`, `predict...`, `save`, `load`, `pickle`, `cross_validate`, `explain` and
`fit_stream` in any order. See api.py for how to run it for long.
"""

from __future__ import annotations

import copy
import functools
import pickle
import re
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import api_learners as learners
import numpy as np
import pytest
import reference as ref
from api_tables import (
    FRAMES,
    Batch,
    Undecided,
    is_cut,
    learn_coding,
    make_batch,
    make_schema,
    native_labels,
    native_table,
)
from hypothesis import strategies as hs
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule
from reference_encoding import NUMBERS, Coding, in_order
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import tanager as tg
from tanager import parameters as pa

#: Settings that some tables do not allow, and what is said then.
REJECTIONS = {
    "folds": "cv: expected from 2 folds to the number of rows|needs at least two rows",
    "arcs": "without arcs between features",
    "class": "needs a class without parents|needs the class as a parent of every feature",
    "file": "a model file can store only strings, integers, floats and booleans|must fit (?:in )?64 bits",
    "prior": "class probabilities cannot be given where the class depends on features",
}


class Rejected(Exception):
    """A call was rejected for a reason that is documented."""


def may_be_rejected(function):
    """End a rule early where what it asks for is rejected; a rule that returns nothing adds no model."""

    @functools.wraps(function)
    def wrapped(*given, **named):
        try:
            made = function(*given, **named)
        except Rejected:
            made = None
        return multiple() if made is None else made

    return wrapped


SEEDS = hs.integers(0, 2**32 - 1)
SIZES = hs.sampled_from([1, 2, 3, 5, 8, 13, 21, 34, 34, 55, 55])


def make_classifier(rng, n_features):
    """Any classifier with any settings."""
    name = learners.pick(rng, *["BayesNetClassifier"] * 8, *learners.CLASSIFIERS)
    make, common = learners.CLASSIFIERS[name], {"random_state": int(rng.integers(100))}
    common["discretizer"] = learners.pick(rng, "mdlp", "mdlp", "equal-frequency", "equal-width", None)
    common["numeric_features"] = learners.pick(rng, "float", "float", "number")
    parameters = learners.pick(rng, *learners.OF_PARAMETERS)
    if name == "AODEClassifier":
        return make(learners.pick(rng, 0.0, 0.5, 1.0), learners.pick(rng, 0, 1, 3.5), **common)
    if name == "TBMATANClassifier":
        beliefs = None
        if rng.random() < 0.3:
            beliefs = rng.random((n_features, n_features)) + 0.1
            beliefs = np.triu(beliefs, 1) + np.triu(beliefs, 1).T
        return make(
            learners.pick(rng, 10.0, 0.5, 300.0), learners.pick(rng, None, None, 5.0), edge_beliefs=beliefs, **common
        )
    common["parameters"] = learners.OF_PARAMETERS[parameters][0](rng)
    if name == "BayesNetClassifier":
        structure = learners.pick(rng, *learners.OF_STRUCTURES)
        if parameters in learners.NAIVE_ONLY and rng.random() < 0.8:
            structure = "NaiveBayes"
        return make(learners.OF_STRUCTURES[structure][0](rng, n_features), **common)
    if name == "TANClassifier":
        return make(learners.pick(rng, "loglik", "aic", "bic"), **common)
    return make(learners.pick(rng, 0, 1, 2), **common) if name == "KDBClassifier" else make(**common)


@dataclass
class Model:
    """A fitted classifier, and what it must have learned from."""

    clf: Any
    history: list[Batch]
    codings: list[Coding]
    labels: list

    def rows(self) -> ref.Rows:
        seen = [batch.weighted() for batch in self.history]
        batch = seen[0]
        for more in seen[1:]:
            batch = batch.joined(more)
        y = np.array([self.labels.index(label) for label in batch.y], dtype=np.int64)
        cards = [coding.cardinality for coding in self.codings]
        return ref.Rows(self.codes(batch.columns), cards, y, len(self.labels), np.array(batch.all_weights()))

    def codes(self, columns) -> np.ndarray:
        return np.array([c.codes(values) for c, values in zip(self.codings, columns, strict=True)]).T.reshape(
            -1, len(columns)
        )


class Api(RuleBasedStateMachine):
    """Models of one schema and one setting."""

    models = Bundle("models")

    @initialize(seed=SEEDS)
    def begin(self, seed) -> None:
        rng = np.random.default_rng(seed)
        self.schema = make_schema(rng)
        self.clf = make_classifier(rng, len(self.schema.kinds))
        if rng.random() < 0.2:  # the values of some columns are known beforehand, in any order
            given = zip(self.schema.kinds, self.schema.pools, strict=True)
            declared = [
                [*dict.fromkeys(pool)][::-1] if kind in ("int", "str", "bool") else None for kind, pool in given
            ]
            self.clf.set_params(categories=declared)
        self.folder = tempfile.TemporaryDirectory()
        self.by_rows = learners.needs_rows(self.clf)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    # -- helpers

    def call(self, function, *given, n_rows=None, **named):
        """Call with warnings as errors; a documented rejection ends the rule, anything else the run."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", tg.UnseenWarning)
            warnings.filterwarnings("ignore", message=".*was fitted with(out)? feature names")
            try:
                return function(*given, **named)
            except ValueError as error:
                if self.may_reject(str(error), n_rows):
                    raise Rejected from error
                raise

    def may_reject(self, message, n_rows) -> bool:
        if self.schema.label_kind in ("long", "mixed") and re.search(REJECTIONS["file"], message):
            return True
        if not hasattr(self.clf, "parameters"):
            return False
        name = type(pa.resolve_parameters(self.clf.parameters)).__name__
        few = n_rows is not None and self.by_rows and n_rows < 3
        return bool(
            (few and re.search(REJECTIONS["folds"], message))
            or re.search(REJECTIONS["prior"], message)
            or (name in learners.NAIVE_ONLY and re.search(REJECTIONS["arcs"], message))
            or (name in learners.AUGMENTED_ONLY and re.search(REJECTIONS["class"], message))
        )

    def native(self, batch: Batch, container=None):
        return native_table(self.schema, batch.columns, container), native_labels(self.schema, batch.y), batch.w

    def start(self, clf, batch: Batch) -> Model:
        """What is known after learning from one batch."""
        labels = in_order(list(dict.fromkeys(batch.y)))
        used = batch.weighted()
        y = [labels.index(label) for label in used.y]
        codings = []
        for i in range(len(self.schema.kinds)):
            found = clf._encoder.columns[i]
            try:
                coding = learn_coding(self.schema, used, i, clf, y)
            except Undecided:
                coding = Coding(cuts=found.cuts.tolist())
            if coding.cuts is not None:
                assert found.kind == "interval"
                np.testing.assert_allclose(found.cuts, coding.cuts, rtol=1e-12, err_msg=f"cuts of column {i}")
                coding.cuts = found.cuts.tolist()
            codings.append(coding)
        return Model(clf, [batch], codings, labels)

    def check(self, model: Model) -> Model:
        """Compare everything that was learned with the definition."""
        clf = model.clf
        assert clf.classes_.tolist() == model.labels
        for column, coding in zip(clf._encoder.columns, model.codings, strict=True):
            if coding.cuts is None:
                assert column.categories.tolist() == coding.categories
        rows = model.rows()
        assert clf.counts_.cardinalities == rows.cards
        np.testing.assert_allclose(clf.counts_.class_counts, rows.counts([]), rtol=1e-12)
        for f in range(rows.n_features):
            np.testing.assert_allclose(np.asarray(clf.counts_.single(f)), rows.counts([f]), rtol=1e-12)
        learners.check_learned(clf, rows)
        return model

    def check_predictions(self, model: Model, batch: Batch, container=None) -> None:
        if not self.can_read(model, batch):
            return
        clf, codes = model.clf, model.codes(batch.columns)
        X = native_table(self.schema, batch.columns, container)
        strange = [(codes[:, i] < 0).all() and any(v is not None for v in c) for i, c in enumerate(batch.columns)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if any(strange) else "error")
            found = {
                n: getattr(clf, n)(X)
                for n in ("predict_joint_log_proba", "predict_log_proba", "predict_proba", "predict")
            }
        joint = learners.expected_log_joint(clf, model.rows(), codes)
        posterior = ref.log_posterior(joint)
        learners.close(found["predict_joint_log_proba"], joint, "log joint", atol=1e-9)
        learners.close(found["predict_log_proba"], posterior, "log posterior", atol=1e-9)
        learners.close(found["predict_proba"], np.exp(posterior), "posterior")
        best = posterior.max(axis=1, keepdims=True)
        places = [model.labels.index(label) for label in found["predict"].tolist()]
        assert (posterior >= best - 1e-9)[np.arange(len(places)), places].all()

    def fit(self, clf, batch: Batch) -> Model:
        X, y, w = self.native(batch)
        clf = self.call(clf.fit, X, y, w, n_rows=batch.weighted().n_rows)
        return self.check(self.start(clf, batch))

    def steady(self, *batches: Batch) -> bool:
        """Whether all batches have rows, and take their columns for the same."""
        used = [batch.weighted() for batch in batches]
        kinds = {
            tuple(is_cut(self.schema, b.columns, i, self.clf.numeric_features) for i in range(len(b.columns)))
            for b in used
        }
        return len(kinds) == 1 and all(b.n_rows for b in used)

    def can_read(self, model: Model, batch: Batch) -> bool:
        """Whether columns that were cut hold numbers only."""
        columns = zip(model.codings, batch.columns, strict=True)
        return all(c.cuts is None or all(v is None or isinstance(v, NUMBERS) for v in values) for c, values in columns)

    def clf_needs_stored_rows(self) -> bool:
        """Whether even two passes over a stream are not enough."""
        if not hasattr(self.clf, "parameters"):
            return False
        return self.clf._structure_learner()._passes is None or pa.resolve_parameters(self.clf.parameters)._needs_rows

    def batch(self, seed, n_rows, **options) -> Batch:
        return make_batch(np.random.default_rng(seed), self.schema, n_rows, **options)

    # -- learning

    @rule(target=models, seed=SEEDS, n_rows=SIZES)
    @may_be_rejected
    def learn(self, seed, n_rows):
        batch = self.batch(seed, n_rows)
        model = self.fit(clone(self.clf), batch)
        self.check_predictions(model, batch)
        return model

    @rule(target=models, seed=SEEDS, n_rows=SIZES)
    @may_be_rejected
    def learn_with_class_prior(self, seed, n_rows):
        batch = self.batch(seed, n_rows)
        shares = np.random.default_rng(seed).random(len(set(batch.y))) + 0.05
        self.fit(clone(self.clf).set_params(class_prior=shares / shares.sum()), batch)

    @rule(target=models, model=models, seed=SEEDS, n_rows=SIZES)
    @may_be_rejected
    def learn_anew(self, model, seed, n_rows) -> None:
        """A second fit forgets the first."""
        fresh = self.fit(model.clf, self.batch(seed, n_rows))
        model.history, model.codings, model.labels = fresh.history, fresh.codings, fresh.labels

    @rule(target=models, model=models, seed=SEEDS, n_rows=SIZES)
    @may_be_rejected
    def learn_more(self, model, seed, n_rows) -> None:
        batch = self.batch(seed, n_rows)
        X, y, w = self.native(batch)
        if self.by_rows:
            assert not hasattr(model.clf, "partial_fit")
            return
        if model.clf.counts_ is None or not self.can_read(model, batch):
            return
        self.call(model.clf.partial_fit, X, y, sample_weight=w)
        self.grow(model, batch)
        self.check(model)

    def grow(self, model: Model, *batches: Batch) -> None:
        for batch in batches:
            model.history = [*model.history, batch]
            model.labels = in_order(list(dict.fromkeys([*model.labels, *batch.y])))
            used = batch.weighted().columns
            model.codings = [c.extended(values) for c, values in zip(model.codings, used, strict=True)]

    @rule(target=models, one=models, other=models)
    @may_be_rejected
    def merge(self, one, other):
        if self.by_rows:
            assert not hasattr(one.clf, "merge")
            return None
        if one.clf.counts_ is None or other.clf.counts_ is None:
            return None
        if any(
            a.cuts != b.cuts or (a.cuts is None) != (b.cuts is None)
            for a, b in zip(one.codings, other.codings, strict=True)
        ):
            with pytest.raises(ValueError, match="cut"):
                one.clf.merge(other.clf)
            return None
        merged = Model(self.call(one.clf.merge, other.clf), one.history, one.codings, one.labels)
        self.grow(merged, *other.history)
        return self.check(merged)

    @rule(target=models, seed=SEEDS, n_rows=SIZES, part=hs.floats(0, 1))
    @may_be_rejected
    def learn_from_stream(self, seed, n_rows, part):
        """Batch by batch comes to what fit comes to on all rows at once."""
        batch = self.batch(seed, n_rows)
        at = int(part * n_rows)
        parts = [batch.take(range(at)), batch.take(range(at, n_rows))]
        parts = [p for p in parts if p.n_rows]
        objects = self.schema.container in ("list", "numpy-objects") or "object" in self.schema.kinds
        if objects or not self.steady(batch, *parts) or self.schema.label_kind in ("long", "mixed"):
            return None  # streams want one type in all batches, and objects may be of several
        streamed = clone(self.clf)
        natives = [tuple(v for v in self.native(p) if v is not None) for p in parts]
        if self.clf_needs_stored_rows():
            with pytest.raises(ValueError, match="stream"):
                streamed.fit_stream(natives)
            return None
        self.call(streamed.fit_stream, natives, n_rows=n_rows)
        model = self.check(self.start(streamed, batch))
        at_once = self.fit(clone(self.clf), batch)
        assert streamed.counts_ == at_once.clf.counts_
        self.check_predictions(model, batch)
        return model

    @rule(target=models, seed=SEEDS, n_rows=SIZES)
    @may_be_rejected
    def learn_of_all_classes(self, seed, n_rows):
        """Classes that were announced are known, whether they occur or not."""
        batch = self.batch(seed, n_rows)
        if self.by_rows:
            return None
        X, y, w = self.native(batch)
        clf = self.call(clone(self.clf).partial_fit, X, y, classes=list(self.schema.labels), sample_weight=w)
        model = self.start(clf, batch)
        model.labels = in_order(self.schema.labels)
        return self.check(model)

    @rule(model=models, seed=SEEDS, n_rows=SIZES)
    def reject_the_unseen(self, model, seed, n_rows) -> None:
        batch = self.batch(seed, n_rows, unseen=True)
        if not self.can_read(model, batch):
            return
        codes = model.codes(batch.columns)
        strange = any((codes[:, i] < 0)[[v is not None for v in c]].any() for i, c in enumerate(batch.columns))
        X, strict = native_table(self.schema, batch.columns), copy.copy(model.clf).set_params(unseen="error")
        if strange:
            with pytest.raises(ValueError, match="unknown category"):
                strict.predict(X)
        else:
            np.testing.assert_array_equal(self.call(strict.predict_proba, X), self.call(model.clf.predict_proba, X))

    @rule(target=models, seed=SEEDS, n_rows=SIZES)
    @may_be_rejected
    def weights_are_copies(self, seed, n_rows) -> None:
        if self.by_rows:
            return  # folds and samples are drawn row by row
        rng = np.random.default_rng(seed)
        batch = self.batch(seed, n_rows)
        times = rng.integers(1, 4, n_rows)
        one = self.fit(clone(self.clf), Batch(batch.columns, batch.y, times.astype(float).tolist()))
        copies = batch.take(np.repeat(np.arange(n_rows), times).tolist())
        X, y, _ = self.native(copies)
        other = self.call(clone(self.clf).fit, X, y)
        assert one.clf.counts_ == other.counts_
        probabilities = [c.predict_joint_log_proba(native_table(self.schema, batch.columns)) for c in (one.clf, other)]
        np.testing.assert_array_equal(*probabilities)

    # -- using what was learned

    @rule(
        target=models, model=models, seed=SEEDS, n_rows=SIZES, unseen=hs.booleans(), container=hs.sampled_from(FRAMES)
    )
    @may_be_rejected
    def predict(self, model, seed, n_rows, unseen, container) -> None:
        kinds = set(self.schema.kinds)
        other = container if self.schema.container in FRAMES and "object" not in kinds else None
        self.check_predictions(model, self.batch(seed, n_rows, unseen=unseen), other)

    @rule(target=models, model=models, seed=SEEDS, n_rows=SIZES)
    @may_be_rejected
    def predict_with_threads(self, model, seed, n_rows) -> None:
        batch = self.batch(seed, n_rows)
        if not self.can_read(model, batch):
            return
        X = native_table(self.schema, batch.columns)
        alone = self.call(model.clf.predict_joint_log_proba, X)
        np.testing.assert_array_equal(
            self.call(copy.copy(model.clf).set_params(n_jobs=2).predict_joint_log_proba, X), alone
        )
        streamed = self.call(lambda: np.concatenate(list(model.clf.predict_stream([X, X], "predict_joint_log_proba"))))
        np.testing.assert_array_equal(streamed, np.concatenate([alone, alone]))

    @rule(target=models, model=models, with_counts=hs.booleans(), seed=SEEDS)
    @may_be_rejected
    def save_and_load(self, model, with_counts, seed):
        path = Path(self.folder.name) / "model.tng"
        self.call(model.clf.save, path, with_counts=with_counts and model.clf.counts_ is not None)
        return self.same(model, tg.load(path), seed)

    @rule(target=models, model=models, seed=SEEDS)
    @may_be_rejected
    def pickle(self, model, seed):
        return self.same(model, pickle.loads(pickle.dumps(model.clf)), seed)

    def same(self, model, clf, seed) -> Model:
        X = native_table(self.schema, model.history[0].columns)
        probabilities = [self.call(c.predict_joint_log_proba, X) for c in (model.clf, clf)]
        np.testing.assert_array_equal(*probabilities)
        assert clf.classes_.tolist() == model.labels
        assert [type(c) for c in clf.classes_.tolist()] == [type(c) for c in model.clf.classes_.tolist()]
        assert clf.counts_ is None or clf.counts_ == model.clf.counts_
        return Model(clf, model.history, model.codings, model.labels)

    @rule(target=models, model=models, seed=SEEDS, n_rows=hs.integers(1, 4))
    @may_be_rejected
    def explain(self, model, seed, n_rows) -> None:
        """Contributions are differences of log joints, feature by feature, and sum to the log odds."""
        batch = self.batch(seed, n_rows)
        if len(model.labels) < 2 or not self.can_read(model, batch):
            return
        codes, rows = model.codes(batch.columns), model.rows()
        X = native_table(self.schema, batch.columns)
        found = self.call(model.clf.explain, X)
        names = [f"x{i}" for i in range(rows.n_features)] if self.schema.names is None else self.schema.names
        known, joints = np.full_like(codes, -1), []
        for name in [None, *found.order]:
            if name is not None:
                known[:, names.index(name)] = codes[:, names.index(name)]
            joints.append(learners.expected_log_joint(model.clf, rows, known))
        np.testing.assert_array_equal(found.missing, codes < 0)
        np.testing.assert_array_equal(found.probabilities, self.call(model.clf.predict_proba, X))
        rivals = np.array([[model.labels.index(c) for c in row] for row in found.rivals.tolist()])
        with np.errstate(invalid="ignore"):
            odds = [j - np.take_along_axis(j, rivals, axis=1) for j in joints]
        fine = np.isfinite(joints).all(axis=(0, 2))
        learners.close(found.base[fine], odds[0][fine], "base", atol=1e-8)
        learners.close(found.log_odds[fine], odds[-1][fine], "log odds", atol=1e-8)
        for step, name in enumerate(found.order):
            expected = odds[step + 1][fine] - odds[step][fine]
            learners.close(found.contributions[fine, names.index(name)], expected, f"contribution of {name}", atol=1e-8)

    @rule(target=models, seed=SEEDS, n_rows=hs.integers(4, 40), n_folds=hs.integers(2, 4))
    @may_be_rejected
    def cross_validate(self, seed, n_rows, n_folds) -> None:
        """Scores are those of fitting and predicting fold by fold, to the last bit."""
        batch = self.batch(seed, n_rows)
        X, y, w = self.native(batch)
        folds = np.arange(n_rows) % n_folds
        scores, sums = [], [sum(batch.take(np.flatnonzero(folds != f)).all_weights()) for f in range(n_folds)]
        if not all(sums) or not self.steady(batch, *(batch.take(np.flatnonzero(folds != f)) for f in range(n_folds))):
            return
        for fold in range(n_folds):
            train, test = (batch.take(np.flatnonzero(keep)) for keep in (folds != fold, folds == fold))
            clf = clone(self.clf)
            TX, Ty, Tw = self.native(train)
            self.call(clf.fit, TX, Ty, Tw, n_rows=train.weighted().n_rows)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                logs = clf.predict_log_proba(native_table(self.schema, test.columns))
                right = clf.predict(native_table(self.schema, test.columns)).tolist()
            known = clf.classes_.tolist()
            of_truth = [row[known.index(c)] if c in known else -np.inf for row, c in zip(logs, test.y, strict=True)]
            scores.append((np.mean([a == b for a, b in zip(right, test.y, strict=True)]), -np.mean(of_truth)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = tg.evaluation.cross_validate(self.clf, X, y, cv=folds, sample_weight=w)
        accuracy, log_loss = np.array(scores).T
        np.testing.assert_array_equal(result["accuracy"], accuracy)
        np.testing.assert_allclose(result["log_loss"], log_loss, rtol=1e-13, atol=1e-15)
