"""Fit and predict in batches; shared by ``fit_stream`` and Dask."""

from __future__ import annotations
