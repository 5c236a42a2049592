"""Speed of tanager beside its peers. Run ``python -m benchmarks.speed``."""

from __future__ import annotations
