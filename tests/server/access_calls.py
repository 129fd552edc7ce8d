"""Calls of an ASGI application with requests as they arrive, byte for byte."""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass
class Answer:
    """A response, and the state that the application saw; None if it was not reached."""

    status: int
    headers: dict[str, str]
    body: bytes
    seen: dict[str, Any] | None


@dataclass
class Inner:
    """The application within: it accepts everything, and notes the state of the last request."""

    seen: dict[str, Any] | None = None
    types: list[str] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.types.append(scope["type"])
        if scope["type"] == "http":
            self.seen = scope["state"]
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"reached"})


def make_scope(request: str, headers: tuple[str, ...]) -> Scope:
    """Return the scope of "GET /path?query", or "GET https:/path", as uvicorn makes it."""
    method, _, target = request.partition(" ")
    scheme = "https" if target.startswith("https:") else "http"
    raw, _, query = target.removeprefix("https:").partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": scheme,
        "path": unquote(raw),
        "raw_path": raw.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode(), value.encode())
            for name, value in (header.split(": ", 1) for header in headers)
        ],
        "client": ("192.0.2.1", 50000),
        "server": ("127.0.0.1", 8420),
    }


def call(app: ASGIApp, request: str, *headers: str, inner: Inner | None = None) -> Answer:
    """Return the answer of an application to a request without a body."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    if inner is not None:
        inner.seen = None
    asyncio.run(app(make_scope(request, headers), receive, send))  # type: ignore[arg-type]
    start = sent[0]
    found = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(start["status"], found, body, inner.seen if inner else None)
