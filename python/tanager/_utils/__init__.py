"""Helpers without any knowledge of Bayesian networks."""

from __future__ import annotations
