"""Servers that start at once, for many kills: forked from a process that has imported everything.

What can be lost in a crash belongs to the fork alone: sockets, locks, files and the journal are
opened by the command, after the fork. The imports, which take most of a start, are shared.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import IO

from tests.services.lines import Lines
from tests.services.patient_tagalong import patient_main
from tests.timeouts import TIMEOUT

LATE = "tagalong.journal.postgres", "httptools", "python_multipart"
"""Modules that a server imports when it needs them."""


class Forker:
    """A process that forks servers, one after the other."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # as the command starts
            )
        assert self._process.stdout is not None
        self._lines = Lines(self._process.stdout, "the process that forks servers")

    def start(self, args: Sequence[str], messages: IO[str]) -> "ForkedServer":
        """Fork a process that runs a command.

        Parameters
        ----------
        args : sequence of str
            The arguments of ``tagalong``.
        messages : file
            Standard error.
        """
        read, write = os.pipe()
        try:
            data = json.dumps(args).encode()
            socket.send_fds(self._socket, [data], [write, messages.fileno()])
        finally:
            os.close(write)
        return ForkedServer(json.loads(self._lines.next()), open(read, "rb", 0), self._lines)

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        self._process.communicate(timeout=TIMEOUT)


class ForkedServer:
    """A server, with the methods of `subprocess.Popen` that `ServerProcess` uses.

    Parameters
    ----------
    pid : int
        The process.
    stdout : file
        Its output.
    lines : Lines
        Where its parent writes the exit code.
    """

    def __init__(self, pid: int, stdout: IO[bytes], lines: Lines):
        self.pid = pid
        self.stdout = stdout
        self.returncode: int | None = None
        self._lines = lines

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def poll(self) -> int | None:
        if self.returncode is None and self._lines.is_ready():
            self.wait()
        return self.returncode

    def wait(self, timeout: float = TIMEOUT) -> int:
        if self.returncode is None:
            self.returncode = json.loads(self._lines.next())
        return self.returncode

    def communicate(self) -> None:
        self.wait()
        self.stdout.close()


def _run(requests: socket.socket) -> None:
    """Fork a process per request, and tell its number and, at its end, its exit code."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, 1 << 16, 2)
        if not data:
            return
        pid = os.fork()
        if pid == 0:
            requests.close()
            for number, descriptor in enumerate(descriptors, 1):
                os.dup2(descriptor, number)
                os.close(descriptor)
            os._exit(patient_main(json.loads(data)))
        for descriptor in descriptors:
            os.close(descriptor)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    for name in LATE:
        import_module(name)
    with socket.socket(fileno=int(sys.argv[1])) as given:
        _run(given)
