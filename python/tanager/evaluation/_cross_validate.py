"""Cross-validation of one or more classifiers on the same folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sklearn.base import clone

from .._encoding.encoder import encode_labels
from .._learning.folds import train_and_test_rows
from .._utils.progress import progress_bar
from .._utils.random import resolve_seed
from .._utils.validation import check_bool, check_sample_weight, n_threads
from ..classifiers._bayes_net import BaseNetworkClassifier, BayesNetClassifier
from ..structure._fixed import KnownStructure
from ._counted_folds import evaluate_group, group_classifiers
from ._fold_table import FoldRows
from ._plain_folds import FoldData, FoldResult, check_interrupted, refit_folds
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
    """Cross-validate classifiers, all on the same folds.

    Scores are bit-identical to a plain loop that fits a clone of the classifier on the training rows of each fold and
    predicts the test rows: categories, classes and cut points come from the training rows alone. Classifiers of this
    package are fitted from counts, so the data are encoded and counted only once, and the training counts of a fold are
    the total counts minus those of its test rows. Other classifiers are refitted in every fold.

    Parameters
    ----------
    clf : classifier, list of classifiers or dict of name to classifier
        Classifiers of this package, scikit-learn or compatible libraries. They are not modified.
    X : table of shape (n_rows, n_features)
        As in ``fit``.
    y : array-like of shape (n_rows,)
        Class labels.
    cv : int, array-like of shape (n_rows,), splitter or iterable of (train, test), default=10
        Number of stratified folds, shuffled by `random_state`; the fold of each row; a scikit-learn splitter; or pairs of
        training and test rows.
    refit_structure : bool, default=True
        Whether to learn the structure in every fold. If False, the structure is learned once from all rows, and the folds
        only estimate parameters (with their own categories and cut points), as with ``FixedStructure``. Classifiers
        without a structure are always fitted completely.
    scoring : str, callable, or list or dict of these, default=("accuracy", "log_loss")
        "accuracy"; "log_loss", the mean of -ln P(true class), smaller is better; "cll", the sum of ln P(true class);
        "auc", see `auc`; or a function of (y_true, proba, classes) that returns a number.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the training rows. Every test row counts once.
    n_jobs : int or None, default=None
        Number of folds to evaluate in parallel: None means 1, -1 means all processors. The results do not depend on it.
        The ``n_jobs`` of a classifier applies within each fold.
    random_state : int, RandomState or None, default=None
        Seed of the stratified folds. An integer gives the same folds on every platform.
    verbose : int, default=0
        If positive, show a progress bar.

    Returns
    -------
    CrossValidation
        Scores of every classifier in every fold.

    Notes
    -----
    A class without training rows in a fold has probability zero there: its test rows count as errors, and the log loss of
    the fold is infinite. The same happens if parameters without smoothing give the true class probability zero. If a
    probability merely underflows to zero, its logarithm is used.

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
    check_bool(refit_structure, "refit_structure")
    if n_rows != len(y_codes):
        raise ValueError(f"X has {n_rows} rows, but y has {len(y_codes)}")
    weights = check_sample_weight(sample_weight, n_rows)
    splits, folds = train_and_test_rows(cv, X, y, y_codes, len(classes), resolve_seed(random_state))
    data = FoldData(X, y, classes, FoldRows(y_codes, len(classes), weights, splits, folds))
    if not refit_structure:
        classifiers = [_with_fixed_structure(classifier, X, y, sample_weight) for classifier in classifiers]

    result = CrossValidation(names, scorers, splits)
    with progress_bar("cross-validation", len(names) * len(splits), verbose) as advance:
        for fold_result in _evaluate(classifiers, data, scorers, n_jobs, threads):
            result._add(fold_result)
            advance()
    return result


def _count_rows(X: Any) -> int:
    if getattr(X, "shape", None):
        return int(X.shape[0])
    if not hasattr(X, "__len__") or hasattr(X, "shape"):
        raise ValueError(f"X: expected a DataFrame or a 2D array, got {type(X).__name__}")
    return len(X)


def _evaluate(
    classifiers: Sequence[Any], data: FoldData, scorers: Sequence[Scorer], n_jobs: int | None, threads: int
) -> Iterator[FoldResult]:
    groups, others = group_classifiers(classifiers, data)
    for group in groups:
        yield from evaluate_group(group, data, scorers, threads)
    for position in others:
        yield from refit_folds(position, classifiers[position], data, scorers, n_jobs)


def _named(clf: Any) -> tuple[list[str], list[Any]]:
    if isinstance(clf, Mapping):
        names, classifiers = [str(name) for name in clf], list(clf.values())
    elif isinstance(clf, (list, tuple)):
        classifiers = list(clf)
        names = _names(classifiers)
    else:
        names, classifiers = _names([clf]), [clf]
    if not classifiers:
        raise ValueError("clf: expected at least one classifier, got none")
    for classifier in classifiers:
        if isinstance(classifier, type) or not (hasattr(classifier, "fit") and hasattr(classifier, "predict")):
            raise TypeError(f"clf: expected a classifier, or a list or dict of classifiers, got {classifier!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"clf: expected unique names, got {names}")
    return names, classifiers


def _names(classifiers: Sequence[Any]) -> list[str]:
    """Name classifiers by type; add settings where types are equal, and numbers where settings are equal, too."""
    names = [type(classifier).__name__ for classifier in classifiers]
    settings = [" ".join(repr(classifier).split()) for classifier in classifiers]
    names = [long if names.count(name) > 1 else name for name, long in zip(names, settings, strict=True)]
    return [f"{name} ({i})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _with_fixed_structure(classifier: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Return a classifier with the structure that the given one learns from all rows."""
    if not isinstance(classifier, BaseNetworkClassifier):
        return classifier
    fitted = clone(classifier).fit(X, y, sample_weight)
    check_interrupted(getattr(fitted, "search_trace_", None))
    common = BaseNetworkClassifier._get_param_names()
    settings = {name: value for name, value in classifier.get_params(deep=False).items() if name in common}
    return BayesNetClassifier(structure=KnownStructure(fitted._core_model.structure), **settings)
