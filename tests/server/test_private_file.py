"""Tests of files with secrets that are looked at for every request."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tagalong.server.access import private_file
from tagalong.server.access.private_file import PrivateFile


def written(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read, one entry per time."""
    found: list[Path] = []
    read = private_file.read_private

    def counted(path: Path, on_problem: Callable[[str], None]) -> bytes | None:
        found.append(path)
        return read(path, on_problem)

    monkeypatch.setattr(private_file, "read_private", counted)
    return found


def test_a_file_that_stays_the_same_is_read_once(tmp_path: Path, reads: list[Path]) -> None:
    path = tmp_path / "token"
    written(path, "one")
    file = PrivateFile(path, print, clock=lambda: time.time() + 60)
    assert [file.read() for _ in range(3)] == [b"one"] * 3
    assert reads == [path]


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    written(path, "one")
    file = PrivateFile(path, print, clock=lambda: time.time() + 60)
    assert file.read() == b"one"
    written(path, "other")
    assert file.read() == b"other"
    path.unlink()
    assert file.read() is None
    written(path, "third")
    assert file.read() == b"third"


def test_a_change_that_the_times_do_not_show_counts_too(tmp_path: Path) -> None:
    path = tmp_path / "token"
    written(path, "one")
    status = path.stat()
    file = PrivateFile(path, print)  # by this clock, the file was changed a moment ago
    assert file.read() == b"one"
    with path.open("r+b") as other:
        other.write(b"two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.read() == b"two"
