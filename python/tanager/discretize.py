"""Discretizers: numeric columns are divided into intervals (bins), and every number becomes the code of its bin.

Bin ``i`` holds ``cuts[i - 1] < x <= cuts[i]``. Missing values (NaN) are ignored in finding the cut points, and stay missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._utils.arrays import native
from ._utils.text import join_names
from ._utils.typing import MISSING_CODE, Codes, Floats, missing_code
from ._utils.validation import check_int, check_sample_weight, n_threads

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["EqualFrequencyDiscretizer", "EqualWidthDiscretizer", "MDLPDiscretizer", "interval_labels"]

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.float32]

_MAX_BINS = _MAX_CLASSES = MISSING_CODE - 1


def interval_labels(cuts: npt.ArrayLike) -> list[str]:
    """Return labels for the intervals between cut points.

    Parameters
    ----------
    cuts : array-like of shape (n_cuts,)
        Cut points in ascending order.

    Returns
    -------
    list of str
        One label more than cut points. Numbers have six digits, or as many as it takes to distinguish them.

    Examples
    --------
    >>> interval_labels([2.45, 4.75])
    ['(-inf, 2.45]', '(2.45, 4.75]', '(4.75, inf)']
    """
    array = np.asarray(cuts, dtype=np.float64)
    if array.ndim != 1 or not np.all(np.diff(array) > 0) or np.isnan(array).any():
        raise ValueError(f"cuts: expected numbers in strictly increasing order, got {cuts!r}")
    points = array.tolist()
    digits = 6
    texts = [f"{cut:.{digits}g}" for cut in points]
    while len(set(texts)) < len(points) and digits < 17:
        digits += 1
        texts = [f"{cut:.{digits}g}" for cut in points]
    if not texts:
        return ["(-inf, inf)"]
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"(-inf, {texts[0]}]", *inner, f"({texts[-1]}, inf)"]


class _Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]  # no type hints
    """Base of all discretizers; a subclass only finds the cut points."""

    cut_points_: list[Floats]
    n_jobs: int | None

    @abstractmethod
    def _cuts_of_table(
        self, X: Numbers, y_codes: Codes | None, n_classes: int, weights: Floats | None, threads: int
    ) -> list[Floats]:
        """Return the cut points of every column."""

    def _find_cuts(self, x: Numbers, y_codes: Codes | None, n_classes: int, weights: Floats | None) -> Floats:
        """Return the cut points of one column, ignoring NaN and rows of weight zero."""
        return self._cuts_of_table(x.reshape(-1, 1), y_codes, n_classes, weights, 1)[0]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cut points of every column.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN means missing.
        y : array-like of shape (n_rows,) or None, default=None
            The classes; required by `MDLPDiscretizer`, ignored by the others.
        sample_weight : array-like of shape (n_rows,), number or None, default=None
            Weights of the rows; rows of weight zero are ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        y_codes, n_classes = None, 1
        checks = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
        if self._uses_classes():
            X, y = validate_data(self, X, y, **checks)
            y_codes, n_classes = _class_codes(y)
        else:
            X = validate_data(self, X, **checks)
        weights = check_sample_weight(sample_weight, X.shape[0])
        self.cut_points_ = self._cuts_of_table(X, y_codes, n_classes, weights, n_threads(self.n_jobs))
        return self

    def transform(self, X: Any) -> Floats:
        """Replace every number by the code of its bin.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN means missing.

        Returns
        -------
        ndarray of float64 of shape (n_rows, n_features)
            Codes 0, 1, ..., and NaN for missing values. They are always floats, so the type does not depend on the data.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        codes = np.empty(X.shape, dtype=np.float64)
        for j, cuts in enumerate(self.cut_points_):
            column = _core.apply_cuts(X[:, j], cuts)
            codes[:, j] = column
            codes[column == missing_code(column), j] = np.nan
        return codes

    def interval_labels(self, feature: int | str) -> list[str]:
        """Return labels for the intervals of one feature, in the order of their codes.

        Parameters
        ----------
        feature : int or str
            Position of the feature, or its name if X had column names in `fit`.

        Returns
        -------
        list of str
            Such as ``["(-inf, 2.45]", "(2.45, inf)"]``.
        """
        check_is_fitted(self)
        position = feature
        if isinstance(feature, str):
            names = list(getattr(self, "feature_names_in_", []))
            if feature not in names:
                raise ValueError(f"feature: there is no feature {feature!r}; the features are {join_names(names)}")
            position = names.index(feature)
        else:
            check_int(feature, "feature", minimum=0, maximum=len(self.cut_points_) - 1)
        return interval_labels(self.cut_points_[int(position)])

    def _uses_classes(self) -> bool:
        return False

    def _check_settings(self) -> None:
        """Raise ValueError if a parameter is invalid."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._uses_classes()
        return tags


class MDLPDiscretizer(_Discretizer):
    """Supervised discretization by recursive entropy minimization with a minimum description length (MDL) stopping rule.

    A column is split at the cut point that minimizes the class entropy of the two parts, and the parts are split in the same
    way, as long as the information gain exceeds the description length of the cut point. A column that is not informative about
    the class gets no cut points.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all processors.

    Attributes
    ----------
    cut_points_ : list of ndarray of float64
        The cut points of every feature in ascending order, half-way between neighboring values.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if X had string column names.

    References
    ----------
    U. M. Fayyad and K. B. Irani. Multi-interval discretization of continuous-valued attributes for classification
    learning. IJCAI 1993, 1022-1027.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> mdlp = MDLPDiscretizer().fit(X, y)
    >>> mdlp.interval_labels(2)
    ['(-inf, 2.45]', '(2.45, 4.75]', '(4.75, inf)']
    """

    def __init__(self, *, n_jobs: int | None = None):
        self.n_jobs = n_jobs

    def _uses_classes(self) -> bool:
        return True

    def _cuts_of_table(
        self, X: Numbers, y_codes: Codes | None, n_classes: int, weights: Floats | None, threads: int
    ) -> list[Floats]:
        if y_codes is None:
            raise ValueError("y: MDLPDiscretizer requires the class of every row, got None")
        return _core.mdl_cuts(X, y_codes, n_classes, weights, threads)


class _BinsDiscretizer(_Discretizer):
    """Base of unsupervised discretizers with a given number of bins."""

    def __init__(self, n_bins: int = 5, *, n_jobs: int | None = None):
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def _check_settings(self) -> None:
        check_int(self.n_bins, "n_bins", minimum=2, maximum=_MAX_BINS)

    def _cuts_of_table(
        self, X: Numbers, y_codes: Codes | None, n_classes: int, weights: Floats | None, threads: int
    ) -> list[Floats]:
        del y_codes, n_classes
        self._check_settings()
        return self._search(X, weights, threads)

    @abstractmethod
    def _search(self, X: Numbers, weights: Floats | None, threads: int) -> list[Floats]:
        """Return the cut points of every column."""


class EqualFrequencyDiscretizer(_BinsDiscretizer):
    """Bins with about the same number of rows.

    Cut points are those that come closest to equal shares. Equal numbers are always in the same bin, so a column with many ties
    gets fewer bins.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins, at least 2.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all processors.

    Attributes
    ----------
    cut_points_ : list of ndarray of float64
        The cut points of every feature in ascending order, half-way between neighboring values.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if X had string column names.

    Examples
    --------
    >>> EqualFrequencyDiscretizer(n_bins=2).fit_transform([[1.0], [2.0], [3.0], [40.0]]).ravel()
    array([0., 0., 1., 1.])
    """

    def _search(self, X: Numbers, weights: Floats | None, threads: int) -> list[Floats]:
        return _core.equal_frequency_cuts(X, int(self.n_bins), weights, threads)


class EqualWidthDiscretizer(_BinsDiscretizer):
    """Bins of equal width between the minimum and the maximum.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins, at least 2. A constant column has one bin.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all processors.

    Attributes
    ----------
    cut_points_ : list of ndarray of float64
        The cut points of every feature in ascending order.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if X had string column names.

    Examples
    --------
    >>> EqualWidthDiscretizer(n_bins=2).fit_transform([[1.0], [2.0], [3.0], [40.0]]).ravel()
    array([0., 0., 0., 1.])
    """

    def _search(self, X: Numbers, weights: Floats | None, threads: int) -> list[Floats]:
        return _core.equal_width_cuts(X, int(self.n_bins), weights, threads)


def _class_codes(y: npt.NDArray[Any]) -> tuple[Codes, int]:
    codes: npt.NDArray[Any]
    if y.dtype.kind in "bi":  # most labels; the core can be interrupted by Ctrl-C
        (classes,), (codes,) = _core.learn_integers(native(y))
    else:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > _MAX_CLASSES:
        raise ValueError(f"y: expected at most {_MAX_CLASSES:,} classes, got {len(classes):,}")
    narrow = len(classes) < 255
    return codes.astype(np.uint8 if narrow else np.uint16, copy=False), len(classes)


_DISCRETIZERS = {
    "mdlp": MDLPDiscretizer,
    "equal-frequency": EqualFrequencyDiscretizer,
    "equal-width": EqualWidthDiscretizer,
}


def resolve_discretizer(value: Any) -> Any:
    """Return the object of `tanager.discretize` that a name, an object or None stands for; None stays None."""
    if isinstance(value, str) and value in _DISCRETIZERS:
        return _DISCRETIZERS[value]()
    if value is None or isinstance(value, tuple(_DISCRETIZERS.values())):
        return value
    raise ValueError(
        f"discretizer: expected one of {', '.join(map(repr, _DISCRETIZERS))}, an object of tanager.discretize or None, got "
        f"{value!r}"
    )
