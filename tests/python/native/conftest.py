from __future__ import annotations

from native_program import model, program, run  # noqa: F401  # fixtures
