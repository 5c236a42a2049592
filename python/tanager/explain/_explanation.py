"""Why a row is predicted as it is: what every feature contributes, and what would have to be different."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from .._utils.graphs import topological_order
from .._utils.text import display_label
from .._utils.typing import Floats
from .._utils.validation import is_integer
from .._utils.warnings import warn_user
from ..exceptions import EstimateWarning
from ._changes import EvidenceChange, Flip, Labels, find_changes, find_flips
from ._coded_rows import CodedRows, SingleChanges, log_odds_of, prefix_log_joints, single_changes

if TYPE_CHECKING:
    import pandas as pd

    from ..classifiers._base import BaseClassifier
    from ..network import Network


@dataclass(frozen=True)
class _Setting:
    """What all rows of an explanation share."""

    class_name: str
    classes: npt.NDArray[Any]
    labels: Labels
    order: list[int]
    changeable: list[int]
    max_pairs: int
    against: int | None
    all_may_change: bool


class Explanation(Sequence["Explanation"]):
    """What makes the predictions of some rows, as ``clf.explain`` defines it; ``explanation[i]`` is that of one row.

    ``str()`` gives text to read, `to_frame` a table, and `plot` a picture.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels.
    feature_names : list of str
        The columns of the table.
    order : list of str
        The features of the model in the order in which they become known.
    rows : ndarray of shape (n_rows,)
        The numbers of the rows in the table that was explained.
    prediction : ndarray of shape (n_rows,)
        The predicted classes.
    probabilities : ndarray of shape (n_rows, n_classes)
        What ``predict_proba`` returns.
    rivals : ndarray of shape (n_rows, n_classes)
        The class that every class is compared with.
    log_odds : ndarray of shape (n_rows, n_classes)
        ln P(class | row) - ln P(rival | row). NaN where the model takes the row for impossible with either.
    base : ndarray of shape (n_rows, n_classes)
        The part of `log_odds` from before anything is known: the logarithm of the ratio of class probabilities.
    contributions : ndarray of shape (n_rows, n_features, n_classes)
        What every feature adds; zero if it is missing, or not in the model. With `base` they sum to `log_odds`. Minus
        infinity for the feature that rules a class out (with maximum likelihood); what comes after can change
        nothing for that class any more.
    missing : ndarray of shape (n_rows, n_features)
        Which cells are missing, or have a category that the model does not know.

    Examples
    --------
    >>> import tanager as tg
    >>> X = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "dry"]]
    >>> clf = tg.TANClassifier().fit(X, ["play", "play", "stay", "stay"])
    >>> explanation = clf.explain([["sun", "wet"], ["rain", None]])
    >>> explanation.contributions.round(3)[..., 0]  # for "play", of x0 and x1
    array([[ 1.099, -0.693],
           [-1.099,  0.   ]])
    >>> (explanation.base + explanation.contributions.sum(axis=1))[:, 0].round(3)
    array([ 0.405, -1.099])
    >>> print(explanation[1])
    row 1: class is stay with probability 0.75
    log-odds of stay against play:
      class  before any feature   0.000
      x0     rain                +1.099
      x1     missing
      sum                        +1.099
    would weaken it most:
      x0: rain → sun (log-odds -1.099, then play)
    nearest change that flips it:
      x0 → sun: then play with probability 0.75
    """

    def __init__(
        self, coded: CodedRows, setting: _Setting, log_base: Floats, log_terms: Floats, log_joint: Floats,
        rows: npt.NDArray[np.intp],
    ):  # fmt: skip
        self._coded, self._setting = coded, setting
        self._log_base, self._log_terms, self._log_joint = log_base, log_terms, log_joint
        self.rows = rows
        self.classes = setting.classes
        self.feature_names = list(coded.feature_names)
        self.order = [coded.feature_names[f] for f in setting.order]
        self.missing = coded.missing()
        self.probabilities = coded.predict(coded.columns, coded.n_rows, "posterior")
        # Rounded logarithms may be equal where the classes are not, so that they cannot say which is predicted.
        self._predicted = coded.predict_classes()
        self._rivals = _rivals(log_joint, self._predicted, setting.against)
        self.prediction, self.rivals = self.classes[self._predicted], self.classes[self._rivals]
        self.log_odds = _against(log_joint, self._rivals)
        self.base = _against(log_base, self._rivals)
        self.contributions = _against(log_terms, self._rivals[:, None, :])

    @cached_property
    def _singles(self) -> SingleChanges:
        return single_changes(self._coded, self._predicted, self._setting.changeable)

    @cached_property
    def changes(self) -> tuple[tuple[EvidenceChange, ...], ...]:
        """For every row, the other value of every feature that speaks most against the prediction, the strongest first.

        A missing cell changes by becoming known. Values that would make the row impossible do not count.
        """
        now = log_odds_of(self._log_joint, self._predicted)
        return find_changes(self._coded, self._setting.labels, self._singles, now)

    @cached_property
    def _found_flips(self) -> tuple[tuple[Flip | None, ...], npt.NDArray[np.bool_]]:
        setting = self._setting
        return find_flips(self._coded, setting.labels, self._singles, self._predicted, setting.max_pairs)

    @property
    def flips(self) -> tuple[Flip | None, ...]:
        """For every row, the nearest change that makes another class predicted.

        It changes one feature if that is enough, else two; of several, it is the one that speaks most clearly against the
        class predicted now. None if nothing was found: `no_flip` tells whether that is certain.
        """
        return self._found_flips[0]

    @property
    def no_flip(self) -> npt.NDArray[np.bool_]:
        """For every row, whether no change of one or two features flips the prediction: all that may change were tried."""
        return self._found_flips[1]

    def values_of(self, row: int) -> list[Any]:
        """Return the labels of a row's cells: categories, intervals, or None where they are missing.

        Parameters
        ----------
        row : int
            Its position among the rows explained.
        """
        features = range(len(self.feature_names))
        return [self._setting.labels.of_cell(self._coded, row, feature) for feature in features]

    @property
    def class_name(self) -> str:
        """What the class is called."""
        return self._setting.class_name

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row for each contribution.

        Its columns are "row", "class", "against" (the rival), "feature", "value", "missing" and "contribution". The base is
        there under the name of the class, which no feature has, so that contributions of a row and class sum to its
        log-odds.
        """
        from ._text import to_frame

        return to_frame(self)

    def to_text(self, of: Any = None) -> str:
        """Return text to read.

        Parameters
        ----------
        of : class label or None, default=None
            The class whose log-odds are shown; by default that which is predicted.
        """
        from ._text import to_text

        return to_text(self, of)

    def plot(self, of: Any = None, max_features: int = 20, ax: Any = None) -> Any:
        """Draw one row as a waterfall; see `tanager.plotting.plot_explanation`.

        Parameters
        ----------
        of, max_features, ax
            As there.
        """
        from ..plotting import plot_explanation

        return plot_explanation(self, of, max_features, ax)

    def class_codes(self, of: Any = None) -> npt.NDArray[np.intp]:
        """Return the position of a class among `classes` for every row; of the predicted ones for None.

        Parameters
        ----------
        of : class label or None, default=None
            The class; None means the one that is predicted for the row.
        """
        if of is None:
            return self._predicted
        classes = self._setting.labels.classes
        if of not in classes:
            raise ValueError(f"of must be one of the classes {', '.join(map(repr, classes))}, but is {of!r}")
        return np.full(len(self), classes.index(of))

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Explanation: ...
    def __getitem__(self, index: int | slice) -> Explanation:
        if not isinstance(index, slice):
            try:
                index = operator.index(index)
            except TypeError:
                raise TypeError(f"the index must be the number of a row or a slice, but is {index!r}") from None
            if not -len(self) <= index < len(self):
                raise IndexError(f"there are {len(self)} rows, but the index is {index}")
            index = slice(index % len(self), index % len(self) + 1)
        places = np.arange(len(self))[index]
        return Explanation(
            self._coded.take(places), self._setting, self._log_base[places], self._log_terms[places],
            self._log_joint[places], self.rows[places],
        )  # fmt: skip

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        rows = (
            f"{len(self)} rows"
            if len(self) != 1
            else f"row {self.rows[0]}, {display_label(self.prediction[0])} predicted"
        )
        return f"<Explanation: {rows}, {len(self.feature_names)} features, {len(self.classes)} classes>"

    def _repr_html_(self) -> str:
        from ._text import to_html

        return to_html(self)


def explain_rows(
    clf: BaseClassifier,
    X: Any,
    against: Any,
    order: Sequence[str] | None,
    changeable: Sequence[str] | None,
    max_pairs: int,
) -> Explanation:
    """Explain predictions, as ``clf.explain`` says."""
    columns, n_rows = clf._encode(X)
    names, classes = clf._schema.feature_names, clf.classes_.tolist()
    if len(classes) < 2:
        raise ValueError(f"an explanation compares classes, but this classifier knows only {classes[0]!r}")
    if against is not None and (np.ndim(against) != 0 or against not in classes):
        raise ValueError(f"against must be one of the classes {', '.join(map(repr, classes))}, but is {against!r}")
    if not is_integer(max_pairs) or max_pairs < 0:
        raise ValueError(f"max_pairs must be a whole number of at least 0, but is {max_pairs!r}")
    network = getattr(clf, "network_", None)
    usual = list(range(len(names))) if network is None else chain_order(network)
    steps = usual if order is None else _positions(order, names, "order")
    if sorted(steps) != sorted(usual):
        raise ValueError(
            f"order must name {', '.join(display_label(names[f]) for f in usual)}, each once, but is {order!r}"
        )
    free = usual if changeable is None else _positions(changeable, names, "changeable")
    setting = _Setting(
        clf._schema.class_name,
        clf.classes_,
        Labels([column.labels() for column in clf._encoder.columns], classes),
        steps,
        sorted(set(free) & set(usual)),  # what the model does without changes nothing
        int(max_pairs),
        None if against is None else classes.index(against),
        set(usual) <= set(free),
    )
    coded = CodedRows(clf._predictor, names, clf._encoder.cardinalities, columns, n_rows, clf._threads())
    joints, n_estimates = prefix_log_joints(coded, steps, clf._count_estimates)
    if n_estimates:
        _warn_of_estimates(n_estimates, joints.shape[0] * joints.shape[1])
    return Explanation(coded, setting, *_chain_rule(joints, steps, len(names)), np.arange(n_rows))


def chain_order(network: Network) -> list[int]:
    """Return the features of a network in the order in which an explanation takes them."""
    parents = network._parents
    order = [f for f in topological_order([found or [] for found in parents]) if parents[f] is not None]
    blanket = set(network.markov_blanket)
    return sorted(order, key=lambda feature: network.feature_names[feature] not in blanket)


def _chain_rule(joints: Floats, order: Sequence[int], n_features: int) -> tuple[Floats, Floats, Floats]:
    """Return the logarithms of what classes begin with, of what every feature multiplies them by, and of the product."""
    before, after = joints[:, :-1], joints[:, 1:]
    terms = np.zeros((len(joints), n_features, joints.shape[-1]))
    with np.errstate(invalid="ignore"):
        terms[:, order] = np.where(np.isneginf(before), 0.0, after - before)
    return joints[:, 0], terms, joints[:, -1]


def _rivals(log_joint: Floats, best: npt.NDArray[np.intp], against: int | None) -> npt.NDArray[np.intp]:
    """Return for every row and class the most probable other class, or that which was asked for."""
    n_classes = log_joint.shape[1]
    # The best is never its own rival, even where all others are minus infinity, too.
    others = np.where(np.arange(n_classes) == best[:, None], -np.inf, np.maximum(log_joint, -np.finfo(float).max))
    second = others.argmax(axis=1)
    rivals: npt.NDArray[np.intp] = np.where(np.arange(n_classes) == best[:, None], second[:, None], best[:, None])
    if against is not None:
        rivals = np.where(np.arange(n_classes) == against, rivals, against)
    return rivals


def _against(logs: Floats, rivals: npt.NDArray[np.intp]) -> Floats:
    """Return for every class its logarithm less that of its rival."""
    with np.errstate(invalid="ignore"):
        return logs - np.take_along_axis(logs, np.broadcast_to(rivals, logs.shape), axis=-1)


def _positions(names: Sequence[str], known: list[str], setting: str) -> list[int]:
    if isinstance(names, str):
        raise TypeError(f"{setting} must be a list of names of features, but is {names!r}")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"{setting} names {unknown[0]!r}, but the features are {', '.join(map(display_label, known))}")
    return [known.index(name) for name in names]


def _warn_of_estimates(n_estimates: int, n_steps: int) -> None:
    warn_user(
        f"{n_estimates:,} of {n_steps:,} steps of these explanations are averages over sampled trees, since too many features are "
        "not known there: contributions sum to the log-odds nevertheless, and a larger max_assignments makes each exact",
        EstimateWarning,
    )
