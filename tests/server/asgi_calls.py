"""Requests to an ASGI application without a server."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Scope


def make_scope(
    method: str = "GET", path: str = "/", headers: Sequence[tuple[str, str]] = ()
) -> Scope:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
        "client": ("192.0.2.7", 1234),
    }


@dataclass
class Exchange:
    """The messages of one request and its answer."""

    scope: Scope
    incoming: list[Message] = field(default_factory=lambda: [{"type": "http.request"}])
    sent: list[Message] = field(default_factory=list)

    async def receive(self) -> Message:
        await asyncio.sleep(0)  # as a server does, so that a time limit can take effect
        return self.incoming.pop(0)

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    async def run(self, app: ASGIApp) -> "Exchange":
        await app(self.scope, self.receive, self.send)
        return self

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])


def request_of(chunks: Sequence[bytes], headers: Sequence[tuple[str, str]] = ()) -> Request:
    """Return a request whose body arrives in pieces; then the client is gone."""
    incoming: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": number < len(chunks)}
        for number, chunk in enumerate(chunks, 1)
    ]
    incoming.append({"type": "http.disconnect"})
    exchange = Exchange(make_scope("POST", headers=headers), incoming)
    return Request(exchange.scope, exchange.receive)
