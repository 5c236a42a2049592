"""Published datasets as integer codes: numbers are discretized, missing values are a separate category.

Features with a single value, and identifiers, are dropped.
"""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import tables
from benchmarks.harness.tables import CodedTable

#: Bins per numeric column; many ties lead to fewer.
N_BINS = 5
#: Numeric identifier columns, by dataset.
IDENTIFIERS = {"breast-id": ("Id",)}


@dataclass(frozen=True)
class RawTable:
    """A dataset before discretization.

    Attributes
    ----------
    numbers : ndarray of float64 of shape (n_rows, n_numeric)
        NaN where a value is missing.
    codes : ndarray of int8 of shape (n_rows, n_nominal)
        The other columns; a missing value has its own code.
    n_values : list of int
        Number of values of each of the other columns in all rows.
    y : ndarray of int8 of shape (n_rows,)
        The class.
    """

    name: str
    numbers: NDArray[np.float64]
    codes: NDArray[np.int8]
    n_values: list[int]
    y: NDArray[np.int8]

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    def cut(self, train: NDArray[np.intp] | None = None) -> tuple[NDArray[np.int8], list[int]]:
        """Return the codes of all rows and the number of values of every feature, with cut points from these rows (or all)."""
        from tanager import EqualFrequencyDiscretizer

        if not self.numbers.shape[1]:
            return self.codes, self.n_values
        numbers = self.numbers if train is None else self.numbers[train]
        discretizer = EqualFrequencyDiscretizer(N_BINS).fit(numbers)
        found = np.asarray(discretizer.transform(self.numbers))
        n_bins = np.array([len(cuts) + 1 for cuts in discretizer.cut_points_])
        missing = np.isnan(found)
        binned = np.where(missing, n_bins, found).astype(np.int8)
        n_values = (n_bins + missing.any(axis=0)).tolist()
        return np.ascontiguousarray(np.hstack([binned, self.codes])), [*n_values, *self.n_values]


def raw(name: str) -> RawTable:
    """Read a dataset; numbers first, then the other columns."""
    header, cells = _read(name)
    schema = tables.schema(name)
    identifiers = IDENTIFIERS.get(name, ())
    kept = [k for k, title in enumerate(header[:-1]) if title not in identifiers and len(np.unique(cells[:, k])) > 1]
    numeric = [k for k in kept if header[k] in schema["numeric"]]
    nominal = [k for k in kept if header[k] not in schema["numeric"]]
    numbers = np.where(cells[:, numeric] == "", "nan", cells[:, numeric]).astype(np.float64)
    coded = [np.unique(cells[:, k], return_inverse=True) for k in nominal]
    codes = np.empty((len(cells), len(nominal)), dtype=np.int8)
    for column, (_, found) in enumerate(coded):
        codes[:, column] = found
    labels = np.unique(cells[:, -1], return_inverse=True)[1].astype(np.int8)
    return RawTable(name, numbers, codes, [len(values) for values, _ in coded], labels)


def cut(name: str) -> CodedTable:
    """Return a dataset discretized on all of its rows; features with a single bin are dropped."""
    table = raw(name)
    X, _ = table.cut()
    return CodedTable(name, np.ascontiguousarray(X[:, X.min(axis=0) < X.max(axis=0)]), table.y)


def _read(name: str) -> tuple[list[str], NDArray[Any]]:
    plain, packed = (tables.folder() / f"{name}.csv{ending}" for ending in ("", ".gz"))
    if not plain.is_file() and not packed.is_file():
        tables.read(name)  # raises an error that names the expected file
    lines = list(csv.reader(io.StringIO(_text(plain if plain.is_file() else packed))))
    return lines[0], np.array(lines[1:])


def _text(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
