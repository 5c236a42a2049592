"""Cross-validation of this package's classifiers: the data are encoded and counted once for all folds.

The results are bit-identical to fitting and predicting fold by fold. Where that is not guaranteed, because a fold might
be encoded differently from the complete data, the folds are fitted one by one.
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
from ._fold_table import DROPPED, FoldsDiffer, FoldTable, make_fold_table
from ._plain_folds import FoldData, FoldResult, check_interrupted, plain_fold
from ._scoring import Outcome, Scorer


@dataclass(frozen=True)
class Group:
    """Classifiers, by position, that are fitted from the same counts; `seconds` is the time these took for all folds."""

    members: dict[int, BaseClassifier]
    schema: Schema
    table: FoldTable
    counter: _core.FoldCounter
    seconds: float


def group_classifiers(classifiers: Sequence[Any], data: FoldData) -> tuple[list[Group], list[int]]:
    """Group classifiers that are fitted from the same counts; also return the positions of all other classifiers."""
    tables: dict[Any, tuple[Table, FoldTable] | None] = {}
    groups: dict[Any, Group] = {}
    others: list[int] = []
    for position, classifier in enumerate(classifiers):
        if not _is_counting(classifier):
            others.append(position)
            continue
        classifier._check_settings()
        key = _encoding_key(classifier, None if data.rows.weights is None else position)
        start = time.perf_counter()
        if key not in tables:
            tables[key] = _read(classifier, data)
        found = tables[key]
        if found is None or not _join_group(groups, key, position, classifier, data, *found, start):
            others.append(position)
    return list(groups.values()), others


def _is_counting(classifier: Any) -> bool:
    """Return whether a classifier is one of this package that overrides neither fitting nor predicting."""
    own = ("fit", "predict", "predict_proba", "predict_log_proba", "_read_training", "_start", "_encode", "_count")
    return isinstance(classifier, BaseClassifier) and all(
        getattr(type(classifier), name) is getattr(BaseClassifier, name) for name in own
    )


def _encoding_key(classifier: BaseClassifier, unshared: int | None) -> Any:
    # The last bits of weighted counts depend on which tables are counted together, so weighted counts are not shared.
    return classifier._encoding_settings(), unshared


def _read(classifier: BaseClassifier, data: FoldData) -> tuple[Table, FoldTable] | None:
    """Encode the data for all folds, or return None if every fold must be fitted separately."""
    if isinstance(data.X, (list, tuple)) or _has_chunked_dictionaries(data.X):
        return None  # the type of an array made from lists depends on all rows
    if len({type(label) for label in data.classes.tolist()}) > 1:
        return None
    try:
        table = read_table(data.X)
        fold_table = make_fold_table(table, data.rows, classifier._encoding_settings(), classifier._threads())
    except (FoldsDiffer, TypeError, ValueError):  # fitting the folds raises the error, if there is one
        return None
    return table, fold_table


def _has_chunked_dictionaries(X: Any) -> bool:
    """Return whether Arrow dictionaries may be unified in another order in a part of the rows."""
    types = [str(dtype) for dtype in getattr(X, "dtypes", [])]
    chunked = [c for c in getattr(X, "columns", []) if getattr(c, "num_chunks", 1) > 1 and "dictionary" in str(c.type)]
    return bool(chunked) or any("dictionary" in shown and "pyarrow" in shown for shown in types)


def _join_group(
    groups: dict[Any, Group],
    key: Any,
    position: int,
    classifier: BaseClassifier,
    data: FoldData,
    table: Table,
    fold_table: FoldTable,
    start: float,
) -> bool:
    """Add a classifier to the group with the counts it needs, or create the group; `start` is when its work began."""
    schema = Schema(table.names, table.n_features, "class")
    schema = Schema(table.names, table.n_features, class_name(data.y, schema.feature_names))
    scope, families = classifier._requirements(schema)
    group_key = key, scope, repr(families)
    if group_key in groups:
        groups[group_key].members[position] = classifier
        return True
    try:
        counter = _core.FoldCounter(
            fold_table.dataset,
            scope,
            families,
            fold_table.keep_all,
            classifier._threads(),
            data.rows.folds,
        )
    except ValueError:  # too large for all folds at once; fitting raises if it is too large for one
        return False
    seconds = time.perf_counter() - start - sum(fold_table.seconds)
    groups[group_key] = Group({position: classifier}, schema, fold_table, counter, max(seconds, 0.0))
    return True


@dataclass(frozen=True)
class _Fold:
    """One fold of a group: training counts and encoded test rows."""

    number: int
    training: _core.TrainingFold
    rows: Callable[[], _core.Dataset]
    columns: list[npt.NDArray[Any]]
    truth: npt.NDArray[np.uint16]
    y_true: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    fit_seconds: float
    predict_seconds: float


def evaluate_group(group: Group, data: FoldData, scorers: Sequence[Scorer], threads: int) -> Iterator[FoldResult]:
    """Evaluate all classifiers of a group in all folds, folds in parallel if there is more than one thread."""
    folds = range(len(data.rows.splits))
    evaluate_fold = partial(_evaluate_fold, group, data, scorers)
    if threads == 1:
        for fold in folds:
            yield from evaluate_fold(fold)
        return
    stop = Event()
    with ThreadPoolExecutor(min(threads, len(folds)), initializer=stopping.set, initargs=(stop,)) as pool:
        try:
            runs = [pool.submit(evaluate_fold, fold) for fold in folds]
            for run in runs:
                yield from run.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _evaluate_fold(group: Group, data: FoldData, scorers: Sequence[Scorer], number: int) -> list[FoldResult]:
    fold = _make_fold(group, data, number)
    results = []
    for position, classifier in group.members.items():
        if classifier.unseen == "error" and fold.training.drops_values:
            results.append(plain_fold(position, number, classifier, data, scorers))
        else:
            with naming_features(group.schema.feature_names):
                results.append(_evaluate(position, classifier, group.schema, fold, scorers))
    return results


def _make_fold(group: Group, data: FoldData, number: int) -> _Fold:
    """Count the training rows of a fold and encode its test rows; the time is split among the classifiers."""
    split, table, counter = data.rows.splits[number], group.table, group.counter
    start = time.perf_counter()
    if counter.knows_folds:
        training = counter.train_without(number, table.features[number], table.classes[number])
    else:
        training = counter.train(data.rows.train(number), table.features[number], table.classes[number])
    counted = time.perf_counter()
    columns, truth = counter.codes(training, split.test), counter.classes(training, split.test)
    encoded = time.perf_counter()
    once = group.seconds / len(data.rows.splits)
    kept = training.classes != DROPPED
    return _Fold(
        number=number,
        training=training,
        rows=cache(lambda: counter.dataset(training, data.rows.train(number))),
        columns=columns,
        truth=truth,
        y_true=data.labels(split.test),
        classes=data.classes[kept] if len(kept) else data.classes,
        fit_seconds=(once + table.seconds[number] + counted - start) / len(group.members),
        predict_seconds=(encoded - counted) / len(group.members),
    )


def _evaluate(
    position: int, classifier: BaseClassifier, schema: Schema, fold: _Fold, scorers: Sequence[Scorer]
) -> FoldResult:
    """Fit from the counts of a fold, predict its test rows, and score the predictions."""
    start = time.perf_counter()
    if hasattr(classifier.random_state, "randint"):
        classifier = clone(classifier)  # so that every fit starts from the same state of the generator
    training = fold.training
    fitted = classifier._fit_model(classifier._context(schema, training.n_classes, training.counts, fold.rows))
    check_interrupted(fitted.trace)
    fit_end = time.perf_counter()
    predictor, n_rows, threads = fitted.predictor, len(fold.truth), classifier._threads()
    n_right, proba = 0, np.empty((0, 0))
    classifier._announce(fitted.core, fold.columns, n_rows)
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
        fold.fit_seconds + fit_end - start,
        fold.predict_seconds + done - fit_end,
    )


def _count_right(predictor: Predictor, fold: _Fold, proba: npt.NDArray[np.float64], threads: int) -> int:
    """Count the rows that ``predict`` gets right; only rows with nearly equal probabilities have to be predicted."""
    columns, truth, n_right = fold.columns, fold.truth, 0
    if proba.size:
        n_right, close = _core.right_rows(proba, truth)
        if not close:
            return n_right
        columns, truth = [column[close] for column in columns], truth[close]
    return n_right + int(np.count_nonzero(predictor.predict_classes(columns, len(truth), threads) == truth))
