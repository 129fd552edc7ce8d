"""Operations as an ASGI application: finds the operation, checks the request, and answers it."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tagalong.files.lock import BusyError
from tagalong.journal import JournalError
from tagalong.server.access.hosts import first_header
from tagalong.server.access.token_records import OWNER
from tagalong.server.api.calls import Call, checked_key, checked_key_text
from tagalong.server.api.forms import FORM, KEY_FIELD, checked_form
from tagalong.server.api.forwarding import Holder, pass_on
from tagalong.server.api.journal_problems import problem_of
from tagalong.server.api.json_texts import json_of
from tagalong.server.api.operations import JSON, NDJSON, Operation
from tagalong.server.api.routes import Routes
from tagalong.server.api.schemas import Record
from tagalong.server.directories import DEFAULT
from tagalong.server.http.body import BodyLimits, LimitedBody, read_body
from tagalong.server.problems import Problem
from tagalong.server.service import Service

__all__ = ["Dispatch"]

MAX_PARAMETERS = 50
ESCAPED_BYTES = 3
"""A character of n bytes of UTF-8, n > 1, takes at most so many times n bytes as an escape."""
OTHER_BYTES = 1_000_000
"""Room for labels, ids and settings beside the texts of an item."""
BYTES_AT_ONCE = 20_000
"""A larger body is decoded in another thread, so that no other request waits for it."""
SYNONYMS = {"application/ndjson": NDJSON, "application/jsonl": NDJSON}
"""Other names of media types: that of JSON lines was never registered."""


class Dispatch:
    """Answers the requests for the operations of a table.

    Parameters
    ----------
    service : Service
        The service.
    operations : iterable of Operation
        The table.
    document : dict
        The description of the API, for the operation that returns it.
    refuse : callable
        Returns the answer to a request that has a problem.
    """

    def __init__(
        self,
        service: Service,
        operations: Iterable[Operation],
        *,
        document: dict[str, Any] | None = None,
        refuse: Callable[[Request, Problem], Response] = lambda request, problem: (
            problem.response()
        ),
    ):
        self._service = service
        self._routes = Routes(operations)
        self._document = document or {}
        self._refuse = refuse
        limits = service.limits
        self._limits = BodyLimits(limits.body_bytes)
        # A body that is read as a whole has an item, whose characters may be written as escapes.
        whole = ESCAPED_BYTES * limits.item_bytes + OTHER_BYTES
        self._whole_limits = BodyLimits(min(limits.body_bytes, whole))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        try:
            response = await self._answer_or_pass_on(request)
        except Problem as problem:
            response = self._refuse(request, problem)
        except (JournalError, BusyError, TimeoutError) as error:
            response = self._refuse(request, problem_of(error))
        await response(scope, receive, send)

    async def _answer_or_pass_on(self, request: Request) -> Response:
        read: list[bytes] = []
        try:
            return await self._answer(request, read)
        except BusyError as error:
            if not error.address:
                raise
            # Handlers that read the body themselves open the workspace before.
            body = _pieces(read) if read else LimitedBody(request, self._limits).chunks()
            name = request.scope["state"].get("workspace", DEFAULT)
            is_held = partial(self._service.workspaces.is_held_elsewhere, name)
            return await pass_on(Holder(error.address), request, body, is_held)

    async def _answer(self, request: Request, read: list[bytes]) -> Response:
        """Answer a request, and note its body if it was read."""
        scope = request.scope
        operation, names = self._routes.find(scope["method"], scope["raw_path"])
        state = scope["state"]
        state["operation"] = operation.name
        if "name" in names:
            state["workspace"] = names["name"]
        if operation.is_for_owner and state["who"].name != OWNER:
            raise Problem(403, "owner-only", "only the owner's token allows this")
        query = _query(operation, scope["query_string"])
        key = checked_key(request) if operation.has_key else None
        body = await self._body(operation, request, read)
        if operation.body_media == FORM:
            key = checked_key_text(body.pop(KEY_FIELD, None))
        call = Call(self._service, request, operation, names, query, body, key, self._document)
        return await operation.handler(call)

    async def _body(self, operation: Operation, request: Request, read: list[bytes]) -> Any:
        """Return the checked JSON body; None if the operation has none, or reads it itself."""
        if operation.body is None:
            return None
        media = first_header(request.scope, b"content-type", "").partition(";")[0].strip().lower()
        if SYNONYMS.get(media, media) != operation.body_media:
            raise Problem(
                415,
                "wrong-content-type",
                f"the header Content-Type must be {operation.body_media}, got {media[:60]!r}",
                {"Accept": operation.body_media},
            )
        if operation.body_media not in (JSON, FORM):
            return None
        text = await read_body(request, self._whole_limits)
        read.append(text)
        if len(text) <= BYTES_AT_ONCE:
            return _decoded(operation, text)
        return await self._service.run(_decoded, operation, text)


def _decoded(operation: Operation, text: bytes) -> Any:
    """Return the checked values in a body."""
    assert operation.body is not None
    if operation.body_media == FORM:
        assert isinstance(operation.body, Record)
        return checked_form(operation.body, text)
    return operation.body.check(json_of(text), "")


async def _pieces(read: list[bytes]) -> AsyncIterator[bytes]:
    for piece in read:
        yield piece


def _query(operation: Operation, text: bytes) -> Mapping[str, Any]:
    """Return the checked parameters of a URL."""
    if not text:
        return {}
    try:
        pairs = parse_qsl(
            text.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError:
        raise Problem(
            400, "bad-query", "the parameters of the URL are not percent-encoded UTF-8, or too many"
        ) from None
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name not in operation.query:
            known = ", ".join(operation.query) or "none"
            raise Problem(
                422,
                "not-valid",
                f"there is no parameter {name[:60]!r} here; the parameters are: {known}",
                place=name[:60],
            )
        if name in found:
            raise Problem(422, "not-valid", f"the parameter {name} is there twice", place=name)
        found[name] = operation.query[name].parse(value, name)
    return found
