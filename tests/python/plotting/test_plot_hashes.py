"""Plots look as they did when they were last inspected."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

mpl = pytest.importorskip("matplotlib")

from picture_hashes import HASHES, PICTURES, distance, from_text, shades

#: In shades of 15. Between matplotlib 3.8 and 3.11 it is at most 0.43, between any two plots at least 0.9.
TOLERANCE, APART = 0.55, 0.9
KNOWN = {name: from_text(lines) for name, lines in json.loads(HASHES.read_text(encoding="utf-8")).items()}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # old versions of matplotlib, of a new parser
@pytest.mark.parametrize("name", PICTURES)
def test_plots_look_as_before(name):
    with mpl.rc_context({"backend": "Agg"}):
        import matplotlib.pyplot as plt

        ax = PICTURES[name]()
        found = shades(ax)
        plt.close(ax.figure)
    assert distance(found, KNOWN[name]) < TOLERANCE


def test_hashes_distinguish_plots():
    assert set(KNOWN) == set(PICTURES)
    nearest = min(combinations(KNOWN, 2), key=lambda pair: distance(KNOWN[pair[0]], KNOWN[pair[1]]))
    assert distance(*(KNOWN[name] for name in nearest)) > APART, nearest
