"""A service with a workspace in a folder, served on a loopback socket in a thread of the test."""

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from tagalong.journal.limits import read_limits
from tagalong.server.access.tokens import FileTokens
from tagalong.server.app import make_app
from tagalong.server.directories import Directory, FolderDirectory
from tagalong.server.http.running import HttpServer, Running
from tagalong.server.service import Service
from tests.server.answers import Answer
from tests.timeouts import TIMEOUT


@dataclass
class Api:
    """Sends requests to a server, each over a connection of its own.

    `path` is relative to the default workspace unless it begins with "/".
    """

    url: str
    token: str
    service: Service
    headers: dict[str, str] = field(default_factory=dict)
    workspace: str = "default"

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        media: str = "application/json",
    ) -> Answer:
        where = path if path.startswith("/") else f"/api/v1/workspaces/{self.workspace}/{path}"
        sent = {"Authorization": f"Bearer {self.token}", **self.headers, **(headers or {})}
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", media)
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT)
        try:
            connection.request(method, where, data, sent)
            found = connection.getresponse()
            names = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, names, found.read())
        finally:
            connection.close()

    def get(self, path: str, **options: Any) -> Answer:
        return self.send("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.send("POST", path, body, **options)

    def patch(self, path: str, body: Any, **options: Any) -> Answer:
        return self.send("PATCH", path, body, **options)

    def delete(self, path: str, **options: Any) -> Answer:
        return self.send("DELETE", path, **options)

    def add(self, text: str, labels: list[str] | None = None, **more: Any) -> Any:
        body = {"text": text, **({} if labels is None else {"labels": labels}), **more}
        found = self.post("items", body)
        assert found.status in (200, 201), found
        return found.json

    def answer(self, id: str, labels: list[str], **more: Any) -> int:
        found = self.post(f"items/{quote(id, safe='')}/answer", {"labels": labels, **more})
        assert found.status == 200, found
        return int(found.json["seq"])


@contextmanager
def serving(
    folder: Path, directory: Directory | None = None, running: Running | None = None
) -> Iterator[Api]:
    """Serve the workspaces in a folder during the block."""
    tokens = FileTokens(folder)
    token = tokens.owner()
    service = Service(directory or FolderDirectory(folder), tokens, read_limits(folder))
    ready = threading.Event()
    server = HttpServer(
        service,
        lambda: make_app(service),
        service.request_metrics,
        host="127.0.0.1",
        port=0,
        running=running,
        on_ready=lambda url: ready.set(),
        end_process=lambda code: None,  # on a busy machine, closing may take longer than allowed
    )

    def run() -> None:
        try:
            server.run()
        finally:
            ready.set()  # also if it could not start

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(TIMEOUT)
    assert thread.is_alive()
    try:
        yield Api(server.url, token, service)
    finally:
        server.stop()
        thread.join(TIMEOUT)
        assert not thread.is_alive()
