"""A load of HTTP requests from one process over some connections, and the times of the answers.

The requests are made beforehand and the answers are hardly looked at, so that the load costs much
less than the server that it measures. Either each connection sends its next request as soon as it
has an answer (the server is saturated), or requests are due at a steady rate, whether or not the
server keeps up: then the time of an answer counts from the moment when its request was due.
"""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

SECONDS = 120.0
BLOCK = 1 << 16


class LoadError(RuntimeError):
    """A server that does not answer, or not with success."""


@dataclass(frozen=True)
class Load:
    """Requests for a server.

    Each of them is sent once, over ``connections`` connections; ``rate`` per second, or as fast as
    the server answers.
    """

    address: tuple[str, int]
    requests: Sequence[bytes]
    connections: int
    rate: float | None = None


@dataclass
class Answered:
    """All answers to a load: their times in seconds, in all and each, and their bytes."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    bytes: int = 0
    processor_seconds: float = 0.0
    """Processor time of the process that made the load."""

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def milliseconds(self, percent: float) -> float:
        """A percentile of the times of the answers."""
        return float(np.percentile(self.latencies, percent)) * 1e3


def post(path: str, body: bytes, headers: Mapping[str, str], media: str = "json") -> bytes:
    """The bytes of a POST request."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        f"Content-Type: application/{media}",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer_size(received: bytes) -> int | None:
    """Bytes of an answer with Content-Length, head included; None while its head is incomplete."""
    head, end, _ = received.partition(b"\r\n\r\n")
    if not end:
        return None
    if not head.startswith(b"HTTP/1.1 2"):
        raise LoadError(f"the server refuses: {received[:1000].decode(errors='replace')}")
    _, named, rest = head.lower().partition(b"\r\ncontent-length:")
    if not named:
        raise LoadError(f"an answer without Content-Length: {head.decode(errors='replace')}")
    return len(head) + len(end) + int(rest.split(b"\r\n", 1)[0])


class _Connection:
    """A connection with at most one request on its way."""

    def __init__(self, address: tuple[str, int]):
        self._socket = socket.create_connection(address, SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self.due = 0.0

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, request: bytes, due: float) -> None:
        self.due = due
        self._received = b""
        self._socket.sendall(request)

    def receive(self) -> int:
        """Receive what is there; return the bytes of the answer, 0 while it is incomplete."""
        block = self._socket.recv(BLOCK)
        if not block:
            raise LoadError("the server has closed a connection")
        self._received += block
        size = answer_size(self._received)
        return size if size is not None and len(self._received) >= size else 0

    def close(self) -> None:
        self._socket.close()


def run(load: Load) -> Answered:
    """Send all requests and wait for all answers."""
    connections = [_Connection(load.address) for _ in range(load.connections)]
    try:
        return _run(load, connections)
    finally:
        for connection in connections:
            connection.close()


def _run(load: Load, connections: Sequence[_Connection]) -> Answered:
    found = Answered()
    free, busy = deque(connections), set[_Connection]()
    waiting = deque(load.requests)
    gap = 0.0 if load.rate is None else 1 / load.rate
    processor, start = time.process_time(), time.perf_counter()
    due = start
    while waiting or busy:
        now = time.perf_counter()
        if now - start > SECONDS:
            raise LoadError(f"{len(waiting) + len(busy):,} requests had no answer in {SECONDS:g} s")
        while waiting and free and due <= now:
            connection = free.popleft()
            connection.send(waiting.popleft(), due if gap else time.perf_counter())
            busy.add(connection)
            due += gap
        pause = max(0.0, due - now) if waiting and free else 1.0
        for connection in select.select(busy, (), (), pause)[0]:
            if size := connection.receive():
                found.latencies.append(time.perf_counter() - connection.due)
                found.bytes += size
                busy.remove(connection)
                free.append(connection)
    found.seconds = time.perf_counter() - start
    found.processor_seconds = time.process_time() - processor
    return found
