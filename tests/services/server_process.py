"""`tagalong serve` as a process of its own: started, killed, stopped and started again."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.services.forked_server import ForkedServer, Forker
from tests.services.lines import Lines
from tests.timeouts import TIMEOUT

TAGALONG = (sys.executable, "-m", "tagalong")
PATIENT = (sys.executable, "-m", "tests.services.patient_tagalong")
_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")


class ServerProcess:
    """The server of a folder. Every start gets the same address, so that clients can go on.

    Parameters
    ----------
    folder : path
        The folder.
    options : str
        Further options of the command.
    forker : Forker, optional
        Starts the process; by default it is a command of its own.

    Attributes
    ----------
    seconds_to_start : float
        How long the last start took.
    """

    def __init__(self, folder: Path, *options: str, forker: Forker | None = None):
        self.folder = folder
        self.url = ""
        self.token = ""
        self.starts = 0
        self.seconds_to_start = 0.0
        self._begun = 0.0
        self._options = options
        self._forker = forker
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | ForkedServer | None = None
        self._messages: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 - see `close`

    def begin(self) -> None:
        """Start the process, and do not wait until it is ready."""
        assert self._process is None
        self.starts += 1
        self._begun = time.monotonic()
        arguments = ["serve", str(self.folder), *self._arguments()]
        if self._forker is not None:
            self._process = self._forker.start(arguments, self._messages)
            return
        self._process = subprocess.Popen(
            [*PATIENT, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._messages,
        )

    def _arguments(self) -> Sequence[str]:
        given = ["--port", str(self._port), "--json", "--no-browser", "--access-log", "none"]
        return [*given, *self._options]

    def wait_until_ready(self) -> None:
        """Wait for the first line, which has the address and the token."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = Lines(self._process.stdout, "the server").next()
        assert line, f"the server has ended: {self.messages}"
        found = json.loads(line)
        self.url, self.token = found["url"], found["token"]
        self.seconds_to_start = time.monotonic() - self._begun

    def start(self) -> None:
        self.begin()
        self.wait_until_ready()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def messages(self) -> str:
        """Everything on standard error so far, of all starts."""
        self._messages.flush()
        with open(f"/proc/self/fd/{self._messages.fileno()}", encoding="utf-8") as file:
            return file.read()

    def kill(self) -> None:
        """End the process as a crash would: kill -9."""
        assert self._process is not None
        assert self._process.poll() is None, f"the server has ended by itself: {self.messages}"
        self._process.kill()
        self._ended()

    def signal(self, number: int = signal.SIGTERM) -> None:
        os.kill(self.pid, number)

    def stop(self) -> int:
        """Stop the process with SIGTERM, and return its exit code."""
        self.signal()
        return self.wait()

    def wait(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        assert self._process is not None
        self._process.wait(TIMEOUT)
        return self._ended()

    def _ended(self) -> int:
        process, self._process = self._process, None
        assert process is not None
        process.communicate()
        assert process.returncode is not None
        return process.returncode

    def close(self) -> None:
        """End the process if it still runs."""
        if self._process is not None:
            self._process.kill()
            self._ended()
        self._messages.close()


@contextmanager
def serving(folder: Path, *options: str, forker: Forker | None = None) -> Iterator[ServerProcess]:
    """Serve a folder during the block."""
    server = ServerProcess(folder, *options, forker=forker)
    try:
        server.start()
        yield server
    except BaseException:
        print(server.messages)  # pytest shows it with the failure
        raise
    finally:
        server.close()


def run(*args: object) -> str:
    """Run a command of Tagalong that has to succeed, and return its output."""
    found = subprocess.run(
        [*TAGALONG, *map(str, args)], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert found.returncode == 0, f"{found.stdout}\n{found.stderr}"
    return found.stdout


def _free_port() -> int:
    """Return a free port outside of the range that the system takes ports of clients from.

    A port in that range could be given to a client while the server is away: even to one that
    looks for this server, and which would then be connected with itself.
    """
    try:
        first = int(_PORTS.read_text().split()[0])
    except OSError:
        first = 32768
    while True:
        port = random.SystemRandom().randrange(10_000, max(first, 10_001))
        with socket.socket() as candidate:
            try:
                candidate.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
