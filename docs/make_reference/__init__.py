"""Generate the API reference in ``docs/api`` from docstrings: ``python -m docs.make_reference``."""

from __future__ import annotations
