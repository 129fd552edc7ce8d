"""A server of PostgreSQL of its own for tests, from the programs of the system.

It listens on a socket in its folder only. It refuses to run as root, so it gets another user then.
It is stopped by its process number.
"""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.timeouts import TIMEOUT

MEMORY = Path("/dev/shm")
USER = "tagalong"
DATABASE = "tagalong"
_USERS = ("postgres", "nobody")


def postgres_programs() -> Path | None:
    """The folder with the programs of PostgreSQL, the newest version; None if there is none."""
    found = glob.glob("/usr/lib/postgresql/*/bin/postgres")
    found += [path] if (path := shutil.which("postgres")) else []
    newest = sorted(
        found, key=lambda path: [int(part) for part in path.split("/") if part.isdigit()]
    )
    return Path(newest[-1]).parent if newest else None


class PostgresProcess:
    """A server of PostgreSQL in a folder, which can be killed and started again.

    Parameters
    ----------
    programs : path
        The folder with the programs.
    folder : path
        An empty folder, for data and socket.
    """

    def __init__(self, programs: Path, folder: Path):
        self._programs = programs
        self._folder = folder
        self._data = folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._user = _other_user() if os.geteuid() == 0 else None
        if self._user is not None:
            os.chown(folder, *self._user)
        self._run(
            "initdb", "-D", str(self._data), "-U", USER, "-E", "UTF8", "--locale=C", "-A", "trust",
            "--no-sync",
        )  # fmt: skip
        # Few buffers, so that a server is small; everything else as it would be in use.
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(
                "listen_addresses = ''\n"
                f"unix_socket_directories = '{folder}'\n"
                "shared_buffers = 32MB\nmax_connections = 100\nlog_min_messages = fatal\n"
            )

    def url(self, database: str = DATABASE) -> str:
        """The URL of a database."""
        return f"postgresql://{USER}@/{database}?host={self._folder}"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            capture_output=True,
            timeout=TIMEOUT,
            **self._identity(),
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _identity(self) -> dict[str, Any]:
        if self._user is None:
            return {"cwd": self._folder}
        uid, gid = self._user
        return {"user": uid, "group": gid, "extra_groups": [], "cwd": self._folder}

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        import psycopg

        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data],
                stdout=log,
                stderr=log,
                **self._identity(),
            )
        until = time.monotonic() + TIMEOUT
        while True:
            assert self._process.poll() is None, (self._folder / "log").read_text()
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                assert time.monotonic() < until
                time.sleep(0.05)
            else:
                return

    def create(self, database: str = DATABASE) -> str:
        """Make a database, and return its URL."""
        import psycopg

        with closing(psycopg.connect(self.url("postgres"), autocommit=True)) as connection:
            connection.execute(f'CREATE DATABASE "{database}"')
        return self.url(database)

    def kill(self) -> None:
        """Kill the server and all its processes without a warning."""
        assert self._process is not None
        children = _children(self._process.pid)
        for pid in (self._process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(TIMEOUT)
        for pid in children:  # the next server must not find them at work
            _wait_for_end(pid)
        self._process = None

    def stop(self) -> None:
        """Stop the server."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(TIMEOUT)
            self._process = None


def _other_user() -> tuple[int, int]:
    for name in _USERS:
        with suppress(KeyError):
            found = pwd.getpwnam(name)
            return found.pw_uid, found.pw_gid
    raise AssertionError(f"none of the users {_USERS} exists")


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(part) for part in text.split()]


def _wait_for_end(pid: int) -> None:
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return
        time.sleep(0.01)
    raise AssertionError(f"process {pid} does not end")


def new_server() -> Iterator[PostgresProcess]:
    """A running server with the database `DATABASE`; the test is skipped if there is none."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = postgres_programs()
    if programs is None:
        pytest.skip("the programs of PostgreSQL are not installed (Debian: postgresql)")
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="tagalong-pg-", dir=place) as name:
        folder = Path(name)
        folder.chmod(0o755)
        server = PostgresProcess(programs, folder)
        try:
            server.start()
            server.create()
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresProcess]:
    """A server for all tests; do not kill it."""
    yield from new_server()


@pytest.fixture
def own_postgres_server() -> Iterator[PostgresProcess]:
    """A server for one test, which may kill it."""
    yield from new_server()


_numbers = iter(range(1, 1_000_000))


@pytest.fixture
def postgres_url(postgres_server: PostgresProcess) -> str:
    """The URL of a new, empty database."""
    return postgres_server.create(f"test_{next(_numbers)}")
