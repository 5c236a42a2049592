"""Standard input kept in a file, for those who read it more than once."""

from __future__ import annotations

import os
import secrets
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..._utils.files import unfinished


class KeptFile:
    """A new file that is removed with this object, or with the program if a signal ends that.

    Attributes
    ----------
    name : str
    file : file object
        To write to; it is not to be read before it is flushed.
    """

    def __init__(self) -> None:
        self.name = os.fspath(_folder() / f"tanager-{secrets.token_hex(8)}")
        unfinished.add(self.name)  # before it is there: a signal may come at once
        self.file = open(self.name, "xb", opener=lambda path, flags: os.open(path, flags, 0o600))  # noqa: SIM115
        weakref.finalize(self, _remove, self.file, self.name)


def _folder() -> Path:
    """Return the folder for temporary files; `tempfile` tries it out with a file of its own, which a signal may leave there."""
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    places = [Path(place) for place in (*named, "/tmp", "/var/tmp") if place]
    return next((place for place in places if place.is_dir() and os.access(place, os.W_OK)), Path.cwd())


def _remove(file: Any, name: str) -> None:
    with suppress(OSError):  # a disk that was full still is
        file.close()
    with suppress(OSError):
        os.unlink(name)  # noqa: PTH108
    unfinished.discard(name)
