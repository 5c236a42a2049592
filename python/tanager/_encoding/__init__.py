"""Any table as small integer codes."""

from __future__ import annotations
