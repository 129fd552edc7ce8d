"""Events over HTTP: as a stream, and as pages."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tagalong.server.api.handlers import events
from tests.server.api_server import Api
from tests.timeouts import TIMEOUT

JSON = {"Accept": "application/json"}


class Stream:
    """An open stream of events."""

    def __init__(self, response: http.client.HTTPResponse):
        self._response = response

    def next(self) -> dict[str, str]:
        """Return the fields of the next message; {"": ...} for a comment."""
        found: dict[str, str] = {}
        while (line := self._response.readline().decode().rstrip("\n")) or not found:
            name, _, value = line.partition(":")
            if line:
                found[name] = value.removeprefix(" ")
        return found

    def rest(self) -> bytes:
        """Wait for the end, and return what came before it."""
        return self._response.read()

    def next_event(self) -> dict[str, Any]:
        """Return the next event or message, with its data."""
        while "data" not in (found := self.next()):
            pass
        return {**found, "data": json.loads(found["data"])}


@contextmanager
def stream(api: Api, query: str = "", **headers: str) -> Iterator[Stream]:
    parts = urlsplit(api.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT)
    sent = {"Authorization": f"Bearer {api.token}", **headers}
    connection.request("GET", f"/api/v1/workspaces/{api.workspace}/events{query}", headers=sent)
    response = connection.getresponse()
    assert response.status == 200
    assert response.getheader("content-type", "").startswith("text/event-stream")
    try:
        yield Stream(response)
    finally:
        response.close()
        connection.close()


def test_a_stream_tells_what_happens(api: Api):
    with stream(api) as events:
        assert events.next() == {"retry": "1000"}
        api.add("pay the invoice", id="a")
        answer = api.answer("a", ["money"])
        first, second = events.next_event(), events.next_event()
    assert (first["id"], first["event"]) == ("2", "item")
    assert (second["id"], second["event"]) == (str(answer), "answer")
    assert second["data"]["seq"] == answer
    assert second["data"]["labels"] == ["money"]
    assert second["data"]["actor"] == "owner"
    assert second["data"]["id"] == "a"


def test_a_stream_begins_after_an_event(api: Api):
    for number in range(5):
        api.add(f"text {number}")
    with stream(api, "?after=3") as events:
        assert [events.next_event()["id"] for _ in range(3)] == ["4", "5", "6"]
    with stream(api, "?after=0") as events:
        assert events.next_event()["event"] == "created"


def test_the_last_event_id_beats_after(api: Api):
    for number in range(5):
        api.add(f"text {number}")
    with stream(api, "?after=1", **{"Last-Event-ID": "4"}) as events:
        assert events.next_event()["id"] == "5"


def test_a_stream_of_one_kind(api: Api):
    api.post("labels", {"name": "x"})
    api.add("text", ["x"])
    with stream(api, "?after=0&type=label-added") as events:
        assert events.next_event()["event"] == "label-added"
        api.add("another")
        api.post("labels", {"name": "y"})
        assert events.next_event()["data"]["name"] == "y"


def test_a_stream_tells_who_looks_at_an_item(api: Api):
    api.add("text", id="a")
    with stream(api) as events:
        events.next()
        api.post("items/a/viewing")
        found = events.next_event()
    assert found["event"] == "viewing"
    assert "id" not in found  # not stored, so that nobody can go on from it
    assert found["data"] == {"id": "a", "viewers": ["owner"]}


def test_a_stream_shows_that_it_is_alive(api: Api, monkeypatch: pytest.MonkeyPatch):
    assert events.SECONDS_BETWEEN_SIGNS_OF_LIFE == 15
    monkeypatch.setattr(events, "SECONDS_BETWEEN_SIGNS_OF_LIFE", 0.01)
    with stream(api) as found:
        found.next()
        assert found.next() == {"": "still here"}
        assert found.next() == {"": "still here"}


def test_texts_with_line_ends_are_one_line_of_a_stream(api: Api):
    api.post("labels", {"name": "a\nid: 99\r\rdata: x\u2028"})
    with stream(api, "?after=1") as events:
        found = events.next_event()
    assert found["id"] == "2"
    assert found["data"]["name"] == "a\nid: 99\r\rdata: x\u2028"


def test_a_stream_of_one_kind_begins_with_what_there_was(api: Api):
    api.add("text", ["x"])
    api.post("labels", {"name": "y"})
    with stream(api, "?type=label-added") as events:
        assert events.next_event()["data"]["name"] == "y"
    with stream(api) as events:  # of everything: what happens from now on
        events.next()
        seq = api.add("another", ["x"])["seq"]
        assert events.next_event()["data"]["seq"] == seq


def test_pages_of_events(api: Api):
    for number in range(5):
        api.add(f"text {number}", ["x"])
    first = api.get("events?limit=4", headers=JSON).json
    assert [event["seq"] for event in first["events"]] == [1, 2, 3, 4]
    rest = api.get(f"events?limit=4&after={first['next']}", headers=JSON).json
    assert [event["seq"] for event in rest["events"]] == [5, 6]
    assert rest["next"] is None
    event = rest["events"][0]
    assert (event["kind"], event["labels"], event["actor"]) == ("item", ["x"], "owner")
    assert event["time"].endswith("Z") or event["time"].endswith("+00:00")


def test_an_event_that_was_undone_says_so(api: Api):
    seq = api.add("text", ["x"])["seq"]
    api.post("undo", {"seq": seq})
    listed = api.get("events?after=1", headers=JSON).json["events"]
    assert [event["undone"] for event in listed] == [True, False]


def test_events_never_have_the_content_of_items(api: Api):
    api.add("the secret", ["x"], title="a secret title", source="secret")
    assert b"secret" not in api.get("events", headers=JSON).body


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "", "9" * 30, "²"])
def test_wrong_numbers_of_events(shared: Api, last: str):
    refused = shared.get(
        "events", headers={**JSON, "Last-Event-ID": last.encode().decode("latin-1")}
    )
    assert (refused.status, refused.json["place"]) == (422, "Last-Event-ID")


@pytest.mark.parametrize("query", ["type=none", "after=-1", "after=x", "limit=0", "since=1"])
def test_wrong_parameters_of_events(shared: Api, query: str):
    assert shared.get(f"events?{query}", headers=JSON).status == 422


def test_a_stream_ends_with_its_workspace(api: Api):
    with stream(api) as events:
        events.next()
        assert api.delete(f"/api/v1/workspaces/{api.workspace}").status == 204
        assert events.rest() == b""
