"""Read the features of a model from a file: columns by name, values as the labels that it knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..._encoding.columns import unsupported
from ...classifiers._base import BaseClassifier
from ..errors import InputError, delimiter_hint, not_numeric, print_message
from ..terminal import RowProgress
from .csv_reader import CODED_TEXT, CsvSource
from .sources import ArrowSource, Source, no_column, read_ahead


class ModelRows:
    """Reads the features of a model, and columns to copy to the output.

    Parameters
    ----------
    clf : BaseClassifier
    sources : sequence of sources
    keep : sequence of str
        Columns to copy.
    ignore : sequence of str
        Columns to skip if the model has no feature names, so columns are matched by position.
    """

    def __init__(
        self,
        clf: BaseClassifier,
        sources: Sequence[Source],
        keep: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> None:
        self._sources = sources
        first = sources[0]
        self.features = _find_features(clf, first, ignore)
        known = set(first.names)
        for name in keep:
            if name not in known:
                raise no_column(first.display_name, name, first.names, "--keep")
        self.keep = list(dict.fromkeys(keep))
        self._readers = [FeatureReader(clf, position, name) for position, name in enumerate(self.features)]
        self._columns = list(dict.fromkeys([*self.features, *self.keep]))
        if isinstance(first, CsvSource):
            self._warn_of_markers(first)

    @property
    def kept_fields(self) -> list[Any]:
        """The kept columns as they are written; those of CSV files are text."""
        first = self._sources[0]
        if isinstance(first, CsvSource):
            return [pa.field(name, pa.string()) for name in self.keep]
        fields = [first.schema.field(name) for name in self.keep]
        return [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in fields
        ]

    def batches(self, advance: RowProgress | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield the features of the model and the kept columns, as record batches, read ahead."""
        for i, source in enumerate(self._sources):
            for batch in read_ahead(self._read(source, advance, i)):
                features = [reader.labels(batch.column(reader.name), _missing(source)) for reader in self._readers]
                yield pa.RecordBatch.from_arrays(features, self.features), batch.select(self.keep)

    def _read(self, source: Source, advance: RowProgress | None, position: int) -> Iterator[Any]:
        number = len(self._sources)

        def advance_file(rows: int, share: float | None) -> None:
            if advance is not None:
                advance(rows, None if share is None else (position + share) / number)

        if isinstance(source, ArrowSource):
            return source.read(self._columns, advance_file, coded=[c.name for c in self._readers if c.is_category])
        keep = set(self.keep)
        types = {name: CODED_TEXT if name in keep else pa.string() for name in self._columns}
        types |= {c.name: pa.float64() for c in self._readers if not c.is_category and c.name not in keep}
        types |= {c.name: CODED_TEXT for c in self._readers if c.is_category}
        return source.read(types, advance_file)

    def _warn_of_markers(self, source: CsvSource) -> None:
        for reader in self._readers:
            for marker in source.missing:
                if reader.knows(marker):
                    print_message(
                        f"warning: {marker!r} is a category of {reader.name!r} in the model, but is read as missing; set other "
                        "markers with --missing"
                    )


def _missing(source: Source) -> list[str]:
    return source.missing if isinstance(source, CsvSource) else []


def _find_features(clf: BaseClassifier, source: Source, ignore: Sequence[str]) -> list[str]:
    """Return the columns that are the features of a model, in its order."""
    wanted = clf._schema.feature_names
    known = set(source.names)
    lacking = [name for name in wanted if name not in known]
    if not lacking:
        return list(wanted)
    if clf._schema.names is None:
        left = [name for name in source.names if name not in ignore]
        if len(left) == len(wanted):
            return left
        raise InputError(
            f"the model was trained without column names: expected its {len(wanted)} columns in order, but "
            f"{source.display_name} has {len(left)}; drop others with --ignore"
        )
    missing = ", ".join(map(repr, lacking[:5])) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
    raise InputError(
        f"{source.display_name} lacks the column{'s' * (len(lacking) > 1)} {missing} of the model"
        f"{delimiter_hint(source.names)}"
    )


class FeatureReader:
    """One feature of a model: converts a column of a file for the encoder of the model.

    Text is matched as in the C++ program: "3", "3.0" and 3 are the same integer. Unknown labels are missing values, or an
    error with ``unseen="error"``.
    """

    def __init__(self, clf: BaseClassifier, position: int, name: str) -> None:
        self.name = name
        column = clf._encoder.columns[position]
        self.is_category = column.kind == "category"
        self._known: list[Any] = column.categories.tolist() if self.is_category else []

    def knows(self, text: str) -> bool:
        """Whether a text is a label of the model."""
        return text in self._known

    def labels(self, column: Any, missing: Sequence[str]) -> Any:
        """Convert a column of a file for the encoder of the model."""
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if not self.is_category:
            return self._numbers(column, missing) if is_text else column
        if is_text and not missing:
            return column
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            return column
        try:
            if not pa.types.is_dictionary(column.type):
                column = column.dictionary_encode()
            texts = column.dictionary.cast(pa.string())
        except pa.ArrowNotImplementedError:  # lists, durations etc.
            raise InputError(unsupported(f"column {self.name!r}", f"{kind} values")) from None
        values = pc.if_else(pc.is_in(texts, pa.array(missing, pa.string())), pa.scalar(None, pa.string()), texts)
        return pa.DictionaryArray.from_arrays(column.indices, values)

    def _numbers(self, column: Any, missing: Sequence[str]) -> Any:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        texts = coded.dictionary
        texts = pc.if_else(pc.is_in(texts, pa.array(missing, texts.type)), pa.scalar(None, texts.type), texts)
        texts = pc.utf8_trim(texts, " \t")  # as pyarrow does for numeric columns
        try:
            return texts.cast(pa.float64()).take(coded.indices)
        except pa.ArrowInvalid as error:
            wrong = re.search(r"'(.*)'", str(error), re.DOTALL)
            value = "other values" if wrong is None else wrong[0]
            raise InputError(not_numeric(self.name, value)) from None
