"""Searches take the same steps as when they were recorded, by `tests/data/make_search_traces.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from search_problems import N_PROBLEMS, record

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "search_traces.json").read_text(encoding="utf-8"))


def test_every_problem_was_recorded():
    assert len(RECORDED) == N_PROBLEMS
    assert sum(len(trace["steps"]) > 1 for trace in RECORDED) > 100


@pytest.mark.parametrize("number", range(N_PROBLEMS))
def test_same_steps(number):
    assert record(number) == RECORDED[number]
