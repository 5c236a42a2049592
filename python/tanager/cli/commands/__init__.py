"""One module per command, each with ``add_options(parser)`` and ``run(options)``."""

from __future__ import annotations
