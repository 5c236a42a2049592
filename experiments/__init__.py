"""Experiments of the papers whose methods tanager has, and a comparison with other classifiers."""

from __future__ import annotations
