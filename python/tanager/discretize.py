"""Discretizers: columns of numbers are cut into intervals, and every number becomes the code of its interval.

Bin ``i`` holds ``cuts[i - 1] < x <= cuts[i]``. Missing cells (NaN) play no part in finding the cuts and stay missing.
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
from ._utils.typing import Codes, Floats, missing_code
from ._utils.validation import check_sample_weight, n_threads

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["EqualFrequencyDiscretizer", "EqualWidthDiscretizer", "MDLPDiscretizer", "interval_labels"]

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.float32]

_MAX_BINS = 65_534
_MAX_CLASSES = 65_534


def interval_labels(cuts: npt.ArrayLike) -> list[str]:
    """Name the intervals between cut points.

    Parameters
    ----------
    cuts : array-like of shape (n_cuts,)
        Cut points in ascending order.

    Returns
    -------
    list of str
        One more than there are cuts; cuts show six digits, or as many as it takes to tell them apart.

    Examples
    --------
    >>> interval_labels([2.45, 4.75])
    ['(-inf, 2.45]', '(2.45, 4.75]', '(4.75, inf)']
    """
    points = np.asarray(cuts, dtype=np.float64).tolist()
    digits = 6
    shown = [f"{cut:.{digits}g}" for cut in points]
    while len(set(shown)) < len(points) and digits < 17:
        digits += 1
        shown = [f"{cut:.{digits}g}" for cut in points]
    if not shown:
        return ["(-inf, inf)"]
    inner = [f"({low}, {high}]" for low, high in pairwise(shown)]
    return [f"(-inf, {shown[0]}]", *inner, f"({shown[-1]}, inf)"]


class _Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]  # no type hints
    """What all discretizers share; a subclass only says where the cuts are."""

    cut_points_: list[Floats]
    n_jobs: int | None

    @abstractmethod
    def _cuts_of_table(
        self, X: Numbers, y_codes: Codes | None, n_classes: int, weights: Floats | None, threads: int
    ) -> list[Floats]:
        """Return the cuts of every column."""

    def _find_cuts(self, x: Numbers, y_codes: Codes | None, n_classes: int, weights: Floats | None) -> Floats:
        """Return the cuts of one column; NaN is ignored, and so are rows of weight zero."""
        return self._cuts_of_table(x.reshape(-1, 1), y_codes, n_classes, weights, 1)[0]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cut points of every column.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN means missing.
        y : array-like of shape (n_rows,) or None, default=None
            The classes: needed by `MDLPDiscretizer`, ignored by the others.
        sample_weight : array-like of shape (n_rows,), number or None, default=None
            How often each row counts; a row of weight zero is as if absent.

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
        """Replace every number by the code of its interval.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN means missing.

        Returns
        -------
        ndarray of float64 of shape (n_rows, n_features)
            Codes 0, 1, ..., and NaN for missing cells. They are floats even where nothing is missing, so that the type
            does not depend on the data.
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
        """Name the intervals of one feature, in the order of their codes.

        Parameters
        ----------
        feature : int or str
            Position of the feature, or its name if `fit` saw names.

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
                raise ValueError(f"no feature is named {feature!r}; the names are {names}")
            position = names.index(feature)
        elif not 0 <= feature < len(self.cut_points_):
            raise ValueError(f"feature must be between 0 and {len(self.cut_points_) - 1}, but is {feature}")
        return interval_labels(self.cut_points_[int(position)])

    def _uses_classes(self) -> bool:
        return False

    def _check_settings(self) -> None:
        """Raise if a parameter cannot be used."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._uses_classes()
        return tags


class MDLPDiscretizer(_Discretizer):
    """Intervals that tell about the class: recursive minimal-entropy cuts, as many as they are worth.

    A column is cut where the class entropy of the two parts is least, then the parts are cut in the same way, as long as
    the information gained exceeds the minimum description length of the cut. A column that says nothing about the class
    gets no cuts.

    Parameters
    ----------
    n_jobs : int or None, default=None
        How many threads search the columns: None is one, -1 all.

    Attributes
    ----------
    cut_points_ : list of ndarray of float64
        The cut points of every feature, ascending, half-way between neighboring values.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of str
        Their names, if they have any.

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
            raise ValueError("MDLPDiscretizer needs the class of every row, but got none")
        return _core.mdl_cuts(X, y_codes, n_classes, weights, threads)


class _BinsDiscretizer(_Discretizer):
    """A discretizer that is told how many bins to make and does not look at the class."""

    def __init__(self, n_bins: int = 5, *, n_jobs: int | None = None):
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def _check_settings(self) -> None:
        n_bins: Any = self.n_bins
        whole = isinstance(n_bins, int | np.integer) and not isinstance(n_bins, bool)
        if not whole or not 2 <= n_bins <= _MAX_BINS:
            raise ValueError(f"n_bins must be a whole number between 2 and {_MAX_BINS}, but is {n_bins!r}")

    def _cuts_of_table(
        self, X: Numbers, y_codes: Codes | None, n_classes: int, weights: Floats | None, threads: int
    ) -> list[Floats]:
        del y_codes, n_classes
        self._check_settings()
        return self._search(X, weights, threads)

    @abstractmethod
    def _search(self, X: Numbers, weights: Floats | None, threads: int) -> list[Floats]:
        """Return the cuts of every column."""


class EqualFrequencyDiscretizer(_BinsDiscretizer):
    """Intervals that hold about equally many rows.

    Cuts lie where they come nearest to equal shares. Equal numbers are never parted, so a column with heavy ties gets
    fewer intervals.

    Parameters
    ----------
    n_bins : int, default=5
        How many intervals, from 2 on.
    n_jobs : int or None, default=None
        How many threads search the columns: None is one, -1 all.

    Attributes
    ----------
    cut_points_ : list of ndarray of float64
        The cut points of every feature, ascending, half-way between neighboring values.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of str
        Their names, if they have any.

    Examples
    --------
    >>> EqualFrequencyDiscretizer(n_bins=2).fit_transform([[1.0], [2.0], [3.0], [40.0]]).ravel()
    array([0., 0., 1., 1.])
    """

    def _search(self, X: Numbers, weights: Floats | None, threads: int) -> list[Floats]:
        return _core.equal_frequency_cuts(X, int(self.n_bins), weights, threads)


class EqualWidthDiscretizer(_BinsDiscretizer):
    """Intervals of equal width between the smallest and the largest number.

    Parameters
    ----------
    n_bins : int, default=5
        How many intervals, from 2 on. A constant column has one.
    n_jobs : int or None, default=None
        How many threads search the columns: None is one, -1 all.

    Attributes
    ----------
    cut_points_ : list of ndarray of float64
        The cut points of every feature, ascending.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of str
        Their names, if they have any.

    Examples
    --------
    >>> EqualWidthDiscretizer(n_bins=2).fit_transform([[1.0], [2.0], [3.0], [40.0]]).ravel()
    array([0., 0., 0., 1.])
    """

    def _search(self, X: Numbers, weights: Floats | None, threads: int) -> list[Floats]:
        return _core.equal_width_cuts(X, int(self.n_bins), weights, threads)


def _class_codes(y: npt.NDArray[Any]) -> tuple[Codes, int]:
    codes: npt.NDArray[Any]
    if y.dtype.kind in "bi":  # most labels; by a core call that Ctrl-C can end
        (classes,), (codes,) = _core.learn_integers(native(y))
    else:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > _MAX_CLASSES:
        raise ValueError(f"y must have at most {_MAX_CLASSES} classes, but has {len(classes)}")
    narrow = len(classes) < 255
    return codes.astype(np.uint8 if narrow else np.uint16, copy=False), len(classes)


_DISCRETIZERS = {
    "mdlp": MDLPDiscretizer,
    "equal-frequency": EqualFrequencyDiscretizer,
    "equal-width": EqualWidthDiscretizer,
}


def resolve_discretizer(value: Any) -> Any:
    """Turn what a user gives as ``discretizer`` into an object of `tanager.discretize`, or None."""
    if isinstance(value, str) and value in _DISCRETIZERS:
        return _DISCRETIZERS[value]()
    if value is None or isinstance(value, tuple(_DISCRETIZERS.values())):
        return value
    raise ValueError(
        f"discretizer must be {', '.join(map(repr, _DISCRETIZERS))}, an object of tanager.discretize or None, "
        f"but is {value!r}"
    )
