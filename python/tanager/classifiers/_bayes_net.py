"""Classifiers that are one network: a structure learner, then a parameter learner."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
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
from ..structure import StructureLearner, resolve_structure
from ._base import BaseClassifier
from ._description import ModelDescription, NetworkDescription


class BaseNetworkClassifier(BaseClassifier):
    """Base of classifiers that are one network; a subclass only chooses the structure learner."""

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
    def _structure_learner(self) -> StructureLearner:
        """Return the structure learner."""

    def _learners(self) -> tuple[StructureLearner, ParameterLearner]:
        return self._structure_learner(), resolve_parameters(self.parameters)

    def _resolvers(self) -> dict[str, Callable[[Any], Any]]:
        return {**super()._resolvers(), "parameters": resolve_parameters}

    def _counting_rule(self) -> Callable[[Schema], Requirements]:
        return partial(_structure_requirements, self._structure_learner())

    def _fit_model(self, context: TrainingContext) -> FittedModel:
        structure_learner, parameter_learner = self._learners()
        learned = structure_learner._learn(context)
        structure = learned.structure
        context = context.with_counts_for(structure)
        estimated = parameter_learner._estimate(context, structure)
        return FittedModel(
            estimated.core,
            LazyPredictor(estimated.core),
            context.counts,
            learned.trace,
            estimated.attributes,
            estimated.trace,
            learned.threshold,
        )

    def _attributes(
        self, fitted: FittedModel, schema: Schema, encoder: Encoder, classes: npt.NDArray[Any]
    ) -> dict[str, Any]:
        predictor = cast(LazyPredictor, fitted.predictor)
        network = Network(fitted.core, predictor, encoder, schema.feature_names, schema.class_name, classes)
        return {"network_": network}

    def _describe(self) -> ModelDescription:
        self._check_fitted()
        return NetworkDescription(self.network_)

    @classmethod
    def _restored(cls, model: _core.Model) -> FittedModel:
        core = cast(_core.Network, model.classifier)
        return FittedModel(core, LazyPredictor(core, model.predictor), model.counts)

    def _model_html(self) -> str:
        return str(self.network_._repr_html_()) if self._is_fitted() else ""

    def describe_search(self) -> str:
        """Describe the search of a structure learner in words: its steps, how much each gained, and why it stopped.

        ``search_trace_`` holds the same as numbers.

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
        if not isinstance(trace, SearchTrace):  # it may be the trace of a parameter learner
            raise ValueError(  # noqa: TRY004
                f"there is no search to describe: {type(self._structure_learner()).__name__} does not search, or this model "
                "was loaded from a file or fitted in parts"
            )
        return search_text(trace)

    def _check_partial_fit(self) -> None:
        structure, parameters = self._learners()
        for learner, instead in ((structure, "FixedStructure"), (parameters, "Dirichlet")):
            if learner._needs_rows:
                raise ValueError(
                    f"{type(learner).__name__} needs all rows at once and does not support partial_fit; use fit, or "
                    f"partial_fit with {instead}"
                )

    def _check_stream(self, can_repeat: bool) -> None:
        structure, parameters = self._learners()
        passes = structure._passes
        for learner, needs_rows, such_as in (
            (structure, passes is None, "ChowLiu"),
            (parameters, parameters._needs_rows, "Dirichlet"),
        ):
            if needs_rows:
                raise ValueError(
                    f"{type(learner).__name__} needs several passes over the data and does not support fit_stream; use fit, "
                    f"or a learner that needs only counts, such as {such_as}"
                )
        if passes == 2 and not can_repeat:
            raise ValueError(
                f"{type(structure).__name__} needs two passes over the batches, but an iterator gives them only once; pass a "
                "list, a pyarrow dataset or a function that returns a new iterator"
            )

    def _check_settings(self) -> None:
        super()._check_settings()
        self._learners()


def _structure_requirements(learner: StructureLearner, schema: Schema) -> Requirements:
    return learner._requirements(schema.feature_names, schema.class_name)


class BayesNetClassifier(BaseNetworkClassifier):
    """Bayesian network classifier: any structure learner combined with any parameter learner.

    Parameters
    ----------
    structure : object of `tanager.structure`, name or None, default=None
        Learns the parents of every feature, such as ``ChowLiu(score="bic")`` or "tan-bic". None means naive Bayes.
    parameters : object of `tanager.parameters`, name or None, default=None
        Estimates the conditional probability tables, such as ``Dirichlet(alpha=0.5)``. None means ``Dirichlet(alpha=1.0)``.
    discretizer : {"mdlp", "equal-frequency", "equal-width"}, object of `tanager.discretize` or None, default="mdlp"
        How numeric columns are discretized, on the training rows of every fit. None treats every number as a category.
    numeric_features : {"float", "number"} or list of names or positions, default="float"
        Which columns are discretized: columns of floats, columns of any numbers, or exactly those listed. The values of all
        other columns are categories.
    categories : None, dict of name to list, or list of lists, default=None
        The categories of some or all columns, if known beforehand. By default they are those that occur in the training
        data, sorted, or in the order of a categorical dtype.
    unseen : {"missing", "error"}, default="missing"
        How to treat categories at prediction time that did not occur during fit: as missing values, or as an error.
    class_prior : array-like of shape (n_classes,) or None, default=None
        Class probabilities in the order of ``classes_``, used instead of estimates.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all processors. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed or generator for learners that use randomness.
    verbose : int, default=0
        Verbosity; 1 shows a progress bar for long-running learners.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    network_ : Network
        The fitted network.
    categories_ : list of ndarray
        The values of every feature, in the order of their codes; intervals for discretized features.
    counts_ : CountSet
        The counts that the model was fitted from; `partial_fit` adds to them.
    search_trace_ : SearchTrace
        The steps of a structure search and their scores; only after `fit`. Equals ``parameter_trace_`` if only the parameters
        were fitted iteratively.
    parameter_trace_ : FitTrace
        The iterations of the parameter learners ``EM``, ``APN`` and ``ELR``; only after `fit`.
    dependence_threshold_ : float
        The threshold above which two features count as dependent; only with ``ConstraintAugmented`` and ``ThreePhase``. In
        nats; for G² tests, minus the natural logarithm of the significance level.
    arc_probabilities_ : ndarray of shape (n_features_in_,)
        The posterior probability that each feature depends on the class; only with ``ModelAveraged``.
    feature_weights_ : ndarray of shape (n_features_in_,)
        The weight of every feature, from 0 to 1; only with ``AttributeWeighted`` and ``Wanbia``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    Examples
    --------
    >>> import tanager as tg
    >>> data = tg.datasets.load("monks-1")
    >>> clf = tg.BayesNetClassifier(structure="tan-bic").fit(data.X, data.y)
    >>> clf.predict_proba(data.X[100:101]).round(3)
    array([[0.849, 0.151]])
    >>> clf.network_
    <Network: forest-augmented naive Bayes, 6 features, 2 classes, 1 arc between features, 31 parameters>
    """

    def __init__(
        self,
        structure: StructureLearner | str | None = None,
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
            parameters,
            discretizer=discretizer,
            numeric_features=numeric_features,
            categories=categories,
            unseen=unseen,
            class_prior=class_prior,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.structure = structure

    def _resolvers(self) -> dict[str, Callable[[Any], Any]]:
        return {**super()._resolvers(), "structure": resolve_structure}

    def _structure_learner(self) -> StructureLearner:
        return resolve_structure(self.structure)
