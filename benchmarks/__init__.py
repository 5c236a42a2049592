"""Speed of tanager beside other libraries. Run ``python -m benchmarks list``."""

from __future__ import annotations
