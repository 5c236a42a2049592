"""What was learned: structure and tables, to read and to judge."""

from __future__ import annotations

from ._comparison import NetworkComparison
from ._network import Network
from ._summary import NetworkSummary
from ._tables import ConditionalTable, Distribution

__all__ = ["ConditionalTable", "Distribution", "Network", "NetworkComparison", "NetworkSummary"]
