"""Explanations of predictions: contributions by the chain rule, and counterfactual changes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from .._utils.graphs import topological_order
from .._utils.text import display_label, join_names, plural
from .._utils.typing import Floats
from .._utils.validation import check_int
from .._utils.warnings import warn_user
from ..exceptions import EstimateWarning
from ._changes import EvidenceChange, Flip, Labels, find_changes, find_flips
from ._coded_rows import CodedRows, SingleChanges, log_odds_of, prefix_log_joints, single_changes
from ._text import to_frame, to_html, to_text

if TYPE_CHECKING:
    import pandas as pd

    from ..classifiers._base import BaseClassifier
    from ..network import Network


@dataclass(frozen=True)
class _Setting:
    """Settings that all rows of an explanation share."""

    class_name: str
    classes: npt.NDArray[Any]
    labels: Labels
    order: list[int]
    changeable: list[int]
    max_pairs: int
    against: int | None
    all_may_change: bool


class Explanation(Sequence["Explanation"]):
    """Explanation of the predictions for some rows; returned by ``clf.explain``.

    ``explanation[i]`` explains one row. Print an explanation to read it, or use `to_frame` and `plot`.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Class labels.
    feature_names : list of str
        Names of all features.
    order : list of str
        Features of the model in the order in which the chain rule adds them.
    rows : ndarray of shape (n_rows,)
        Positions of the explained rows in X.
    prediction : ndarray of shape (n_rows,)
        Predicted classes.
    probabilities : ndarray of shape (n_rows, n_classes)
        Predicted probabilities, as returned by ``predict_proba``.
    rivals : ndarray of shape (n_rows, n_classes)
        The class that each class is compared with.
    log_odds : ndarray of shape (n_rows, n_classes)
        ln P(class | row) - ln P(rival | row). NaN if the row has probability zero for both.
    base : ndarray of shape (n_rows, n_classes)
        Prior log-odds: ln P(class) - ln P(rival).
    contributions : ndarray of shape (n_rows, n_features, n_classes)
        Contribution of each feature to `log_odds`; zero if its value is missing or it is not in the model. `base` and all
        contributions sum to `log_odds`. Minus infinity for a feature that rules the class out (with maximum likelihood
        parameters); the features after it contribute zero for that class.
    missing : ndarray of shape (n_rows, n_features)
        Whether a value is missing or a category that the model does not know.

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
      class  prior     0.000
      x0     rain     +1.099
      x1     missing
      sum             +1.099
    strongest counterfactual values:
      x0: rain → sun (log-odds -1.099, then play)
    smallest change that flips the prediction:
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
        # Rounded logarithms may tie, so the predicted class does not follow from them.
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
        """For every row, the strongest counterfactual value of each feature, strongest first.

        It is the value that lowers the log-odds of the predicted class most. A missing value changes by becoming known.
        Values that give the row probability zero are skipped.
        """
        now = log_odds_of(self._log_joint, self._predicted)
        return find_changes(self._coded, self._setting.labels, self._singles, now)

    @cached_property
    def _found_flips(self) -> tuple[tuple[Flip | None, ...], npt.NDArray[np.bool_]]:
        setting = self._setting
        return find_flips(self._coded, setting.labels, self._singles, self._predicted, setting.max_pairs)

    @property
    def flips(self) -> tuple[Flip | None, ...]:
        """For every row, the smallest change of feature values that flips the prediction.

        It changes one feature if possible, otherwise two; among several such changes, the one with the lowest log-odds of
        the current prediction. None if no such change was found; `no_flip` indicates whether none exists.
        """
        return self._found_flips[0]

    @property
    def no_flip(self) -> npt.NDArray[np.bool_]:
        """For every row, whether no change of one or two features flips the prediction; all of them were tried."""
        return self._found_flips[1]

    def values_of(self, row: int) -> list[Any]:
        """Return the feature values of a row as labels: categories, intervals, or None if missing.

        Parameters
        ----------
        row : int
            Position among the explained rows.
        """
        features = range(len(self.feature_names))
        return [self._setting.labels.of_cell(self._coded, row, feature) for feature in features]

    @property
    def class_name(self) -> str:
        """Name of the class variable."""
        return self._setting.class_name

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per contribution.

        Its columns are "row", "class", "against" (the rival), "feature", "value", "missing" and "contribution". The prior
        log-odds are listed under the name of the class variable, so the contributions of a row and class sum to the
        log-odds.
        """
        return to_frame(self)

    def to_text(self, of: Any = None) -> str:
        """Return the explanation as text.

        Parameters
        ----------
        of : class label or None, default=None
            Class whose log-odds to show; None means the predicted class.
        """
        return to_text(self, of)

    def plot(self, of: Any = None, max_features: int = 20, ax: Any = None) -> Any:
        """Plot the explanation of one row as a waterfall; see `tanager.plotting.plot_explanation`.

        Parameters
        ----------
        of, max_features, ax
            As in `tanager.plotting.plot_explanation`.
        """
        from ..plotting import plot_explanation

        return plot_explanation(self, of, max_features, ax)

    def class_codes(self, of: Any = None) -> npt.NDArray[np.intp]:
        """Return, for every row, the position of a class in `classes`.

        Parameters
        ----------
        of : class label or None, default=None
            The class; None means the predicted class of each row.
        """
        if of is None:
            return self._predicted
        classes = self._setting.labels.classes
        if of not in classes:
            raise ValueError(f"of: expected one of the classes {join_names(classes)}, got {of!r}")
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
                raise TypeError(f"index: expected an integer or a slice, got {index!r}") from None
            if not -len(self) <= index < len(self):
                raise IndexError(f"index {index} is out of range for {plural(len(self), 'row')}")
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
            else f"row {self.rows[0]}, predicted {display_label(self.prediction[0])}"
        )
        return f"<Explanation: {rows}, {len(self.feature_names)} features, {len(self.classes)} classes>"

    def _repr_html_(self) -> str:
        return to_html(self)


def explain_rows(
    clf: BaseClassifier,
    X: Any,
    against: Any,
    order: Sequence[str] | None,
    changeable: Sequence[str] | None,
    max_pairs: int,
) -> Explanation:
    """Explain predictions; see ``clf.explain``."""
    columns, n_rows = clf._encode(X)
    names, classes = clf._schema.feature_names, clf.classes_.tolist()
    if len(classes) < 2:
        raise ValueError(f"explain needs at least two classes, but this classifier has only {classes[0]!r}")
    if against is not None and (np.ndim(against) != 0 or against not in classes):
        raise ValueError(f"against: expected one of the classes {join_names(classes)}, got {against!r}")
    check_int(max_pairs, "max_pairs", minimum=0)
    network = clf._describe().network
    usual = list(range(len(names))) if network is None else chain_order(network)
    steps = usual if order is None else _positions(order, names, "order")
    if sorted(steps) != sorted(usual):
        raise ValueError(f"order: expected each of {join_names([names[f] for f in usual])} once, got {order!r}")
    free = usual if changeable is None else _positions(changeable, names, "changeable")
    setting = _Setting(
        clf._schema.class_name,
        clf.classes_,
        Labels([column.labels() for column in clf._encoder.columns], classes),
        steps,
        sorted(set(free) & set(usual)),  # features outside the model have no effect
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
    """Return the features of a network in the default order of explanations: topological, the Markov blanket first."""
    parents = network._parents
    order = [f for f in topological_order([found or [] for found in parents]) if parents[f] is not None]
    blanket = set(network.markov_blanket)
    return sorted(order, key=lambda feature: network.feature_names[feature] not in blanket)


def _chain_rule(joints: Floats, order: Sequence[int], n_features: int) -> tuple[Floats, Floats, Floats]:
    """Return the logarithms of the class priors, of the factor of every feature, and of their product."""
    before, after = joints[:, :-1], joints[:, 1:]
    terms = np.zeros((len(joints), n_features, joints.shape[-1]))
    with np.errstate(invalid="ignore"):
        terms[:, order] = np.where(np.isneginf(before), 0.0, after - before)
    return joints[:, 0], terms, joints[:, -1]


def _rivals(log_joint: Floats, best: npt.NDArray[np.intp], against: int | None) -> npt.NDArray[np.intp]:
    """Return for every row and class the most probable other class, or the class `against`."""
    n_classes = log_joint.shape[1]
    # The best class is never its own rival, even if all others are minus infinity, too.
    others = np.where(np.arange(n_classes) == best[:, None], -np.inf, np.maximum(log_joint, -np.finfo(float).max))
    second = others.argmax(axis=1)
    rivals: npt.NDArray[np.intp] = np.where(np.arange(n_classes) == best[:, None], second[:, None], best[:, None])
    if against is not None:
        rivals = np.where(np.arange(n_classes) == against, rivals, against)
    return rivals


def _against(logs: Floats, rivals: npt.NDArray[np.intp]) -> Floats:
    """Return for every class its logarithm minus that of its rival."""
    with np.errstate(invalid="ignore"):
        return logs - np.take_along_axis(logs, np.broadcast_to(rivals, logs.shape), axis=-1)


def _positions(names: Sequence[str], known: list[str], setting: str) -> list[int]:
    if isinstance(names, str):
        raise TypeError(f"{setting}: expected a list of feature names, got {names!r}")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"{setting}: unknown feature {unknown[0]!r}; the features are {join_names(known)}")
    return [known.index(name) for name in names]


def _warn_of_estimates(n_estimates: int, n_steps: int) -> None:
    warn_user(
        f"{n_estimates:,} of {n_steps:,} steps of these explanations are Monte Carlo estimates over sampled trees, because too "
        "many features are unknown in them; contributions still sum to the log-odds. Increase max_assignments for exact steps",
        EstimateWarning,
    )
