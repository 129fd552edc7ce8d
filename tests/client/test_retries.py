"""Calls that fail in a way that may pass are tried again, and count once."""

import http.client
import threading
from collections.abc import Callable

import pytest

from tagalong.client import Added, Client, ServerError, Unavailable, patience
from tagalong.client.patience import seconds_to_wait
from tests.client.conftest import FakeClock
from tests.client.fake_server import (
    TOKEN,
    FakeServer,
    Fault,
    Reply,
    answers,
    broken_chunks,
    close_after,
    problem,
    reset_after,
    reset_before,
    running,
    says,
    silent,
)
from tests.timeouts import TIMEOUT

LOSSES = [reset_before, reset_after, close_after, broken_chunks]
REFUSALS = [says(status) for status in (429, 502, 503, 504)]


@pytest.mark.parametrize("fault", [*LOSSES, *REFUSALS])
def test_an_answer_counts_once(client: Client, server: FakeServer, fault: Fault) -> None:
    client.add("rent", id="a")
    server.faults.extend([fault, fault])
    client.answer("a", ["home"])
    assert server.answers == [("a", ["home"])]
    tries = [each for each in server.requests if each.path.endswith("/answer")]
    assert len(tries) == 3
    assert len({each.key for each in tries}) == 1
    assert len({each.body for each in tries}) == 1


def test_a_connection_that_is_reset_before_it_is_made_is_made_again(
    client: Client, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, resets = http.client.HTTPConnection.connect, [1, 2]

    def reset_at_first(connection: http.client.HTTPConnection) -> None:
        if resets:
            resets.pop()
            raise ConnectionResetError("Connection reset by peer")
        connect(connection)

    monkeypatch.setattr(http.client.HTTPConnection, "connect", reset_at_first)
    assert client.add("rent", id="a").id == "a"
    assert (len(server.requests), resets) == (1, [])


def test_every_call_has_a_key_of_its_own(client: Client, server: FakeServer) -> None:
    client.add("rent", id="a")
    first, second = client.answer("a", ["home"]), client.answer("a", ["home"])
    assert second == first + 1
    assert len({each.key for each in server.requests}) == 3


@pytest.mark.parametrize("fault", [*LOSSES, *REFUSALS])
def test_a_batch_that_is_sent_again_adds_no_item_twice(
    client: Client, server: FakeServer, fault: Fault
) -> None:
    server.faults.append(fault)
    found = list(client.add_many(["one", "two", "three"]))
    assert [each["text"] for each in server.items.values()] == ["one", "two", "three"]
    assert [each.id for each in found if isinstance(each, Added)] == list(server.items)


def test_a_line_that_could_not_be_stored_is_sent_again(client: Client, server: FakeServer) -> None:
    busy = problem(503, "not-stored", "nothing was stored: the disk is full").value
    lost = Reply(200, b'{"line": 1, "problem": %s}\n' % Reply(value=busy).body)
    lost.media = "application/x-ndjson"
    server.faults.append(answers(lost))
    (added,) = client.add_many(["one"])
    assert isinstance(added, Added)
    assert len(server.requests) == 2


def test_a_silent_server_is_asked_again(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "SHARE_OF_ONE_TRY", 0.2 / TIMEOUT)
    with Client(server.url, TOKEN, timeout=TIMEOUT) as client:
        client.add("rent", id="a")
        server.faults.append(silent)
        client.answer("a", ["home"])
    assert server.answers == [("a", ["home"])]


def test_the_server_says_how_long_to_wait(
    client: Client, server: FakeServer, clock: FakeClock
) -> None:
    server.faults.extend([says(503, Retry_After="7"), says(429, Retry_After="11")])
    client.suggest("rent")
    assert clock.slept == [7.0, 11.0]


def test_waits_grow(client: Client, server: FakeServer, clock: FakeClock) -> None:
    server.faults.extend([says(503)] * 9)
    client.suggest("rent")
    assert clock.slept == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]


def test_waits_are_jittered(server: FakeServer, clock: FakeClock) -> None:
    timing = patience.Timing(clock.timing.clock, clock.sleep, jitter=lambda: 0.0)
    with Client(server.url, TOKEN, timing=timing) as client:
        server.faults.extend([says(503)] * 2)
        client.suggest("rent")
    assert clock.slept == [0.05, 0.1]


def test_the_time_of_a_call_ends(client: Client, server: FakeServer, clock: FakeClock) -> None:
    server.faults.extend([says(503, "overloaded")] * 1000)
    with pytest.raises(Unavailable) as caught:
        client.suggest("rent")
    assert 55 < sum(clock.slept) <= 60
    assert (caught.value.status, caught.value.kind) == (503, "overloaded")


def test_no_wait_beyond_the_time_of_the_call(
    client: Client, server: FakeServer, clock: FakeClock
) -> None:
    server.faults.append(says(503, Retry_After="3600"))
    with pytest.raises(Unavailable):
        client.suggest("rent")
    assert clock.slept == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 500, 501])
def test_other_failures_are_final(
    client: Client, server: FakeServer, clock: FakeClock, status: int
) -> None:
    server.faults.append(says(status))
    with pytest.raises(ServerError) as caught:
        client.suggest("rent")
    assert caught.value.status == status
    assert len(server.requests) == 1
    assert clock.slept == []


def test_nobody_listens(clock: FakeClock) -> None:
    with running() as server:
        url = server.url
    waits: list[tuple[str, float]] = []
    with (
        Client(
            url, TOKEN, timing=clock.timing, on_wait=lambda *w: waits.append((w[0].kind, w[1]))
        ) as client,
        pytest.raises(Unavailable, match="connection refused") as caught,
    ):
        client.suggest("rent")
    assert url in str(caught.value)
    assert caught.value.status is None
    assert waits[0] == ("lost", 0.1)
    assert [wait for _, wait in waits] == clock.slept


def test_a_connection_is_used_again(client: Client, server: FakeServer) -> None:
    for _ in range(3):
        client.suggest("rent")
    assert len({each.connection for each in server.requests}) == 1


def test_a_connection_that_the_server_has_closed(
    client: Client, server: FakeServer, clock: FakeClock
) -> None:
    def close(handler: object, reply: Callable[[], Reply]) -> None:
        handler.send(reply())  # type: ignore[attr-defined]
        handler.close_connection = True  # type: ignore[attr-defined]

    server.faults.extend([close, close])
    for _ in range(3):
        client.suggest("rent")
    assert len(server.requests) == 3
    assert clock.slept == []


def test_a_reset_of_an_idle_connection_needs_no_wait(
    client: Client, server: FakeServer, clock: FakeClock
) -> None:
    client.suggest("rent")
    server.faults.append(reset_before)
    client.suggest("rent")
    assert clock.slept == []


def test_many_suggestions_use_few_connections(server: FakeServer) -> None:
    with Client(server.url, TOKEN, connections=3) as client:
        for _ in range(2):
            assert len(client.suggest_many(["a", "b", "c"] * 10)) == 30
    assert len(server.requests) == 60
    assert len({each.connection for each in server.requests}) <= 3


def test_threads_share_a_client(server: FakeServer) -> None:
    with Client(server.url, TOKEN) as client:
        client.add("rent", id="a")
        server.faults.extend([reset_after, reset_before, says(503), close_after] * 4)
        threads = [
            threading.Thread(target=lambda: [client.answer("a", [str(n)]) for n in range(10)])
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
    assert len(server.answers) == 80


def test_a_closed_client(client: Client) -> None:
    client.suggest("rent")
    client.close()
    with pytest.raises(ValueError, match="the client is closed"):
        client.suggest("rent")


@pytest.mark.parametrize(
    "header, seconds",
    [(None, 0), ("", 0), ("5", 5), (" 12 ", 12), ("-3", 0), ("soon", 0), ("1.5", 0), ("٣", 0)],
)
def test_header_with_seconds(header: str | None, seconds: float) -> None:
    assert seconds_to_wait(header) == seconds


def test_header_with_a_date() -> None:
    assert seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert seconds_to_wait("Fri, 21 Oct 9998 07:28:00 GMT") > 1e9
