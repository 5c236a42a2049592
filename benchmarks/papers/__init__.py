"""Experiments of the papers whose methods tanager has, one command each; none is part of the tests."""

from __future__ import annotations
