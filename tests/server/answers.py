"""Answers to requests, as the tests look at them."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass
class Answer:
    """An answer to a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        """The name of a problem."""
        assert self.headers["content-type"] == "application/problem+json", self
        assert self.json["status"] == self.status
        return str(self.json["type"]).removeprefix("urn:tagalong:problem:")
