"""Operations of the API: one row each, from which routing, checks and documentation follow."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from starlette.responses import Response

from tagalong.server.api.schemas import Record, Type, Whole

if TYPE_CHECKING:
    from tagalong.server.api.calls import Call

__all__ = [
    "API",
    "COMMON_PROBLEMS",
    "JSON",
    "NDJSON",
    "SEQ",
    "Answer",
    "Handler",
    "Method",
    "Operation",
    "W",
]

Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]
Handler: TypeAlias = "Callable[[Call], Awaitable[Response]]"
Answer: TypeAlias = Type | str

API = "/api/v1"
W = f"{API}/workspaces/{{name}}"
"""The path of a workspace."""
JSON = "application/json"
NDJSON = "application/x-ndjson"
COMMON_PROBLEMS = (400, 401, 403, 404, 405, 408, 413, 414, 415, 421, 422, 429, 431, 500, 503)
"""Status codes of problem documents that any operation can have."""


@dataclass(frozen=True)
class Operation:
    """An operation of the API.

    Parameters
    ----------
    name : str
        Its name, the ``operationId`` of the document.
    method : str
        The method of HTTP.
    path : str
        The path, with parameters in braces.
    summary : str
        One sentence about it.
    handler : callable
        Carries it out.
    query : mapping of str to Type
        The parameters in the URL, all of which may be left out.
    body : Type, optional
        The type of a JSON body.
    body_media : str
        The media type of the body. Other bodies than JSON are read by the handler.
    answers : mapping of int to Type or str, or a tuple of them
        For each status code of success the type of the JSON body, or another media type; ""
        without a body; several if the request chooses.
    problems : tuple of int
        Status codes of problem documents beside the common ones.
    has_key : bool
        Whether the request may have an ``Idempotency-Key``.
    is_change : bool
        Whether it changes something, so that a read-only token does not allow it.
    is_for_owner : bool
        Whether it needs the token of the owner.
    is_public : bool
        Whether it needs no token.
    is_long : bool
        Whether the answer goes on until one of both sides ends it.
    """

    name: str
    method: Method
    path: str
    summary: str
    handler: Handler
    query: Mapping[str, Type] = field(default_factory=dict)
    body: Type | None = None
    body_media: str = JSON
    answers: Mapping[int, Answer | tuple[Answer, ...]] = field(default_factory=dict)
    problems: tuple[int, ...] = ()
    has_key: bool = False
    is_change: bool = True
    is_for_owner: bool = False
    is_public: bool = False
    is_long: bool = False

    @property
    def has_body(self) -> bool:
        """Whether requests have a body."""
        return self.body is not None or self.body_media != JSON


SEQ = Record("Seq", {"seq": Whole(1, meaning="the number of the event")}, is_open=True)
"""The answer to a change: the event that it has become."""
