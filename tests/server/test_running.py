"""From the socket to a clean stop: ports, readiness, signals."""

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tagalong.server.http.listening import ListenError, is_loopback, listen_at, url_of
from tagalong.server.http.metrics import Metrics
from tagalong.server.http.readiness import notify
from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.http.running import HttpServer, Running
from tests.server.live_server import PARSERS, Client, NoService, live
from tests.timeouts import TIMEOUT

PROGRAM = Path(__file__).with_name("stoppable_program.py")


class Program:
    """The program as a process; its lines are read one after the other."""

    def __init__(self, *args: str):
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, str(PROGRAM), *args]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def connect(self, url: str) -> Client:
        return Client(int(url.rstrip("/").rpartition(":")[2]))

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> tuple[int, list[str]]:
        """Return the exit code and the lines that were not read."""
        out, err = self.process.communicate(timeout=TIMEOUT)
        assert err == ""
        return self.process.returncode, out.splitlines()


@contextmanager
def program(*args: str) -> Iterator[Program]:
    running = Program(*args)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_load_loses_no_acknowledged_request(number):
    acknowledged: list[str] = []
    begun = threading.Event()

    def send_until_refused(port: int, name: str) -> None:
        """Send requests, most of them on a connection of their own, until the server is gone."""
        count = 0
        while True:
            try:
                client = Client(port)
                for _ in range(3):
                    count += 1
                    body = f"{name}-{count}"
                    head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
                    client.send(f"{head}{body}".encode())
                    answer = client.answer()
                    assert (answer.status, answer.body.decode()) == (200, body)
                    acknowledged.append(body)
                    if count == 10:
                        begun.set()
            except OSError:
                return

    with program("normal") as server:
        port = int(server.line().rstrip("/").rpartition(":")[2])
        threads = [
            threading.Thread(target=send_until_refused, args=(port, f"client{n}")) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        assert begun.wait(TIMEOUT)
        server.signal(number)
        code, lines = server.end()
        for thread in threads:
            thread.join(TIMEOUT)
    assert code == 0
    assert lines[-3:] == ["closing", "closed", "ended"]
    stored = [line.removeprefix("stored ") for line in lines[:-3]]
    assert len(acknowledged) >= 10
    assert set(acknowledged) <= set(stored)
    assert len(set(stored)) == len(stored)


def test_what_has_begun_is_finished_and_streams_end():
    with program("normal") as server:
        url = server.line()
        last, stream, idle = (server.connect(url) for _ in range(3))
        last.send(b"GET /last HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.line() == "at work"
        stream.send(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        assert stream.socket.recv(8, socket.MSG_PEEK)  # the stream has begun
        server.signal(signal.SIGTERM)
        assert last.answer().body == b"done"
        assert stream.answer().body == b"event\nend\n"
        assert idle.ended()
        assert server.end() == (0, ["closing", "closed", "ended"])


def test_a_request_that_does_not_end_is_cancelled():
    with program("never") as server:
        client = server.connect(server.line())
        client.send(b"GET /never HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.line() == "at work"
        server.signal(signal.SIGTERM)
        assert server.end() == (0, ["closing", "closed", "ended"])


def test_a_service_that_does_not_close_is_ended():
    with program("slow-close") as server:
        server.line()
        server.signal(signal.SIGTERM)
        code, lines = server.end()
        assert code == 1
        assert set(lines) - {"closing"} == {"late"}  # closing begins at about the same moment


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once(number):
    with program("slow-close", "patient") as server:
        server.line()
        server.signal(signal.SIGTERM)
        assert server.line() == "closing"
        server.signal(number)
        assert server.end() == (128 + number, [])


def test_a_signal_during_the_start_stops_it():
    with program("slow-start") as server:
        assert server.line() == "starting"
        server.signal(signal.SIGTERM)
        assert server.end() == (0, ["closing", "closed", "ended"])


async def say_client(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"{scope['scheme']} {scope['client'][0]}")(scope, receive, send)


class Failing(NoService):
    async def start(self) -> None:
        raise OSError("no workspace")


def server_of(service: NoService, **options: object) -> HttpServer:
    return HttpServer(
        service,
        lambda: say_client,
        RequestMetrics(Metrics()),
        host="127.0.0.1",
        port=0,
        **options,  # type: ignore[arg-type]
    )


def test_a_service_that_fails_to_start_is_closed_and_its_port_is_free():
    service = Failing()
    server = server_of(service)
    with pytest.raises(OSError, match="no workspace"):
        server.run()
    assert service.calls == ["close"]
    port = int(server.url.rstrip("/").rpartition(":")[2])
    listen_at("127.0.0.1", port)[0].close()


def test_a_message_that_cannot_be_written_stops_the_server():
    def fail(url: str) -> None:
        raise BrokenPipeError

    service = NoService()
    with pytest.raises(BrokenPipeError):
        server_of(service, on_ready=fail).run()
    assert service.calls == ["start", "close"]


def test_the_process_manager_is_told(tmp_path, monkeypatch):
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(TIMEOUT)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        service = NoService()
        server = server_of(service)
        thread = threading.Thread(target=server.run)
        thread.start()
        assert manager.recv(100) == b"READY=1"
        assert service.calls == ["start"]
        server.stop()
        assert manager.recv(100) == b"STOPPING=1"
        thread.join(TIMEOUT)
    assert service.calls == ["start", "end_streams", "close"]


def test_a_process_manager_with_an_abstract_address(monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0tagalong-{os.getpid()}")
        manager.settimeout(TIMEOUT)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@tagalong-{os.getpid()}")
        notify("READY=1")
        assert manager.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", ["", "relative", "/nowhere/at/all"])
def test_without_a_process_manager_nothing_happens(address, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    notify("READY=1")


def test_a_port_in_use_is_named():
    (taken,) = listen_at("127.0.0.1", 0)
    with taken:
        taken.listen()
        port = taken.getsockname()[1]
        message = f"cannot listen at 127.0.0.1:{port}: another program listens there; --port takes"
        with pytest.raises(ListenError, match=message):
            listen_at("127.0.0.1", port)


def test_addresses_of_other_machines_are_refused():
    with pytest.raises(ListenError, match=r"192\.0\.2\.1:8420: this machine has no such address"):
        listen_at("192.0.2.1", 8420)


def test_a_port_of_the_system_is_refused(monkeypatch):
    def refuse(self: socket.socket, address: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(ListenError, match="port 80 needs more rights than you have"):
        listen_at("127.0.0.1", 80)


@pytest.mark.parametrize("host", ["no such host", "\x00", "a" * 300])
def test_unknown_hosts_are_refused(host, monkeypatch):
    def unknown(*args: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(ListenError, match=r"--host .*no such address"):
        listen_at(host, 0)


def test_all_addresses_of_a_name_have_the_same_port(monkeypatch):
    addresses = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 0)),  # not of this machine
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: addresses)
    first, second = listen_at("localhost", 0)
    with first, second:
        assert second.getsockname() == ("127.0.0.2", first.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.1", False),
        ("", False),
    ],
)
def test_loopback(host, expected):
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", "http://127.0.0.1:8420/"),
        ("::1", "http://[::1]:8420/"),
        ("localhost", "http://localhost:8420/"),
        ("0.0.0.0", "http://127.0.0.1:8420/"),
        ("::", "http://[::1]:8420/"),
    ],
)
def test_urls(host, expected):
    assert url_of(host, 8420) == expected


FORWARDED = (
    b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.9\r\n"
    b"X-Forwarded-Proto: https\r\n\r\n"
)


@pytest.mark.parametrize("parser", PARSERS)
def test_forwarded_headers_are_not_trusted(parser, monkeypatch):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    with live(say_client, parser) as server:
        client = server.connect()
        client.send(FORWARDED)
        answer = client.answer()
        assert answer.body == b"http 127.0.0.1"
        assert "server" not in answer.headers


def test_forwarded_headers_of_a_trusted_proxy_count():
    ready = threading.Event()
    running = Running(trust_proxy=True)
    server = server_of(NoService(), running=running, on_ready=lambda url: ready.set())
    thread = threading.Thread(target=server.run)
    thread.start()
    assert ready.wait(TIMEOUT)
    client = Client(int(server.url.rstrip("/").rpartition(":")[2]))
    client.send(FORWARDED)
    assert client.answer().body == b"https 198.51.100.9"
    client.close()
    server.stop()
    thread.join(TIMEOUT)
    assert not thread.is_alive()
