"""``python -m tanager``: the command line, and the paths of the C++ library."""

from __future__ import annotations

import sys
from collections.abc import Callable

from . import __version__, get_cmake_dir, get_include

_ANSWERS: dict[str, Callable[[], str]] = {
    "--cmake-dir": get_cmake_dir,
    "--include": get_include,
    "--version": lambda: __version__,
}

if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] in _ANSWERS:
        try:
            print(_ANSWERS[sys.argv[1]]())  # noqa: T201
        except FileNotFoundError as error:
            sys.exit(f"tanager: {error}")
    else:
        from .cli import main

        sys.exit(main())
