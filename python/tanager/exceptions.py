"""Errors and warnings of the package."""

from __future__ import annotations

import errno
from typing import Any

from ._core import ModelFileError

__all__ = ["EstimateWarning", "FallbackWarning", "ModelFileError", "ModelFileNotFoundError", "UnseenWarning"]

# The extension creates this class, which leaves no place for a docstring.
ModelFileError.__doc__ = """Raised when a model file cannot be read or written.

    Attributes
    ----------
    problem : str
        The kind of problem, for programs: ``"not found"``, ``"no permission"``, ``"not a model"`` (another kind of file, an
        empty file, a folder), ``"too new"`` (a newer version wrote it), ``"damaged"``, ``"no memory"`` or ``"other"`` (such
        as a full disk).
    """


class ModelFileNotFoundError(ModelFileError, FileNotFoundError):
    """Raised when there is no model file with the given name."""

    problem = "not found"

    def __init__(self, message: object, filename: str) -> None:
        super().__init__(str(message))
        self.errno, self.filename = errno.ENOENT, filename

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.filename)


class EstimateWarning(UserWarning):
    """Issued when some predictions are Monte Carlo estimates instead of exact values."""


class FallbackWarning(UserWarning):
    """Issued when a slower high-precision method replaces the fast one."""


class UnseenWarning(UserWarning):
    """Issued when none of a column's values is known to the model, so the column is treated as missing."""


# Users know them from the root of the package.
for _class in (EstimateWarning, FallbackWarning, ModelFileError, UnseenWarning):
    _class.__module__ = "tanager"
