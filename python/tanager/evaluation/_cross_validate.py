"""Cross-validation of classifiers, scores of predictions, and comparisons of classifiers on the same folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from .._encoding.encoder import encode_labels
from .._learning.folds import train_and_test_rows
from .._utils.progress import progress_bar
from .._utils.random import resolve_seed
from .._utils.validation import check_sample_weight, n_threads
from ..classifiers._bayes_net import BayesNetClassifier
from ..classifiers._network_base import BaseNetworkClassifier
from ..structure._fixed import KnownStructure
from ._counted_folds import group_classifiers, judge_group
from ._fold_table import Rows
from ._plain_folds import FoldResult, Material, check_interrupted, judge_plainly
from ._result import CrossValidation
from ._scoring import Scorer, resolve_scoring


def cross_validate(
    clf: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    refit_structure: bool = True,
    scoring: Any = ("accuracy", "log_loss"),
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> CrossValidation:
    """Judge classifiers by cross-validation, all on the same folds.

    The scores are, to the last bit, those of a plain loop that fits a copy of the classifier on the training rows of a
    fold and predicts the test rows: in every fold the categories and classes are those of its training rows, and
    numbers are cut on them alone. Classifiers of this package learn from counts, so the table is encoded and counted
    once, and the training counts of a fold are the total less the rows left out; other classifiers are fitted.

    Parameters
    ----------
    clf : classifier, list of classifiers or dict of name to classifier
        Classifiers of this package or of scikit-learn. They are not changed.
    X : table of shape (n_rows, n_features)
        As in ``fit``.
    y : array-like of shape (n_rows,)
        The class of every row.
    cv : int, array-like of shape (n_rows,), splitter or iterable of (train, test), default=10
        A number of stratified folds, drawn with `random_state`; the fold of every row; a splitter of scikit-learn; or
        pairs of training and test rows.
    refit_structure : bool, default=True
        Whether every fold learns its own structure. Otherwise it is learned once, from all rows, and every fold learns
        only the parameters (with its own categories and cuts), as ``FixedStructure`` does. Classifiers that have no
        structure are fitted whole in any case.
    scoring : str, callable, or list or dict of these, default=("accuracy", "log_loss")
        "accuracy"; "log_loss", the mean of -ln P(true class), of which less is better; "cll", the sum of ln P(true
        class); "auc", see `auc`; or a function of (y_true, proba, classes) that returns a number.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows in learning. Scores count every test row once.
    n_jobs : int or None, default=None
        How many folds are worked on at a time: None means 1 and -1 as many as there are processors. Results do not
        depend on it. A classifier's own ``n_jobs`` holds within every fold.
    random_state : int, RandomState or None, default=None
        Seed of the stratified folds. A whole number gives the same folds on every platform.
    verbose : int, default=0
        Whether to show progress.

    Returns
    -------
    CrossValidation
        The scores of every classifier and fold.

    Notes
    -----
    A class that occurs in no training row of a fold has probability zero there: rows of that class count as wrong, and
    the log loss of the fold is infinite. So it is where parameters without smoothing give a true class probability
    zero. A probability that is only too small for a float is no such case: its logarithm is used.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("tic-tac-toe")
    >>> result = tg.evaluation.cross_validate(tg.TANClassifier(), data.X, data.y, cv=5, random_state=1)
    >>> result["accuracy"].round(3)
    array([0.781, 0.781, 0.792, 0.728, 0.733])
    >>> classifiers = {"naive": tg.NaiveBayesClassifier(), "TAN": tg.TANClassifier()}
    >>> result = tg.evaluation.cross_validate(classifiers, data.X, data.y, random_state=1)
    >>> round(result.mean["TAN"]["accuracy"], 3), round(result.std["TAN"]["accuracy"], 3)
    (0.767, 0.042)
    """
    names, classifiers = _named(clf)
    scorers = resolve_scoring(scoring)
    threads = n_threads(n_jobs)
    classes, y_codes = encode_labels(y)
    n_rows = _count_rows(X)
    if not isinstance(refit_structure, (bool, np.bool_)):
        raise TypeError(f"refit_structure must be True or False, but is {refit_structure!r}")
    if n_rows != len(y_codes):
        raise ValueError(f"X has {n_rows} rows, but y has {len(y_codes)}")
    weights = check_sample_weight(sample_weight, n_rows)
    splits, folds = train_and_test_rows(cv, X, y, y_codes, len(classes), resolve_seed(random_state))
    material = Material(X, y, classes, Rows(y_codes, len(classes), weights, splits, folds))
    if not refit_structure:
        classifiers = [_with_fixed_structure(classifier, X, y, sample_weight) for classifier in classifiers]

    result = CrossValidation(names, scorers, splits)
    with progress_bar("cross-validation", len(names) * len(splits), verbose) as advance:
        for one in _judge_all(classifiers, material, scorers, n_jobs, threads):
            result._add(one)
            advance()
    return result


def _count_rows(X: Any) -> int:
    if getattr(X, "shape", None):
        return int(X.shape[0])
    if not hasattr(X, "__len__") or hasattr(X, "shape"):
        raise ValueError(f"X must be a table or a 2D array, but is of type {type(X).__name__}")
    return len(X)


def _judge_all(
    classifiers: Sequence[Any], material: Material, scorers: Sequence[Scorer], n_jobs: int | None, threads: int
) -> Iterator[FoldResult]:
    groups, others = group_classifiers(classifiers, material)
    for group in groups:
        yield from judge_group(group, material, scorers, threads)
    for position in others:
        yield from judge_plainly(position, classifiers[position], material, scorers, n_jobs)


def _named(clf: Any) -> tuple[list[str], list[Any]]:
    if isinstance(clf, Mapping):
        names, classifiers = [str(name) for name in clf], list(clf.values())
    elif isinstance(clf, (list, tuple)):
        classifiers = list(clf)
        names = _names(classifiers)
    else:
        names, classifiers = _names([clf]), [clf]
    if not classifiers:
        raise ValueError("clf must hold at least one classifier, but is empty")
    for classifier in classifiers:
        if isinstance(classifier, type) or not (hasattr(classifier, "fit") and hasattr(classifier, "predict")):
            raise TypeError(f"clf must be a classifier, or a list or dict of them, but one is {classifier!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"the names of the classifiers must differ, but are {names}")
    return names, classifiers


def _names(classifiers: Sequence[Any]) -> list[str]:
    """Name classifiers by their types, by their settings where types are the same, and by number where these are."""
    names = [type(classifier).__name__ for classifier in classifiers]
    settings = [" ".join(repr(classifier).split()) for classifier in classifiers]
    names = [long if names.count(name) > 1 else name for name, long in zip(names, settings, strict=True)]
    return [f"{name} ({i})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _with_fixed_structure(classifier: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Return a classifier whose structure is the one that this one learns from all rows."""
    if not isinstance(classifier, BaseNetworkClassifier):
        return classifier
    fitted = clone(classifier).fit(X, y, sample_weight)
    check_interrupted(getattr(fitted, "search_trace_", None))
    common = BaseNetworkClassifier._get_param_names()
    settings = {name: value for name, value in classifier.get_params(deep=False).items() if name in common}
    return BayesNetClassifier(structure=KnownStructure(fitted._core_model.structure), **settings)
