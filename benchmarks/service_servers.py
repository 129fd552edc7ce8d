"""Servers as processes of their own: started, asked, watched and stopped."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.service_load import Answered, Load, LoadError, post, run

TICKS = os.sysconf("SC_CLK_TCK")


class ServerProcess:
    """A server that prints one line of JSON, with its URL, as soon as it takes requests."""

    def __init__(self, arguments: Sequence[str], path: str):
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(arguments)} ended with status {self._process.wait()}")
        ready = json.loads(line)
        url = urlsplit(ready["url"])
        assert url.hostname is not None
        assert url.port is not None
        self.address = url.hostname, url.port
        self.headers = {"Authorization": f"Bearer {ready['token']}"} if "token" in ready else {}
        self.path = path

    def request(self, body: object, path: str = "") -> bytes:
        """The bytes of a request with a JSON body, by default for suggestions."""
        text = json.dumps(body, ensure_ascii=False).encode()
        return post(path or self.path, text, self.headers)

    def call(self, path: str, body: object, media: str = "json") -> bytes:
        """Send one request and return the body of the answer; a text is sent as it is."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection(*self.address, timeout=600)
        headers = {"Content-Type": f"application/{media}", **self.headers}
        try:
            connection.request("POST", path, sent, headers)
            answer = connection.getresponse()
            found = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise LoadError(f"the server refuses: {found[:1000].decode()}")
        return found

    def processor_seconds(self) -> float:
        """Processor time so far, of all threads."""
        text = Path(f"/proc/{self._process.pid}/stat").read_text()
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / TICKS

    def memory(self) -> int:
        """Bytes of resident memory."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        (line,) = [line for line in lines if line.startswith("VmRSS")]
        return 1024 * int(line.split()[1])

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=60)


@dataclass
class Measured:
    """A server under a load, in several turns."""

    answered: list[Answered] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)
    """Of the server, per request."""

    @property
    def rates(self) -> list[float]:
        return [each.rate for each in self.answered]

    def percentiles(self, percent: float) -> list[float]:
        """A percentile of the milliseconds of the answers, for each turn."""
        return [each.milliseconds(percent) for each in self.answered]

    @property
    def answer_bytes(self) -> float:
        """Bytes of an answer, with its head."""
        return sum(each.bytes for each in self.answered) / sum(
            len(each.latencies) for each in self.answered
        )

    @property
    def load_share(self) -> float:
        """The largest share of a processor that the process with the load has used."""
        return max(each.processor_seconds / each.seconds for each in self.answered)


def measure(
    pool: Executor,
    found: Measured,
    server: ServerProcess,
    requests: Sequence[bytes],
    connections: int,
    rate: float | None = None,
) -> None:
    """Add a turn: one load, made by the process of a pool."""
    before = server.processor_seconds()
    answered = pool.submit(run, Load(server.address, requests, connections, rate)).result()
    used = server.processor_seconds() - before
    found.answered.append(answered)
    found.processor_seconds.append(used / len(requests))
