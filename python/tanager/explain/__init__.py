"""Why a row is predicted as it is: what every feature contributes, and what would have to be different."""

from __future__ import annotations

from .._utils.public import set_public_path
from ._changes import EvidenceChange, Flip
from ._explanation import Explanation

__all__ = ["EvidenceChange", "Explanation", "Flip"]

set_public_path(__name__, globals())
