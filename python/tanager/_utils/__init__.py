"""Helpers that know nothing about Bayesian networks."""

from __future__ import annotations
