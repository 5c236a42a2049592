"""Cross-validation of this package's classifiers: one table, encoded and counted once, serves all folds.

The results are, to the last bit, those of fitting and predicting fold by fold. Where that is in doubt, because a fold
might read the table otherwise than the whole, the folds are fitted one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from .. import _core
from .._encoding.labels import class_name
from .._encoding.schema import Schema
from .._encoding.table import Table, read_table
from .._learning.contract import Predictor
from .._learning.names import naming_features
from .._utils.progress import stopping
from ..classifiers._base import BaseClassifier
from ..discretize import resolve_discretizer
from ._fold_table import DROPPED, FoldTable, Unsteady, make_fold_table
from ._plain_folds import FoldResult, Material, check_interrupted, plain_fold
from ._scoring import Outcome, Scorer


@dataclass(frozen=True)
class Group:
    """Classifiers, by position, that learn from the same counts; `seconds` is what these took for all folds."""

    members: dict[int, BaseClassifier]
    schema: Schema
    table: FoldTable
    counter: _core.FoldCounter
    seconds: float


def group_classifiers(classifiers: Sequence[Any], material: Material) -> tuple[list[Group], list[int]]:
    """Put classifiers that learn from the same counts together; return the positions of all others too."""
    tables: dict[Any, tuple[Table, FoldTable] | None] = {}
    groups: dict[Any, Group] = {}
    others: list[int] = []
    for position, classifier in enumerate(classifiers):
        if not _is_counting(classifier):
            others.append(position)
            continue
        classifier._check_settings()
        key = _encoding_key(classifier, None if material.rows.weights is None else position)
        start = time.perf_counter()
        if key not in tables:
            tables[key] = _read(classifier, material)
        found = tables[key]
        if found is None or not _join_group(groups, key, position, classifier, material, *found, start):
            others.append(position)
    return list(groups.values()), others


def _is_counting(classifier: Any) -> bool:
    """Say whether a classifier is one of this package's that fits and predicts as they all do."""
    own = ("fit", "predict", "predict_proba", "predict_log_proba", "_read_training", "_start", "_encode", "_count")
    return isinstance(classifier, BaseClassifier) and all(
        getattr(type(classifier), name) is getattr(BaseClassifier, name) for name in own
    )


def _encoding_key(classifier: BaseClassifier, unshared: int | None) -> Any:
    # Weighted counts depend on which tables are counted together, if only in their last bits: they are not shared.
    features, discretizer = classifier.numeric_features, classifier.discretizer
    return (
        discretizer if isinstance(discretizer, str) else id(discretizer),
        features if isinstance(features, str) else id(features),
        id(classifier.categories),
        unshared,
    )


def _read(classifier: BaseClassifier, material: Material) -> tuple[Table, FoldTable] | None:
    """Encode the table for all folds, or return None if every fold must be fitted on its own."""
    if isinstance(material.X, (list, tuple)) or _has_chunked_dictionaries(material.X):
        return None  # what an array made of lists is of depends on all of them
    if len({type(label) for label in material.classes.tolist()}) > 1:
        return None
    try:
        table = read_table(material.X)
        fold_table = make_fold_table(
            table,
            material.rows,
            numeric_features=classifier.numeric_features,
            discretizer=resolve_discretizer(classifier.discretizer),
            categories=classifier.categories,
            threads=classifier._threads(),
        )
    except (Unsteady, TypeError, ValueError):  # fitting says what is wrong, if anything is
        return None
    return table, fold_table


def _has_chunked_dictionaries(X: Any) -> bool:
    """Say whether dictionaries of Arrow may be joined in another order in a part of the table."""
    types = [str(dtype) for dtype in getattr(X, "dtypes", [])]
    chunked = [c for c in getattr(X, "columns", []) if getattr(c, "num_chunks", 1) > 1 and "dictionary" in str(c.type)]
    return bool(chunked) or any("dictionary" in shown and "pyarrow" in shown for shown in types)


def _join_group(
    groups: dict[Any, Group],
    key: Any,
    position: int,
    classifier: BaseClassifier,
    material: Material,
    table: Table,
    fold_table: FoldTable,
    start: float,
) -> bool:
    """Add a classifier to the group that counts what it needs, or make that group; `start` is when its work began."""
    schema = Schema(table.names, table.n_features, "class")
    schema = Schema(table.names, table.n_features, class_name(material.y, schema.feature_names))
    scope, families = classifier._requirements(schema)
    whole_key = key, scope, repr(families)
    if whole_key in groups:
        groups[whole_key].members[position] = classifier
        return True
    try:
        counter = _core.FoldCounter(
            fold_table.dataset,
            scope,
            families,
            fold_table.keep_all,
            classifier._threads(),
            material.rows.folds,
        )
    except ValueError:  # too large for all folds at once; fitting says so if it is for one
        return False
    seconds = time.perf_counter() - start - sum(fold_table.seconds)
    groups[whole_key] = Group({position: classifier}, schema, fold_table, counter, max(seconds, 0.0))
    return True


@dataclass(frozen=True)
class _Fold:
    """One fold of a group: what to learn from, and what to predict."""

    number: int
    training: _core.TrainingFold
    rows: Callable[[], _core.Dataset]
    columns: list[npt.NDArray[Any]]
    truth: npt.NDArray[np.uint16]
    y_true: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    fit_seconds: float
    predict_seconds: float


def judge_group(group: Group, material: Material, scorers: Sequence[Scorer], threads: int) -> Iterator[FoldResult]:
    """Judge all classifiers of a group in all folds, several folds at a time if there are several threads."""
    folds = range(len(material.rows.splits))
    judge_fold = partial(_judge_fold, group, material, scorers)
    if threads == 1:
        for fold in folds:
            yield from judge_fold(fold)
        return
    stop = Event()
    with ThreadPoolExecutor(min(threads, len(folds)), initializer=stopping.set, initargs=(stop,)) as pool:
        try:
            runs = [pool.submit(judge_fold, fold) for fold in folds]
            for run in runs:
                yield from run.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _judge_fold(group: Group, material: Material, scorers: Sequence[Scorer], number: int) -> list[FoldResult]:
    fold = _make_fold(group, material, number)
    results = []
    for position, classifier in group.members.items():
        if classifier.unseen == "error" and fold.training.drops_values:
            results.append(plain_fold(position, number, classifier, material, scorers))
        else:
            with naming_features(group.schema.feature_names):
                results.append(_judge(position, classifier, group.schema, fold, scorers))
    return results


def _make_fold(group: Group, material: Material, number: int) -> _Fold:
    """Count the training rows of a fold and encode its test rows; the time is shared by all that use them."""
    split, table, counter = material.rows.splits[number], group.table, group.counter
    start = time.perf_counter()
    if counter.knows_folds:
        training = counter.train_without(number, table.features[number], table.classes[number])
    else:
        training = counter.train(material.rows.train(number), table.features[number], table.classes[number])
    counted = time.perf_counter()
    columns, truth = counter.codes(training, split.test), counter.classes(training, split.test)
    encoded = time.perf_counter()
    once = group.seconds / len(material.rows.splits)
    kept = training.classes != DROPPED
    return _Fold(
        number=number,
        training=training,
        rows=cache(lambda: counter.dataset(training, material.rows.train(number))),
        columns=columns,
        truth=truth,
        y_true=material.labels(split.test),
        classes=material.classes[kept] if len(kept) else material.classes,
        fit_seconds=(once + table.seconds[number] + counted - start) / len(group.members),
        predict_seconds=(encoded - counted) / len(group.members),
    )


def _judge(
    position: int, classifier: BaseClassifier, schema: Schema, fold: _Fold, scorers: Sequence[Scorer]
) -> FoldResult:
    """Learn from the counts of a fold, predict its test rows, and score the predictions."""
    start = time.perf_counter()
    if hasattr(classifier.random_state, "randint"):
        classifier = clone(classifier)  # every fit begins with the generator as it was given
    training = fold.training
    learned = classifier._fit_model(classifier._context(schema, training.n_classes, training.counts, fold.rows))
    check_interrupted(learned.trace)
    fitted = time.perf_counter()
    predictor, n_rows, threads = learned.predictor, len(fold.truth), classifier._threads()
    n_right, proba = 0, np.empty((0, 0))
    classifier._announce(learned.core, fold.columns, n_rows)
    if any(scorer.needs_proba for scorer in scorers):
        proba = predictor.predict(fold.columns, n_rows, "posterior", threads)
    if any(not scorer.needs_proba for scorer in scorers):
        n_right = _count_right(predictor, fold, proba, threads)
    done = time.perf_counter()
    log_proba = partial(predictor.predict, fold.columns, n_rows, "log_posterior", threads)
    outcome = Outcome(fold.y_true, fold.truth, fold.classes, n_right, proba, log_proba)
    return FoldResult(
        position,
        fold.number,
        [scorer.compute(outcome) for scorer in scorers],
        fold.fit_seconds + fitted - start,
        fold.predict_seconds + done - fitted,
    )


def _count_right(predictor: Predictor, fold: _Fold, proba: npt.NDArray[np.float64], threads: int) -> int:
    """Count the rows that ``predict`` gets right; where probabilities tell it without doubt, it need not be asked."""
    columns, truth, n_right = fold.columns, fold.truth, 0
    if proba.size:
        n_right, close = _core.right_rows(proba, truth)
        if not close:
            return n_right
        columns, truth = [column[close] for column in columns], truth[close]
    return n_right + int(np.count_nonzero(predictor.predict_classes(columns, len(truth), threads) == truth))
