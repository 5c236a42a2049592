"""Published datasets as integer codes, read from `shared/data` next to the clone; they are not part of the repository.

`TANAGER_SHARED` names another folder with a folder `data`, `TANAGER_DATA` the folder of the datasets themselves.
"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.machine import ROOT


@dataclass(frozen=True)
class CodedTable:
    """C-ordered int8 codes of the features and the class, as in `workloads.sample`."""

    name: str
    X: NDArray[np.int8]
    y: NDArray[np.int8]

    def __str__(self) -> str:
        rows, features = self.X.shape
        values = self.X.max(axis=0) + 1
        span = f"{values.min()}" if values.min() == values.max() else f"{values.min()} to {values.max()}"
        return f"{self.name}, {rows:,} x {features} x {span} values, {self.y.max() + 1} classes"

    def thinned(self, rows: int) -> CodedTable:
        """Return evenly spaced rows, because a dataset may be sorted."""
        chosen = np.linspace(0, len(self.y) - 1, min(rows, len(self.y))).astype(np.intp)
        return CodedTable(self.name, np.ascontiguousarray(self.X[chosen]), self.y[chosen])


def folder() -> Path:
    """Return the folder of the datasets."""
    if own := os.environ.get("TANAGER_DATA"):
        return Path(own)
    return Path(os.environ.get("TANAGER_SHARED") or ROOT.parent / "shared") / "data"


def chess() -> CodedTable:
    """King and rook against king and pawn: 36 features of two or three values, two classes."""
    cells = read("chess")
    return CodedTable("chess", _coded(cells[:, :-1]), _coded(cells[:, -1:])[:, 0])


def letter() -> CodedTable:
    """Letter recognition: features in five bins of equal frequency, 26 classes."""
    from tanager import EqualFrequencyDiscretizer

    cells = read("letter")
    numbers = cells[:, :-1].astype(np.float64)
    intervals = EqualFrequencyDiscretizer(5).fit(numbers).transform(numbers)
    return CodedTable("letter in five bins", _coded(np.asarray(intervals)), _coded(cells[:, -1:])[:, 0])


def read(name: str) -> NDArray[Any]:
    """Return all values of a dataset as text, the class last."""
    path = folder() / f"{name}.csv"
    if not path.is_file():
        raise FileNotFoundError(
            f"expected the dataset {path}; set TANAGER_SHARED to a folder with data/{name}.csv, or TANAGER_DATA to one with {name}.csv"
        )
    with path.open(encoding="utf-8", newline="") as file:
        return np.array(list(csv.reader(file))[1:])


def schema(name: str) -> dict[str, Any]:
    """Return the numeric columns of a dataset, the values of the others and of the class, and the standard split."""
    path = folder() / "schema.json"
    if not path.is_file():
        raise FileNotFoundError(
            f"expected datasets and their schema.json in {folder()}; set TANAGER_SHARED to a folder with data/schema.json, "
            "or TANAGER_DATA to one with schema.json"
        )
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileNotFoundError(f"expected JSON in {path}: {error}") from error
    if name not in known:
        raise FileNotFoundError(f"expected the dataset {name} in {path}, got {', '.join(known)}")
    if "numeric" not in known[name]:
        raise FileNotFoundError(
            f"expected the numeric columns of {name} in {path}, got only {', '.join(known[name]) or 'an empty entry'}"
        )
    return dict(known[name])


def _coded(cells: NDArray[Any]) -> NDArray[np.int8]:
    codes = [np.unique(column, return_inverse=True)[1] for column in cells.T]
    return np.ascontiguousarray(np.array(codes, dtype=np.int8).T)
