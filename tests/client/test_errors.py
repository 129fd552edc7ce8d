"""Errors say what went wrong, and never show the token."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tagalong.client import (
    Client,
    Conflict,
    NotFound,
    Refused,
    ServerError,
    Unauthorized,
    Unavailable,
)
from tagalong.client import (
    answers as client_answers,
)
from tests.client.conftest import FakeClock
from tests.client.fake_server import (
    TOKEN,
    FakeServer,
    Handler,
    Reply,
    answers,
    problem,
    reset_after,
    running,
)


@pytest.mark.parametrize(
    "status, kind, base",
    [
        (400, Refused, ValueError),
        (401, Unauthorized, ServerError),
        (403, Unauthorized, ServerError),
        (404, NotFound, LookupError),
        (405, Refused, ValueError),
        (409, Conflict, ValueError),
        (413, Refused, ValueError),
        (422, Refused, ValueError),
        (500, ServerError, ServerError),
        (503, Unavailable, ConnectionError),
    ],
)
def test_classes(
    client: Client,
    server: FakeServer,
    status: int,
    kind: type[ServerError],
    base: type[Exception],
) -> None:
    found = problem(status, "some-kind", "some detail", place="/text")
    found.headers["Retry-After"] = "9999"
    server.faults.append(answers(found))
    with pytest.raises(base) as caught:
        client.suggest("rent")
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.kind) == (status, "some-kind")
    assert error.problem == found.value
    url = f"POST {server.url}api/v1/workspaces/default/suggest"
    assert str(error) == f"{url}: some detail ({status})"


def test_a_conflict_has_the_present_answer(client: Client, server: FakeServer) -> None:
    server.replies["/items/a/answer"] = lambda request: problem(
        409, "conflict", "another answer", labels=["x"]
    )
    with pytest.raises(Conflict) as caught:
        client.answer("a", ["y"], was=None)
    assert (caught.value.present, caught.value.seqs) == (["x"], [])
    server.replies["/undo"] = lambda request: problem(409, "conflict", "later", events=[4, 5])
    with pytest.raises(Conflict) as caught:
        client.undo(3)
    assert (caught.value.present, caught.value.seqs) == (None, [4, 5])


def test_messages_are_one_line_without_controls(client: Client, server: FakeServer) -> None:
    server.faults.append(answers(problem(422, "k", "two\nlines \x1b[31m")))
    with pytest.raises(Refused) as caught:
        client.suggest("rent")
    assert str(caught.value).endswith(r"two\nlines \x1b[31m (422)")


@pytest.mark.parametrize(
    "reply, message",
    [
        (Reply(200, b"<html>", media="text/html"), "text/html, not application/json"),
        (Reply(200, b"{", media="application/json"), "not valid JSON"),
        (Reply(200, b"\xff{}", media="application/json"), "not valid JSON"),
        (Reply(200, b"[" * 100_000, media="application/json"), "not valid JSON"),
        (Reply(200, b'{"suggestions": NaN}', media="application/json"), "not valid JSON"),
        (Reply(200, [1]), "list, not a JSON object"),
        (Reply(200, {}), "unexpected form: KeyError"),
        (Reply(200, {"suggestions": [{"label": 1}]}), "unexpected form"),
        (Reply(500, b"<html>", media="text/html"), "no reason is given"),
        (Reply(500, [1], media="application/problem+json"), "no reason is given"),
    ],
)
def test_answers_of_another_server(
    client: Client, server: FakeServer, clock: FakeClock, reply: Reply, message: str
) -> None:
    server.faults.append(answers(reply))
    with pytest.raises(ServerError, match=message):
        client.suggest("rent")
    assert clock.slept == []
    assert client.suggest("rent"), "the client works on"


@pytest.mark.parametrize(
    "body, message",
    [
        (b"", "no line 1, of 1"),
        (b"[]\n", "not a JSON object"),
        (b'{"line": 1}\n', "unexpected form"),
        (b'{"line": 1, "problem": 3}\n', "unexpected form"),
    ],
)
def test_answers_to_a_batch_of_another_server(
    client: Client, server: FakeServer, body: bytes, message: str
) -> None:
    server.faults.append(answers(Reply(200, body, media="application/x-ndjson")))
    with pytest.raises(ServerError, match=message):
        list(client.add_many(["rent"]))


def test_a_huge_answer(client: Client, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_answers, "MOST_BYTES", 1 << 20)
    server.replies["/report"] = lambda request: Reply(200, {"x": "a" * (1 << 21)})
    with pytest.raises(ServerError, match="more than 1,048,576 bytes"):
        client.report()


def test_an_answer_without_a_length(client: Client, server: FakeServer) -> None:
    def until_the_end(handler: Handler, reply: object) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}")
        handler.close_connection = True

    server.faults.append(until_the_end)
    with pytest.raises(ServerError, match="does not say how long it is"):
        client.report()


def test_redirects_are_not_followed(client: Client, server: FakeServer) -> None:
    with running() as other:
        place = f"{other.url}api/v1/workspaces/default/suggest"
        server.faults.append(answers(Reply(307, {}, {"Location": place})))
        with pytest.raises(ServerError, match="redirects to http://") as caught:
            client.suggest("rent")
        assert other.requests == []
    assert (caught.value.status, caught.value.kind) == (307, "redirect")


@contextmanager
def sending(data: bytes) -> Iterator[str]:
    """Run a server that is no web server."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(data)
                connection.recv(1 << 16)

        thread = threading.Thread(target=run)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        thread.join()


@pytest.mark.parametrize(
    "data", [b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200 OK\r\n" + b"x" * 70_000]
)
def test_no_web_server(clock: FakeClock, data: bytes) -> None:
    with (
        sending(data) as url,
        Client(url, TOKEN, timing=clock.timing) as client,
        pytest.raises(Unavailable, match="not HTTP") as caught,
    ):
        client.suggest("rent")
    assert caught.value.kind == "not-http"


def test_no_such_host(clock: FakeClock) -> None:
    with (
        Client("http://no-such-host.invalid/", TOKEN, timing=clock.timing) as client,
        pytest.raises(Unavailable, match=r"there is no host 'no-such-host.invalid'"),
    ):
        client.suggest("rent")


@pytest.mark.parametrize(
    "url, message",
    [
        ("127.0.0.1:8420", "must begin with http://"),
        ("ftp://host/", "must begin with http://"),
        ("http://", "must begin with http://"),
        ("http://host:port/", "port"),
        ("http://host:70000/", "Port out of range"),
        ("http://host/?code=secret", "without \\? or #"),
        ("http://host/#secret", "without \\? or #"),
        ("http://user:secret@host/", "must not have a name or a password"),
        ("http://ho st/", "without spaces"),
        ("http://host/ä", "must be ASCII"),
        (None, "must be a text"),
    ],
)
def test_bad_urls(url: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        Client(url, TOKEN)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "two words", "line\nend", "kött", "a" * 5000, None])
def test_bad_tokens_are_not_shown(token: str) -> None:
    with pytest.raises(ValueError, match="the token must") as caught:
        Client("http://127.0.0.1/", token)
    assert not token or token not in str(caught.value)


def test_the_token_is_not_shown(client: Client, server: FakeServer) -> None:
    server.faults.append(answers(problem(401, "no-token", "the token is not known")))
    with pytest.raises(Unauthorized) as caught:
        client.suggest("rent")
    shown = [repr(client), str(client), repr(vars(client)), repr(caught.value), str(caught.value)]
    shown.append(repr(vars(caught.value)))
    assert not any(TOKEN in text for text in shown)
    assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in server.requests[0].raw_path


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_bad_timeouts(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout must be positive"):
        Client("http://127.0.0.1/", TOKEN, timeout=timeout)


def test_a_workspace_that_a_lost_try_has_made(client: Client, server: FakeServer) -> None:
    names: set[str] = set()

    def reply(request: object) -> Reply:
        name = "b"
        method = request.method  # type: ignore[attr-defined]
        if method == "POST":
            taken = name in names
            names.add(name)
            return problem(409, "conflict", "it exists") if taken else Reply(201, {"name": name})
        if name not in names:
            return problem(404, "not-found", "there is none")
        names.discard(name)
        return Reply(204)

    server.reply = reply  # type: ignore[method-assign]
    server.faults.append(reset_after)
    client.create_workspace("b")
    with pytest.raises(Conflict):
        client.create_workspace("b")
    server.faults.append(reset_after)
    client.remove_workspace("b")
    with pytest.raises(NotFound):
        client.remove_workspace("b")
