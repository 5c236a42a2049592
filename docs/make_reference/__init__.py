"""The reference pages in ``docs/api``, written from the docstrings of the public names: ``python -m docs.make_reference``."""

from __future__ import annotations
