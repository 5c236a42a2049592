"""Structure learners: which features are parents of which."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .._learning.settings import resolve
from .._learning.traces import SearchStep, SearchTrace
from .._utils.public import set_public_path
from ._base import StructureLearner
from ._constraint import ConstraintAugmented, ThreePhase
from ._fixed import FixedStructure
from ._search import BackwardJoin, ForwardJoin, HillClimb, SuperParent
from ._trees import KDB, AcllTree, ChowLiu, NaiveBayes

__all__ = [
    "KDB",
    "AcllTree",
    "BackwardJoin",
    "ChowLiu",
    "ConstraintAugmented",
    "FixedStructure",
    "ForwardJoin",
    "HillClimb",
    "NaiveBayes",
    "SearchStep",
    "SearchTrace",
    "StructureLearner",
    "SuperParent",
    "ThreePhase",
]

BY_NAME: Mapping[str, Callable[[], StructureLearner]] = {
    "naive": NaiveBayes,
    "kdb": KDB,
    "tan": ChowLiu,
    "acll-tree": AcllTree,
    "tan-aic": lambda: ChowLiu(score="aic"),
    "tan-bic": lambda: ChowLiu(score="bic"),
    "hill-climb": HillClimb,
    "super-parent": SuperParent,
    "forward-join": ForwardJoin,
    "backward-join": BackwardJoin,
    "pc": ConstraintAugmented,
    "constraint-augmented": ConstraintAugmented,
    "three-phase": ThreePhase,
}


def resolve_structure(value: object) -> StructureLearner:
    """Return the learner that the setting ``structure`` stands for."""
    return resolve(value, StructureLearner, BY_NAME, "naive", "structure")  # type: ignore[type-abstract]


set_public_path(__name__, globals())
