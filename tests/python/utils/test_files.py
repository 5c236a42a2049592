"""Output files are written atomically and replace nothing else."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from interrupts import interrupt_at

import tanager as tg
from tanager._utils.files import atomic_write

WRITERS = {
    "report": lambda clf, path: clf.report(path),
    "BIF": lambda clf, path: clf.network_.to_bif(path),
    "XMLBIF": lambda clf, path: clf.network_.to_xmlbif(path),
    "DOT": lambda clf, path: clf.network_.to_dot(path),
}


@pytest.fixture(params=WRITERS)
def write(request):
    X = np.random.default_rng(0).integers(0, 2, (40, 3))
    clf = tg.TANClassifier().fit(X, X[:, 0])
    return lambda path: WRITERS[request.param](clf, path)


@pytest.mark.skipif(os.name != "posix", reason="links and modes are those of POSIX systems")
def test_links_stay_links_and_modes_stay(write, tmp_path):
    there, link = tmp_path / "there", tmp_path / "link"
    there.write_text("old")
    there.chmod(0o640)
    link.symlink_to(there)
    write(link)
    assert link.is_symlink()
    assert len(there.read_bytes()) > 100
    assert stat.S_IMODE(there.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


@pytest.fixture(params=[*WRITERS, "model"])
def write_any(request):
    """As `write`, for model files as well, which the core writes."""
    X = np.random.default_rng(0).integers(0, 2, (40, 3))
    clf = tg.TANClassifier().fit(X, X[:, 0])
    return clf.save if request.param == "model" else lambda path: WRITERS[request.param](clf, path)


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX systems")
def test_links_to_nothing_stay_links(write_any, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "link").symlink_to("folder/second")
    (folder / "second").symlink_to("../there")
    write_any(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (folder / "second").is_symlink()
    assert len((tmp_path / "there").read_bytes()) > 100
    assert not (tmp_path / "there").is_symlink()
    assert len(list(tmp_path.iterdir())) == 3
    assert len(list(folder.iterdir())) == 1
    lost = tmp_path / "lost"
    lost.symlink_to("absent/there")
    with pytest.raises(
        (OSError, ValueError), match=r"lost.*(No such file|folder .* does not exist)|No such file.*lost"
    ):
        write_any(lost)
    assert lost.is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX systems")
def test_cyclic_links_are_reported_and_stay(write_any, tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises((OSError, ValueError), match="Too many levels of symbolic links"):
        write_any(tmp_path / "one")
    assert (tmp_path / "one").readlink().name == "two"
    assert len(list(tmp_path.iterdir())) == 2


def owner_and_mode(path):
    status = path.stat()
    return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX systems")
def test_owners_and_modes_stay(write_any, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    owner = (1234, 2345) if os.geteuid() == 0 else (os.getuid(), os.getgid())  # only root can give files away
    os.chown(path, *owner)
    path.chmod(0o4755)
    write_any(path)
    assert len(path.read_bytes()) > 100
    assert owner_and_mode(path) == (*owner, 0o4755)


@pytest.fixture
def open_folder():
    """A folder that all users reach; pytest's own are below one that is root's alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can make files of others")
def test_rights_of_the_owner_do_not_go_to_another_one(write_any, open_folder):
    path = open_folder / "file"
    path.write_text("old")
    os.chown(path, 1234, 2345)
    path.chmod(0o6766)
    umask = os.umask(0)
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(4321)
    os.seteuid(4321)
    try:
        write_any(path)
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
        os.umask(umask)
    assert len(path.read_bytes()) > 100
    assert owner_and_mode(path) == (4321, 4321, 0o766)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names only on POSIX systems")
def test_pipes_are_written_to(write, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(10)
    assert len(read[0]) > 100


def test_names_may_be_as_long_as_the_system_takes(write, tmp_path):
    write(tmp_path / ("é" * 120 + "x" * 12))
    assert len(list(tmp_path.iterdir())) == 1


def test_errors_name_what_was_asked_for(write, tmp_path):
    with pytest.raises(IsADirectoryError, match=re.escape(repr(str(tmp_path)))):
        write(tmp_path)
    absent = tmp_path / "absent" / "file"
    with pytest.raises(FileNotFoundError, match=re.escape(repr(str(absent)))):
        write(absent)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_full_disks_are_reported(write, tmp_path):
    link = tmp_path / "full"  # should it be replaced one day, the device is not
    link.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write(link)
    assert list(tmp_path.iterdir()) == [link]


def interrupted(path):
    with atomic_write(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt


def test_interruptions_leave_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        interrupted(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("old", [None, b"old"])
def test_interruptions_at_any_point_leave_no_other_file(tmp_path, old):
    path = tmp_path / "file"

    def write():
        with atomic_write(path) as file:
            file.write(b"new")

    def tried(first, second):
        if old is not None:
            path.write_bytes(old)
        raised = interrupt_at(first, second, write)
        assert [there for there in tmp_path.iterdir() if there != path] == [], (first, second)
        if path.exists():
            assert path.read_bytes() in (old, b"new")
            path.unlink()
        return raised

    first = 0
    while tried(first := first + 1, None):
        second = 0
        while tried(first, second := second + 1) == 2:
            pass
    assert first > 50
