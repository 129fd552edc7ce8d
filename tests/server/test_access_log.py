"""The log of requests, its metrics, and answers to errors that escape the application."""

import asyncio
import json
import os
import re
import stat
import threading
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tagalong.server.access.who import Who
from tagalong.server.http.access_log import AccessLog
from tagalong.server.http.log_writer import LogFile, LogWriter
from tagalong.server.http.metrics import Metrics
from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.problems import Problem
from tests.server.asgi_calls import Exchange, make_scope
from tests.server.live_server import PARSERS, live, wait_until
from tests.timeouts import TIMEOUT

SECRETS = ("secret-item", "secret-label", "secret-token", "secret-text")


def logged(app: Any, exchange: Exchange, **options: Any) -> tuple[list[Any], str]:
    """Return the lines of the log as JSON, and the metrics."""
    lines: list[str] = []
    metrics = Metrics()
    asyncio.run(exchange.run(AccessLog(app, lines.append, RequestMetrics(metrics), **options)))
    return [json.loads(line) for line in lines], metrics.render()


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    scope["state"].update(operation="answerItem", workspace="default")
    scope["state"]["who"] = Who("ada", False, "token")
    await Request(scope, receive).body()
    await PlainTextResponse("12345", 201)(scope, receive, send)


def secret_exchange() -> Exchange:
    scope = make_scope("POST", "/items/secret-item", [("authorization", "Bearer secret-token")])
    scope["query_string"] = b"label=secret-label"
    return Exchange(scope, [{"type": "http.request", "body": b'"secret-text"'}])


def test_a_line_per_request():
    exchange = secret_exchange()
    (line,), metrics = logged(answer, exchange)
    id, seconds, time = line.pop("id"), line.pop("seconds"), line.pop("time")
    assert line == {
        "method": "POST",
        "operation": "answerItem",
        "workspace": "default",
        "status": 201,
        "bytes_in": 13,
        "bytes_out": 5,
        "who": "ada",
        "client": "192.0.2.7",
    }
    assert re.fullmatch(r"[0-9a-f]{16}", id)
    assert exchange.headers["x-request-id"] == id
    assert 0 <= seconds < TIMEOUT
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time)
    assert 'tagalong_requests_total{operation="answerItem",status="201"} 1\n' in metrics
    assert 'tagalong_request_seconds_count{operation="answerItem"} 1\n' in metrics
    assert "tagalong_requests_in_flight 0\n" in metrics


async def fail(scope: Scope, receive: Receive, send: Send) -> None:
    scope["state"]["operation"] = "answerItem"
    raise ValueError("secret-text of secret-item")


async def fail_late(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise KeyError("secret-label")


@pytest.mark.parametrize("app", [answer, fail, fail_late])
def test_no_content_is_logged(app):
    lines, metrics = logged(app, secret_exchange())
    assert not [word for word in SECRETS if word in json.dumps(lines) + metrics]


def test_an_unexpected_error_is_answered_and_logged_without_its_text():
    exchange = secret_exchange()
    (line,), metrics = logged(fail, exchange)
    assert (line["error"], line["status"]) == ("ValueError", 500)
    assert re.fullmatch(r"test_access_log\.py:\d+", line["places"][-1])
    problem = json.loads(exchange.body)
    assert exchange.status == problem["status"] == 500
    assert exchange.headers["content-type"] == "application/problem+json"
    assert problem["request"] == line["id"] == exchange.headers["x-request-id"]
    assert line["id"] in problem["detail"]
    assert "secret" not in exchange.body.decode()
    assert 'status="500"' in metrics


def test_an_error_in_the_middle_of_an_answer_gets_no_second_answer():
    exchange = secret_exchange()
    (line,), _ = logged(fail_late, exchange)
    assert (line["error"], line["status"], len(exchange.sent)) == ("KeyError", 200, 1)


@pytest.mark.parametrize("parser", PARSERS)
def test_the_client_notices_that_an_answer_is_not_complete(parser):
    lines: list[str] = []
    metrics = RequestMetrics(Metrics())
    with live(AccessLog(fail_late, lines.append, metrics), parser, requests=metrics) as server:
        client = server.connect()
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with pytest.raises(Exception, match="IncompleteRead"):
            client.answer()


def test_a_problem_that_escapes_is_answered():
    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        raise Problem(503, "overloaded", "too much", {"Retry-After": "1"})

    exchange = secret_exchange()
    (line,), _ = logged(refuse, exchange)
    assert (line["status"], line["operation"], line["who"]) == (503, "unknown", None)
    assert "error" not in line
    assert exchange.headers["retry-after"] == "1"
    assert json.loads(exchange.body)["detail"] == "too much"


def test_a_client_that_leaves_gets_no_answer():
    async def leave(scope: Scope, receive: Receive, send: Send) -> None:
        raise ClientDisconnect

    exchange = secret_exchange()
    (line,), metrics = logged(leave, exchange)
    assert (line["status"], exchange.sent) == (None, [])
    assert 'status="none"' in metrics


def test_only_errors_can_be_logged():
    assert logged(answer, secret_exchange(), errors_only=True)[0] == []
    assert len(logged(fail, secret_exchange(), errors_only=True)[0]) == 1


def test_strange_methods_are_not_repeated():
    (line,), _ = logged(answer, Exchange(make_scope("SECRET-TEXT")))
    assert line["method"] == "other"


def test_a_cancelled_request_is_logged_and_stays_cancelled():
    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        raise asyncio.CancelledError

    lines: list[str] = []
    log = AccessLog(never, lines.append, RequestMetrics(Metrics()))

    async def run() -> None:
        with pytest.raises(asyncio.CancelledError):
            await secret_exchange().run(log)

    asyncio.run(run())
    assert json.loads(lines[0])["error"] == "CancelledError"


def test_lines_are_written_in_order_and_all_at_the_end():
    written: list[str] = []
    writer = LogWriter(written.extend, interval=TIMEOUT)  # only the end hurries it
    for number in range(100):
        writer.add(str(number))
    writer.close(TIMEOUT)
    assert written == [str(number) for number in range(100)]


def test_lines_are_written_while_the_server_runs():
    written: list[str] = []
    writer = LogWriter(written.extend, interval=0.001)
    writer.add("a")
    wait_until(lambda: written == ["a"])
    writer.add("b")
    wait_until(lambda: written == ["a", "b"])
    writer.close()


def test_a_log_that_fails_loses_lines_and_nothing_else():
    losses: list[int] = []
    written: list[str] = []
    attempts: list[int] = []

    def write(lines: Any) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("no space left on device")
        written.extend(lines)

    writer = LogWriter(write, losses.append, interval=0.001)
    writer.add("a")
    wait_until(lambda: losses == [1])
    writer.add("b")
    writer.close(TIMEOUT)
    assert written == ["b"]


def test_a_log_that_blocks_loses_lines_and_nobody_waits():
    go_on, blocked = threading.Event(), threading.Event()
    losses: list[int] = []
    written: list[str] = []

    def write(lines: Any) -> None:
        blocked.set()
        go_on.wait(TIMEOUT)
        written.extend(lines)

    writer = LogWriter(write, losses.append, capacity=3, interval=0.0)
    writer.add("a")
    assert blocked.wait(TIMEOUT)
    for word in "bcdef":
        writer.add(word)
    assert sum(losses) == 2
    go_on.set()
    writer.close(TIMEOUT)
    assert written == list("abcd")


def test_a_log_file_is_private_and_follows_its_name(tmp_path):
    path = tmp_path / "access.log"
    write = LogFile(str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write(["a", "b"])
    os.rename(path, tmp_path / "access.log.1")  # as logrotate does
    write(["c"])
    assert (tmp_path / "access.log.1").read_text() == "a\nb\n"
    assert path.read_text() == "c\n"
    LogFile(str(path))(["d"])
    assert path.read_text() == "c\nd\n"


def test_a_log_file_that_cannot_be_opened_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        LogFile(str(tmp_path / "nowhere" / "access.log"))


def test_the_time_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for nanoseconds, text in (
        (1_700_000_000_007_999_999, "2023-11-14T22:13:20.007Z"),
        (1_700_000_000_999_000_000, "2023-11-14T22:13:20.999Z"),
        (1_700_000_001_000_000_000, "2023-11-14T22:13:21.000Z"),
    ):
        monkeypatch.setattr("time.time_ns", lambda found=nanoseconds: found)
        (line,), _ = logged(PlainTextResponse("x"), Exchange(make_scope()))
        assert line["time"] == text
