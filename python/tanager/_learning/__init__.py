"""The contract between classifiers and learners."""

from __future__ import annotations
