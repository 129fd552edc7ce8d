"""Problem documents (RFC 9457): what went wrong with a request, for people and for programs."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

__all__ = ["MEDIA_TYPE", "PREFIX", "Problem"]

MEDIA_TYPE = "application/problem+json"
PREFIX = "urn:tagalong:problem:"


class Problem(Exception):
    """A request that is not carried out. It is answered with a problem document.

    Parameters
    ----------
    status : int
        The status code.
    kind : str
        A name for programs, such as "no-such-item"; ``type`` in the document has a prefix.
    detail : str
        The reason, for people: the value, the place, and what would be right.
    headers : mapping of str to str, optional
        Further headers of the answer, such as ``Retry-After``.
    facts : object
        Further members of the document, such as the present answer of an item.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        **facts: Any,
    ):
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.headers = dict(headers or {})
        self.facts = facts

    def to_json(self) -> dict[str, Any]:
        """Return the document as JSON values."""
        return {
            "type": PREFIX + self.kind,
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **self.facts,
        }

    def response(self) -> Response:
        """Return the answer."""
        body = json.dumps(self.to_json(), ensure_ascii=True).encode()
        return Response(body, self.status, self.headers, MEDIA_TYPE)
