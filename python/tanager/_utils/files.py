"""Atomic writing of files."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: Temporary files to remove if the program is terminated.
unfinished: set[str] = set()


@contextmanager
def atomic_write(name: str | os.PathLike[str]) -> Iterator[Any]:
    """Yield a binary file to write; a file of this name appears only if everything succeeds.

    The content is written to a temporary file in the same folder, which is renamed at the end. Pipes and devices are written
    directly.
    """
    path = Path(os.path.realpath(name))  # a link is kept, and points to the new file
    if path.is_symlink():  # a circular link
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(name))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(name))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    present = path.stat() if path.exists() else None
    temporary = os.fspath(path.with_name(f".{path.name[:50]}.{secrets.token_hex(6)}.part"))
    unfinished.add(temporary)
    try:
        # Inside the block that removes it: an interrupt can arrive as soon as the file exists.
        with os.fdopen(_create(temporary, name, 0o666 if present is None else 0o600), "wb") as file:
            if present is not None:
                _copy_owner_and_mode(present, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())
        _rename(temporary, path)
    except BaseException:
        # First of all, and in one C call: Python handles further signals only after it.
        try:  # noqa: SIM105  # suppress() would be a call before it
            os.unlink(temporary)  # noqa: PTH108
        except OSError:
            pass  # it was not created, or is renamed already
        raise
    finally:
        unfinished.discard(temporary)
    _sync_folder(path.parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, atomically."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file atomically."""
    with atomic_write(path) as file:
        file.write(data)


def _create(temporary: str, name: str | os.PathLike[str], mode: int) -> int:
    try:
        return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:  # report the name that the user gave
        raise OSError(error.errno, error.strerror, os.fspath(name)) from None


def _copy_owner_and_mode(present: os.stat_result, temporary: str) -> None:
    """Give a new file the owner, group and mode of the one it replaces.

    Only root can change the owner of a file. If that fails, setuid and setgid are dropped, so another owner or group does not get
    them.
    """
    mode, own = stat.S_IMODE(present.st_mode), os.stat(temporary)  # noqa: PTH116
    if os.name == "posix" and (own.st_uid, own.st_gid) != (present.st_uid, present.st_gid):
        try:
            os.chown(temporary, present.st_uid, present.st_gid)
        except OSError:
            mode &= 0o777
            with suppress(OSError):  # only the group, if this process belongs to it
                os.chown(temporary, -1, present.st_gid)
    os.chmod(temporary, mode)  # noqa: PTH101


def _rename(temporary: str, path: Path) -> None:
    try:
        os.replace(temporary, path)  # noqa: PTH105
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # some systems cannot open folders; the file itself is safe
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
