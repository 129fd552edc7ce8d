"""Limits on connections and heads of requests, against a real server."""

import asyncio
import selectors
import threading
from contextlib import suppress

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tagalong.server.http.connections import ConnectionLimits, limited_protocol
from tagalong.server.http.metrics import Metrics
from tagalong.server.http.request_metrics import RequestMetrics
from tests.server.live_server import PARSERS, live, wait_until
from tests.timeouts import TIMEOUT

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
LONG = 60.0  # seconds; a limit that no test reaches
pytestmark = pytest.mark.parametrize("parser", PARSERS)


async def say_path(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the path, without reading the body."""
    await PlainTextResponse(scope["path"])(scope, receive, send)


class Gate:
    """An application whose requests wait until the gate is opened."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.waiting = threading.Semaphore(0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.waiting.release()
        await asyncio.to_thread(self.open.wait, TIMEOUT)
        await say_path(scope, receive, send)


def test_a_slow_head_is_refused(parser):
    with live(say_path, parser, head_seconds=0.05) as server:
        client = server.connect()
        client.send(GET)  # the empty line is missing
        answer = client.answer()
        assert (answer.status, answer.kind) == (408, "slow-head")
        assert "0.05 seconds" in answer.json["detail"]
        assert answer.headers["connection"] == "close"
        assert client.ended()
        assert server.rejected("head-time")


def test_a_head_that_trickles_gets_no_more_time(parser):
    with live(say_path, parser, head_seconds=0.1) as server:
        client = server.connect()
        client.send(GET + b"X: ")
        with selectors.DefaultSelector() as answers:
            answers.register(client.socket, selectors.EVENT_READ)
            while not answers.select(0.005):
                client.send(b"x")
        assert client.answer().status == 408


def test_the_second_head_on_a_connection_must_be_quick_too(parser):
    with live(say_path, parser, head_seconds=0.1) as server:
        client = server.connect()
        assert client.get("/a").body == b"/a"
        client.send(b"GET")
        assert client.answer().kind == "slow-head"
        assert client.ended()


def test_one_timer_serves_the_heads_of_a_connection(parser, monkeypatch):
    made = []
    call_at = asyncio.BaseEventLoop.call_at

    def counted(loop, when, callback, *args, **options):
        made.append(getattr(callback, "__name__", ""))
        return call_at(loop, when, callback, *args, **options)

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_at", counted)
    with live(say_path, parser, head_seconds=LONG) as server:
        client = server.connect()
        for _ in range(10):
            client.get()
    assert made.count("_on_head_timer") == 1


def test_a_connection_that_sends_nothing_is_closed_without_an_answer(parser):
    with live(say_path, parser, head_seconds=0.05) as server:
        assert server.connect().ended()


def test_a_request_at_work_has_no_limit_on_the_time_of_its_head(parser):
    gate = Gate()
    with live(gate, parser, head_seconds=0.05) as server:
        client = server.connect()
        client.send(GET + b"\r\n")
        assert gate.waiting.acquire(timeout=TIMEOUT)
        late = server.connect()  # its limit ends after that of the first would have
        assert late.ended()
        gate.open.set()
        assert client.answer().status == 200


@pytest.mark.parametrize("pieces", [1, 50])
def test_a_large_head_is_refused(parser, pieces):
    with live(say_path, parser, head_bytes=1000) as server:
        client = server.connect()
        head = GET + b"X: " + b"x" * 5000 + b"\r\n\r\n"
        size = -(-len(head) // pieces)
        for start in range(0, len(head), size):
            client.send(head[start : start + size])
        answer = client.answer()
        assert (answer.status, answer.kind, answer.json["limit"]) == (431, "head-too-large", 1000)
        assert client.ended()
        assert server.rejected("head-size")


def test_the_limit_on_heads_is_exact_and_holds_for_every_request(parser):
    def head(size: int) -> bytes:
        return GET + b"X: " + b"x" * (size - len(GET) - 7) + b"\r\n\r\n"

    assert len(head(1000)) == 1000
    with live(say_path, parser, head_bytes=1000) as server:
        client = server.connect()
        for _ in range(3):
            client.send(head(1000))
            assert client.answer().status == 200
        client.send(head(1001))
        assert client.answer().status == 431


def test_a_body_may_be_larger_than_a_head(parser):
    async def count(scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        await PlainTextResponse(str(len(body)))(scope, receive, send)

    with live(count, parser, head_bytes=1000) as server:
        client = server.connect()
        for _ in range(2):
            client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n")
            client.send(b"x" * 300_000)
            assert client.answer().body == b"300000"


def test_too_many_connections_are_refused_and_counted(parser):
    with live(say_path, parser, connections=2) as server:
        first, second = server.connect(), server.connect()
        assert first.get().status == second.get().status == 200
        third = server.connect()
        third.send(GET + b"\r\n")
        answer = third.answer()
        assert (answer.status, answer.kind) == (503, "too-many-connections")
        assert int(answer.headers["retry-after"]) > 0
        assert third.ended()
        assert server.rejected("connections")
        assert first.get().status == 200  # open connections go on
        second.close()
        third.close()
        wait_until(lambda: server.requests.connections == 1)
        assert "tagalong_connections 1\n" in server.metrics.render()
        assert server.connect().get().status == 200


def test_pipelined_requests_are_answered_in_order(parser):
    with live(say_path, parser) as server:
        client = server.connect()
        paths = ["/a", "/b", "/c", "/d"]
        client.send(b"".join(f"GET {p} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for p in paths))
        assert [client.answer().body.decode() for _ in paths] == paths


def test_requests_sent_in_advance_are_bounded(parser):
    gate = Gate()
    with live(gate, parser, head_bytes=1000) as server:
        client = server.connect()
        client.send(GET + b"\r\n")
        assert gate.waiting.acquire(timeout=TIMEOUT)
        client.send(GET + b"X: " + b"x" * 3000)
        assert client.ended()  # without an answer, which would be that of the first request
        gate.open.set()


def test_an_idle_connection_is_closed(parser):
    with live(say_path, parser, keep_alive_seconds=0.05, head_seconds=LONG) as server:
        client = server.connect()
        assert client.get().status == 200
        assert client.ended()


@pytest.mark.parametrize(
    "data", [b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET / HTTP/1.1\r\nbad\r\n\r\n"]
)
def test_bytes_that_are_no_http_are_refused(parser, data):
    with live(say_path, parser) as server:
        client = server.connect()
        client.send(data)
        answer = client.answer()
        assert (answer.status, answer.kind) == (400, "malformed-request")
        assert client.ended()


def test_a_connection_is_used_again_although_nobody_has_read_the_body(parser):
    with live(say_path, parser, head_bytes=1000) as server:
        client = server.connect()
        client.send(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n")
        assert client.answer().body == b"/a"
        client.send(b"x" * 200_000)
        assert client.get("/b").body == b"/b"


def test_a_body_that_nobody_reads_has_an_end(parser):
    with live(say_path, parser, head_bytes=1000, head_seconds=LONG) as server:
        client = server.connect()
        client.send(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
        assert client.answer().body == b"/a"
        with suppress(ConnectionError):
            client.send(b"x" * 3_000_000)
        wait_until(lambda: server.rejected("head-size"))
        assert client.ended()  # without a second answer


def test_a_client_that_sends_everything_first_can_read_the_answer(parser):
    """Without a lingering close the kernel resets the connection, and the answer is lost."""

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"Connection": "close"}
        await PlainTextResponse("no", 413, headers)(scope, receive, send)

    with live(refuse, parser, linger_seconds=LONG) as server:
        client = server.connect()
        size = 20_000_000
        client.send(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode())
        client.send(b"x" * size)
        answer = client.answer()
        assert (answer.status, answer.body) == (413, b"no")
        client.close()
        wait_until(lambda: server.requests.connections == 0)


def test_a_client_that_reads_nothing_is_dropped(parser):
    ended = threading.Event()

    async def stream_much(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        message = {"type": "http.response.body", "body": b"x" * 100_000, "more_body": True}
        while server.requests.connections:
            await send(message)
        ended.set()

    with live(stream_much, parser, stuck_seconds=0.1) as server:
        client = server.connect()
        client.send(GET + b"\r\n")
        assert ended.wait(TIMEOUT)


def test_a_client_that_leaves_in_the_middle_of_its_body_is_noticed(parser):
    left = threading.Event()
    begun = threading.Event()

    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        try:
            await Request(scope, receive).body()
        except ClientDisconnect:
            left.set()

    with live(read, parser) as server:
        client = server.connect()
        client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        assert begun.wait(TIMEOUT)
        client.close()
        assert left.wait(TIMEOUT)
        wait_until(lambda: server.requests.connections == 0)


def test_an_upgrade_is_not_taken(parser):
    with live(say_path, parser) as server:
        client = server.connect()
        client.send(GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert client.answer().status == 200


def test_garbage_in_a_body_ends_the_request(parser):
    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()

    with live(read, parser) as server:
        client = server.connect()
        client.send(
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n"
        )
        assert client.answer().kind == "malformed-request"
        assert client.ended()


def test_the_parser_is_that_which_is_asked_for(parser):
    made = limited_protocol(ConnectionLimits(), RequestMetrics(Metrics()), parser)
    assert parser in made.__mro__[2].__module__
