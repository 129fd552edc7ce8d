"""Events are read as they happen, and go on after a lost connection."""

import threading
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from tagalong.client import Client, NotFound, ServerError, Unavailable
from tagalong.client.event_stream import Message, messages
from tests.client.conftest import FakeClock
from tests.client.fake_server import TOKEN, FakeServer, Fault, Handler, Reply, problem, says
from tests.timeouts import TIMEOUT


def event(seq: int, kind: str = "answer") -> bytes:
    return b'id: %d\nevent: %s\ndata: {"seq":%d,"kind":"%s"}\n\n' % (
        seq,
        kind.encode(),
        seq,
        kind.encode(),
    )


def streams(*pieces: bytes, waits: bool = False) -> Fault:
    """Return a fault that sends pieces of a stream, and ends it, or waits for the end of all."""

    def fault(handler: Handler, reply: Callable[[], Reply]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if waits:
            handler.server.ended.wait()
        handler.close_connection = True

    return fault


def test_events_go_on_after_a_lost_connection(
    client: Client, server: FakeServer, clock: FakeClock
) -> None:
    server.faults.extend(
        [
            streams(b"retry: 1000\n\n", event(3), event(4)[:9]),
            says(503),
            streams(event(4), event(5), waits=True),
        ]
    )
    found = list(islice(client.events(after=2), 3))
    assert [(each.kind, each.seq) for each in found] == [
        ("answer", 3),
        ("answer", 4),
        ("answer", 5),
    ]
    assert found[0].values == {"seq": 3, "kind": "answer"}
    assert [each.headers["last-event-id"] for each in server.requests] == ["2", "3", "3"]
    assert all(each.headers["accept"] == "text/event-stream" for each in server.requests)
    assert clock.slept


def test_the_first_event_is_the_next_one(client: Client, server: FakeServer) -> None:
    server.replies[""] = lambda request: Reply(200, {"seq": 41})
    server.faults.extend([_pass, streams(event(42), waits=True)])
    (found,) = islice(client.events(), 1)
    assert found.seq == 42
    assert server.requests[1].headers["last-event-id"] == "41"


def _pass(handler: Handler, reply: Callable[[], Reply]) -> None:
    handler.send(reply())


def test_kinds(client: Client, server: FakeServer) -> None:
    seen = b'event: viewing\ndata: {"id": "a"}\n\n'
    stream = (seen, event(1, "item"), event(2, "answer"), event(3, "filed"))
    server.faults.extend([streams(*stream, waits=True)] * 3)
    two = list(islice(client.events(0, {"item", "filed"}), 2))
    assert [each.seq for each in two] == [1, 3]
    one = list(islice(client.events(0, "filed"), 1))
    assert [each.seq for each in one] == [3]
    everything = list(islice(client.events(0), 4))
    assert (everything[0].kind, everything[0].seq) == ("viewing", None)
    assert [each.query for each in server.requests] == [{}, {"type": "filed"}, {}]


def test_signs_of_life_renew_the_patience(
    client: Client, server: FakeServer, clock: FakeClock
) -> None:
    """Each stream brings a sign of life, so that lost ones may go on for longer than one call."""
    server.faults.extend([streams(b": still here\n\n")] * 700)
    server.faults.append(streams(event(1), waits=True))
    assert next(client.events(0)).seq == 1
    assert sum(clock.slept) > 60


def test_the_server_stays_away(client: Client, server: FakeServer) -> None:
    server.faults.extend([says(503)] * 1000)
    with pytest.raises(Unavailable):
        next(client.events(0))


def test_there_is_no_such_workspace(client: Client, server: FakeServer) -> None:
    server.replies["/events"] = lambda request: problem(404, "not-found", "there is none")
    with pytest.raises(NotFound):
        next(client.events(0))


@pytest.mark.parametrize("stream", [b"data: {\n\n", b"id: 1\ndata: []\n\n", b"data: \xff\n\n"])
def test_no_stream_of_events(client: Client, server: FakeServer, stream: bytes) -> None:
    server.faults.append(streams(stream, waits=True))
    with pytest.raises(ServerError, match="the stream of events is not valid"):
        next(client.events(0))


def test_closing_the_client_ends_the_stream(server: FakeServer) -> None:
    server.faults.append(streams(event(1), waits=True))
    client = Client(server.url, TOKEN)
    is_reading = threading.Event()
    found: list[int | None] = []

    def read() -> None:
        for each in client.events(0):
            found.append(each.seq)
            is_reading.set()

    thread = threading.Thread(target=read)
    thread.start()
    assert is_reading.wait(TIMEOUT)
    client.close()
    thread.join(TIMEOUT)
    assert not thread.is_alive()
    assert found == [1]


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_messages_in_any_pieces(size: int) -> None:
    data = (
        "id: 7\r\nevent: a\r\ndata: é\r\ndata:  b\r\n\r\n: x\n\ndata\ndata: c\nother: d\n\nid: 8\n"
    )
    found = [each for each in messages(pieces(data.encode(), size)) if each is not None]
    assert found == [
        Message("7", "a", "é\n b", has_id=True),
        Message("7", "message", "\nc", has_id=False),
    ]
