"""What the user should know, without anything being wrong."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

__all__ = ["EstimateWarning", "FallbackWarning", "UnseenWarning"]


class EstimateWarning(UserWarning):
    """Some predictions are averages over a sample, and say so."""


class FallbackWarning(UserWarning):
    """A slow method computes what the fast one cannot vouch for."""


class UnseenWarning(UserWarning):
    """A column to predict from holds no value that the model knows, so it is treated as missing."""


def warn_of_unseen(columns: Sequence[str], stacklevel: int) -> None:
    """Warn once of columns that hold no known value; each comes with a sentence."""
    more = f"; and so on, {len(columns)} columns in all" if len(columns) > _MOST_SHOWN else ""
    warnings.warn("; ".join(columns[:_MOST_SHOWN]) + more, UnseenWarning, stacklevel=stacklevel)


_MOST_SHOWN = 3
