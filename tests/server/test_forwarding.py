"""Tests of requests that are passed on to the server that holds their workspace."""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tagalong.files.lock import BusyError
from tagalong.journal import JournalError, Workspace
from tagalong.server.api.forwarding import PASSED_ON, Holder
from tagalong.server.directories import FolderDirectory
from tests.server.api_server import Api, serving
from tests.timeouts import TIMEOUT


class HeldElsewhere(FolderDirectory):
    """A directory whose workspaces another server holds."""

    is_shared = True
    address = ""

    def open(self, name: str, on_problem: Callable[[JournalError], None]) -> Workspace:
        error = BusyError(self.path(name), None, 0.0, "workspace")
        error.address = self.address
        raise error

    def names(self) -> list[str]:
        return ["default"]


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Api]:
    """The server that holds the workspace."""
    with serving(tmp_path) as api:
        yield api


@pytest.fixture
def other(tmp_path: Path, holder: Api) -> Iterator[Api]:
    """A server with the same tokens that passes requests on."""
    directory = HeldElsewhere(tmp_path)
    directory.address = holder.url
    with serving(tmp_path, directory) as api:
        yield api


def test_every_kind_of_request_reaches_the_holder(holder: Api, other: Api) -> None:
    added = other.post("items", {"id": "a/ä ?", "text": "Your invoice is due"})
    assert added.status == 201
    seq = other.answer("a/ä ?", ["money"])
    assert holder.get("items/a%2F%C3%A4%20%3F").json["labels"] == ["money"]
    assert other.get("items/a%2F%C3%A4%20%3F").json == holder.get("items/a%2F%C3%A4%20%3F").json
    assert other.get("items?state=answered&limit=1").json["items"][0]["id"] == "a/ä ?"
    assert other.patch("labels/money", {"name": "bills"}).status == 200
    lines = b"".join(json.dumps({"text": f"word{i}"}).encode() + b"\n" for i in range(1000))
    batch = other.post("items:batch", lines, media="application/x-ndjson")
    assert len(batch.body.splitlines()) == 1000
    assert other.delete("items/a%2F%C3%A4%20%3F").status == 202
    assert holder.get("items/a%2F%C3%A4%20%3F").status == 404
    assert other.post("undo", {"seq": seq}).status == 409
    assert other.get("model").json == holder.get("model").json


def test_an_idempotency_key_counts_on_both_servers(holder: Api, other: Api) -> None:
    for api in (holder, other, other):
        found = api.post("items", {"text": "once"}, headers={"Idempotency-Key": "k"})
        assert found.json["seq"] == 2
    assert holder.get("model").json["seq"] == 2


def test_problems_come_back_as_they_are(other: Api) -> None:
    assert other.get("items/none").kind == "not-found"
    assert other.post("items", {"text": 1}).status == 422


def test_a_stream_of_events_comes_through(holder: Api, other: Api) -> None:
    parts = urlsplit(other.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT)
    headers = {"Authorization": f"Bearer {other.token}", "Last-Event-ID": "1"}
    connection.request("GET", "/api/v1/workspaces/default/events", headers=headers)
    stream = connection.getresponse()
    assert stream.headers.get_all("content-type") == ["text/event-stream; charset=utf-8"]
    assert len(stream.headers.get_all("content-security-policy") or ()) == 1
    assert stream.readline() == b"retry: 1000\n"
    holder.add("Your invoice is due", ["money"])  # while somebody watches
    assert [stream.readline() for _ in range(3)][1:] == [b"id: 2\n", b"event: item\n"]
    connection.close()


def test_an_unknown_token_goes_no_further(holder: Api, other: Api) -> None:
    other.token = "x" * 43
    assert other.get("model").status == 401


def test_a_request_is_passed_on_once(other: Api) -> None:
    found = other.get("model", headers={PASSED_ON: "1"})
    assert (found.status, found.kind) == (503, "held-elsewhere")
    assert found.headers["retry-after"] == "1"


def test_a_holder_that_cannot_be_reached(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens there
        directory = HeldElsewhere(tmp_path)
        directory.address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with serving(tmp_path, directory) as api:
            found = api.get("model")
            assert (found.status, found.kind) == (503, "held-elsewhere")
            assert "cannot be reached" in found.json["detail"]


def test_a_holder_that_loses_the_workspace_before_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.server.api.forwarding.SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr("tagalong.server.workspaces.SECONDS_TO_REMEMBER_A_HOLDER", 0.0)
    tries: list[str] = []

    class Lost(HeldElsewhere):
        def open(self, name: str, on_problem: Callable[[JournalError], None]) -> Workspace:
            tries.append(name)
            if len(tries) < 5:
                return super().open(name, on_problem)
            return FolderDirectory.open(self, name, on_problem)

    with socket.create_server(("127.0.0.1", 0)) as silent:  # it accepts, and never answers
        directory = Lost(tmp_path)
        directory.address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with serving(tmp_path, directory) as api:
            found = api.get("model")
            assert (found.status, found.kind) == (503, "held-elsewhere")
            assert "has not answered" in found.json["detail"]
            assert found.headers["retry-after"] == "1"
            assert api.get("model").status == 200  # this server has the workspace now


@pytest.mark.parametrize(
    "address",
    ["ftp://a", "a:80", "http://", "http://a/b", "http://u@a", "http://a:x", "http://a?q=1"],
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ValueError):
        Holder.checked(address)
