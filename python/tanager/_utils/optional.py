"""Imports of libraries that tanager can do without."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: What to install for libraries that an extra of tanager brings.
_EXTRAS = {"matplotlib": "'tanager[plot]'", "onnx": "'tanager[onnx]'", "pyarrow": "'tanager[io]'"}


def import_optional(module: str, what: str) -> Any:
    """Return a module of an optional library, or raise an ImportError with the command that installs it.

    Parameters
    ----------
    module : str
        Such as "pandas" or "pgmpy.models".
    what : str
        What needs the library, such as "to_frame"; the message begins with it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        needed = _EXTRAS.get(package, package)
        raise ImportError(f"{what} needs {package}; install it with: pip install {needed}") from error
