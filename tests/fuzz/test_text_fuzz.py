"""The fuzz targets of BIF and XMLBIF for a short time, with the same inputs every time."""

from __future__ import annotations

import itertools
from types import ModuleType

import fuzz_bif
import fuzz_xmlbif
import pytest
from python_target import inputs

pytestmark = pytest.mark.slow

#: A few seconds.
RUNS = 2500


@pytest.mark.parametrize("target", [fuzz_bif, fuzz_xmlbif], ids=["bif", "xmlbif"])
def test_any_text_is_read_or_rejected_and_what_is_read_comes_back(target: ModuleType) -> None:
    for data in itertools.islice(inputs(target), RUNS):
        target.check(data)  # pytest shows the data that fails
