"""Errors of a server: problem documents (RFC 9457) as exceptions."""

from collections.abc import Mapping
from typing import Any

from tagalong.printable import printable

__all__ = [
    "Conflict",
    "NotFound",
    "Refused",
    "ServerError",
    "Unauthorized",
    "Unavailable",
    "error_of",
]

PREFIX = "urn:tagalong:problem:"


class ServerError(Exception):
    """A call that failed. The message names the call and the reason, never the token.

    Parameters
    ----------
    call : str
        The method and the URL; "" if there was none.
    detail : str
        The reason, for people.
    status : int, optional
        The status code of the answer; None if there was no answer.
    kind : str
        The reason, for programs, such as "no-such-item".
    problem : mapping, optional
        The whole problem document.

    Attributes
    ----------
    follows_lost_try : bool
        Whether an earlier try of the same call was lost on its way, so that the server may have
        carried it out.
    """

    def __init__(
        self,
        call: str,
        detail: str,
        *,
        status: int | None = None,
        kind: str = "",
        problem: Mapping[str, Any] | None = None,
    ):
        super().__init__(printable(f"{call}: {detail}" if call else detail))
        self.call = call
        self.detail = detail
        self.status = status
        self.kind = kind
        self.problem = dict(problem or {})
        self.follows_lost_try = False


class NotFound(ServerError, LookupError):
    """An item, an event, a label, a job or a workspace that does not exist."""


class Conflict(ServerError, ValueError):
    """A request that contradicts the present state."""

    @property
    def present(self) -> list[str] | None:
        """The present labels of the item; None if it has none, or the request has no item."""
        found = self.problem.get("labels")
        return [str(label) for label in found] if isinstance(found, list) else None

    @property
    def seqs(self) -> list[int]:
        """The later events that would become impossible."""
        found = self.problem.get("events")
        return [seq for seq in found if isinstance(seq, int)] if isinstance(found, list) else []


class Refused(ServerError, ValueError):
    """A request that is not valid, whatever the state of the workspace."""


class Unauthorized(ServerError):
    """The token is not accepted, or does not allow this request."""


class Unavailable(ServerError, ConnectionError):
    """The server could not be reached, or had no time, until the time of the call was over."""


_KINDS: dict[int, type[ServerError]] = {
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    409: Conflict,
    429: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(call: str, status: int, problem: Mapping[str, Any]) -> ServerError:
    """Return the error of a problem document.

    Parameters
    ----------
    call : str
        The method and the URL.
    status : int
        The status code of the answer.
    problem : mapping
        The document; empty if the answer had none.
    """
    kind = str(problem.get("type", "")).removeprefix(PREFIX)
    detail = str(problem.get("detail") or problem.get("title") or "no reason is given")
    made = _KINDS.get(status, Refused if 400 <= status < 500 else ServerError)
    return made(call, f"{detail} ({status})", status=status, kind=kind, problem=problem)
