"""A real server on a loopback socket, in a thread of the test, and clients with raw sockets."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import Any

from starlette.types import ASGIApp

from tagalong.server.http.connections import ConnectionLimits
from tagalong.server.http.metrics import Metrics
from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.http.running import HttpServer, Running
from tests.server.answers import Answer
from tests.timeouts import TIMEOUT

PARSERS = ("h11", "httptools")


class NoService:
    """A service that does nothing, and remembers what it was asked to do."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def start(self) -> None:
        self.calls.append("start")

    def end_streams(self) -> None:
        self.calls.append("end_streams")

    async def close(self) -> None:
        self.calls.append("close")


class Client:
    """One connection to the server."""

    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def get(self, path: str = "/") -> Answer:
        self.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return self.answer()

    def answer(self) -> Answer:
        """Read one answer."""
        response = HTTPResponse(_Shared(self.socket))  # type: ignore[arg-type]
        response.begin()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, response.read())

    def ended(self) -> bool:
        """Wait for the end of the connection; return whether nothing came before it."""
        try:
            return self.socket.recv(1000) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.socket.close()


class _Shared:
    """A socket whose data are read byte by byte, so that nothing of the next answer is lost."""

    def __init__(self, given: socket.socket):
        self._socket = given

    def makefile(self, mode: str) -> Any:
        return self._socket.makefile("rb", buffering=0)


@dataclass
class Live:
    """A running server."""

    server: HttpServer
    metrics: Metrics
    requests: RequestMetrics
    service: NoService
    clients: list[Client] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.server.url.rstrip("/").rpartition(":")[2])

    def connect(self) -> Client:
        client = Client(self.port)
        self.clients.append(client)
        return client

    def rejected(self, reason: str) -> bool:
        return f'tagalong_rejected_total{{reason="{reason}"}} ' in self.metrics.render()


@contextmanager
def live(
    app: ASGIApp,
    parser: str = "h11",
    *,
    requests: RequestMetrics | None = None,
    metrics: Metrics | None = None,
    **limits: Any,
) -> Iterator[Live]:
    """Run an application until the block ends."""
    metrics = metrics or Metrics()
    requests = requests or RequestMetrics(metrics)
    service = NoService()
    ready = threading.Event()
    limits = {"linger_seconds": 0.5, **limits}
    running = Running(ConnectionLimits(**limits), request_seconds=0.5, parser=parser)
    server = HttpServer(
        service,
        lambda: app,
        requests,
        host="127.0.0.1",
        port=0,
        running=running,
        on_ready=lambda url: ready.set(),
        end_process=lambda code: None,
    )

    def run() -> None:
        try:
            server.run()
        finally:
            ready.set()  # also if it could not start

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(TIMEOUT)
    assert thread.is_alive()
    running_server = Live(server, metrics, requests, service)
    try:
        yield running_server
    finally:
        for client in running_server.clients:
            client.close()
        server.stop()
        thread.join(TIMEOUT)


def wait_until(condition: Any) -> None:
    """Wait until a condition that another thread brings about is true."""
    pause = threading.Event()
    for _ in range(int(TIMEOUT / 0.005)):
        if condition():
            return
        pause.wait(0.005)
    raise AssertionError("the condition never became true")
