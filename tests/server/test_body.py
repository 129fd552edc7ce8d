"""Bodies of requests: limits on size and time, lines, clients that leave."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from tagalong.server.http.access_log import AccessLog
from tagalong.server.http.body import BodyLimits, limited_request, read_body, read_lines
from tagalong.server.http.metrics import Metrics
from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.problems import Problem
from tests.server.asgi_calls import make_scope, request_of
from tests.server.live_server import PARSERS, live
from tests.timeouts import TIMEOUT


def body_of(request: Request, **limits: Any) -> bytes:
    return asyncio.run(read_body(request, BodyLimits(**{"bytes": 100, **limits})))


def lines_of(request: Request, **limits: Any) -> list[tuple[int, bytes | str]]:
    async def read() -> list[tuple[int, bytes | str]]:
        lines = read_lines(request, BodyLimits(**{"bytes": 1000, "line_bytes": 10, **limits}))
        return [(n, line.kind if isinstance(line, Problem) else line) async for n, line in lines]

    return asyncio.run(read())


def test_a_body_is_read_whole():
    assert body_of(request_of([b"a", b"", b"bc"])) == b"abc"
    assert body_of(request_of([b""])) == b""
    assert body_of(request_of([b"x" * 60, b"x" * 40])) == b"x" * 100


def test_a_body_above_the_limit_is_refused_while_it_arrives():
    request = request_of([b"x" * 60, b"x" * 41, b"never read"])
    with pytest.raises(Problem) as caught:
        body_of(request)
    problem = caught.value
    assert (problem.status, problem.kind, problem.facts) == (413, "body-too-large", {"limit": 100})
    assert "at most 100 are allowed" in problem.detail
    assert problem.headers == {"Connection": "close"}


def test_a_size_above_the_limit_is_refused_before_anything_is_read():
    request = request_of([b"x"], [("Content-Length", "1000000")])
    with pytest.raises(Problem, match="the body has 1,000,000 bytes, and at most 100") as caught:
        body_of(request)
    assert caught.value.status == 413
    assert body_of(request_of([b"x"], [("Content-Length", "100")])) == b"x"


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip", "ünknown"])
def test_a_compressed_body_is_refused(encoding):
    request = request_of([b"x"], [("Content-Encoding", encoding)])
    with pytest.raises(Problem, match="send the body uncompressed") as caught:
        body_of(request)
    assert caught.value.status == 415
    assert body_of(request_of([b"x"], [("Content-Encoding", " Identity")])) == b"x"


def test_a_client_that_leaves_is_noticed():
    async def read() -> None:
        request = request_of([b"x"])
        await request.receive()  # the next message says that the client is gone
        await read_body(request, BodyLimits(bytes=100))

    with pytest.raises(ClientDisconnect):
        asyncio.run(read())


def silent_after(*chunks: bytes) -> Request:
    """Return a request whose body stops to arrive after some parts of it."""
    parts = list(chunks)

    async def receive() -> Message:
        if parts:
            return {"type": "http.request", "body": parts.pop(0), "more_body": True}
        return await asyncio.get_running_loop().create_future()

    return Request(make_scope("POST"), receive)


@pytest.mark.parametrize(
    "limits",
    [
        {"seconds": 0.02},
        {"grace_seconds": 0.02, "bytes_per_second": 1e9},
    ],
)
def test_a_body_that_stops_is_refused(limits):
    with pytest.raises(Problem, match="only 3 bytes of the body arrived in time") as caught:
        body_of(silent_after(b"abc"), **limits)
    assert (caught.value.status, caught.value.kind) == (408, "slow-body")
    assert caught.value.headers == {"Connection": "close"}


def test_every_part_that_arrives_gives_more_time():
    parts = [b"abc", b"d"]

    async def receive() -> Message:
        if len(parts) == 1:
            await asyncio.sleep(0.03)  # three times what a body may take of which nothing arrives
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    request = Request(make_scope("POST"), receive)
    limits = {"seconds": TIMEOUT, "grace_seconds": 0.01, "bytes_per_second": 3 / TIMEOUT}
    assert body_of(request, **limits) == b"abcd"


def test_the_time_of_the_server_does_not_count():
    async def read() -> list[bytes]:
        limits = BodyLimits(bytes=100, seconds=0.05)
        found = []
        async for _, line in read_lines(request_of([b"a\n", b"b\n", b"c\n"]), limits):
            assert isinstance(line, bytes)
            found.append(line)
            await asyncio.sleep(0.06)  # longer than the body may take
        return found

    assert asyncio.run(read()) == [b"a", b"b", b"c"]


def test_lines_have_their_numbers():
    request = request_of([b"a\nb", b"c\n\n  \r\nd"])
    assert lines_of(request) == [(1, b"a"), (2, b"bc"), (5, b"d")]
    assert lines_of(request_of([b""])) == []
    assert lines_of(request_of([b"\n", b"\n"])) == []


@given(st.lists(st.binary(max_size=8).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_do_not_depend_on_the_parts_in_which_they_arrive(lines, data):
    body = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5)))
    parts = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    expected = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    assert lines_of(request_of(parts)) == expected


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_line_that_is_too_long_is_named_and_the_next_follow(size):
    body = b"x" * 10 + b"\n" + b"y" * 11 + b"\n" + b"z" * 35 + b"\nend\n" + b"w" * 11
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    assert lines_of(request_of(parts)) == [
        (1, b"x" * 10),
        (2, "line-too-long"),
        (3, "line-too-long"),
        (4, b"end"),
        (5, "line-too-long"),
    ]


def test_lines_come_before_the_body_is_complete():
    async def read() -> None:
        lines = read_lines(silent_after(b"a\nb"), BodyLimits(bytes=100, seconds=0.05))
        assert await anext(lines) == (1, b"a")
        with pytest.raises(Problem, match="only 3 bytes"):
            await anext(lines)

    asyncio.run(read())


def test_all_lines_together_have_a_limit():
    async def read() -> None:
        lines = read_lines(request_of([b"a\n", b"b" * 100]), BodyLimits(bytes=50))
        assert await anext(lines) == (1, b"a")
        with pytest.raises(Problem, match="at most 50"):
            await anext(lines)

    asyncio.run(read())


def test_a_form_has_limits_too():
    boundary = [("Content-Type", "multipart/form-data; boundary=b")]
    form = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nvalue\r\n--b--\r\n'

    async def read(limit: int) -> dict[str, Any]:
        request = limited_request(request_of([form[:20], form[20:]], boundary), BodyLimits(limit))
        return dict(await request.form())

    assert asyncio.run(read(len(form))) == {"a": "value"}
    with pytest.raises(Problem, match="too large"):
        asyncio.run(read(len(form) - 1))


class Reader:
    """An application that reads a body and answers with its size."""

    def __init__(self, **limits: Any):
        self.limits = BodyLimits(**limits)
        self.metrics = RequestMetrics(Metrics())
        self.begun = threading.Event()
        self.failed = threading.Event()
        self.app = AccessLog(self.read, lambda line: None, self.metrics)

    async def read(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun.set()
        try:
            body = await read_body(Request(scope, receive), self.limits)
        except ClientDisconnect:
            self.failed.set()
            raise
        await JSONResponse(len(body))(scope, receive, send)


@pytest.mark.parametrize("parser", PARSERS)
def test_a_slow_client_is_answered_and_disconnected(parser):
    reader = Reader(bytes=100, seconds=0.05)
    with live(reader.app, parser, requests=reader.metrics) as server:
        client = server.connect()
        client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
        answer = client.answer()
        assert (answer.status, answer.kind) == (408, "slow-body")
        assert answer.headers["connection"] == "close"
        assert client.ended()


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("head", ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
def test_a_large_body_is_refused_so_that_the_client_can_read_why(parser, head):
    reader = Reader(bytes=1000)
    with live(reader.app, parser, requests=reader.metrics, linger_seconds=TIMEOUT) as server:
        client = server.connect()
        client.send(f"POST / HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode())
        client.send(b"x" * 3_000_000 if "Length" in head else b"100000\r\n" + b"x" * 0x100000)
        answer = client.answer()
        assert (answer.status, answer.kind, answer.json["limit"]) == (413, "body-too-large", 1000)


@pytest.mark.parametrize("parser", PARSERS)
def test_the_connection_is_kept_after_a_body_within_the_limits(parser):
    reader = Reader(bytes=1000)
    with live(reader.app, parser, requests=reader.metrics) as server:
        client = server.connect()
        for _ in range(2):
            client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + b"x" * 1000)
            assert client.answer().json == 1000


@pytest.mark.parametrize("parser", PARSERS)
def test_a_client_that_leaves_causes_no_work(parser):
    reader = Reader(bytes=1000)
    with live(reader.app, parser, requests=reader.metrics) as server:
        client = server.connect()
        client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
        assert reader.begun.wait(TIMEOUT)
        client.close()
        assert reader.failed.wait(TIMEOUT)
