"""Experiments of the papers whose methods tanager has; none is part of the tests."""

from __future__ import annotations
