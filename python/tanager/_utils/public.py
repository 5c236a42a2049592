"""The public path of what users import."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any


def set_public_path(path: str, namespace: Mapping[str, Any]) -> None:
    """Set ``__module__`` of all classes and functions in ``__all__`` to the module that users import them from.

    Messages and documentation then show that path, and pickles survive moves between private modules.
    """
    for name in namespace["__all__"]:
        if isinstance(namespace[name], (type, FunctionType)):
            namespace[name].__module__ = path
