"""The short form of the API fuzzer: always the same runs. A failure is shown as it was found; api.py makes it small."""

from __future__ import annotations

import hypothesis
import pytest
from api_machine import Api

pytestmark = pytest.mark.slow

Api.TestCase.settings = hypothesis.settings(
    max_examples=120,
    stateful_step_count=8,
    phases=[hypothesis.Phase.generate],
    report_multiple_bugs=False,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
TestApi = Api.TestCase
