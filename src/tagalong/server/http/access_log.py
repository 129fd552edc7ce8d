"""One line in the log per request, metrics, and an answer to every error."""

import json
import os
import time
import traceback
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.problems import Problem

__all__ = ["AccessLog"]

UNKNOWN = "unknown"
_NULL = "null"
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_PLACES = 5
_quoted = json.encoder.encode_basestring_ascii


class AccessLog:
    """Middleware that logs and counts every request.

    The log names operations, workspaces and tokens. It has no content, no ids of items, no labels
    and no tokens: neither the path nor the query nor the message of an error is in it.

    An error that escapes the application is answered with a problem document: a `Problem` with its
    own, any other with status 500 and the request id, under which the log has the type of the error
    and the places in the code.

    Parameters
    ----------
    app : ASGI application
        The next layer. It may write ``operation``, ``workspace`` and ``who`` to ``scope["state"]``.
    write : callable
        Writes a line; it must not block or raise: see `LogWriter.add`.
    metrics : RequestMetrics
        Counts the requests.
    errors_only : bool
        Whether to log only the requests that failed with an unexpected error.
    """

    def __init__(
        self,
        app: ASGIApp,
        write: Callable[[str], None],
        metrics: RequestMetrics,
        *,
        errors_only: bool = False,
    ):
        self._app = app
        self._write = write
        self._metrics = metrics
        self._errors_only = errors_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        request = _Request(scope, receive, send)
        error: BaseException | None = None
        self._metrics.in_flight += 1
        try:
            await self._app(scope, request.receive, request.send)
        except Problem as problem:
            await request.answer(problem)
        except ClientDisconnect:
            pass
        except Exception as unexpected:
            error = unexpected
            await request.answer(_unexpected(request.id))
        except BaseException as ending:  # the server stops, and the request took too long
            error = ending
            raise
        finally:
            self._metrics.in_flight -= 1
            seconds = time.perf_counter() - request.start
            operation = state.get("operation", UNKNOWN)
            self._metrics.finish(operation, request.status, seconds)
            if error is not None or not self._errors_only:
                self._write(_line(request, state, operation, seconds, error))


class _Request:
    """A request on its way: counts bytes, and adds the request id to the answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send):
        self.id = os.urandom(8).hex()
        self.start = time.perf_counter()
        self.scope = scope
        self.status: int | None = None
        self.bytes_in = 0
        self.bytes_out = 0
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        message = await self._receive()
        self.bytes_in += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", ()), (b"x-request-id", self.id.encode())]
            message = {**message, "headers": headers}
        else:
            self.bytes_out += len(message.get("body", b""))
        await self._send(message)

    async def answer(self, problem: Problem) -> None:
        """Answer with a problem; if an answer has begun, its missing end says that it failed."""
        if self.status is None:
            await problem.response()(self.scope, self.receive, self.send)


def _unexpected(id: str) -> Problem:
    return Problem(
        500,
        "internal-error",
        f"an unexpected error, which is a bug in tagalong; the log of the server has request {id}",
        request=id,
    )


def _line(
    request: _Request,
    state: MutableMapping[str, Any],
    operation: str,
    seconds: float,
    error: BaseException | None,
) -> str:
    method = request.scope["method"]
    client = request.scope.get("client")
    who = state.get("who")
    # An encoder of JSON takes nearly twice as long.
    line = (
        f'{{"time": "{_now()}", "id": "{request.id}", '
        f'"method": {_text(method if method in _METHODS else "other")}, '
        f'"operation": {_text(operation)}, "workspace": {_text(state.get("workspace"))}, '
        f'"status": {_NULL if request.status is None else request.status}, '
        f'"seconds": {seconds:.6f}, '
        f'"bytes_in": {request.bytes_in}, "bytes_out": {request.bytes_out}, '
        f'"who": {_text(None if who is None else who.name)}, '
        f'"client": {_text(client[0] if client else None)}'
    )
    if error is not None:
        places = ", ".join(_text(place) for place in _places(error))
        line += f', "error": {_text(type(error).__name__)}, "places": [{places}]'
    return line + "}"


def _now() -> str:
    milliseconds = time.time_ns() // 1_000_000
    return f"{_second(milliseconds // 1000)}.{milliseconds % 1000:03d}Z"


@lru_cache(1)  # all lines of a second share it
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:-6]


def _text(value: str | None) -> str:
    """Return a text, or null, as JSON."""
    return _NULL if value is None else _quoted(value)


def _places(error: BaseException) -> list[str]:
    """Return the innermost places of a traceback, such as "workspace.py:120"."""
    frames = traceback.extract_tb(error.__traceback__)[-_PLACES:]
    return [f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in frames]
