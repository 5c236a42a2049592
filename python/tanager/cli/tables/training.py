"""Data with typed columns, and training data with features, class and weights."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import InputError, reading
from ..terminal import RowProgress, rows_bar
from .csv_reader import ARROW_TYPES, CsvSource, Kind
from .sources import ArrowSource, Source, no_column, open_data, read_ahead, total_rows


class TypedTable:
    """Data that can be read several times in batches; every column has one type in all of them.

    Attributes
    ----------
    columns, features : list of str
        The columns to read, and those of them that are features.
    types : dict of str to pyarrow type
    n_rows : int or None
        None if unknown.

    Parameters
    ----------
    sources : sequence of sources
    columns : sequence of str
        The columns to read.
    numbers, text : sequence of str
        CSV columns to read as floats, or as text, regardless of their content.
    class_name : str, default=None
        The class column; distinct classes must stay distinct.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        columns: Sequence[str],
        numbers: Sequence[str] = (),
        text: Sequence[str] = (),
        class_name: str | None = None,
    ) -> None:
        self._sources = sources
        self.columns = list(columns)
        self.display_name = (
            sources[0].display_name if len(sources) == 1 else f"{sources[0].display_name} and other files"
        )
        first = sources[0]
        if isinstance(first, ArrowSource):
            for source in sources:
                source.repeatable()
            self.types = {name: first.schema.field(name).type for name in columns}
            self.n_rows = total_rows(sources)
            return
        kinds: dict[str, Kind] = {name: "string" if name in text else "nothing" for name in columns}
        with rows_bar("inferring types") as advance:
            files = [source.repeatable() for source in sources if isinstance(source, CsvSource)]
            self.n_rows = sum(
                file.widen(kinds, _shared(advance, i, len(files)), class_name=class_name)
                for i, file in enumerate(files)
            )
        self.types = {name: ARROW_TYPES["float" if name in numbers else kind] for name, kind in kinds.items()}

    def batches(self, advance: RowProgress | None = None) -> Iterator[Any]:
        """Yield record batches of all columns."""
        for i, source in enumerate(self._sources):
            advance_file = None if advance is None else _shared(advance, i, len(self._sources))
            if isinstance(source, CsvSource):
                yield from source.read(self.types, advance_file)
            else:
                yield from source.read(self.columns, advance_file)

    def whole(self) -> Any:
        """Read all rows into an Arrow table."""
        with rows_bar("reading") as advance:
            table = pa.Table.from_batches(list(self.batches(advance)), schema=pa.schema(list(self.types.items())))
        if table.num_rows == 0:
            raise InputError(f"{self.display_name} has no rows")
        return table


def _shared(advance: RowProgress, position: int, number: int) -> RowProgress:
    return lambda rows, share: advance(rows, None if share is None else (position + share) / number)


class LabeledTable(TypedTable):
    """Training data: features, a class column and optionally a column of sample weights."""

    def __init__(self, options: argparse.Namespace) -> None:
        sources = open_data(options)
        names = sources[0].names
        self.class_name: str = options.class_name
        self.weight: str | None = options.weight
        for name, what in ((self.class_name, "--class"), (self.weight, "--weight")):
            if name is not None and name not in names:
                raise no_column(sources[0].display_name, name, names, what)
        for name in options.ignore:
            if name not in names:
                raise no_column(sources[0].display_name, name, names, "--ignore")
        others = {self.class_name, self.weight, *options.ignore}
        if self.class_name in (self.weight, *options.ignore):
            raise InputError(f"the class column {self.class_name!r} cannot be used for --weight or --ignore as well")
        self.features = [name for name in names if name not in others]
        if not self.features:
            raise InputError(f"{sources[0].display_name} has no feature columns besides the class")
        numbers = []
        if options.numeric not in (["float"], ["number"]):
            for name in options.numeric:
                if name not in self.features:
                    raise InputError(f"--numeric: {name!r} is not a feature")
            numbers = list(options.numeric)
        needed = {*self.features, self.class_name, self.weight}
        used = [name for name in names if name in needed]
        with reading(sources[0].display_name):
            super().__init__(
                sources, used, [*numbers, *([self.weight] if self.weight else [])], class_name=self.class_name
            )

    def labeled_batches(self) -> Iterator[Any]:
        """Yield all rows in batches, read ahead; a missing class or weight is an error."""
        n_rows = 0
        with rows_bar("training") as advance:
            for batch in read_ahead(self.batches(advance)):
                for name in filter(None, (self.class_name, self.weight)):
                    if batch.column(name).null_count:
                        raise self._missing(name, n_rows + batch.column(name).is_null().index(True).as_py())
                n_rows += batch.num_rows
                yield batch
        if n_rows == 0:
            raise InputError(f"{self.display_name} has no rows")

    def _missing(self, name: str, row: int) -> InputError:
        what = "class" if name == self.class_name else "weight"
        return InputError(f"the {what} {name!r} is missing in row {row + 1:,}; remove such rows")

    def arrays(self) -> tuple[Any, npt.NDArray[Any], npt.NDArray[np.float64] | None]:
        """Read all rows: features as an Arrow table, classes and weights as arrays."""
        table = self.whole()
        for name in filter(None, (self.class_name, self.weight)):
            if table.column(name).null_count:
                raise self._missing(name, table.column(name).is_null().index(True).as_py())
        weights = None if self.weight is None else table.column(self.weight).cast(pa.float64()).to_numpy()
        return table.select(self.features), labels_of(table.column(self.class_name)), weights


def labels_of(column: Any) -> npt.NDArray[Any]:
    """Return classes as an array; each distinct string is created once, not once per row."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type) or pa.types.is_floating(column.type):
        numbers: npt.NDArray[Any] = column.to_numpy()
        return numbers
    coded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = coded.dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    texts = np.empty(len(coded.dictionary), dtype=object)
    texts[:] = coded.dictionary.to_pylist()
    labels: npt.NDArray[Any] = texts[coded.indices.to_numpy()]
    return labels


class NamedLabels:
    """Classes with the name of their column, which classifiers store."""

    def __init__(self, labels: npt.NDArray[Any], name: str) -> None:
        self._labels = labels
        self.name = name

    def __len__(self) -> int:
        return len(self._labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self._labels, dtype=dtype, copy=copy) if copy else np.asarray(self._labels, dtype=dtype)
