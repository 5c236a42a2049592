"""What was learned: structure and tables, to read and to judge."""

from __future__ import annotations

from ._comparison import NetworkComparison
from ._network import ConditionalTable, Network
from ._queries import Distribution
from ._summary import NetworkSummary

__all__ = ["ConditionalTable", "Distribution", "Network", "NetworkComparison", "NetworkSummary"]
