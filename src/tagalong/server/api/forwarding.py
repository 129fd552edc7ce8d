"""Passing a request on to the server that holds its workspace.

Servers that share journals share tokens too. The server that gets a request has checked it; the
holder checks it again. A request is passed on once: if the holder has changed meanwhile, or loses
the workspace because it shows no sign of life, the client tries again.
"""

import asyncio
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import h11
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tagalong.server.problems import Problem

__all__ = ["PASSED_ON", "Holder", "pass_on"]

PASSED_ON = "X-Tagalong-Passed-On"
"""The header of a request that another server has passed on."""
CONNECT_SECONDS = 5.0
SILENT_SECONDS = 60.0
SECONDS_BETWEEN_LOOKS = 1.0
BYTES_AT_ONCE = 1 << 16
MAX_HEAD_BYTES = 1 << 16
RETRY = {"Retry-After": "1"}
# Everything else is between the client and this server, or was checked here.
SENT = (
    "accept",
    "authorization",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "idempotency-key",
    "last-event-id",
)
NOT_RETURNED = (b"connection", b"keep-alive", b"transfer-encoding", b"date", b"x-request-id")


@dataclass(frozen=True, slots=True)
class Holder:
    """The server that holds a workspace.

    Parameters
    ----------
    address : str
        The address that it advertises, such as ``http://10.0.0.7:8420``.
    """

    address: str

    @classmethod
    def checked(cls, address: str) -> "Holder":
        """Return the server at an address; ValueError unless it can be one.

        Parameters
        ----------
        address : str
            The address.
        """
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address!r} is no address such as http://10.0.0.7:8420")
        if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
            raise ValueError(f"{address!r} must have no path and no user, as in http://host:8420")
        _ = parts.port  # ValueError if it is no number
        return cls(address)

    @property
    def host(self) -> str:
        """The header ``Host``."""
        return urlsplit(self.address).netloc

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection; OSError or TimeoutError if the server cannot be reached."""
        parts = urlsplit(self.address)
        is_secure = parts.scheme == "https"
        return await asyncio.wait_for(
            asyncio.open_connection(
                parts.hostname,
                parts.port or (443 if is_secure else 80),
                ssl=ssl.create_default_context() if is_secure else None,
            ),
            CONNECT_SECONDS,
        )


async def pass_on(
    holder: Holder,
    request: Request,
    body: AsyncIterable[bytes],
    is_held: Callable[[], Awaitable[bool]],
) -> Response:
    """Return the answer of another server to a request, as it arrives.

    Parameters
    ----------
    holder : Holder
        The other server. A Problem with status 503 if it cannot be reached.
    request : Request
        The request.
    body : asynchronous iterable of bytes
        Its body.
    is_held : callable
        Whether another server still holds the workspace; asked while the answer is awaited.
    """
    if PASSED_ON in request.headers:
        raise _unreachable("it was passed on before, and the holder has changed")
    try:
        reader, writer = await holder.connect()
    except (OSError, TimeoutError):
        raise _unreachable("the server that holds it cannot be reached") from None
    exchange = _Exchange(reader, writer)
    try:
        head = await _while_held(exchange.answer_to(_head(holder, request), body), is_held)
    except (OSError, TimeoutError, h11.ProtocolError):
        exchange.close()
        # A change may have been made: a retry with the same idempotency key is safe.
        raise _unreachable("the server that holds it has not answered") from None
    except BaseException:
        exchange.close()
        raise
    response = StreamingResponse(exchange.body(), head.status_code)
    response.raw_headers = [
        (name, value) for name, value in head.headers if name not in NOT_RETURNED
    ]
    return response


async def _while_held(
    answer: Coroutine[Any, Any, h11.Response], is_held: Callable[[], Awaitable[bool]]
) -> h11.Response:
    """Wait for an answer; TimeoutError if the workspace is not held elsewhere any more."""
    task = asyncio.create_task(answer)
    try:
        while not (await asyncio.wait((task,), timeout=SECONDS_BETWEEN_LOOKS))[0]:
            if not await is_held():
                raise TimeoutError
        return await task
    finally:
        task.cancel()


def _unreachable(reason: str) -> Problem:
    return Problem(503, "held-elsewhere", f"another server holds this workspace; {reason}", RETRY)


def _head(holder: Holder, request: Request) -> h11.Request:
    headers = [("Host", holder.host), (PASSED_ON, "1"), ("Connection", "close")]
    headers += [(name, request.headers[name]) for name in SENT if name in request.headers]
    if request.method not in ("GET", "HEAD"):
        # The origin was checked here; to the holder this server is the client.
        headers.append(("Sec-Fetch-Site", "same-origin"))
        if "content-length" not in request.headers:
            headers.append(("Transfer-Encoding", "chunked"))
    query = request.scope["query_string"]
    target = request.scope["raw_path"] + (b"?" + query if query else b"")
    return h11.Request(method=request.method, target=target, headers=headers)


class _Exchange:
    """One request to another server, and its answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader = reader
        self._writer = writer
        self._state = h11.Connection(h11.CLIENT, MAX_HEAD_BYTES)

    async def answer_to(self, head: h11.Request, body: AsyncIterable[bytes]) -> h11.Response:
        """Send a request, and return the head of the answer."""
        self._write(head)
        async for piece in body:
            if piece:
                self._write(h11.Data(data=piece))
                await self._writer.drain()
        self._write(h11.EndOfMessage())
        await self._writer.drain()
        while not isinstance(event := await self._next(), h11.Response):
            pass  # an intermediate answer
        return event

    def _write(self, event: h11.Event) -> None:
        self._writer.write(self._state.send(event) or b"")

    async def _next(self) -> h11.Event:
        while (event := self._state.next_event()) is h11.NEED_DATA:
            data = await asyncio.wait_for(self._reader.read(BYTES_AT_ONCE), SILENT_SECONDS)
            self._state.receive_data(data)
        if not isinstance(event, h11.Event):
            raise h11.RemoteProtocolError("the answer has ended too early")
        return event

    async def body(self) -> AsyncIterator[bytes]:
        try:
            while isinstance(event := await self._next(), h11.Data):
                yield bytes(event.data)
        finally:
            self.close()

    def close(self) -> None:
        with suppress(OSError):
            self._writer.close()
