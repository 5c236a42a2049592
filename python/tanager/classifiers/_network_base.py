"""Classifiers that are one network: a structure learner, then a parameter learner."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, cast

import numpy.typing as npt

from .. import _core
from .._encoding.encoder import Encoder
from .._encoding.schema import Schema
from .._learning.contract import FittedModel, Requirements, TrainingContext
from .._learning.traces import FitTrace, SearchTrace, search_text
from ..network import Network
from ..network._network import LazyPredictor
from ..parameters import ParameterLearner, resolve_parameters
from ..structure import StructureLearner
from ._base import BaseClassifier


class BaseNetworkClassifier(BaseClassifier):
    """Fitting and prediction of one network; a subclass only chooses the structure learner."""

    network_: Network
    search_trace_: SearchTrace | FitTrace
    parameter_trace_: FitTrace
    dependence_threshold_: float
    _core_type = _core.Network

    def __init__(
        self,
        parameters: ParameterLearner | str | None = None,
        *,
        discretizer: Any = "mdlp",
        numeric_features: Any = "float",
        categories: Any = None,
        unseen: str = "missing",
        class_prior: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        super().__init__(
            discretizer=discretizer,
            numeric_features=numeric_features,
            categories=categories,
            unseen=unseen,
            class_prior=class_prior,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.parameters = parameters

    @abstractmethod
    def _structure(self) -> StructureLearner:
        """Return the structure learner."""

    def _resolvers(self) -> dict[str, Callable[[Any], Any]]:
        return {**super()._resolvers(), "parameters": resolve_parameters}

    def _requirements(self, schema: Schema) -> Requirements:
        return self._structure()._requirements(schema.feature_names, schema.class_name)

    def _fit_model(self, context: TrainingContext) -> FittedModel:
        found = self._structure()._learn(context)
        structure = found.structure
        context = context.with_counts_for(structure)
        made = resolve_parameters(self.parameters)._estimate(context, structure)
        predictor, counts = LazyPredictor(made.core), context.counts
        return FittedModel(made.core, predictor, counts, found.trace, made.attributes, made.trace, found.threshold)

    def _attributes(
        self, learned: FittedModel, schema: Schema, encoder: Encoder, classes: npt.NDArray[Any]
    ) -> dict[str, Any]:
        predictor = cast(LazyPredictor, learned.predictor)
        network = Network(learned.core, predictor, encoder, schema.feature_names, schema.class_name, classes)
        return {"network_": network}

    def describe_search(self) -> str:
        """Return in words what a structure learner that searched did: how far it came, step by step, and why it ended.

        ``search_trace_`` has the same as numbers.

        Returns
        -------
        str

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1", as_frame=True)
        >>> search = tg.structure.HillClimb(cv=3, max_steps=2)
        >>> clf = tg.BayesNetClassifier(search, random_state=1).fit(data.X, data.y)
        >>> print(clf.describe_search())  # doctest: +ELLIPSIS
        1 step, 30 candidates, ... s; stopped: the score is perfect
        accuracy 0.7500 initially, 1.0000 finally (+0.2500); 3 folds, standard deviation 0.0000
          1. head_shape -> body_shape: 1.0000 (+0.2500; better in 3 of 3 folds), best of 30 candidates
        """
        self._check_fitted()
        trace = self.__dict__.get("search_trace_")
        if not isinstance(trace, SearchTrace):  # it may be that of the parameters
            raise ValueError(  # noqa: TRY004
                f"{type(self._structure()).__name__} does not search, or this model was loaded or learned in parts, so that "
                "there is no search to describe"
            )
        return search_text(trace)

    def _check_parts(self) -> None:
        structure, parameters = self._structure(), resolve_parameters(self.parameters)
        for learner, instead in ((structure, "FixedStructure"), (parameters, "Dirichlet")):
            if learner._needs_rows:
                raise ValueError(
                    f"{type(learner).__name__} needs all rows at once, so that it cannot learn part by part: use fit, or "
                    f"partial_fit with {instead}"
                )

    def _check_stream(self, can_repeat: bool) -> None:
        structure, parameters = self._structure(), resolve_parameters(self.parameters)
        passes = structure._passes
        for learner, needs_rows, such_as in (
            (structure, passes is None, "ChowLiu"),
            (parameters, parameters._needs_rows, "Dirichlet"),
        ):
            if needs_rows:
                raise ValueError(
                    f"{type(learner).__name__} goes through the rows again and again, so that it cannot learn from a stream: "
                    f"use fit, or a learner that needs counts alone, such as {such_as}"
                )
        if passes == 2 and not can_repeat:
            raise ValueError(
                f"{type(structure).__name__} counts pairs of features first and its tables in a second pass, but an iterator "
                "gives its batches only once: pass a function that returns them anew, a list or a pyarrow dataset"
            )

    def _check_settings(self) -> None:
        super()._check_settings()
        self._structure()
        resolve_parameters(self.parameters)
