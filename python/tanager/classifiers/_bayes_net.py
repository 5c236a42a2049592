"""The one estimator that joins a structure learner and a parameter learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..parameters import ParameterLearner
from ..structure import StructureLearner, resolve_structure
from ._network_base import BaseNetworkClassifier

__all__ = ["BayesNetClassifier"]


class BayesNetClassifier(BaseNetworkClassifier):
    """A Bayesian network classifier: any structure learner with any parameter learner.

    The papers of this field write x+y for structure x with parameters y, such as TAN+OFE; so does this class.

    Parameters
    ----------
    structure : object of `tanager.structure`, name or None, default=None
        Which feature has which parents, such as ``ChowLiu(score="bic")`` or "tan-bic". None means naive Bayes.
    parameters : object of `tanager.parameters`, name or None, default=None
        How the tables are estimated, such as ``Dirichlet(alpha=0.5)``. None means ``Dirichlet(alpha=1.0)``.
    discretizer : {"mdlp", "equal-frequency", "equal-width"}, object of `tanager.discretize` or None, default="mdlp"
        How columns of numbers are cut into intervals, on the training rows of every fit. None takes every number for a
        category.
    numeric_features : {"float", "number"} or list of names or positions, default="float"
        Which columns are numbers to be cut: those of floats, those of any numbers, or exactly those listed. All others
        are categories as they are.
    categories : None, dict of name to list, or list of lists, default=None
        The values of some or all columns, where they are known beforehand. Otherwise they are learned: sorted, or in the
        order of a categorical column.
    unseen : {"missing", "error"}, default="missing"
        What a category never seen in learning means in prediction.
    class_prior : array-like of shape (n_classes,) or None, default=None
        The class probabilities, in the order of ``classes_``, in place of estimated ones.
    n_jobs : int or None, default=None
        Number of threads; None means 1 and -1 all. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of learners that draw at random.
    verbose : int, default=0
        Whether learners that last show their progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    network_ : Network
        What was learned.
    categories_ : list of ndarray
        The values of every feature, in the order of their codes; intervals for features that were cut.
    counts_ : CountSet
        What it was learned from; `partial_fit` adds to it.
    search_trace_ : SearchTrace
        The steps of a structure learner that searched, with their scores; only after `fit`. Where the structure was not
        searched for, but parameters were, the same as ``parameter_trace_``.
    parameter_trace_ : FitTrace
        The iterations of the parameter learners ``EM``, ``APN`` and ``ELR``; only after `fit`.
    dependence_threshold_ : float
        What dependences had to exceed to count, given or found; only after `fit` with ``ConstraintAugmented`` and
        ``ThreePhase``. In nats; with G² tests, minus the natural logarithm of the significance.
    arc_probabilities_ : ndarray of shape (n_features_in_,)
        The probability of every feature to depend on the class; only with ``ModelAveraged``.
    feature_weights_ : ndarray of shape (n_features_in_,)
        The weight of every feature, from 0 to 1; only with ``AttributeWeighted`` and ``Wanbia``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the table had some.

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

    def _structure(self) -> StructureLearner:
        return resolve_structure(self.structure)
