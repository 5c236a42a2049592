"""What R's bnclassify computed, in the folder of reference data."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

COMPLETE = ["car", "voting_complete", "soybean_complete"]
TOLERANCE = 1e-10


def read_golden(shared: Path, name: str) -> SimpleNamespace:
    folder = shared / "goldens"
    golden = json.loads((folder / f"{name}.json").read_text())
    levels = json.loads((folder / golden["levels"]).read_text())["levels"]
    with (folder / golden["csv"]).open(newline="") as file:
        rows = list(csv.DictReader(file))
    target = golden["class"]
    columns = {
        c: pd.Categorical([row[c] or None for row in rows], categories=values)
        for c, values in levels.items()
        if c != target
    }
    return SimpleNamespace(
        golden=golden, X=pd.DataFrame(columns), y=np.array([row[target] for row in rows]), target=target,
        classes=levels[target],
    )  # fmt: skip


@pytest.fixture(scope="module")
def load(shared):
    cache: dict[str, SimpleNamespace] = {}

    def get(name: str) -> SimpleNamespace:
        if name not in cache:
            cache[name] = read_golden(shared, name)
        return cache[name]

    return get


def assert_cpts(clf, golden, target):
    for name, cpt in golden.items():
        ours = clf.network_.cpt(name)
        values = np.array(cpt["values"]).reshape(cpt["dim"], order="F")
        family = cpt["family"] if isinstance(cpt["family"], list) else [cpt["family"]]
        values = np.moveaxis(values, range(len(family)), [ours.names.index(v) for v in family])
        if target in ours.names:  # our classes are sorted, R's are in the order of the levels
            axis = ours.names.index(target)
            values = np.take(values, [clf._golden_classes.index(c) for c in ours.labels[axis]], axis=axis)
        np.testing.assert_allclose(ours.values, values, atol=TOLERANCE, rtol=0)
