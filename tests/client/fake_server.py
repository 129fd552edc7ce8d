"""A server that records what it is sent, and fails in the ways that a test asks for."""

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote

TOKEN = "a-token-that-nobody-may-see"
W = "/api/v1/workspaces/default"
SUGGESTED: dict[str, Any] = {
    "suggestions": [
        {
            "label": "money",
            "score": 0.1 + 0.2,
            "probability": 0.75,
            "chosen": True,
            "sure": False,
            "explores": False,
        }
    ],
    "whole": 0.5,
    "known": 3,
    "in_runs": False,
    "audited": True,
}


@dataclass
class Received:
    """A request as it was sent."""

    method: str
    raw_path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    """The port of the client: the same for requests over one connection."""

    @property
    def path(self) -> str:
        return self.raw_path.partition("?")[0]

    @property
    def parts(self) -> list[str]:
        """The parts of the path below the workspace, decoded."""
        assert self.path.startswith(W)
        return [unquote(part) for part in self.path.removeprefix(W).split("/")[1:]]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.raw_path.partition("?")[2]))

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def key(self) -> str | None:
        return self.headers.get("idempotency-key")


@dataclass
class Reply:
    """An answer."""

    status: int = 200
    value: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    media: str = "application/json"

    @property
    def body(self) -> bytes:
        if self.status == 204:
            return b""
        return self.value if isinstance(self.value, bytes) else json.dumps(self.value).encode()


def problem(status: int, kind: str, detail: str, **facts: Any) -> Reply:
    value = {"type": f"urn:tagalong:problem:{kind}", "status": status, "detail": detail, **facts}
    return Reply(status, value, media="application/problem+json")


Fault = Callable[["Handler", Callable[[], Reply]], None]


class FakeServer(ThreadingHTTPServer):
    """Items and answers in memory. ``faults`` are applied to the next requests, one each."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Received] = []
        self.faults: deque[Fault] = deque()
        self.items: dict[str, dict[str, Any]] = {}
        self.answers: list[tuple[str, list[str]]] = []
        self.seq = 0
        self.results: dict[str, Reply] = {}
        self.replies: dict[str, Callable[[Received], Reply]] = {}
        """Answers of a test, by the path below the workspace."""
        self.lock = threading.Lock()
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def reply(self, request: Received) -> Reply:
        """Carry a request out, once per idempotency key."""
        with self.lock:
            if request.headers.get("authorization") != f"Bearer {TOKEN}":
                return problem(401, "no-token", "the token is not known")
            if request.path.endswith(":batch"):  # its lines have ids; keys are not looked at
                return self._carry_out(request)
            if request.key in self.results:
                return self.results[request.key]
            found = self._carry_out(request)
            if request.key is not None:
                self.results[request.key] = found
            return found

    def _carry_out(self, request: Received) -> Reply:
        own = self.replies.get(request.path.removeprefix(W))
        if own is not None:
            return own(request)
        match (request.method, *request.parts):
            case ("POST", "suggest"):
                return Reply(200, SUGGESTED)
            case ("POST", "items"):
                return self._add(request.json)
            case ("POST", "items:batch"):
                return self._batch(request.body, relabel="relabel" in request.query)
            case ("GET", "items", id):
                if id not in self.items:
                    return problem(404, "not-found", f"there is no item {id!r}")
                return Reply(200, {**self.items[id], **SUGGESTED, "explanation": None})
            case ("POST", "items", id, "answer"):
                if id not in self.items:
                    return problem(404, "not-found", f"there is no item {id!r}")
                self.items[id] |= {"labels": request.json["labels"], "state": "answered"}
                self.answers.append((id, request.json["labels"]))
                return Reply(200, {"seq": self._next()})
        return problem(404, "no-such-path", "there is nothing at this path")

    def _next(self) -> int:
        self.seq += 1
        return self.seq

    def _add(self, body: dict[str, Any]) -> Reply:
        id = body.get("id") or f"item-{self.seq + 1}"
        if id in self.items:
            before = {name: self.items[id].get(name) for name in ("text", "fields", "values")}
            if before != {name: body.get(name) for name in before}:
                return problem(
                    409,
                    "conflict",
                    f"there is an item {id!r} already, with other content",
                    labels=None,
                )
            if body.get("labels") not in (None, self.items[id]["labels"]):
                return problem(
                    409,
                    "conflict",
                    f"there is an item {id!r} already, with other labels; answer it to change them",
                    labels=self.items[id]["labels"],
                )
            return Reply(200, {"id": id, "seq": self.items[id]["seq"], **SUGGESTED})
        labels = body.get("labels")
        state = "open" if labels is None else "answered"
        self.items[id] = {"labels": labels, **body, "id": id, "seq": self._next(), "state": state}
        return Reply(201, {"id": id, "seq": self.items[id]["seq"], **SUGGESTED})

    def _batch(self, body: bytes, *, relabel: bool) -> Reply:
        answers = []
        for number, line in enumerate(body.splitlines(), 1):
            item = json.loads(line)
            found = self._add(item)
            outcome = "new" if found.status == 201 else "known"
            if relabel and found.status == 409 and "other labels" in found.value["detail"]:
                self.items[item["id"]]["labels"] = item["labels"]
                found = Reply(200, {"id": item["id"], "seq": self._next()})
                outcome = "answered"
            if found.status in (200, 201):
                seq = found.value["seq"]
                answer = {"line": number, "id": item["id"], "seq": seq, "outcome": outcome}
            else:
                answer = {"line": number, "problem": found.value}
            answers.append(json.dumps(answer).encode() + b"\n")
        return Reply(200, b"".join(answers), media="application/x-ndjson")


class Handler(BaseHTTPRequestHandler):
    """Reads a request, applies the next fault, and answers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FakeServer

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, ValueError):  # the client or a fault has ended the connection
            self.close_connection = True

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.command, self.path, headers, body, self.client_address[1])
        self.server.requests.append(request)
        with self.server.lock:
            fault = self.server.faults.popleft() if self.server.faults else None
        if fault is None:
            self.send(self.server.reply(request))
        else:
            fault(self, lambda: self.server.reply(request))

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Type", reply.media)
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def reset(self) -> None:
        """End the connection as a crash does."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        self.rfile.close()
        self.wfile.close()
        self.connection.close()


def reset_before(handler: Handler, reply: Callable[[], Reply]) -> None:
    """Lose the request."""
    handler.reset()


def reset_after(handler: Handler, reply: Callable[[], Reply]) -> None:
    """Carry the request out, and lose the answer."""
    reply()
    handler.reset()


def close_after(handler: Handler, reply: Callable[[], Reply]) -> None:
    """Carry the request out, and end the connection in the middle of the answer."""
    found = reply()
    handler.send_response(found.status)
    handler.send_header("Content-Type", found.media)
    handler.send_header("Content-Length", str(len(found.body)))
    handler.end_headers()
    handler.wfile.write(found.body[: len(found.body) // 2])
    handler.close_connection = True


def broken_chunks(handler: Handler, reply: Callable[[], Reply]) -> None:
    """Carry the request out, and end the connection in the middle of a chunk."""
    found = reply()
    handler.send_response(found.status)
    handler.send_header("Content-Type", found.media)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"%x\r\n" % len(found.body) + found.body[: len(found.body) // 2])
    handler.close_connection = True


def silent(handler: Handler, reply: Callable[[], Reply]) -> None:
    """Carry the request out, and never answer."""
    reply()
    handler.server.ended.wait()
    handler.close_connection = True


def says(status: int, kind: str = "busy", **headers: str) -> Fault:
    """Return a fault that refuses a request."""

    def fault(handler: Handler, reply: Callable[[], Reply]) -> None:
        found = problem(status, kind, "no time now")
        found.headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        handler.send(found)

    return fault


def answers(reply: Reply) -> Fault:
    """Return a fault that gives an answer of the test's own."""
    return lambda handler, _: handler.send(reply)


@contextmanager
def running() -> Iterator[FakeServer]:
    """Run a fake server."""
    server = FakeServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
