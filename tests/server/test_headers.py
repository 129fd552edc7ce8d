"""Tests of the headers that all responses have."""

import asyncio

from starlette.responses import PlainTextResponse

from tagalong.server.access.headers import HEADERS, SecurityHeaders
from tests.server.access_calls import Inner, call


def test_every_response_has_the_headers() -> None:
    answer = call(SecurityHeaders(PlainTextResponse("x", 404)), "GET /", "Host: localhost")
    assert answer.status == 404
    assert {
        name.lower(): value for name, value in HEADERS.items()
    }.items() <= answer.headers.items()
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-length"] == "1"


def test_the_policy_allows_no_inline_script_and_no_other_site() -> None:
    policy = dict(part.split(" ", 1) for part in HEADERS["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert not [value for value in policy.values() if "unsafe" in value or "*" in value]


def test_a_response_keeps_its_own() -> None:
    inner = PlainTextResponse("x", 200, {"Cache-Control": "max-age=60", "X-Other": "1"})
    answer = call(SecurityHeaders(inner), "GET /", "Host: localhost")
    assert answer.headers["cache-control"] == "max-age=60"
    assert answer.headers["x-other"] == "1"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_header_is_doubled() -> None:
    sent = []

    async def inner(scope, receive, send):
        headers = [
            (b"Referrer-Policy", b"same-origin"),
            (b"set-cookie", b"a"),
            (b"set-cookie", b"b"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def send(message):
        sent.extend(message["headers"])

    asyncio.run(SecurityHeaders(inner)({"type": "http"}, None, send))  # type: ignore[arg-type]
    names = [name.lower() for name, _ in sent]
    assert names.count(b"referrer-policy") == 1
    assert names.count(b"set-cookie") == 2
    assert len(names) == len(HEADERS) + 2


def test_other_scopes_pass() -> None:
    inner = Inner()
    asyncio.run(SecurityHeaders(inner)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert inner.types == ["lifespan"]
