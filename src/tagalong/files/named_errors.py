"""Errors of file operations that name the file as the user does."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

__all__ = ["naming_errors", "open_in_place", "open_named"]


@contextmanager
def naming_errors(name: str) -> Iterator[None]:
    """Give errors of the block the name of a file, in place of a temporary name or none.

    Parameters
    ----------
    name : str
        The file, as the user has named it.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, name) from error


def open_named(descriptor: int, name: str) -> BinaryIO:
    """Return a binary file for writing whose errors name a file; "disk full" alone says little.

    Parameters
    ----------
    descriptor : int
        Descriptor to write to. The file closes it.
    name : str
        The file, as the user has named it.
    """
    return cast(BinaryIO, io.BufferedWriter(_NamedFile(descriptor, name)))


def open_in_place(
    path: str | os.PathLike[str], *, private: bool = False, size: int = 0
) -> BinaryIO:
    """Open a file, a device or a pipe for writing, without replacing it. Errors name the file.

    Parameters
    ----------
    path : str or path
        The file. It keeps its mode.
    private : bool
        Whether a new file is readable by its owner only.
    size : int
        Number of bytes of the file to keep. Writing continues after them.
    """
    name = os.fspath(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (0 if size else os.O_TRUNC)
    file = open_named(os.open(name, flags, 0o600 if private else 0o666), name)
    if size:
        file.truncate(size)
        file.seek(size)
    return file


class _NamedFile(io.FileIO):
    def __init__(self, descriptor: int, shown_name: str):
        super().__init__(descriptor, "wb")
        self._shown_name = shown_name

    def write(self, data: Any) -> int:
        with naming_errors(self._shown_name):
            return super().write(data)

    def close(self) -> None:
        with naming_errors(self._shown_name):
            super().close()
