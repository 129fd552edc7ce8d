"""Modules that a forked process imports are imported before the next fork, so only once."""

import importlib
import os
import sys
import tempfile
from contextlib import suppress

__all__ = ["ForkedImports"]


class ForkedImports:
    """Lets a process that forks have the modules that its forks have needed."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115

    def report(self) -> None:
        """Name the modules of this fork to the process that it comes from."""
        os.pwrite(self._file.fileno(), "\n".join(sys.modules).encode(), 0)

    def share(self) -> None:
        """Import what a fork that has ended has reported, if it has come to that."""
        handle = self._file.fileno()
        names = os.pread(handle, os.fstat(handle).st_size, 0).decode().split("\n")
        os.ftruncate(handle, 0)
        for name in names:
            if name and name not in sys.modules:
                with suppress(ImportError):
                    importlib.import_module(name)
