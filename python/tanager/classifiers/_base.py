"""The base of all classifiers: encode, count, fit, predict. A subclass defines what to count and how to fit the model."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from .. import _core
from .._encoding.encoder import Encoder, EncodingSettings, learn_encoding, warn_unseen
from .._encoding.labels import class_name, encode_labels
from .._encoding.merging import add_counts, join_encoders, joined_labels, positions_among
from .._encoding.schema import Schema
from .._encoding.table import Table, read_table, take_rows
from .._learning.contract import (
    EXTRA_ATTRIBUTES,
    FittedModel,
    Predictor,
    Requirements,
    TrainingContext,
    check_requirements,
)
from .._learning.names import named_error
from .._streams.batches import BatchSource
from .._streams.counts import Counted
from .._streams.fit import Recount, count_stream
from .._streams.plan import StreamPlan
from .._streams.predict import predict_stream
from .._utils.text import join_names
from .._utils.typing import Codes, Floats
from .._utils.validation import check_choice, check_class_prior, check_features, check_sample_weight, n_threads
from ..discretize import resolve_discretizer
from ._description import ModelDescription

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..explain import Explanation

Labels = npt.NDArray[Any]


@dataclass(frozen=True)
class Training:
    """Checked training data without rows of weight zero; `kept` marks the rows among those given, if some were dropped."""

    schema: Schema
    table: Table
    classes: Labels
    codes: Codes
    weights: Floats | None
    kept: npt.NDArray[np.bool_] | None


def _supports_partial_fit(clf: BaseClassifier) -> bool:
    """Return whether `partial_fit` exists; the reason if it does not becomes the cause of the AttributeError."""
    try:
        clf._check_settings()
    except (TypeError, ValueError):
        return True  # the call itself raises the error
    clf._check_partial_fit()
    return True


class BaseClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no type hints
    """Base of all classifiers; see `BayesNetClassifier` for the parameters."""

    classes_: Labels
    counts_: _core.CountSet
    _core_type: type  # of the model in the core

    def __init__(
        self,
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
        self.discretizer = discretizer
        self.numeric_features = numeric_features
        self.categories = categories
        self.unseen = unseen
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- what a subclass defines

    @abstractmethod
    def _counting_rule(self) -> Callable[[Schema], Requirements]:
        """Return a function from the columns to what must be counted; it is pickled with the parts of a stream."""

    @abstractmethod
    def _fit_model(self, context: TrainingContext) -> FittedModel:
        """Fit the model. The estimator itself does not change, so any number of folds can be fitted at once."""

    @abstractmethod
    def _attributes(self, fitted: FittedModel, schema: Schema, encoder: Encoder, classes: Labels) -> dict[str, Any]:
        """Return the fitted attributes that only this type of classifier has."""

    @abstractmethod
    def _describe(self) -> ModelDescription:
        """Describe the fitted model."""

    @classmethod
    def _restored(cls, model: _core.Model) -> FittedModel:
        """Return the fitted model that a model file holds."""
        return FittedModel(model.classifier, model.predictor, model.counts)

    def _separate_counts(self) -> _core.CountSet | None:
        """Return the counts that a model file stores beside the model; None if the model itself holds them."""
        return self.counts_

    def _check_partial_fit(self) -> None:
        """Raise ValueError if the learner cannot continue from counts."""

    def _check_stream(self, can_repeat: bool) -> None:
        """Raise ValueError if the learner needs more than counts, or more passes than the source allows."""

    def _announce(self, core: Any, columns: list[Codes], n_rows: int) -> None:
        """Warn before predicting if some predictions will be estimates."""

    def _count_estimates(self, columns: list[Codes], n_rows: int) -> int:  # noqa: ARG002
        """Return the number of rows whose predictions are estimates."""
        return 0

    def _model_html(self) -> str:
        """Return the fitted model as HTML; empty if not fitted."""
        return ""

    # -- settings

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of nested objects by names such as ``parameters__alpha``.

        A learner given by name, or left at None, is replaced by an object first, so its settings can be tuned by
        ``GridSearchCV``.

        Parameters
        ----------
        **params
            Parameters by name.

        Returns
        -------
        self
        """
        nested = {name: value for name, value in params.items() if "__" in name}
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        resolvers = self._resolvers()
        for owner in {name.partition("__")[0] for name in nested} & resolvers.keys():
            if getattr(self, owner) is None or isinstance(getattr(self, owner), str):
                setattr(self, owner, resolvers[owner](getattr(self, owner)))
            if getattr(self, owner) is None:
                name = next(name for name in nested if name.startswith(f"{owner}__"))
                raise ValueError(f"{name} cannot be set, since {owner} is None")
        super().set_params(**nested)
        return self

    def _resolvers(self) -> dict[str, Callable[[Any], Any]]:
        """Return the parameters that hold objects, with the functions that turn a name or None into one."""
        return {"discretizer": resolve_discretizer}

    def _check_settings(self) -> None:
        check_choice(self.unseen, "unseen", _UNSEEN)
        self._threads()
        resolve_discretizer(self.discretizer)

    def _threads(self) -> int:
        return n_threads(self.n_jobs)

    def _encoding_settings(self) -> EncodingSettings:
        return EncodingSettings(self.numeric_features, resolve_discretizer(self.discretizer), self.categories)

    def _requirements(self, schema: Schema) -> Requirements:
        return self._counting_rule()(schema)

    def _stream_plan(self) -> StreamPlan:
        return StreamPlan(self._encoding_settings(), self._counting_rule(), self._threads(), self.random_state)

    # -- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit structure and parameters.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A pandas, polars or pyarrow table, a NumPy array or a list of rows, with strings, categories, numbers and
            missing values.
        y : array-like of shape (n_rows,)
            The class of every row; labels of any type.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows. A row of weight zero contributes only its class label.

        Returns
        -------
        self
        """
        training = self._read_training(X, y, None, sample_weight)
        self._fit_rows(training, *self._start(training))
        return self

    @available_if(_supports_partial_fit)  # type: ignore[untyped-decorator]  # scikit-learn has no type hints
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Update the model with more rows; the counts of all calls add up.

        Fitting the parts of a dataset gives the same model as `fit` on the whole, except that numeric columns are
        discretized once, on the first part. New categories and classes in later parts are added.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like or None, default=None
            All classes that may occur, if known; by default classes are added as they occur.

        Returns
        -------
        self
        """
        if not self._is_fitted():
            training = self._read_training(X, y, classes, sample_weight)
            self._fit_rows(training, *self._start(training))
            return self
        if self.counts_ is None:
            raise ValueError("this model was saved without counts and cannot be updated; save it with with_counts=True")
        training = self._read_training(X, y, classes, sample_weight, known=self._schema)
        self._fit_rows(training, *self._grow(training))
        return self

    @available_if(_supports_partial_fit)  # type: ignore[untyped-decorator]  # scikit-learn has no type hints
    def merge(self, *others: Self) -> Self:
        """Return a new classifier fitted on the rows of this one and of others.

        Counts add up, so merging models of the parts of a dataset gives the same model as `fit` on the whole. Categories and
        classes of all models are joined; numeric columns must have the same cut points. The new classifier has the
        parameters of this one; none of the models changes.

        Parameters
        ----------
        *others : classifiers of the same type
            Fitted on the same columns.

        Returns
        -------
        classifier of the same type
        """
        encoder, classes, counts = self._mergeable_encoder(), self.classes_, self.counts_
        for other in others:
            self._check_mergeable(other)
            joined = encode_labels(joined_labels(classes, other.classes_))[0]
            encoder, moved, moved_other = join_encoders(encoder, other._encoder)
            self._check_tables(self._schema, encoder.cardinalities, len(joined))
            parts = [
                (counts, moved, positions_among(classes, joined)),
                (other.counts_, moved_other, positions_among(other.classes_, joined)),
            ]
            classes, counts = joined, add_counts(encoder.cardinalities, len(joined), parts)
        merged: Self = clone(self)
        context = merged._context(self._schema, len(classes), counts, None)
        merged._adopt(self._schema, encoder, classes, merged._fit_model(context))
        return merged

    def _mergeable_encoder(self) -> Encoder:
        self._check_settings()
        self._check_fitted()
        if self.counts_ is None:
            raise ValueError("this model was saved without counts and cannot be merged; save it with with_counts=True")
        return self._encoder

    def _check_mergeable(self, other: Any) -> None:
        mine, theirs = type(self).__name__, type(other).__name__
        if type(other) is not type(self):
            raise TypeError(f"merge: expected models of the same type, got {mine} and {theirs}")
        other._mergeable_encoder()
        if self._schema.n_features != other._schema.n_features or self._schema.names != other._schema.names:
            columns = [join_names(clf._schema.feature_names) for clf in (self, other)]
            raise ValueError(
                f"cannot merge models of different columns: one was fitted on {columns[0]}, the other on {columns[1]}"
            )

    def fit_stream(
        self, batches: Any, y: str | None = None, *, sample_weight: str | None = None, classes: Any = None
    ) -> Self:
        """Fit on a stream of batches, in memory for one batch, however many rows there are.

        The model is the same as that of `fit` on all batches in one table, bit for bit; only the cut points of numeric
        columns may differ, see Notes. Counts add up batch by batch, and structure and parameters are fitted once, at the end.

        Parameters
        ----------
        batches : iterable of tables, pyarrow Dataset, ParquetFile or RecordBatchReader, or callable
            Tables as in `fit`, all with the same columns; new categories and classes may appear in any of them. A callable
            without arguments returns a new iterable whenever it is called. Learners that need two passes require one, or a
            list or dataset: an iterator, such as a generator or a reader, can be consumed only once.
        y : str or None, default=None
            Name of the class column. None if batches are tuples ``(X, y)`` or ``(X, y, weights)``.
        sample_weight : str or None, default=None
            Name of a column of weights.
        classes : array-like or None, default=None
            All classes, if some may not occur, or if any other label is to be an error.

        Returns
        -------
        self

        Notes
        -----
        All learners that need only counts can be fitted this way, in one pass. `KDB` with k above 1 takes two passes, since
        the counts of all pairs determine which tables it needs. Other learners, such as searches, raise ValueError.

        Discretizing numeric columns takes one more pass, before the others. The cut points of equal width are those of `fit`.
        So are those of equal frequency for columns of at most 16,384 distinct numbers; for others the shares are off by less
        than 0.05 percent of the rows. Cut points by minimum description length are found on 100,000 rows drawn at random
        (``random_state``; None always draws the same rows), and equal those of `fit` if there are no more rows than that.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("tic-tac-toe", as_frame=True)
        >>> table = data.X.assign(outcome=list(data.y))
        >>> batches = [table[:500], table[500:]]  # or a pyarrow dataset, or pandas.read_csv(..., chunksize=100_000)
        >>> clf = tg.TANClassifier().fit_stream(batches, "outcome")
        >>> clf.counts_ == tg.TANClassifier().fit(data.X, data.y).counts_
        True
        """
        self._check_settings()
        source = BatchSource(batches)
        self._check_stream(source.can_repeat)
        counted, recount = count_stream(self._stream_plan(), source, y, sample_weight, classes)
        self._fit_counts(counted, recount)
        return self

    def _read_training(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, known: Schema | None = None
    ) -> Training:
        """Check training data; the estimator does not change."""
        self._check_settings()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if isinstance(y, str):
            raise TypeError(
                f"y: expected the class of every row, got the string {y!r}; if that is a column of X, pass y=X[{y!r}] and X "
                "without it, or use fit_stream([X], name)"
            )
        table = read_table(X)
        labels, codes = encode_labels(y, classes)
        if len(codes) != table.n_rows:
            raise ValueError(f"X has {table.n_rows} rows, but y has {len(codes)}")
        if known is None:
            known = Schema(table.names, table.n_features, "class")
            name = class_name(y, known.feature_names)
            if name != known.class_name:
                known = replace(known, class_name=name)
        else:
            check_features(self, table.names, table.n_features)
        weights = check_sample_weight(sample_weight, table.n_rows)
        kept = None
        if weights is not None and not weights.all():
            kept = weights > 0
            table, codes, weights = read_table(take_rows(X, np.flatnonzero(kept))), codes[kept], weights[kept]
        return Training(known, table, labels, codes, weights, kept)

    def _start(self, training: Training) -> tuple[Encoder, Labels, _core.CountSet, _core.Dataset | None]:
        """Encode and count the first rows."""
        n_classes = len(training.classes)
        encoder, columns = learn_encoding(
            training.table,
            self._encoding_settings(),
            y_codes=training.codes,
            n_classes=n_classes,
            weights=training.weights,
            threads=self._threads(),
        )
        dataset = _core.Dataset(columns, encoder.cardinalities, training.codes, n_classes, training.weights)
        return encoder, training.classes, self._count(training.schema, dataset), dataset

    def _grow(self, training: Training) -> tuple[Encoder, Labels, _core.CountSet, _core.Dataset | None]:
        """Encode further rows and add them to the counts."""
        classes = encode_labels(joined_labels(self.classes_, training.classes))[0]
        encoder, recodings = self._encoder.extended(training.table)
        counts = self.counts_.recoded(
            encoder.cardinalities, len(classes), recodings, positions_among(self.classes_, classes)
        )
        codes = positions_among(training.classes, classes)[training.codes]
        # The extended encoder knows all values, except those that are not among declared categories: an error, as in fit.
        columns = encoder.encode(training.table, "error", self._threads())
        dataset = _core.Dataset(columns, encoder.cardinalities, codes, len(classes), training.weights)
        counts += self._count(training.schema, dataset)
        return encoder, classes, counts, None

    def _count(self, schema: Schema, dataset: _core.Dataset) -> _core.CountSet:
        scope, families = self._check_tables(schema, dataset.cardinalities, dataset.n_classes)
        return _core.CountSet.count(dataset, scope, families, self._threads())

    def _check_tables(self, schema: Schema, sizes: list[int], n_classes: int) -> Requirements:
        """Return what must be counted; raise if one of the tables would be too large."""
        return check_requirements(self._requirements(schema), schema.feature_names, sizes, n_classes)

    def _fit_rows(
        self,
        training: Training,
        encoder: Encoder,
        classes: Labels,
        counts: _core.CountSet,
        dataset: _core.Dataset | None,
    ) -> None:
        rows = None if dataset is None else lambda: dataset
        context = self._context(training.schema, len(classes), counts, rows, training.kept)
        self._adopt(training.schema, encoder, classes, self._fit_model(context))

    def _fit_counts(self, counted: Counted, recount: Recount | None = None) -> None:
        """Fit structure and parameters from counts; `recount` counts further families in another pass over the rows."""
        context = self._context(counted.schema, len(counted.classes), counted.counts, None)
        fitted = self._fit_model(replace(context, recount=recount))
        self._adopt(counted.schema, counted.encoder, counted.classes, fitted)

    def _context(
        self,
        schema: Schema,
        n_classes: int,
        counts: _core.CountSet,
        rows: Callable[[], _core.Dataset] | None,
        kept: npt.NDArray[np.bool_] | None = None,
    ) -> TrainingContext:
        return TrainingContext(
            counts=counts,
            load_rows=rows,
            row_mask=kept,
            feature_names=schema.feature_names,
            class_name=schema.class_name,
            class_prior=check_class_prior(self.class_prior, n_classes),
            threads=self._threads(),
            random_state=self.random_state,
            verbose=self.verbose,
        )

    def _adopt(self, schema: Schema, encoder: Encoder, classes: Labels, fitted: FittedModel) -> None:
        """Set all fitted attributes at once, when nothing can fail any more."""
        attributes = self._attributes(fitted, schema, encoder, classes)
        self.n_features_in_ = schema.n_features
        if schema.names is not None:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif "feature_names_in_" in self.__dict__:
            del self.feature_names_in_
        self._schema = schema
        self._encoder, self._core_model = encoder, fitted.core
        self._predictor: Predictor = fitted.predictor
        self.classes_, self.counts_ = classes, fitted.counts  # type: ignore[assignment]
        self.__dict__.update(attributes)
        extra: dict[str, Any] = {**fitted.attributes}
        if fitted.parameter_trace is not None:
            extra |= {"parameter_trace_": fitted.parameter_trace, "search_trace_": fitted.parameter_trace}
        if fitted.trace is not None:
            extra["search_trace_"] = fitted.trace
        if fitted.threshold is not None:
            extra["dependence_threshold_"] = fitted.threshold
        for name in EXTRA_ATTRIBUTES - extra.keys():  # of an earlier fit
            self.__dict__.pop(name, None)
        self.__dict__.update(extra)

    # -- prediction

    def predict(self, X: Any) -> Labels:
        """Return the most probable class of every row; ties go to the first class.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As in `fit`, with the same columns in the same order.
        """
        columns, n_rows = self._encode(X)
        self._announce(self._core_model, columns, n_rows)
        return self._predict_codes(columns, n_rows, None)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class, shape (n_rows, n_classes).

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As in `predict`.
        """
        return self._predict(X, "posterior")

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of every class.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As in `predict`.
        """
        return self._predict(X, "log_posterior")

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return ln P(class, row) for every class: unnormalized, and comparable between rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As in `predict`.
        """
        return self._predict(X, "log_joint")

    def predict_stream(self, batches: Any, method: str | Sequence[str] = "predict_proba") -> Iterator[Any]:
        """Predict a stream of batches.

        While one batch is predicted, the next one is read and encoded, and the caller can use the results of the previous
        one. At most two batches are in memory at a time.

        Parameters
        ----------
        batches : iterable of tables, pyarrow Dataset, ParquetFile or RecordBatchReader, or callable
            As in `fit_stream`. Named columns may be in any order; columns that are not features, such as the class, are
            ignored, and not even read from files.
        method : {"predict_proba", "predict", "predict_log_proba", "predict_joint_log_proba"} or several of them
            What to predict.

        Returns
        -------
        iterator of ndarray
            The result of the method for each batch, in order; a tuple of arrays if several methods are given.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("tic-tac-toe", as_frame=True)
        >>> clf = tg.TANClassifier().fit(data.X, data.y)
        >>> for proba in clf.predict_stream([data.X[:2], data.X[2:5]]):
        ...     print(proba.shape)
        (2, 2)
        (3, 2)
        """
        self._check_fitted()
        return predict_stream(self, batches, method)

    def _predict(self, X: Any, output: str) -> Floats:
        columns, n_rows = self._encode(X)
        self._announce(self._core_model, columns, n_rows)
        return self._predict_codes(columns, n_rows, output)

    def _predict_codes(self, columns: list[Codes], n_rows: int, output: str | None) -> npt.NDArray[Any]:
        """Predict encoded rows: the given output of the core, or class labels for None."""
        try:
            if output is None:
                return self.classes_[self._predictor.predict_classes(columns, n_rows, self._threads())]
            return self._predictor.predict(columns, n_rows, output, self._threads())
        except _core.CliqueTooLarge as error:
            raise named_error(error, self._schema.feature_names) from None

    def _encode(self, X: Any) -> tuple[list[Codes], int]:
        self._check_fitted()
        columns, n_rows, _ = self._encode_table(read_table(X))
        return columns, n_rows

    def _encode_table(self, table: Table, *, warn: bool = True) -> tuple[list[Codes], int, bool]:
        """Encode a table to predict; also return whether a warning about unseen columns was issued."""
        check_choice(self.unseen, "unseen", _UNSEEN)
        check_features(self, table.names, table.n_features)
        columns, unseen_columns = self._encoder.encode_new(table, self.unseen, self._threads())
        warn &= bool(unseen_columns)
        if warn:
            warn_unseen(unseen_columns)
        return columns, table.n_rows, warn

    # -- inspection

    @property
    def categories_(self) -> list[Labels]:
        """The values of every feature, in the order of their codes; intervals for discretized features."""
        if not self._is_fitted():
            raise AttributeError("categories_ exists only after fit")
        labels = [column.labels() for column in self._encoder.columns]
        return [np.fromiter(values, dtype=object, count=len(values)) for values in labels]

    def explain(
        self,
        X: Any,
        *,
        against: Any = None,
        order: Sequence[str] | None = None,
        changeable: Sequence[str] | None = None,
        max_pairs: int = 100_000,
    ) -> Explanation:
        """Explain predictions exactly: the contribution of every feature, and the changes that would alter the prediction.

        The log-odds of a class are ln P(class | row) - ln P(rival | row), where the rival is the most probable other class;
        they are positive for the predicted class and negative for all others. By the chain rule they are a sum: the prior
        log-odds, plus the contribution of each feature given the features before it, which is
        ln P(value | earlier values, class) - ln P(value | earlier values, rival). A missing value is marginalized out and
        contributes nothing.

        Parents come before their children. In an augmented naive Bayes (naive Bayes, TAN, KDB, ...) the contribution of a
        feature whose parents are known is therefore the log ratio of two entries of its conditional probability table,
        however the other features are ordered. In other networks the Markov blanket of the class comes first; if all of its
        features are known, the others contribute nothing. Averages over models (AODE, TBMATAN) use the order of the columns.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As in ``predict``.
        against : class label or None, default=None
            The rival of all other classes; its own rival is the most probable other class. None uses the most probable other
            class for every class.
        order : list of str or None, default=None
            The names of all features of the model in the order of the sum, instead of the order described above.
        changeable : list of str or None, default=None
            The features that ``changes`` and ``flips`` may change; None means all.
        max_pairs : int, default=100000
            Maximum number of pairs of changes that ``flips`` tries per row; if there are more, only pairs of the changes that
            are strongest alone. Zero tries no pairs.

        Returns
        -------
        Explanation

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1", as_frame=True)
        >>> clf = tg.TANClassifier().fit(data.X, data.y)
        >>> print(clf.explain(data.X[:1]))
        row 0: class is 1 with probability 0.999
        log-odds of 1 against 0:
          class         prior   0.000
          body_shape    1      +3.892
          jacket_color  1      +3.611
          head_shape    1       0.000
          is_smiling    1       0.000
          holding       1       0.000
          has_tie       1       0.000
          sum                  +7.503
        strongest counterfactual values:
          head_shape: 1 → 2 (log-odds +2.565)
          body_shape: 1 → 2 (log-odds +2.565)
          jacket_color: 1 → 2 (log-odds +3.238)
        smallest change that flips the prediction:
          head_shape → 2 and jacket_color → 2: then 0 with probability 0.846
        """
        from ..explain._explanation import explain_rows

        return explain_rows(self, X, against, order, changeable, max_pairs)

    def report(self, path: str | os.PathLike[str], X: Any = None, y: Any = None) -> None:
        """Write a report on the model: a single self-contained HTML file that opens in any browser.

        It contains a model card, an interactive plot of the network with the table of the selected node, and a panel for exact
        inference in the page: select the known values of a case, and see probabilities and contributions (as in `explain`)
        change. Models with more than 1,000,000 numbers, or that would take more than a second or two per query, have no such
        panel; the page says so. The same model always gives the same file.

        Parameters
        ----------
        path : str or path
            The file to write, atomically; the usual extension is ``.html``.
        X, y : table and classes, default=None
            Held-out data to evaluate the model on. The report then includes scores with confidence intervals, the confusion
            matrix and calibration. Rows of classes unknown to the model count as wrong.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import tanager as tg
        >>> data = tg.datasets.load("tic-tac-toe", as_frame=True)
        >>> clf = tg.TANClassifier().fit(data.X[::2], data.y[::2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tic-tac-toe.html")
        ...     clf.report(path, data.X[1::2], data.y[1::2])
        ...     path.read_text(encoding="utf-8")[:15]
        '<!DOCTYPE html>'
        """
        from .._report import write_report

        write_report(self, path, X, y)

    # -- files

    def save(self, path: str | os.PathLike[str], *, with_counts: bool = False) -> None:
        """Write a model file, atomically.

        Parameters
        ----------
        path : str or path
            The file to write; the usual extension is ``.tng``.
        with_counts : bool, default=False
            Whether to store the counts, which `partial_fit` and `merge` need after loading. A `TBMATANClassifier` always
            stores them.
        """
        from .._model_file import to_model

        to_model(self, with_counts=with_counts).save(os.fsdecode(path))

    def __getstate__(self) -> dict[str, Any]:
        from .._model_file import get_state

        return get_state(self, super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        from .._model_file import set_state

        super().__setstate__(set_state(self, state))

    # -- scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _repr_html_inner(self) -> str:
        # scikit-learn calls this method or the next one, and neither if HTML is switched off.
        return f"{super()._repr_html_inner()}{self._model_html()}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._model_html()
        return bundle

    def _is_fitted(self) -> bool:
        return "_predictor" in self.__dict__

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )


_UNSEEN = ("missing", "error")
