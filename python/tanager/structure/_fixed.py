"""Structures that are given instead of learned."""

from __future__ import annotations

from collections.abc import Iterable

from .. import _core
from .._learning.contract import FittedStructure, Parents, Requirements, TrainingContext
from .._learning.names import check_arcs, read_arcs, read_features
from .._utils.validation import check_choice
from ._base import StructureLearner


class FixedStructure(StructureLearner):
    """A structure given by its arcs; only the parameters are fitted.

    Parameters
    ----------
    arcs : list of (parent, child)
        Features by name or position, the class by name.
    leave_out : list of names or positions or None, default=None
        Features to exclude from the model.
    class_arcs : {"all", "listed"}, default="all"
        Arcs of the class. With "all", the class is a parent of every feature and has no parents; listed arcs from the
        class change nothing. With "listed", the class has only the arcs that are listed, as in ``network.arcs``.

    Notes
    -----
    Missing values are marginalized out exactly.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.FixedStructure([(0, 1)])).fit(data.X, data.y)
    >>> clf.network_.parents("x1")
    ['x0', 'class']
    >>> arcs = [("x0", "class"), ("x1", "class"), ("class", "x4")]
    >>> clf = tg.BayesNetClassifier(structure=tg.structure.FixedStructure(arcs, class_arcs="listed")).fit(data.X, data.y)
    >>> clf.network_.parents("class"), clf.network_.parents("x4"), clf.network_.parents("x5")
    (['x0', 'x1'], ['class'], [])
    """

    def __init__(
        self,
        arcs: Iterable[tuple[str | int, str | int]],
        leave_out: Iterable[str | int] | None = None,
        class_arcs: str = "all",
    ):
        self.arcs = arcs
        self.leave_out = leave_out
        self.class_arcs = class_arcs

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:
        return "singles", self._structure(feature_names, class_name).counted_families

    def _learn(self, context: TrainingContext) -> FittedStructure:
        return FittedStructure(self._structure(context.feature_names, context.class_name))

    def _structure(self, feature_names: list[str], class_name: str) -> _core.Structure:
        check_choice(self.class_arcs, "class_arcs", ("all", "listed"))
        arcs = read_arcs(self.arcs, feature_names, class_name, "arcs", self.class_arcs == "listed")
        check_arcs(arcs, feature_names, class_name, "arcs")
        of_features: list[list[int]] = [[] for _ in feature_names]
        for parent, child in arcs.between_features:
            of_features[child].append(parent)
        parents: Parents = [*of_features]
        for feature in read_features(self.leave_out, feature_names, "leave_out"):
            if (
                any(feature in arc for arc in arcs.between_features)
                or feature in arcs.class_parents + arcs.class_children
            ):
                raise ValueError(f"leave_out: {feature_names[feature]!r} cannot be left out, because it has arcs")
            parents[feature] = None
        if self.class_arcs == "all":
            return _core.Structure(parents)
        children = [feature in arcs.class_children for feature in range(len(feature_names))]
        return _core.Structure(parents, children, arcs.class_parents)


class KnownStructure(StructureLearner):
    """The structure of another classifier on the same columns."""

    def __init__(self, structure: _core.Structure):
        self.structure = structure

    def _requirements(self, feature_names: list[str], class_name: str) -> Requirements:  # noqa: ARG002
        return "singles", self.structure.counted_families

    def _learn(self, context: TrainingContext) -> FittedStructure:  # noqa: ARG002
        return FittedStructure(self.structure)
