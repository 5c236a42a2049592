"""Temporary files that hold standard input for readers that need several passes."""

from __future__ import annotations

import os
import secrets
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..._utils.files import unfinished


class TemporaryFile:
    """A new file that is removed with this object, or on a signal that ends the program.

    Attributes
    ----------
    name : str
    file : file object
        Open for writing; flush it before reading it.
    """

    def __init__(self) -> None:
        self.name = os.fspath(_folder() / f"tanager-{secrets.token_hex(8)}")
        unfinished.add(self.name)  # before it exists: a signal may arrive at any time
        self.file = open(self.name, "xb", opener=lambda path, flags: os.open(path, flags, 0o600))  # noqa: SIM115
        weakref.finalize(self, _remove, self.file, self.name)


def _folder() -> Path:
    """Return the folder for temporary files; unlike `tempfile`, without a test file that a signal may leave behind."""
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    places = [Path(place) for place in (*named, "/tmp", "/var/tmp") if place]
    return next((place for place in places if place.is_dir() and os.access(place, os.W_OK)), Path.cwd())


def _remove(file: Any, name: str) -> None:
    with suppress(OSError):  # the disk may be full
        file.close()
    with suppress(OSError):
        os.unlink(name)  # noqa: PTH108
    unfinished.discard(name)
