"""Why a row is predicted as it is: what every feature contributes, and what would have to be different."""

from __future__ import annotations

from ._changes import EvidenceChange, Flip
from ._explanation import Explanation

__all__ = ["EvidenceChange", "Explanation", "Flip"]
