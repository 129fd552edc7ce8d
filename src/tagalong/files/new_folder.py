"""Folders that appear in one step: complete, or not at all.

The contents go to a folder beside, which is then renamed. It is locked meanwhile. If the process is
killed, the kernel releases the lock, and the next attempt removes what is left.
"""

import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tagalong.files.named_errors import naming_errors
from tagalong.files.replacement import sync_folder

__all__ = ["is_absent_or_empty", "new_folder"]


def is_absent_or_empty(path: Path) -> bool:
    """Whether a folder can be made here: there is nothing, or an empty folder.

    Parameters
    ----------
    path : path
        The folder.
    """
    if path.is_symlink() or not path.exists():
        return not path.is_symlink()
    return path.is_dir() and not any(path.iterdir())


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Let the block fill a folder, which gets its name if the block ends without an error.

    It survives a power failure from then on. Only its owner may read it.

    Parameters
    ----------
    path : path
        The folder: there must be nothing, or an empty folder. OSError otherwise.
    """
    with naming_errors(os.fspath(path)):
        _remove_abandoned(path)
        aside, descriptor = _create(path)
    try:
        yield aside
        with naming_errors(os.fspath(path)):
            for folder, _, names in os.walk(aside):
                for name in names:
                    _sync_file(Path(folder, name))
                sync_folder(Path(folder))
            os.rename(aside, path)
            sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    finally:
        os.close(descriptor)


def _prefix(path: Path) -> str:
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
    return f".tagalong-{digest}-"


def _create(path: Path) -> tuple[Path, int]:
    """Create and lock a folder beside a path; return it and its descriptor."""
    while True:
        aside = path.with_name(f"{_prefix(path)}{secrets.token_hex(8)}.tmp")
        aside.mkdir(mode=0o700)
        descriptor = os.open(aside, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with suppress(OSError):  # a file system without locks, where nothing is swept up
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(aside)):
                return aside, descriptor
        # Another process took it for an abandoned one before it was locked.
        os.close(descriptor)


def _remove_abandoned(path: Path) -> None:
    """Remove folders beside a path that no living process fills."""
    prefix = _prefix(path)
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):  # locked: another process fills it
                    _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path)
    finally:
        os.close(descriptor)


def _sync_file(path: Path) -> None:
    """Store a file safely."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
