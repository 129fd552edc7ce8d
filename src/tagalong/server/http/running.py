"""Running a service: from the socket to a clean stop."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import _exit
from typing import Any, Protocol

import uvicorn
from starlette.types import ASGIApp

from tagalong.server.http.connections import ConnectionLimits, limited_protocol
from tagalong.server.http.listening import listen_at, url_of
from tagalong.server.http.readiness import notify
from tagalong.server.http.request_metrics import RequestMetrics

__all__ = ["HttpServer", "Runnable", "Running"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Runnable(Protocol):
    """A service that can be run."""

    async def start(self) -> None:
        """Load what the first requests need."""

    def end_streams(self) -> None:
        """End the streams of events, which would otherwise go on."""

    async def close(self) -> None:
        """Finish what was begun, and save what would take long to compute again."""


@dataclass(frozen=True, slots=True)
class Running:
    """How a server is run.

    Parameters
    ----------
    limits : ConnectionLimits
        Limits on connections.
    request_seconds : float
        After a signal, time for the requests that have begun; then they are cancelled.
    stop_seconds : float
        Time from the signal to the end of the process, in all.
    trust_proxy : bool
        Whether the headers ``X-Forwarded-For`` and ``X-Forwarded-Proto`` count if they come from
        this machine. Otherwise anybody could claim to be somebody else.
    parser : str, optional
        "httptools" or "h11"; by default httptools if it is installed.
    """

    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    request_seconds: float = 2.5
    stop_seconds: float = 5.0
    trust_proxy: bool = False
    parser: str | None = None


class HttpServer:
    """A server that runs until SIGTERM, SIGINT or `stop`.

    Then it accepts no connections, finishes the requests that have begun, ends the event streams
    and closes the service. A second signal ends the process at once: everything that was
    acknowledged is in the journal.

    Parameters
    ----------
    service : Runnable
        The service. It is started after the port is taken.
    make_app : callable
        Returns the application of the started service.
    metrics : RequestMetrics
        Counts connections.
    host : str
        The address to listen at; ListenError if that is not possible.
    port : int
        The port; 0 for a free one.
    running : Running
        How the server is run.
    on_ready : callable
        Called with the URL as soon as requests are served.
    on_late : callable
        Called if the service is not closed in time, before the process is ended.
    end_process : callable
        Ends the process at once, with an exit code.

    Attributes
    ----------
    url : str
        The address of the server, such as ``http://127.0.0.1:8420/``.
    """

    def __init__(
        self,
        service: Runnable,
        make_app: Callable[[], ASGIApp],
        metrics: RequestMetrics,
        *,
        host: str,
        port: int,
        running: Running | None = None,
        on_ready: Callable[[str], None] = lambda url: None,
        on_late: Callable[[], None] = lambda: None,
        end_process: Callable[[int], object] = _exit,
    ):
        self._sockets = listen_at(host, port)
        self.url = url_of(host, self._sockets[0].getsockname()[1])
        self._service = service
        self._make_app = make_app
        self._metrics = metrics
        self._running = running or Running()
        self._on_ready = on_ready
        self._on_late = on_late
        self._end_process = end_process
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: uvicorn.Server | None = None
        self._stopping = asyncio.Event()
        self._deadline: threading.Timer | None = None

    def run(self) -> None:
        """Start the service, serve requests until the server is stopped, and close the service."""
        try:
            with asyncio.Runner() as runner:
                runner.run(self._run())
            if self._deadline is not None:
                self._deadline.cancel()
        finally:
            for each in self._sockets:
                each.close()

    def stop(self) -> None:
        """Stop the server, from any thread. Call it only after the server has become ready."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop, signal.SIGTERM)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        with self._signals():
            try:
                if await self._is_started():
                    app = self._make_app()
                    config = _config(app, self._metrics, self._running)
                    self._server = _Server(config, lambda: self._on_ready(self.url))
                    await self._server.serve(self._sockets)
            finally:
                await self._service.close()

    async def _is_started(self) -> bool:
        """Start the service; return False if a signal comes first."""
        starting = asyncio.ensure_future(self._service.start())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
            return not self._stopping.is_set()
        finally:
            stopping.cancel()
            starting.cancel()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread gets signals
            return
        for number in SIGNALS:
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def _stop(self, number: int) -> None:
        """Stop the server; the second time, end the process."""
        if self._stopping.is_set():
            self._end_process(128 + number)
            return
        self._stopping.set()
        # A thread, because the event loop itself may hang.
        self._deadline = threading.Timer(self._running.stop_seconds, self._end)
        self._deadline.daemon = True
        self._deadline.start()
        notify("STOPPING=1")
        self._service.end_streams()
        if self._server is not None:
            self._server.should_exit = True

    def _end(self) -> None:
        self._on_late()
        self._end_process(1)


def _config(app: ASGIApp, metrics: RequestMetrics, running: Running) -> uvicorn.Config:
    limits = running.limits
    options: dict[str, Any] = {
        "http": limited_protocol(limits, metrics, running.parser),
        "h11_max_incomplete_event_size": limits.head_bytes + 1,  # the limit is checked before h11
        "timeout_keep_alive": limits.keep_alive_seconds,
        "timeout_graceful_shutdown": running.request_seconds,
        "ws": "none",
        "lifespan": "off",
        # Messages of uvicorn name paths, and its log of errors has the texts of exceptions.
        "log_config": None,
        "log_level": "critical",
        "access_log": False,
        "server_header": False,
        "proxy_headers": running.trust_proxy,
        "forwarded_allow_ips": "127.0.0.1,::1",  # not what the environment says
    }
    return uvicorn.Config(app, **options)


class _Server(uvicorn.Server):
    """uvicorn's server, which leaves signals to its owner and says when it is ready."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]):
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        notify("READY=1")
        self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
