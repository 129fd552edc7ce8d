"""Base class of `Client`: the calls of one workspace, with what each of them needs."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, TypeAlias, TypeVar

from tagalong.client.address import path_part
from tagalong.client.answers import NDJSON, Answer
from tagalong.client.item_json import to_bytes
from tagalong.client.transport import Request, Transport
from tagalong.client.uploads import Upload

__all__ = ["API", "Calls", "Record", "unchanged"]

T = TypeVar("T")
Record: TypeAlias = dict[str, Any]
API = "api/v1/workspaces"


class Calls:
    """Base class of `Client`: sends requests about one workspace.

    Attributes
    ----------
    workspace : str
        The name of the workspace.
    """

    workspace: str
    _transport: Transport

    def _in_workspace(self, *parts: str) -> str:
        """Return a path below that of the workspace; parts are encoded already."""
        return "/".join([API, path_part(self.workspace, "the name of the workspace"), *parts])

    def _get(self, path: str, form: Callable[[Record], T], **query: object) -> T:
        """Ask for something; a function makes the result of the answer."""
        request = Request("GET", self._transport.address.path(path, query))
        return self._transport.call(request, lambda answer: answer.formed(form))

    def _post(self, path: str, body: object, form: Callable[[Record], T]) -> T:
        """Ask for something that needs a body and changes nothing."""
        request = self._with_body("POST", path, body, {}, {})
        return self._transport.call(request, lambda answer: answer.formed(form))

    def _change(
        self,
        method: str,
        path: str,
        body: object,
        read: Callable[[Answer], T],
        **query: object,
    ) -> T:
        """Change something: with a key, by which the server recognises a further try."""
        request = self._with_body(method, path, body, query, {"Idempotency-Key": _new_key()})
        return self._transport.call(request, read)

    def _change_seq(self, method: str, path: str, body: object = None) -> int:
        """Change something, and return the number of the event."""
        return self._change(method, path, body, lambda answer: answer.formed(_seq))

    def _lines_request(self, path: str, lines: bytes, **query: object) -> Request:
        """Return a request whose body has one line of JSON per item."""
        headers = {"Content-Type": NDJSON, "Accept": NDJSON, "Idempotency-Key": _new_key()}
        return Request("POST", self._transport.address.path(path, query), lines, headers)

    def _upload(self, path: str, upload: Upload, form: Callable[[Record], T]) -> T:
        headers = {"Content-Type": upload.media_type, "Idempotency-Key": _new_key()}
        request = Request("POST", self._transport.address.path(path), upload, headers)
        return self._transport.call(request, lambda answer: answer.formed(form))

    def _download(self, path: str, file: BinaryIO, **query: object) -> None:
        """Write an answer of any length to a file; each try begins anew."""

        def read(answer: Answer) -> None:
            file.seek(0)
            file.truncate()
            for data in answer.chunks(is_bounded=False):
                file.write(data)

        sent = self._transport.address.path(path, query)
        self._transport.call(Request("GET", sent, headers={"Accept": "*/*"}), read)

    def _with_body(
        self,
        method: str,
        path: str,
        body: object,
        query: Mapping[str, object],
        headers: Mapping[str, str],
    ) -> Request:
        sent = self._transport.address.path(path, query)
        if body is None:
            return Request(method, sent, headers=headers)
        return Request(
            method, sent, to_bytes(body), {**headers, "Content-Type": "application/json"}
        )


def _new_key() -> str:
    return str(uuid.uuid4())


def unchanged(found: Record) -> Record:
    """Return an answer as it is."""
    return found


def _seq(found: Record) -> int:
    return int(found["seq"])
