"""Structure learners: which feature has which parents. The class is a parent of every feature."""

from __future__ import annotations

from .._learning.traces import SearchStep, SearchTrace
from ._base import StructureLearner
from ._constraint import ConstraintAugmented, ThreePhase
from ._search import BackwardJoin, ForwardJoin, HillClimb, SuperParent
from ._trees import BY_NAME as BY_NAME
from ._trees import KDB, AcllTree, ChowLiu, FixedStructure, NaiveBayes
from ._trees import resolve_structure as resolve_structure

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
