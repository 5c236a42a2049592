"""Beyond the papers: tanager's classifiers next to scikit-learn's and LightGBM, on all datasets.

Five stratified folds, the same for all methods; of large datasets only two of them. Within a fold, numbers are discretized by Fayyad and
Irani's method on the training rows alone; a missing value is a separate category, and the categories of the other columns are taken from
the full dataset, for all methods alike. Forests and boosted trees get the original numbers (and missing ones as such), because they
bin numbers themselves. The boosted trees know which columns are nominal; the forest has no such setting and gets their codes as numbers.
All settings are defaults except those in the name, and HistGradientBoosting does not stop early: nursery has too few rows of one
class for that (where a class has one or two rows, as in nursery and shuttle-small, its probabilities diverge). The log loss is the
mean of -ln P(true class), with probabilities clipped at 0.000001. The calibration error is the mean distance, over fifteen
equal-width bins of the probability of the predicted class and weighted by their rows, between that probability and the accuracy.
Times are CPU times with one thread; discretization of all rows is part of fitting. Sizes are those of the pickled models.
"""

from __future__ import annotations

import importlib.util
import pickle
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import cut_tables
from experiments.runner import Floats, Part

VERSION = 2
FOLDS, LARGE, FOLDS_OF_LARGE = 5, 5000, 2
LEAST, BINS = 1e-6, 15
ACCURACY, LOG_LOSS, CALIBRATION = "accuracy", "log loss", "calibration error"
LEARNING, PREDICTION, ROWS, SIZE = "learning seconds", "prediction seconds", "test rows", "bytes"
#: Large datasets first; of several versions of a dataset, the one with all rows.
TABLES = (
    *("adult", "letter", "nursery", "mushroom", "satimage", "shuttle-small"),
    *("waveform-21", "led7", "chess", "segment", "car", "mofn-3-7-10", "flare", "german", "tic-tac-toe", "vehicle"),
    *(
        "diabetes",
        "breast-all",
        "australian",
        "crx-all",
        "soybean",
        "balance-scale",
        "monks-1",
        "monks-2",
        "monks-3",
        "vote",
    ),
    *("cleve-all", "breast-cancer", "heart", "glass", "hep", "iris", "lymphography", "corral", "zoo"),
)
N_LARGE = 6
QUICK_TABLES = ("balance-scale", "iris", "monks-1", "vote", "heart")
#: Structure and parameters by name. EM and APN would equal NB or TAN, since no value is missing here.
NETWORKS = {
    "NB": ("naive", "dirichlet"),
    "NB WANBIA": ("naive", "wanbia"),
    "NB MANB": ("naive", "model-averaged"),
    "NB AWNB": ("naive", "attribute-weighted"),
    "NB ELR": ("naive", "elr"),
    "TAN": ("tan", "dirichlet"),
    "TAN BIC": ("tan-bic", "dirichlet"),
    "TAN aCLL": ("acll-tree", "dirichlet"),
    "TAN softened": ("tan", "softened"),
    "TAN MFE": ("tan", "data-temperature"),
    "TAN ELR": ("tan", "elr"),
    "TAN BIC ELR": ("tan-bic", "elr"),
    "KDB 2": ("kdb", "dirichlet"),
    "GAN": ("pc", "dirichlet"),
    "GBN": ("three-phase", "dirichlet"),
    "TAN-HC": ("hill-climb", "dirichlet"),
    "TAN-HCSP": ("super-parent", "dirichlet"),
    "FSSJ": ("forward-join", "dirichlet"),
    "BSEJ": ("backward-join", "dirichlet"),
}
AVERAGES: dict[str, tuple[str, dict[str, float]]] = {
    "AODE": ("AODEClassifier", {}),
    "TBMATAN": ("TBMATANClassifier", {}),
    "SSTBMATAN": ("TBMATANClassifier", {"stubbornness": 5.0}),
}
TANAGER = (*NETWORKS, *AVERAGES)
SHORTCUTS = {
    "NB": "NaiveBayesClassifier()",
    "TAN": "TANClassifier()",
    "TAN BIC": 'TANClassifier("bic")',
    "KDB 2": "KDBClassifier(k=2)",
}
CODED, UNCODED = ("CategoricalNB", "LogisticRegression"), ("RandomForest", "HistGradientBoosting")
raw = cache(cut_tables.raw)


def methods() -> tuple[str, ...]:
    """Return the names of all installed methods."""
    lightgbm = ("LightGBM",) if importlib.util.find_spec("lightgbm") else ()
    return (*TANAGER, *CODED, *UNCODED, *lightgbm)


def parts(quick: bool, seed: int) -> list[Part]:
    """Return the parts: one dataset and one method each."""
    return [
        Part(
            "beyond",
            name,
            (method,),
            tuple(range(FOLDS_OF_LARGE if name in TABLES[:N_LARGE] else FOLDS)),
            sources=(name,),
            seed=seed,
        )
        for name in (QUICK_TABLES if quick else TABLES)
        for method in methods()
    ]


def classifier(name: str, sizes: list[int], nominal: list[int], seed: int) -> Any:
    """Return the classifier of a name, for features with these numbers of values."""
    import tanager as tg

    categories = [list(range(size)) for size in sizes]
    if name in NETWORKS:
        return tg.BayesNetClassifier(*NETWORKS[name], categories=categories, random_state=seed)
    if name in AVERAGES:
        kind, settings = AVERAGES[name]
        return getattr(tg, kind)(categories=categories, **settings)
    return other_classifier(name, sizes, nominal, seed)


def code(name: str) -> str:
    """Return the expression that creates a method."""
    if name in SHORTCUTS:
        return SHORTCUTS[name]
    if name in NETWORKS:
        parameters = NETWORKS[name][1]
        if parameters == "dirichlet":
            return f'BayesNetClassifier("{NETWORKS[name][0]}")'
        return 'BayesNetClassifier("{}", "{}")'.format(*NETWORKS[name])
    if name in AVERAGES:
        kind, settings = AVERAGES[name]
        return f"{kind}({', '.join(f'{key}={value:g}' for key, value in settings.items())})"
    return f"{name}Classifier" if name in UNCODED else {"LightGBM": "LGBMClassifier"}.get(name, name)


def other_classifier(name: str, sizes: list[int], nominal: list[int], seed: int) -> Any:
    """Return a classifier of another library."""
    if name == "CategoricalNB":
        from sklearn.naive_bayes import CategoricalNB

        return CategoricalNB(min_categories=sizes)
    if name == "LogisticRegression":
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        encoder = OneHotEncoder(categories=[list(range(size)) for size in sizes])
        return make_pipeline(encoder, LogisticRegression(max_iter=1000))
    if name == "RandomForest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(random_state=seed)
    if name == "HistGradientBoosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            categorical_features=nominal or None, early_stopping=False, random_state=seed
        )
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


def discretized(name: str, train: NDArray[np.intp]) -> tuple[NDArray[np.int64], list[int]]:
    """Return the codes of all rows, with cut points from the training rows, and the number of values of every feature."""
    import tanager as tg

    table = raw(name)
    if not table.numbers.shape[1]:
        return table.codes.astype(np.int64), table.n_values
    discretizer = tg.MDLPDiscretizer().fit(table.numbers[train], table.y[train])
    found = np.asarray(discretizer.transform(table.numbers), dtype=np.float64)
    n_bins = np.array([len(cuts) + 1 for cuts in discretizer.cut_points_])
    missing = np.isnan(found)
    codes = np.where(missing, n_bins, found).astype(np.int64)
    return np.hstack([codes, table.codes]), [*(n_bins + missing.any(axis=0)).tolist(), *table.n_values]


def calibration_error(proba: Floats, classes: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the expected calibration error of the predicted class."""
    confidence, right = proba.max(axis=1), classes[proba.argmax(axis=1)] == truth
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(confidence[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)]
    return float(np.sum(gaps))


def log_loss(proba: Floats, classes: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the mean of -ln P(true class), clipped; a class without training rows has probability 0."""
    given = np.full(len(truth), 0.0)
    for k, label in enumerate(classes):
        given[truth == label] = proba[truth == label, k]
    return float(-np.log(np.maximum(given, LEAST)).mean())


def work(part: Part) -> Iterator[tuple[str, str, int, float]]:
    """Return all measures of a method in every fold."""
    from sklearn.model_selection import StratifiedKFold

    table, (method,) = raw(part.data), part.methods
    seed = int(part.random(FOLDS).integers(2**31))
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(table.codes, table.y))
    coded = method not in (*UNCODED, "LightGBM")
    plain = np.hstack([table.numbers, table.codes.astype(np.float64)])
    nominal = list(range(table.numbers.shape[1], plain.shape[1]))
    importing = discretized(part.data, folds[0][0]) if coded else (plain, [])
    classifier(method, importing[1], nominal, seed)  # exclude the time of imports
    for fold in part.splits:
        train, test = folds[fold]
        start = time.process_time()
        X, sizes = discretized(part.data, train) if coded else (plain, [])
        more = {"categorical_feature": nominal} if method == "LightGBM" else {}
        clf = classifier(method, sizes, nominal, seed).fit(X[train], table.y[train], **more)
        learned = time.process_time()
        proba = np.asarray(clf.predict_proba(X[test]))
        predicted = time.process_time()
        truth = table.y[test]
        yield method, ACCURACY, fold, 100 * float(np.mean(clf.classes_[proba.argmax(axis=1)] == truth))
        yield method, LOG_LOSS, fold, log_loss(proba, clf.classes_, truth)
        yield method, CALIBRATION, fold, calibration_error(proba, clf.classes_, truth)
        yield method, LEARNING, fold, learned - start
        yield method, PREDICTION, fold, predicted - learned
        yield method, ROWS, fold, len(test)
        yield method, SIZE, fold, len(pickle.dumps(clf))
