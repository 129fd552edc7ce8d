"""The faults of system calls, and the library that injects them into a process."""

import ctypes
import errno
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

PRELOAD = "LD_PRELOAD"
SOURCE = Path(__file__).with_name("inject.c")

NEEDS_SPACE = frozenset({"create", "write", "fsync", "truncate", "rename", "link", "mkdir"})
CHANGES = NEEDS_SPACE | {"unlink", "chmod", "utime"}
READS = frozenset({"open", "read", "close", "flock", "lock"})
# Linux interrupts no call that changes a folder, and none that closes a local file.
INTERRUPTIBLE = frozenset({"open", "create", "read", "write", "fsync", "truncate", "flock"})


class Call(NamedTuple):
    """A system call on a file below the folder of a run."""

    number: int
    kind: str
    path: str


@dataclass(frozen=True)
class Fault:
    """A way for a system call to go wrong.

    Parameters
    ----------
    name : str
        Words for messages.
    code : int
        The value of ``enum fault`` in inject.c.
    kinds : frozenset of str
        The kinds of calls that it can happen to.
    error : int
        The errno, if the call fails.
    """

    name: str
    code: int
    kinds: frozenset[str]
    error: int = 0

    @property
    def is_invisible(self) -> bool:
        """Whether the caller must go on as if nothing had happened."""
        return self.error == errno.EINTR or self.code == 3

    @property
    def kills(self) -> bool:
        """Whether the process ends."""
        return self.code >= 4


FAULTS = (
    Fault("fails with EIO", 1, CHANGES | READS, errno.EIO),
    Fault("is interrupted", 1, INTERRUPTIBLE, errno.EINTR),
    Fault("finds the disk full from then on", 2, NEEDS_SPACE, errno.ENOSPC),
    Fault("handles half of the bytes", 3, frozenset({"read", "write"})),
    Fault("is not reached: killed before it", 4, CHANGES),
    Fault("is the last one: killed after it", 5, CHANGES),
    Fault("writes half of the bytes, then the process is killed", 6, frozenset({"write"})),
)


def compile_library(folder: Path) -> Path:
    """Compile the library that is to be preloaded, and return its path."""
    library = folder / "inject.so"
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", library, SOURCE], check=True)
    return library


def is_preloaded() -> bool:
    return hasattr(ctypes.CDLL(None), "faults_arm")


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.faults_arm.argtypes = [
        ctypes.c_char_p,
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
    ]
    return library


def inject(folder: Path, at: int, fault: Fault) -> None:
    """Let a call of this process suffer a fault; calls are counted from 1 from now on."""
    _library().faults_arm(os.fsencode(folder), at, fault.code, fault.error, -1)


def record(folder: Path, log: Path) -> None:
    """Write the calls of this process on files in a folder to a log, which is elsewhere."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    _library().faults_arm(os.fsencode(folder), 0, 0, 0, handle)


def recorded(log: Path) -> list[Call]:
    """Return the calls in a log."""
    lines = log.read_text(errors="surrogateescape").splitlines()
    return [Call(number, *line.split(" ", 1)) for number, line in enumerate(lines, 1)]


def fill_disk(folder: Path) -> None:
    """Let every call of this process that needs space in a folder fail from now on."""
    full = next(fault for fault in FAULTS if fault.error == errno.ENOSPC)
    _library().faults_arm(os.fsencode(folder), 0, full.code, full.error, -1)


def free_disk() -> None:
    """Let no more calls fail."""
    _library().faults_arm(b"", 0, 0, 0, -1)
