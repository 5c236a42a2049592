"""A tiny reader of BIF texts, enough for the networks in tests/data."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass
class BifVariable:
    """A variable with its values, its parents, and P(variable | parents), its own axis last."""

    name: str
    values: list[str]
    parents: list[str]
    table: npt.NDArray[np.float64]


def read_bif(text: str) -> dict[str, BifVariable]:
    """Read all variables of a network, by name and in the order of the text."""
    values = {
        name: re.split(r"\s*,\s*", found.strip())
        for name, found in re.findall(r"variable (\w+) \{\s*type discrete \[ \d+ \] \{([^}]*)\};\s*\}", text)
    }
    network = {}
    for head, body in re.findall(r"probability \(([^)]*)\) \{(.*?)\}", text, re.DOTALL):
        name, *parents = re.split(r"\s*[|,]\s*", head.strip())
        table = np.full([len(values[v]) for v in [*parents, name]], np.nan)
        for labels, numbers in re.findall(r"(?:table|\(([^)]*)\))([^;]*);", body):
            index = tuple(
                values[p].index(label) for p, label in zip(parents, re.split(r"\s*,\s*", labels.strip()), strict=False)
            )
            table[index] = [float(number) for number in numbers.split(",")]
        assert not np.isnan(table).any(), name
        # Numbers such as 0.33 do not sum to one as they stand.
        network[name] = BifVariable(name, values[name], parents, table / table.sum(axis=-1, keepdims=True))
    assert network.keys() == values.keys()
    return {name: network[name] for name in values}
