"""Moves of files that never overwrite another file, not even one that appears meanwhile."""

import ctypes
import errno
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

__all__ = ["move_without_overwriting"]

_RENAME_NOREPLACE = 1
# Errors of systems and file systems, such as NFS, that cannot rename without overwriting.
_NO_RENAME = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EMLINK)


def move_without_overwriting(source: Path, target: Path) -> None:
    """Move a file; raise FileExistsError if there is a file at the target.

    Linux does that in one step. If the file system cannot, the file gets its new name first, and
    then loses its old one: if the process is killed in between, the file has both names.

    Parameters
    ----------
    source, target : path
        Path of the file, and its new path. Their folders must not be symbolic links.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    old_folder = os.open(source.parent, flags)
    try:
        new_folder = os.open(target.parent, flags)
        try:
            _move(source.name, old_folder, target.name, new_folder)
        finally:
            os.close(new_folder)
    finally:
        os.close(old_folder)


def _move(old: str, old_folder: int, new: str, new_folder: int) -> None:
    try:
        _rename(old, old_folder, new, new_folder)
    except OSError as error:
        if error.errno not in _NO_RENAME:
            raise
        _link_and_unlink(old, old_folder, new, new_folder)


def _rename(old: str, old_folder: int, new: str, new_folder: int) -> None:
    names = os.fsencode(old), os.fsencode(new)
    if _renameat2()(old_folder, names[0], new_folder, names[1], _RENAME_NOREPLACE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int]:
    """Return the function of the C library."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    function.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    found: Callable[[int, bytes, int, bytes, int], int] = function
    return found


def _link_and_unlink(old: str, old_folder: int, new: str, new_folder: int) -> None:
    try:
        os.link(old, new, src_dir_fd=old_folder, dst_dir_fd=new_folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        problem = "this file system can neither rename a file without overwriting nor link it"
        raise OSError(error.errno, problem) from error
    try:
        os.unlink(old, dir_fd=old_folder)
    except OSError:
        # Another program has renamed the file, or its folder is read-only: it stays where it is.
        # If this is its only name, it was moved after all, or the owner has deleted the other one.
        if os.stat(new, dir_fd=new_folder, follow_symlinks=False).st_nlink > 1:
            os.unlink(new, dir_fd=new_folder)
            raise
