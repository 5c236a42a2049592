"""Tables to learn from: which columns are features, and what types they have."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import InputError, reading
from ..terminal import Tell, rows_bar
from .csv_reader import ARROW_TYPES, CsvSource, Kind
from .sources import ArrowSource, Source, ahead, no_column, open_data, total_rows


class TypedTable:
    """The rows of a table in batches, as often as asked for; every column has one type throughout.

    Attributes
    ----------
    columns, features : list of str
        The columns to be read, and those among them that are features.
    types : dict of str to pyarrow type
    n_rows : int or None
        If known.

    Parameters
    ----------
    sources : sequence of sources
    columns : sequence of str
        Those to be read.
    numbers, text : sequence of str
        Columns of CSV files that are read as floats, or as text, whatever they look like.
    class_name : str, default=None
        The column of classes, of which no two may become one.
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
        self.shown = sources[0].shown if len(sources) == 1 else f"{sources[0].shown} and others"
        first = sources[0]
        if isinstance(first, ArrowSource):
            for source in sources:
                source.repeatable()
            self.types = {name: first.schema.field(name).type for name in columns}
            self.n_rows = total_rows(sources)
            return
        kinds: dict[str, Kind] = {name: "string" if name in text else "nothing" for name in columns}
        with rows_bar("finding types") as tell:
            files = [source.repeatable() for source in sources if isinstance(source, CsvSource)]
            self.n_rows = sum(
                file.widen(kinds, _shared(tell, i, len(files)), class_name=class_name) for i, file in enumerate(files)
            )
        self.types = {name: ARROW_TYPES["float" if name in numbers else kind] for name, kind in kinds.items()}

    def batches(self, tell: Tell | None = None) -> Iterator[Any]:
        """Yield record batches of all columns."""
        for i, source in enumerate(self._sources):
            told = None if tell is None else _shared(tell, i, len(self._sources))
            if isinstance(source, CsvSource):
                yield from source.read(self.types, told)
            else:
                yield from source.read(self.columns, told)

    def whole(self) -> Any:
        """Read all rows into one table."""
        with rows_bar("reading") as tell:
            table = pa.Table.from_batches(list(self.batches(tell)), schema=pa.schema(list(self.types.items())))
        if table.num_rows == 0:
            raise InputError(f"{self.shown} has no rows")
        return table


def _shared(tell: Tell, position: int, number: int) -> Tell:
    return lambda rows, share: tell(rows, None if share is None else (position + share) / number)


class LabeledTable(TypedTable):
    """A table with a class column, and perhaps a column of weights."""

    def __init__(self, options: argparse.Namespace) -> None:
        sources = open_data(options)
        names = sources[0].names
        self.class_name: str = options.class_name
        self.weight: str | None = options.weight
        for name, what in ((self.class_name, "the class"), (self.weight, "the weights")):
            if name is not None and name not in names:
                raise no_column(sources[0].shown, name, names, what)
        for name in options.ignore:
            if name not in names:
                raise no_column(sources[0].shown, name, names, "to ignore")
        others = {self.class_name, self.weight, *options.ignore}
        if self.class_name in (self.weight, *options.ignore):
            raise InputError(f"the column {self.class_name!r} cannot be the class and something else, too")
        self.features = [name for name in names if name not in others]
        if not self.features:
            raise InputError(f"{sources[0].shown} has no column left to learn from")
        numbers = []
        if options.numeric not in (["float"], ["number"]):
            for name in options.numeric:
                if name not in self.features:
                    raise InputError(f"--numeric names {name!r}, which is no feature")
            numbers = list(options.numeric)
        needed = {*self.features, self.class_name, self.weight}
        used = [name for name in names if name in needed]
        with reading(sources[0].shown):
            super().__init__(
                sources, used, [*numbers, *([self.weight] if self.weight else [])], class_name=self.class_name
            )

    def labeled_batches(self) -> Iterator[Any]:
        """Yield all rows in batches, read ahead; a row without class or weight is an error."""
        n_rows = 0
        with rows_bar("learning") as tell:
            for batch in ahead(self.batches(tell)):
                for name in filter(None, (self.class_name, self.weight)):
                    if batch.column(name).null_count:
                        raise self._missing(name, n_rows + batch.column(name).is_null().index(True).as_py())
                n_rows += batch.num_rows
                yield batch
        if n_rows == 0:
            raise InputError(f"{self.shown} has no rows")

    def _missing(self, name: str, row: int) -> InputError:
        what = "class" if name == self.class_name else "weight"
        return InputError(f"the {what} {name!r} is missing in row {row + 1:,}; leave such rows out")

    def arrays(self) -> tuple[Any, npt.NDArray[Any], npt.NDArray[np.float64] | None]:
        """Read everything: the features as a table, the classes and the weights as arrays."""
        table = self.whole()
        for name in filter(None, (self.class_name, self.weight)):
            if table.column(name).null_count:
                raise self._missing(name, table.column(name).is_null().index(True).as_py())
        weights = None if self.weight is None else table.column(self.weight).cast(pa.float64()).to_numpy()
        return table.select(self.features), labels_of(table.column(self.class_name)), weights


def labels_of(column: Any) -> npt.NDArray[Any]:
    """Return classes as an array; texts are made once, not once per row."""
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
    """Classes with the name of their column, which classifiers keep."""

    def __init__(self, labels: npt.NDArray[Any], name: str) -> None:
        self._labels = labels
        self.name = name

    def __len__(self) -> int:
        return len(self._labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self._labels, dtype=dtype, copy=copy) if copy else np.asarray(self._labels, dtype=dtype)
