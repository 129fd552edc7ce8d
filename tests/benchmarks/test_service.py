"""The load of the benchmark of the service: bytes of requests and answers, rates and refusals."""

import socket
import threading

import pytest

from benchmarks.service_load import Answered, Load, LoadError, answer_size, post, run

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Long: {}\r\n\r\n{}"


def test_a_request_has_the_length_of_its_body():
    request = post("/suggest", "{ü}".encode(), {"Authorization": "Bearer a"})
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.splitlines()[0] == b"POST /suggest HTTP/1.1"
    assert b"Content-Length: 4" in head.splitlines()
    assert b"Authorization: Bearer a" in head.splitlines()
    assert body == "{ü}".encode()


@pytest.mark.parametrize("received", [ANSWER[:10], ANSWER[:-3], b""])
def test_the_size_of_an_answer_is_unknown_while_its_head_arrives(received):
    assert answer_size(received) is None


def test_the_size_of_an_answer_is_known_with_its_head():
    assert answer_size(ANSWER[:-1]) == answer_size(ANSWER) == len(ANSWER)


@pytest.mark.parametrize(
    "received, problem",
    [
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}", "refuses: HTTP/1.1 401"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "without Content-Length"),
    ],
)
def test_an_answer_without_success_or_length_is_an_error(received, problem):
    with pytest.raises(LoadError, match=problem):
        answer_size(received)


class Server:
    """Answers requests of a known size in pieces, and notes them."""

    def __init__(self, size: int, answer: bytes = ANSWER):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = self._listening.getsockname()
        self._size, self._answer = size, answer
        self.requests: list[bytes] = []
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rb") as file:
            while request := file.read(self._size):
                self.requests.append(request)
                connection.sendall(self._answer[:20])
                connection.sendall(self._answer[20:])

    def close(self):
        self._listening.close()


@pytest.mark.parametrize("rate", [None, 5000.0])
def test_every_request_is_sent_once_and_every_answer_is_counted(rate):
    requests = [b"request %3d" % number for number in range(50)]
    server = Server(len(requests[0]))
    found = run(Load(server.address, requests, 4, rate))
    server.close()
    assert sorted(server.requests) == requests
    assert server.connections == 4
    assert len(found.latencies) == 50
    assert found.bytes == 50 * len(ANSWER)
    assert min(found.latencies) > 0
    if rate is not None:
        assert found.seconds >= 49 / rate


def test_a_refusal_ends_the_load():
    server = Server(7, b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(LoadError, match="503"):
        run(Load(server.address, [b"request"], 1))
    server.close()


def test_a_server_that_leaves_is_an_error():
    server = Server(7, b"")
    server._serve = lambda connection: connection.close()  # type: ignore[method-assign]
    with pytest.raises((LoadError, ConnectionError)):
        run(Load(server.address, [b"request"], 1))
    server.close()


def test_rates_and_percentiles():
    found = Answered(2.0, [0.001 * number for number in range(1, 101)])
    assert found.rate == 50
    assert found.milliseconds(50) == pytest.approx(50.5)
    assert found.milliseconds(99) == pytest.approx(99.01)
