"""Back-pressure: a bounded number of requests at work, and a bounded number that wait."""

import asyncio
import re
from collections import deque
from dataclasses import dataclass
from typing import Literal, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send

from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.problems import Problem

__all__ = ["Overload", "RequestLimits"]

Kind: TypeAlias = Literal["work", "stream", "free"]
_STREAM = re.compile(r"/api/v1/workspaces/[^/]+/events")
_FREE = ("/healthz", "/metrics")
RETRY_SECONDS = 1
STREAM_RETRY_SECONDS = 10


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How many requests are handled at the same time.

    Parameters
    ----------
    at_work : int
        Number of requests at work.
    waiting : int
        Number of requests that wait for one of them to end.
    waiting_seconds : float
        How long a request waits.
    streams : int
        Number of open event streams, which do not count as work.
    """

    at_work: int = 64
    waiting: int = 256
    waiting_seconds: float = 10.0
    streams: int = 256


class Overload:
    """Middleware that turns requests away before they are begun, if there are too many.

    A request that is turned away has changed nothing, and its answer (503) says when to try again.
    A request that has begun is never turned away. Health and metrics always get through.

    Parameters
    ----------
    app : ASGI application
        The next layer.
    limits : RequestLimits
        The limits.
    metrics : RequestMetrics
        Counts the requests that are turned away.
    """

    def __init__(self, app: ASGIApp, limits: RequestLimits, metrics: RequestMetrics):
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._at_work = 0
        self._streams = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or raise Problem 503."""
        kind = _kind(scope)
        if kind == "free":
            await self._app(scope, receive, send)
        elif kind == "stream":
            await self._stream(scope, receive, send)
        else:
            await self._begin()
            try:
                await self._app(scope, receive, send)
            finally:
                self._end()

    async def _begin(self) -> None:
        if self._at_work < self._limits.at_work:
            self._at_work += 1
            return
        if len(self._waiting) >= self._limits.waiting:
            raise self._refused()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await asyncio.wait([turn], timeout=self._limits.waiting_seconds)
        except asyncio.CancelledError:
            if turn.done():  # the turn came at the same moment: pass it on
                self._end()
            raise
        finally:
            if not turn.done():
                self._waiting.remove(turn)
        if not turn.done():
            raise self._refused()

    def _end(self) -> None:
        """Give the place to the request that waits longest, or free it."""
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._at_work -= 1

    def _refused(self) -> Problem:
        self._metrics.reject("overload")
        return Problem(
            503,
            "overloaded",
            f"{self._limits.at_work:,} requests are at work and others wait: nothing was done, "
            f"try again in {RETRY_SECONDS} s",
            {"Retry-After": str(RETRY_SECONDS)},
        )

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._streams >= self._limits.streams:
            self._metrics.reject("streams")
            raise Problem(
                503,
                "too-many-streams",
                f"{self._limits.streams:,} event streams are open already: try again in "
                f"{STREAM_RETRY_SECONDS} s",
                {"Retry-After": str(STREAM_RETRY_SECONDS)},
            )
        self._streams += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._streams -= 1


def _kind(scope: Scope) -> Kind:
    if scope["type"] != "http" or scope["path"] in _FREE:
        return "free"
    if scope["method"] == "GET" and _STREAM.fullmatch(scope["path"]):
        return "stream"
    return "work"
