"""What all classifiers do: encode, count, learn, predict. A subclass says what to count and how to learn from it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from .. import _core
from .._encoding.encoder import Encoder, Table, encode_labels, learn_encoding, read_table, warn_unseen
from .._encoding.labels import class_name
from .._encoding.merging import add_counts, check_mergeable, join_encoders, joined_labels, positions_among
from .._encoding.schema import Schema
from .._encoding.table import take_rows
from .._learning.contract import EXTRA_ATTRIBUTES, FittedModel, Predictor, Requirements, TrainingContext
from .._learning.names import named_error
from .._streams.fit import StreamMethods
from .._utils.typing import Floats
from .._utils.validation import check_class_prior, check_features, check_sample_weight, check_table_sizes, n_threads
from ..discretize import resolve_discretizer
from ._nested_settings import NestedSettings
from ._reading_methods import ReadingMethods

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Training:
    """Checked training rows; none has weight zero. `kept` marks them among the rows given, where some had."""

    schema: Schema
    table: Table
    classes: npt.NDArray[Any]
    codes: npt.NDArray[Any]
    weights: Floats | None
    kept: npt.NDArray[np.bool_] | None


def _learns_in_parts(clf: BaseClassifier) -> bool:
    """Say whether `partial_fit` exists; the reason if it does not is the cause of the AttributeError."""
    try:
        clf._check_settings()
    except (TypeError, ValueError):
        return True  # the call itself says what is wrong with them
    clf._check_parts()
    return True


class BaseClassifier(ReadingMethods, StreamMethods, NestedSettings, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no type hints
    """The road from a table to predictions; see `BayesNetClassifier` for the parameters."""

    classes_: npt.NDArray[Any]
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

    @abstractmethod
    def _requirements(self, schema: Schema) -> Requirements:
        """Say what must be counted before `_fit_model` is called."""

    @abstractmethod
    def _fit_model(self, context: TrainingContext) -> FittedModel:
        """Learn the model. Nothing of the estimator changes, so that any number of folds can be learned from."""

    @abstractmethod
    def _attributes(
        self, learned: FittedModel, schema: Schema, encoder: Encoder, classes: npt.NDArray[Any]
    ) -> dict[str, Any]:
        """Return the attributes that only this kind of classifier has after fitting."""

    def _check_parts(self) -> None:
        """Refuse `partial_fit` where the learner cannot go on from counts."""

    def _check_stream(self, can_repeat: bool) -> None:
        """Refuse `fit_stream` where the learner needs more than counts, or more passes than there can be."""

    # -- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn structure and parameters.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A pandas, polars or pyarrow table, a NumPy array or a list of rows, with strings, categories, numbers and
            missing cells.
        y : array-like of shape (n_rows,)
            The class of every row; labels of any kind.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            How often each row counts; a row of weight zero adds nothing but the name of its class.

        Returns
        -------
        self
        """
        rows = self._read_training(X, y, None, sample_weight)
        self._fit_rows(rows, *self._start(rows))
        return self

    @available_if(_learns_in_parts)  # type: ignore[untyped-decorator]  # scikit-learn has no type hints
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: the counts of all calls add up.

        Learning from the parts of a table gives what `fit` gives on the whole, except that columns of numbers are cut
        once, by the first part. Categories and classes that a later part brings are added.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like or None, default=None
            All classes that will ever come, if known. Without it classes are added as they come.

        Returns
        -------
        self
        """
        if not self._is_fitted():
            rows = self._read_training(X, y, classes, sample_weight)
            self._fit_rows(rows, *self._start(rows))
            return self
        if self.counts_ is None:
            raise ValueError("this model was loaded from a file without counts, so that nothing can be added to it")
        rows = self._read_training(X, y, classes, sample_weight, known=self._schema)
        self._fit_rows(rows, *self._grow(rows))
        return self

    @available_if(_learns_in_parts)  # type: ignore[untyped-decorator]  # scikit-learn has no type hints
    def merge(self, *others: Self) -> Self:
        """Return a new classifier that has learned from the rows of this one and of others.

        Their counts add up, so that merging models of the parts of a table gives what `fit` gives on the whole. Categories
        and classes of all are joined; columns of numbers must have been cut at the same points. The settings are those of
        this one; none of them changes.

        Parameters
        ----------
        *others : classifiers of the same type
            Fitted on tables of the same columns.

        Returns
        -------
        classifier of the same type
        """
        encoder, classes, counts = self._encoder_of_fitted(), self.classes_, self.counts_
        for other in others:
            check_mergeable(self, other)
            other._encoder_of_fitted()
            joined = encode_labels(joined_labels(classes, other.classes_))[0]
            encoder, moved, moved_other = join_encoders(encoder, other._encoder)
            self._check_tables(self._schema, encoder.cardinalities, len(joined))
            parts = [
                (counts, moved, positions_among(classes, joined)),
                (other.counts_, moved_other, positions_among(other.classes_, joined)),
            ]
            classes, counts = joined, add_counts(encoder.cardinalities, len(joined), parts)
        merged: Self = clone(self)
        merged._adopt(
            self._schema, encoder, classes, merged._fit_model(merged._context(self._schema, len(classes), counts, None))
        )
        return merged

    def _encoder_of_fitted(self) -> Encoder:
        self._check_settings()
        self._check_fitted()
        if self.counts_ is None:
            raise ValueError("this model was loaded from a file without counts, so that it cannot be merged")
        return self._encoder

    def _read_training(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, known: Schema | None = None
    ) -> Training:
        """Check a training table and its labels; nothing of the estimator changes."""
        self._check_settings()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if isinstance(y, str):
            raise TypeError(
                f"y must have the class of every row, but is the text {y!r}: if that is a column of X, give X[{y!r}] for y "
                "and X without it, or use fit_stream([X], name)"
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

    def _start(self, rows: Training) -> tuple[Encoder, npt.NDArray[Any], _core.CountSet, _core.Dataset | None]:
        n_classes = len(rows.classes)
        encoder, columns = learn_encoding(
            rows.table,
            y_codes=rows.codes,
            n_classes=n_classes,
            weights=rows.weights,
            numeric_features=self.numeric_features,
            discretizer=resolve_discretizer(self.discretizer),
            categories=self.categories,
            threads=self._threads(),
        )
        dataset = _core.Dataset(columns, encoder.cardinalities, rows.codes, n_classes, rows.weights)
        return encoder, rows.classes, self._count(rows.schema, dataset), dataset

    def _grow(self, rows: Training) -> tuple[Encoder, npt.NDArray[Any], _core.CountSet, _core.Dataset | None]:
        classes = encode_labels(joined_labels(self.classes_, rows.classes))[0]
        encoder, recodings = self._encoder.extended(rows.table)
        counts = self.counts_.recoded(
            encoder.cardinalities, len(classes), recodings, positions_among(self.classes_, classes)
        )
        codes = positions_among(rows.classes, classes)[rows.codes]
        # After extending, only values outside categories that the user declared are unknown: an error, as in fit.
        columns = encoder.encode(rows.table, "error", self._threads())
        dataset = _core.Dataset(columns, encoder.cardinalities, codes, len(classes), rows.weights)
        counts += self._count(rows.schema, dataset)
        return encoder, classes, counts, None

    def _count(self, schema: Schema, dataset: _core.Dataset) -> _core.CountSet:
        scope, families = self._check_tables(schema, dataset.cardinalities, dataset.n_classes)
        return _core.CountSet.count(dataset, scope, families, self._threads())

    def _check_tables(self, schema: Schema, sizes: list[int], n_classes: int) -> Requirements:
        """Return what must be counted, if no table of that is too large."""
        scope, families = self._requirements(schema)
        largest = nlargest(2 if scope == "pairs" else 1, range(len(sizes)), key=sizes.__getitem__)
        tables = [(largest[0], largest[1:]), *families]
        check_table_sizes(schema.feature_names, sizes, n_classes, tables)
        return scope, families

    def _fit_rows(
        self,
        training: Training,
        encoder: Encoder,
        classes: npt.NDArray[Any],
        counts: _core.CountSet,
        dataset: _core.Dataset | None,
    ) -> None:
        rows = None if dataset is None else lambda: dataset
        context = self._context(training.schema, len(classes), counts, rows, training.kept)
        self._adopt(training.schema, encoder, classes, self._fit_model(context))

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

    def _adopt(
        self,
        schema: Schema,
        encoder: Encoder,
        classes: npt.NDArray[Any],
        learned: FittedModel,
    ) -> None:
        """Set everything that is learned at once, when nothing can fail any more."""
        attributes = self._attributes(learned, schema, encoder, classes)
        self.n_features_in_ = schema.n_features
        if schema.names is not None:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif "feature_names_in_" in self.__dict__:
            del self.feature_names_in_
        self._schema = schema
        self._encoder, self._core_model = encoder, learned.core
        self._predictor: Predictor = learned.predictor
        self.classes_, self.counts_ = classes, learned.counts  # type: ignore[assignment]
        self.__dict__.update(attributes)
        # What this fit has to show replaces all that an earlier one showed.
        shown: dict[str, Any] = {**learned.attributes}
        if learned.parameter_trace is not None:
            shown |= {"parameter_trace_": learned.parameter_trace, "search_trace_": learned.parameter_trace}
        if learned.trace is not None:
            shown["search_trace_"] = learned.trace
        if learned.threshold is not None:
            shown["dependence_threshold_"] = learned.threshold
        for name in EXTRA_ATTRIBUTES - shown.keys():
            self.__dict__.pop(name, None)
        self.__dict__.update(shown)

    # -- prediction

    def predict(self, X: Any) -> npt.NDArray[Any]:
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

    def _predict(self, X: Any, output: str) -> Floats:
        columns, n_rows = self._encode(X)
        self._announce(self._core_model, columns, n_rows)
        return self._predict_codes(columns, n_rows, output)

    def _predict_codes(self, columns: list[npt.NDArray[Any]], n_rows: int, output: str | None) -> npt.NDArray[Any]:
        """Predict encoded rows: numbers of that name, or the most probable class if none is asked for."""
        try:
            if output is None:
                return self.classes_[self._predictor.predict_classes(columns, n_rows, self._threads())]
            return self._predictor.predict(columns, n_rows, output, self._threads())
        except _core.CliqueTooLarge as error:
            raise named_error(error, self._schema.feature_names) from None

    def _announce(self, core: Any, columns: list[npt.NDArray[Any]], n_rows: int) -> None:
        """Warn of what users should know of these predictions before they are made."""

    def _encode(self, X: Any) -> tuple[list[npt.NDArray[Any]], int]:
        self._check_fitted()
        if self.unseen not in _UNSEEN:
            raise ValueError(_wrong_unseen(self.unseen))
        table = read_table(X)
        check_features(self, table.names, table.n_features)
        columns, strange = self._encoder.encode_new(table, self.unseen, self._threads())
        if strange:
            warn_unseen(strange)
        return columns, table.n_rows

    # -- inspection and files

    @property
    def categories_(self) -> list[npt.NDArray[Any]]:
        """The values of every feature, in the order of their codes; intervals for features that were cut."""
        if not self._is_fitted():
            raise AttributeError("categories_ exists only after fit")
        labels = [column.labels() for column in self._encoder.columns]
        return [np.fromiter(values, dtype=object, count=len(values)) for values in labels]

    def save(self, path: str | os.PathLike[str], *, with_counts: bool = False) -> None:
        """Write a model file, whole or not at all.

        Parameters
        ----------
        path : str or path
            Where to; the usual ending is ``.tng``.
        with_counts : bool, default=False
            Whether to keep the counts, so that `partial_fit` and `merge` can go on after loading. A `TBMATANClassifier`
            always keeps them.
        """
        from .._model_file import to_model

        to_model(self, with_counts=with_counts).save(os.fsdecode(path))

    def __getstate__(self) -> dict[str, Any]:
        from .._model_file import get_state

        return get_state(self, super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        from .._model_file import set_state

        super().__setstate__(set_state(self, state))

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # -- helpers

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )

    def _is_fitted(self) -> bool:
        return "_predictor" in self.__dict__

    def _resolved_discretizer(self) -> Any:
        return resolve_discretizer(self.discretizer)

    def _threads(self) -> int:
        return n_threads(self.n_jobs)

    def _check_settings(self) -> None:
        if self.unseen not in _UNSEEN:
            raise ValueError(_wrong_unseen(self.unseen))
        self._threads()
        resolve_discretizer(self.discretizer)


_UNSEEN = ("missing", "error")


def _wrong_unseen(value: Any) -> str:
    return f"unseen must be 'missing' or 'error', but is {value!r}"
