"""Reading the body of a request: limits on its size and time, whole or line by line."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from tagalong.server.access.hosts import first_header
from tagalong.server.http.time_limits import within
from tagalong.server.problems import Problem

__all__ = [
    "BodyLimits",
    "LimitedBody",
    "divided_lines",
    "limited_request",
    "read_body",
    "read_lines",
]


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Limits on the body of a request.

    Only the time during which the server waits for the client counts, not the time that the server
    needs for what has arrived.

    Parameters
    ----------
    bytes : int
        Size of the body.
    line_bytes : int
        Size of a line, if the body is read line by line.
    seconds : float
        Time for the whole body.
    grace_seconds : float
        Time that every body may take, however small it is.
    bytes_per_second : float
        Least speed of larger bodies: a body of which n bytes have arrived may take
        ``grace_seconds + n / bytes_per_second``, but never more than `seconds`.
    """

    bytes: int
    line_bytes: int = 1_000_000
    seconds: float = 60.0
    grace_seconds: float = 10.0
    bytes_per_second: float = 1000.0


class LimitedBody:
    """The body of a request, as it arrives.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read. Problem 413 if its head names a size above the
        limit, 415 if the body is compressed: nothing is read then.
    limits : BodyLimits
        The limits.
    """

    def __init__(self, request: Request, limits: BodyLimits):
        encoding = first_header(request.scope, b"content-encoding", "identity")
        if encoding.strip().lower() not in ("", "identity"):
            raise Problem(
                415,
                "compressed-body",
                f"Content-Encoding {encoding[:50]!r} is not supported: send the body uncompressed",
                {"Accept-Encoding": "identity"},
            )
        length = first_header(request.scope, b"content-length", "0")
        if length.isdigit() and int(length) > limits.bytes:
            raise _too_large(limits.bytes, f"the body has {int(length):,} bytes")
        self._request = request
        self._limits = limits
        self._received = 0
        self._waited = 0.0

    async def receive(self) -> Message:
        """Return the next part of the body, as an ASGI message.

        Raises
        ------
        Problem
            408 if the client is too slow, 413 if the body is too large.
        ClientDisconnect
            If the client has left: nobody waits for an answer.
        """
        limits = self._limits
        slowest = limits.grace_seconds + self._received / limits.bytes_per_second
        start = time.monotonic()
        try:
            seconds = min(limits.seconds, slowest) - self._waited
            message = await within(seconds, self._request.receive())
        except TimeoutError:
            raise Problem(
                408,
                "slow-body",
                f"only {self._received:,} bytes of the body arrived in time; send it within "
                f"{limits.seconds:g} seconds, with at least {limits.bytes_per_second:g} bytes per "
                f"second after the first {limits.grace_seconds:g} seconds",
                {"Connection": "close"},
            ) from None
        self._waited += time.monotonic() - start
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        self._received += len(message.get("body", b""))
        if self._received > limits.bytes:
            raise _too_large(limits.bytes, f"more than {limits.bytes:,} bytes of it have arrived")
        return message

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body."""
        more = True
        while more:
            message = await self.receive()
            more = message.get("more_body", False)
            yield message.get("body", b"")


def _too_large(limit: int, size: str) -> Problem:
    return Problem(
        413,
        "body-too-large",
        f"the body is too large: {size}, and at most {limit:,} are allowed",
        {"Connection": "close"},
        limit=limit,
    )


def limited_request(request: Request, limits: BodyLimits) -> Request:
    """Return a request whose body is limited, whoever reads it: for forms with files.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read.
    limits : BodyLimits
        The limits.
    """
    return Request(request.scope, LimitedBody(request, limits).receive)


async def read_body(request: Request, limits: BodyLimits) -> bytes:
    """Return the whole body of a request: see `LimitedBody` for the errors.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read.
    limits : BodyLimits
        The limits.
    """
    body = LimitedBody(request, limits)
    message = await body.receive()
    parts = [message.get("body", b"")]
    if message.get("more_body", False):
        parts += [chunk async for chunk in body.chunks()]
    return b"".join(parts)


async def read_lines(
    request: Request, limits: BodyLimits
) -> AsyncIterator[tuple[int, bytes | Problem]]:
    """Yield the lines of a body while it arrives, each with its number, without line ends.

    Lines without content are left out, but counted. In place of a line that is too long comes a
    problem, and the next lines follow. See `LimitedBody` for the errors, which end the iteration.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read.
    limits : BodyLimits
        The limits.
    """
    async for found in divided_lines(LimitedBody(request, limits).chunks(), limits.line_bytes):
        yield found


async def divided_lines(
    chunks: AsyncIterator[bytes], line_bytes: int
) -> AsyncIterator[tuple[int, bytes | Problem]]:
    """Yield the lines of a text that comes in pieces, as `read_lines` does.

    Parameters
    ----------
    chunks : iterator of bytes
        The pieces.
    line_bytes : int
        The largest size of a line.
    """
    number = 1
    begun = bytearray()  # of the present line, at most one byte more than allowed
    async for chunk in chunks:
        *ended, last = chunk.split(b"\n")
        for part in ended:
            line = bytes(begun) + part if begun else part
            begun.clear()
            if line.strip():
                yield number, _checked(line, number, line_bytes)
            number += 1
        begun += last[: line_bytes + 1 - len(begun)]
    if begun.strip():
        yield number, _checked(bytes(begun), number, line_bytes)


def _checked(line: bytes, number: int, limit: int) -> bytes | Problem:
    if len(line) <= limit:
        return line
    return Problem(
        413,
        "line-too-long",
        f"line {number} is too long: at most {limit:,} bytes are allowed",
        limit=limit,
    )
