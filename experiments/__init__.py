"""Experiments that reproduce published results, and a comparison with other classifiers."""

from __future__ import annotations
