"""Tables as the command line reads and writes them."""

from __future__ import annotations
