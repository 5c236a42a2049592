"""Batched predictions of encoded rows: with the first k features only, and with one or two values changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .._learning.contract import Predictor
from .._learning.names import naming_features
from .._utils.typing import Codes, Floats, missing_code

Places = npt.NDArray[np.intp]

#: Maximum number of values predicted at once, so memory stays bounded for any number of rows.
_MAX_CELLS = 2**22
#: Differences of logarithms below this may be rounding errors.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CodedRows:
    """Encoded rows and the predictor of the model; unaffected if the classifier is refitted."""

    predictor: Predictor
    feature_names: list[str]
    cardinalities: list[int]
    columns: list[Codes]
    n_rows: int
    threads: int

    def predict(self, columns: Sequence[Codes], n_rows: int, output: str = "log_joint") -> Floats:
        """Return a number per row and class, for any encoded rows."""
        with naming_features(self.feature_names):
            return self.predictor.predict(columns, n_rows, output, self.threads)

    def predict_classes(self) -> Places:
        """Return the most probable class of every row, as ``predict`` does."""
        return self._classes(self.columns, self.n_rows)

    def best_classes(self, columns: Sequence[Codes], joint: Floats) -> Places:
        """Return the classes that ``predict`` returns for encoded rows whose logarithms are known.

        Only rows whose two best classes are within rounding errors have to be predicted.
        """
        best: Places = joint.argmax(axis=-1)
        gap = log_odds_of(joint, best)
        doubtful = np.flatnonzero(gap < _ROUNDING)
        if len(doubtful):
            best[doubtful] = self._classes([column[doubtful] for column in columns], len(doubtful))
        return best

    def _classes(self, columns: Sequence[Codes], n_rows: int) -> Places:
        with naming_features(self.feature_names):
            return self.predictor.predict_classes(columns, n_rows, self.threads).astype(np.intp)

    def missing(self) -> npt.NDArray[np.bool_]:
        """Return which values are missing, shape (n_rows, n_features)."""
        marks = [column == missing_code(column) for column in self.columns]
        return np.stack(marks, axis=1) if marks else np.zeros((self.n_rows, 0), dtype=bool)

    def take(self, rows: Places) -> CodedRows:
        """Return some of the rows."""
        return replace(self, columns=[column[rows] for column in self.columns], n_rows=len(rows))

    def blocks(self, n_each: int) -> list[slice]:
        """Return blocks of rows small enough to predict `n_each` versions of each row at once."""
        step = max(1, _MAX_CELLS // max(1, n_each * len(self.columns)))
        return [slice(first, min(first + step, self.n_rows)) for first in range(0, self.n_rows, step)]


def prefix_columns(rows: CodedRows, block: slice, order: Sequence[int]) -> list[Codes]:
    """Return the rows of a block with no feature known, with the first feature of the order, with the first two, and so on.

    The versions of a row are n_block rows apart: first come all rows of the block with no feature known. Features that
    are not in the order stay missing.
    """
    rank = {feature: k for k, feature in enumerate(order)}
    versions = []
    for feature, column in enumerate(rows.columns):
        known = column[block]
        version = np.full((len(order) + 1, len(known)), missing_code(column), dtype=column.dtype)
        if feature in rank:
            version[rank[feature] + 1 :] = known
        versions.append(version.reshape(-1))
    return versions


def prefix_log_joints(
    rows: CodedRows, order: Sequence[int], count_estimates: Callable[[list[Codes], int], int]
) -> tuple[Floats, int]:
    """Return ln P(class, the first k features of the order), and how many of these are Monte Carlo estimates.

    The shape is (n_rows, len(order) + 1, n_classes); the last along the second axis belong to the complete rows.
    """
    parts, n_estimates = [], 0
    for block in rows.blocks(len(order) + 1):
        n_block = block.stop - block.start
        columns, n_versions = prefix_columns(rows, block, order), (len(order) + 1) * n_block
        n_estimates += count_estimates(columns, n_versions)
        joint = rows.predict(columns, n_versions)
        parts.append(joint.reshape(len(order) + 1, n_block, -1).swapaxes(0, 1))
    return np.concatenate(parts), n_estimates


def log_odds_of(joint: Floats, of: npt.NDArray[np.intp]) -> Floats:
    """Return the log-odds of one class per row against the most probable other class; NaN for rows of probability zero.

    `joint` has shape (n_rows, ..., n_classes), and `of` a class for every row.
    """
    of = of.reshape(-1, *[1] * (joint.ndim - 1))
    own = np.take_along_axis(joint, of, axis=-1)[..., 0]
    others = joint.copy()
    np.put_along_axis(others, of, -np.inf, axis=-1)
    with np.errstate(invalid="ignore"):
        return own - others.max(axis=-1)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class SingleChanges:
    """All rows with one value changed.

    Attributes
    ----------
    features, values : ndarray of shape (n_changes,)
        Feature and new value of every change; the same for all rows.
    real : ndarray of shape (n_rows, n_changes)
        Whether the new value differs from that of the row.
    log_odds : ndarray of shape (n_rows, n_changes)
        Log-odds, after the change, of the class predicted before.
    classes : ndarray of shape (n_rows, n_changes)
        Class predicted after the change.
    """

    features: Places
    values: Places
    real: npt.NDArray[np.bool_]
    log_odds: Floats
    classes: Places


def single_changes(rows: CodedRows, predicted: Places, changeable: Sequence[int]) -> SingleChanges:
    """Predict every row with each changeable feature, in increasing order, set to each of its values."""
    sizes = [rows.cardinalities[f] for f in changeable]
    features = np.repeat(np.array(changeable, dtype=np.intp), sizes)
    values = np.concatenate([np.arange(n) for n in [0, *sizes]]).astype(np.intp)
    n_changes = len(features)
    real = np.zeros((rows.n_rows, n_changes), dtype=bool)
    odds, classes = np.empty(real.shape), np.empty(real.shape, dtype=np.intp)
    for block in rows.blocks(n_changes) if n_changes else ():
        n_block = block.stop - block.start
        versions = []
        for f, column in enumerate(rows.columns):
            version = np.repeat(column[block, None], n_changes, axis=1)
            here = features == f
            real[block, here] = version[:, here] != values[here]
            version[:, here] = values[here]
            versions.append(version.reshape(-1))
        joint = rows.predict(versions, n_block * n_changes)
        classes[block] = rows.best_classes(versions, joint).reshape(n_block, n_changes)
        odds[block] = log_odds_of(joint.reshape(n_block, n_changes, -1), predicted[block])
    return SingleChanges(features, values, real, odds, classes)


def best_flip(changes: SingleChanges, row: int, predicted: int) -> int | None:
    """Return the change to another prediction with the lowest log-odds of the current one; None if there is none."""
    odds = changes.log_odds[row]
    flips = (changes.classes[row] != predicted) & ~np.isnan(odds)
    return int(np.argmin(np.where(flips, odds, np.inf))) if flips.any() else None


def candidate_pairs(changes: SingleChanges, row: int, most: int) -> tuple[Places, Places, bool]:
    """Return pairs of changes of different features to try for a row, and whether these are all pairs.

    If there are more than `most`, only pairs of the strongest single changes are returned.
    """
    possible = np.flatnonzero(changes.real[row])
    counts = np.bincount(changes.features[possible]).astype(np.int64)
    complete = int(len(possible) ** 2 - (counts**2).sum()) // 2 <= most
    if not complete:
        n_strongest = int((1 + (1 + 8 * most) ** 0.5) / 2)
        by_strength = np.argsort(changes.log_odds[row, possible], kind="stable")  # NaN, for impossible rows, comes last
        possible = np.sort(possible[by_strength[:n_strongest]])
    features = changes.features[possible]  # non-decreasing: the partners are all changes of later features
    start = np.searchsorted(features, features, side="right")
    n_partners = len(possible) - start
    first = np.repeat(np.arange(len(possible)), n_partners)
    second = np.arange(len(first)) - np.repeat(np.cumsum(n_partners) - n_partners - start, n_partners)
    return possible[first], possible[second], complete


def best_pair(
    rows: CodedRows, changes: SingleChanges, row: int, predicted: int, most: int
) -> tuple[tuple[int, int] | None, bool]:
    """Return the pair of changes to another prediction with the lowest log-odds, and whether all pairs were tried."""
    first, second, complete = candidate_pairs(changes, row, most)
    best, least = None, np.inf
    step = max(1, _MAX_CELLS // max(1, len(rows.columns)))
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        versions = []
        for f, column in enumerate(rows.columns):
            version = np.full(len(a), column[row], dtype=column.dtype)
            for change in (a, b):
                here = changes.features[change] == f
                version[here] = changes.values[change[here]]
            versions.append(version)
        joint = rows.predict(versions, len(a))
        odds = log_odds_of(joint, np.full(len(a), predicted))
        odds[(rows.best_classes(versions, joint) == predicted) | np.isnan(odds)] = np.inf
        here_best = int(odds.argmin())
        if odds[here_best] < least:
            best, least = (int(a[here_best]), int(b[here_best])), float(odds[here_best])
    return best, complete
