"""Rows of a table for a model: its features by name, with cells as the labels that it knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..._encoding.columns import unsupported
from ...classifiers._base import BaseClassifier
from ..errors import InputError, not_numbers, other_delimiter, say
from ..terminal import Tell
from .csv_reader import CODED_TEXT, CsvSource
from .sources import ArrowSource, Source, ahead, no_column


class ModelRows:
    """Reads the features of a model, and columns to be kept beside them.

    Parameters
    ----------
    clf : BaseClassifier
    sources : sequence of sources
    keep : sequence of str
        Columns to keep.
    ignore : sequence of str
        Columns that are not counted where the model knows its features by position only.
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
                raise no_column(first.shown, name, first.names, "to keep")
        self.keep = list(dict.fromkeys(keep))
        self._cells = [Cells(clf, position, name) for position, name in enumerate(self.features)]
        self._columns = list(dict.fromkeys([*self.features, *self.keep]))
        if isinstance(first, CsvSource):
            self._warn_of_markers(first)

    @property
    def kept_fields(self) -> list[Any]:
        """The columns to be kept, as they are written; columns of CSV files are text."""
        first = self._sources[0]
        if isinstance(first, CsvSource):
            return [pa.field(name, pa.string()) for name in self.keep]
        fields = [first.schema.field(name) for name in self.keep]
        return [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in fields
        ]

    def batches(self, tell: Tell | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield the features of the model and the columns to be kept, as record batches; reading goes ahead."""
        for i, source in enumerate(self._sources):
            for batch in ahead(self._read(source, tell, i)):
                features = [cells.labels(batch.column(cells.name), _missing(source)) for cells in self._cells]
                yield pa.RecordBatch.from_arrays(features, self.features), batch.select(self.keep)

    def _read(self, source: Source, tell: Tell | None, position: int) -> Iterator[Any]:
        number = len(self._sources)

        def told(rows: int, share: float | None) -> None:
            if tell is not None:
                tell(rows, None if share is None else (position + share) / number)

        if isinstance(source, ArrowSource):
            return source.read(self._columns, told, coded=[c.name for c in self._cells if c.is_category])
        keep = set(self.keep)
        types = {name: CODED_TEXT if name in keep else pa.string() for name in self._columns}
        types |= {c.name: pa.float64() for c in self._cells if not c.is_category and c.name not in keep}
        types |= {c.name: CODED_TEXT for c in self._cells if c.is_category}
        return source.read(types, told)

    def _warn_of_markers(self, source: CsvSource) -> None:
        for cells in self._cells:
            for marker in source.missing:
                if cells.knows(marker):
                    say(
                        f"warning: the model knows the value {marker!r} of {cells.name!r}, which is read as missing; "
                        "--missing tells which cells are"
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
            f"the model was learned without names of columns and needs {len(wanted)} of them in its order, but "
            f"{source.shown} has {len(left)}; --ignore leaves some out"
        )
    some = ", ".join(map(repr, lacking[:5])) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
    raise InputError(
        f"the model needs the column{'s' * (len(lacking) > 1)} {some}, which {source.shown} does not have"
        f"{other_delimiter(source.names)}"
    )


class Cells:
    """One feature of a model: turns a column of a file into one that the model's encoder understands.

    Text is matched as in C++ programs: "3", "3.0" and 3 are the same whole number, and what is no label is missing, or an
    error if the classifier says so (``unseen="error"``).
    """

    def __init__(self, clf: BaseClassifier, position: int, name: str) -> None:
        self.name = name
        column = clf._encoder.columns[position]
        self.is_category = column.kind == "category"
        self._known: list[Any] = column.categories.tolist() if self.is_category else []

    def knows(self, text: str) -> bool:
        """Tell whether a text is a label of the model."""
        return text in self._known

    def labels(self, column: Any, missing: Sequence[str]) -> Any:
        """Return a column of a file as one that the model's encoder understands."""
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
        except pa.ArrowNotImplementedError:  # of lists, durations and the like
            raise InputError(unsupported(f"column {self.name!r}", f"{kind} values")) from None
        values = pc.if_else(pc.is_in(texts, pa.array(missing, pa.string())), pa.scalar(None, pa.string()), texts)
        return pa.DictionaryArray.from_arrays(column.indices, values)

    def _numbers(self, column: Any, missing: Sequence[str]) -> Any:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        texts = coded.dictionary
        texts = pc.if_else(pc.is_in(texts, pa.array(missing, texts.type)), pa.scalar(None, texts.type), texts)
        texts = pc.utf8_trim(texts, " \t")  # as in columns that are not kept
        try:
            return texts.cast(pa.float64()).take(coded.indices)
        except pa.ArrowInvalid as error:
            wrong = re.search(r"'(.*)'", str(error), re.DOTALL)
            held = "something else" if wrong is None else wrong[0]
            raise InputError(not_numbers(self.name, held)) from None
