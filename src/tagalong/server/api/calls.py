"""`Call`: a checked request, as the handlers get it."""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from tagalong.server.access.hosts import header_values
from tagalong.server.access.who import Who
from tagalong.server.api.json_texts import json_bytes
from tagalong.server.api.operations import JSON, Operation
from tagalong.server.problems import Problem

if TYPE_CHECKING:
    from tagalong.journal import Workspace
    from tagalong.server.service import Service

__all__ = ["Call", "JsonText", "checked_key", "checked_key_text", "json_answer", "page_limit"]

T = TypeVar("T")
KEY = re.compile("[!-~]{1,255}")


class Call:
    """A request whose parameters and body are checked.

    Parameters
    ----------
    service : Service
        The service.
    request : Request
        The request.
    operation : Operation
        The operation that it asks for.
    names : mapping of str to str
        The parameters in its path.
    query : mapping of str to object
        The parameters in its URL.
    body : object
        The JSON body; None if the operation has none, or the handler reads it.
    key : str, optional
        The idempotency key.
    document : dict
        The description of the API.

    Attributes
    ----------
    key_text : str or None
        The idempotency key.
    """

    def __init__(
        self,
        service: "Service",
        request: Request,
        operation: Operation,
        names: Mapping[str, str],
        query: Mapping[str, Any],
        body: Any,
        key: str | None,
        document: dict[str, Any],
    ):
        self.service = service
        self.request = request
        self.operation = operation
        self.names = names
        self.query = query
        self.body = body
        self.key_text = key
        self.document = document

    @property
    def who(self) -> Who:
        """Whose token the request has."""
        who: Who = self.request.scope["state"]["who"]
        return who

    @property
    def actor(self) -> str:
        """The name of the token, for the journal."""
        return self.who.name

    @property
    def key(self) -> dict[str, Any]:
        """The arguments of a change that say who makes it, and with which idempotency key."""
        if self.key_text is None:
            return {"actor": self.actor}
        return {"actor": self.actor, "key": self.key_text, "scope": self.scope}

    @property
    def scope(self) -> str:
        """The token and the path, for which an idempotency key counts."""
        path = self.request.scope["raw_path"].decode("ascii", "replace")
        return f"{self.actor} {path}"

    @property
    def id(self) -> str:
        """The id of the item in the path."""
        return self.names["id"]

    def workspace(self) -> AbstractAsyncContextManager["Workspace"]:
        """Return the workspace in the path, which stays open during the block."""
        return self.service.workspaces.use(self.names["name"])

    async def run(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """Call a function that may wait, for example for the disk, in another thread.

        Parameters
        ----------
        work : callable
            The function.
        args, options : object
            Its arguments.
        """
        return await self.service.run(work, *args, **options)


def checked_key(request: Request) -> str | None:
    """Return the idempotency key of a request, if it has one.

    Parameters
    ----------
    request : Request
        The request.
    """
    keys = header_values(request.scope, b"idempotency-key")
    if len(keys) > 1:
        raise _bad_key(f"{len(keys)} headers")
    return checked_key_text(keys[0] if keys else None)


def checked_key_text(key: str | None) -> str | None:
    """Return an idempotency key if it can be one; a Problem if it cannot.

    Parameters
    ----------
    key : str, optional
        The key.
    """
    if key is not None and not KEY.fullmatch(key):
        raise _bad_key(repr(key[:60]))
    return key


def _bad_key(got: str) -> Problem:
    return Problem(
        422,
        "not-valid",
        "the header Idempotency-Key must be 1 to 255 printable ASCII characters, without "
        f"spaces, got {got}",
        place="Idempotency-Key",
    )


_JSON_TYPE = (b"content-type", JSON.encode())


class JsonText(Response):
    """An answer with JSON text. Its headers are known, and need not be worked out."""

    media_type = JSON

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        """Set the headers; there are no others."""
        self.raw_headers = [(b"content-length", b"%d" % len(self.body)), _JSON_TYPE]


USUAL_PAGE = 100


def page_limit(call: Call) -> int:
    """Return the number of entries in a page; a Problem if the request asks for too many.

    Parameters
    ----------
    call : Call
        The request, which may have the parameter ``limit``.
    """
    most = call.service.limits.page_items
    limit: int = call.query.get("limit", min(USUAL_PAGE, most))
    if limit > most:
        raise Problem(
            422,
            "not-valid",
            f"limit must be at most {most:,} (the setting page_items of this server), got "
            f"{limit:,}",
            place="limit",
            limit=most,
        )
    return limit


def json_answer(value: Any, status: int = 200) -> Response:
    """Return an answer with JSON values.

    Parameters
    ----------
    value : object
        The values.
    status : int
        The status code.
    """
    return JsonText(json_bytes(value), status)
