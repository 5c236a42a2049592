"""Fitting and predicting in batches; used by ``fit_stream``, ``predict_stream`` and Dask."""

from __future__ import annotations
