"""The file behind a path that may be a symbolic link."""

import errno
import os
from pathlib import Path

__all__ = ["link_target"]


def link_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path names, after all symbolic links.

    The file need not exist: a dangling link names the file that it would create.

    Parameters
    ----------
    path : str or path
        The path. OSError if its links form a loop.
    """
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        problem = "its symbolic links lead in a circle"
        raise OSError(errno.ELOOP, problem, os.fspath(path))
    return found
