"""Temporary files for items that do not fit into memory."""

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

__all__ = ["temporary_file"]


def temporary_file() -> IO[bytes]:
    """Open a binary file without a name, for writing and reading; it is gone when it is closed.

    Its errors name the folder of temporary files, since that may be on another disk than all files
    that the user has named.
    """
    with _naming_folder(), tempfile.TemporaryFile(buffering=0) as file:
        raw = _TemporaryFile(os.dup(file.fileno()), "r+b")
    return cast(IO[bytes], io.BufferedRandom(raw))


@contextmanager
def _naming_folder() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror or error}: items are stored in temporary files in "
            f"{tempfile.gettempdir()}; set TMPDIR to a folder with more space",
        ) from error


class _TemporaryFile(io.FileIO):
    def readinto(self, buffer: Any) -> int | None:
        with _naming_folder():
            return super().readinto(buffer)

    def write(self, data: Any) -> int:
        with _naming_folder():
            return super().write(data)
