"""Single requests to a server, as they are, without tries."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.server.answers import Answer
from tests.timeouts import TIMEOUT


@dataclass
class Calls:
    """Sends requests to a server, each over a connection of its own.

    `path` is relative to a workspace unless it begins with "/".
    """

    url: str
    token: str
    workspace: str = "default"

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        key: str | None = None,
        media: str = "application/json",
    ) -> Answer:
        where = path if path.startswith("/") else f"/api/v1/workspaces/{self.workspace}/{path}"
        headers: Mapping[str, str] = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json",
            **({} if key is None else {"Idempotency-Key": key}),
            **({} if body is None else {"Content-Type": media}),
        }
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=TIMEOUT)
        try:
            connection.request(method, where, data, headers)
            found = connection.getresponse()
            names = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, names, found.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.send("GET", path)

    def post(self, path: str, body: Any = None, key: str | None = None) -> Answer:
        return self.send("POST", path, body, key)
