"""What the user should know, without anything being wrong."""

from __future__ import annotations

__all__ = ["EstimateWarning", "FallbackWarning"]


class EstimateWarning(UserWarning):
    """Some predictions are averages over a sample, and say so."""


class FallbackWarning(UserWarning):
    """A slow method computes what the fast one cannot vouch for."""
