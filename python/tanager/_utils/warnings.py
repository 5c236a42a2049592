"""Warnings that point at the line of the user who can do something about them."""

from __future__ import annotations

import sys
import warnings

#: Packages that call tanager on behalf of the user, and that start its threads.
_BETWEEN = {"tanager", "sklearn", "joblib", "concurrent", "threading"}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the innermost line outside tanager.

    Frames of scikit-learn and joblib are skipped as well, so a warning from ``clf.score`` or ``cross_val_score`` points at
    the line that called them. A worker thread has no line of the user: there the warning points at what called tanager.
    """
    warnings.warn(message, category, stacklevel=_stack_level())


def _stack_level() -> int:
    frame, level, outside = sys._getframe(1), 1, 0
    while frame.f_back is not None:
        frame, level = frame.f_back, level + 1
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package not in _BETWEEN:
            return level
        if package != "tanager" and not outside:
            outside = level
    return outside or level
