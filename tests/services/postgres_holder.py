"""A process that holds a workspace in PostgreSQL, and does what it is told on standard input.

Each line has a request: the name of a method of `Workspace`, its arguments and keyword arguments,
as JSON. Each line of the output has the result, or the name of the error.
"""

import argparse
import json
import subprocess
import sys
from typing import Any

from tagalong.journal import Added, JournalError, Workspace
from tagalong.journal.postgres import PostgresStorage
from tests.services.lines import Lines


class Holder:
    """The process, as its parent sees it.

    Parameters
    ----------
    url : str
        The database.
    name : str
        The workspace.
    seconds : float
        How long it may say nothing.
    """

    def __init__(self, url: str, name: str, seconds: float):
        command = [sys.executable, "-m", __name__, url, name, str(seconds)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self._lines = Lines(self.process.stdout, "the holder")
        assert self._line() == "ready"

    def _line(self) -> Any:
        text = self._lines.next()
        assert text, "the process has ended"
        return json.loads(text)

    def send(self, method: str, *values: Any, **named: Any) -> None:
        """Send a request without waiting for the result."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([method, values, named]).encode() + b"\n")
        self.process.stdin.flush()

    def result(self) -> Any:
        """The result of the next request."""
        return self._line()

    def call(self, method: str, *values: Any, **named: Any) -> Any:
        """Send a request, and return its result."""
        self.send(method, *values, **named)
        return self.result()


def _run(url: str, name: str, seconds: float) -> None:
    storage = PostgresStorage(url, name, lease_seconds=seconds, advertise="http://holder:8420")
    workspace = Workspace(storage)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        method, values, named = json.loads(line)
        try:
            result = getattr(workspace, method)
            result = result(*values, **named) if callable(result) else result
        except JournalError as error:
            result = type(error).__name__
        print(json.dumps(result.seq if isinstance(result, Added) else result), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("name")
    parser.add_argument("seconds", type=float)
    given = parser.parse_args()
    _run(given.url, given.name, given.seconds)
