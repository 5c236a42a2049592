"""Fitted Bayesian networks: structure, conditional probability tables and exact queries."""

from __future__ import annotations

from .._utils.public import set_public_path
from ._comparison import NetworkComparison
from ._network import Network
from ._summary import NetworkSummary
from ._tables import ConditionalTable, Distribution

__all__ = ["ConditionalTable", "Distribution", "Network", "NetworkComparison", "NetworkSummary"]

set_public_path(__name__, globals())
