"""Limits on connections and on the heads of requests, before the application sees anything.

uvicorn parses HTTP. Its two protocol classes have no limit on the time that a client takes for the
head of a request, on the size of the head (httptools) or on connections that are refused politely.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, cast

from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.http.transports import PoliteTransport
from tagalong.server.problems import Problem

__all__ = ["ConnectionLimits", "limited_protocol", "problem_bytes"]

RETRY_SECONDS = 5
_REFUSED_AT_ONCE = 64  # connections above the limit that are refused with an answer
_UNREAD_BYTES = 1_000_000  # the rest of a body that nobody reads, after the answer


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on connections.

    Parameters
    ----------
    connections : int
        Number of open connections.
    head_bytes : int
        Size of the head of a request: its first line and its headers.
    head_seconds : float
        Time for the head of a request. On a new connection it begins at once, later with the first
        byte of the head.
    keep_alive_seconds : float
        How long a connection may be idle between two requests.
    stuck_seconds : float
        How long a client may read nothing of an answer.
    linger_seconds : float
        How long a client that is still sending gets to read an answer before the connection ends.
    """

    connections: int = 512
    head_bytes: int = 32_768
    head_seconds: float = 10.0
    keep_alive_seconds: float = 30.0
    stuck_seconds: float = 30.0
    linger_seconds: float = 2.0


class _Cycle(Protocol):
    """A request and its answer in uvicorn: all that this module needs to know about them."""

    more_body: bool
    response_started: bool
    response_complete: bool


if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as _Base
else:
    _Base = asyncio.Protocol


class _LimitedConnection(_Base):
    """A connection with limits, as the first base class of uvicorn's protocol classes.

    Attributes of uvicorn that it reads: `cycle`, the newest request on this connection, and
    `pipeline`, the requests that wait for the answer to an earlier one. Methods that it replaces:
    those of asyncio.Protocol, and `send_400_response`.
    """

    limits: ConnectionLimits
    metrics: RequestMetrics

    def __init__(self, **given: Any):
        super().__init__(**given)
        self._polite: PoliteTransport | None = None
        self._is_refused = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_deadline: float | None = None
        self._head_room = self.limits.head_bytes
        self._counted: _Cycle | None = None

    @property
    def _newest(self) -> _Cycle | None:
        return cast("_Cycle | None", getattr(self, "cycle", None))

    @property
    def _is_idle(self) -> bool:
        """Whether no request is at work: none has come, or the last one is answered."""
        newest = self._newest
        return newest is None or newest.response_complete

    def _is_receiving(self) -> bool:
        """Whether the client may be in the middle of a request."""
        newest = self._newest
        return self._is_refused or (newest is not None and newest.more_body)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        limits = self.limits
        polite = PoliteTransport(
            transport, self._is_receiving, limits.linger_seconds, limits.stuck_seconds
        )
        self._polite = polite
        self.metrics.connections += 1
        if self.metrics.connections > limits.connections:
            self._refuse(_too_many_connections(limits), "connections")
            if self.metrics.connections > limits.connections + _REFUSED_AT_ONCE:
                polite.abort()
            return
        super().connection_made(polite)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self.metrics.connections -= 1
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        self._stop_head_timer()
        if self._polite is not None:
            self._polite.stop_timers()
        if self.transport is not None:  # uvicorn knows this connection
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        while data and not self._discards():
            if self._expects_body():
                part, data = data, b""
            elif self._head_room == 0:
                self._refuse(_large_head(self.limits), "head-size")
                break
            else:
                part, data = data[: self._head_room], data[self._head_room :]
                self._head_room -= len(part)
            before = self._newest
            super().data_received(part)
            if self._newest is not before:
                self._head_room = self.limits.head_bytes
        if self._discards() or not self._is_idle:
            self._stop_head_timer()
        else:
            self._start_head_timer()

    def _discards(self) -> bool:
        return self._polite is None or self._polite.is_closing()

    def _expects_body(self) -> bool:
        """Whether the next bytes belong to the body of the newest request."""
        newest = self._newest
        if newest is None or not newest.more_body:
            return False
        if not newest.response_complete:
            return True
        if self._counted is not newest:  # answered early; the rest of the body is still coming
            self._counted = newest
            self._head_room += _UNREAD_BYTES
        return False

    def pause_writing(self) -> None:
        if self.transport is not None:
            super().pause_writing()
        if self._polite is not None:
            self._polite.abort_if_stuck()

    def resume_writing(self) -> None:
        if self.transport is not None:
            super().resume_writing()
        if self._polite is not None:
            self._polite.note_progress()

    def _start_head_timer(self) -> None:
        """Begin to wait for a head. One timer serves many heads, as it is costly to make."""
        if self._head_deadline is None:
            now = self.loop.time()
            self._head_deadline = now + self.limits.head_seconds
            if self._head_timer is None:
                self._head_timer = self.loop.call_at(self._head_deadline, self._on_head_timer)

    def _stop_head_timer(self) -> None:
        self._head_deadline = None

    def _on_head_timer(self) -> None:
        self._head_timer = None
        if self._head_deadline is None:
            return  # the next head makes another one
        if self._head_deadline > self.loop.time():
            self._head_timer = self.loop.call_at(self._head_deadline, self._on_head_timer)
        else:
            self._on_slow_head()

    def _on_slow_head(self) -> None:
        if self._newest is None and self._head_room == self.limits.head_bytes:
            self.transport.close()  # a browser that connects in advance has asked for nothing
        else:
            self._refuse(_slow_head(self.limits), "head-time")

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are no HTTP."""
        self._refuse(
            Problem(400, "malformed-request", "this is no valid HTTP request"), "malformed"
        )

    def _refuse(self, problem: Problem, reason: str) -> None:
        """Answer with a problem, if no other answer has begun, and close the connection."""
        transport = self._polite
        if transport is None or transport.is_closing():
            return
        self.metrics.reject(reason)
        self._stop_head_timer()
        if self._can_answer():
            transport.write(problem_bytes(problem))
        self._is_refused = True
        transport.close()

    def _can_answer(self) -> bool:
        """Whether an answer would be taken as that of the request which is being received."""
        newest = self._newest
        if newest is None:
            return True
        if newest.response_complete:
            return not newest.more_body
        return newest.more_body and not newest.response_started and not self._has_queue

    @property
    def _has_queue(self) -> bool:
        """Whether earlier requests of the client are not answered yet (httptools)."""
        return bool(getattr(self, "pipeline", ()))


def limited_protocol(
    limits: ConnectionLimits, metrics: RequestMetrics, parser: str | None = None
) -> type[asyncio.Protocol]:
    """Return a protocol class with limits for uvicorn.

    Parameters
    ----------
    limits : ConnectionLimits
        The limits.
    metrics : RequestMetrics
        Counts the connections, and what is turned away.
    parser : str, optional
        "httptools" or "h11"; by default httptools if it is installed, which is faster.
    """
    if parser is None:
        parser = "h11" if find_spec("httptools") is None else "httptools"
    base = _PARSERS[parser]()
    members = {"limits": limits, "metrics": metrics}
    return type("LimitedConnection", (_LimitedConnection, base), members)


def _h11() -> type:
    from uvicorn.protocols.http.h11_impl import H11Protocol

    return H11Protocol


def _httptools() -> type:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    return HttpToolsProtocol


_PARSERS: dict[str, Callable[[], type]] = {"h11": _h11, "httptools": _httptools}


def problem_bytes(problem: Problem) -> bytes:
    """Return the bytes of an answer that ends the connection.

    Parameters
    ----------
    problem : Problem
        The reason.
    """
    answer = problem.response()
    headers = [
        *answer.raw_headers,
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"connection", b"close"),
    ]
    status = f"HTTP/1.1 {problem.status} {problem.to_json()['title']}\r\n".encode()
    head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return status + head + b"\r\n" + bytes(answer.body)


def _too_many_connections(limits: ConnectionLimits) -> Problem:
    return Problem(
        503,
        "too-many-connections",
        f"{limits.connections:,} connections are open already: nothing was done, try again in "
        f"{RETRY_SECONDS} s",
        {"Retry-After": str(RETRY_SECONDS)},
        limit=limits.connections,
    )


def _large_head(limits: ConnectionLimits) -> Problem:
    return Problem(
        431,
        "head-too-large",
        f"the first line and the headers of a request may have {limits.head_bytes:,} bytes",
        limit=limits.head_bytes,
    )


def _slow_head(limits: ConnectionLimits) -> Problem:
    return Problem(
        408,
        "slow-head",
        f"the first line and the headers of a request must arrive within {limits.head_seconds:g} "
        "seconds",
    )
