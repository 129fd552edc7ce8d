"""Access control: which requests reach the service, and in whose name.

A request passes four checks, in this order: its ``Host`` is a name of this service; no page of
another site has made it; it has a token or the cookie of a log-in; the token allows changes, if it
makes one. A request that fails is answered with a problem document and reaches nothing else.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tagalong.files.lock import BusyError
from tagalong.server.access import public_paths
from tagalong.server.access.hosts import AllowedHosts, header_values
from tagalong.server.access.origins import Source, is_navigation, source
from tagalong.server.access.return_paths import login_path
from tagalong.server.access.sessions import Sessions
from tagalong.server.access.token_records import TokenError
from tagalong.server.access.token_store import TokenStore
from tagalong.server.access.who import Who
from tagalong.server.access.wrong_tokens import WrongTokens
from tagalong.server.problems import Problem

__all__ = [
    "UNREADABLE",
    "AccessControl",
    "Who",
    "client_address",
    "tokens_unreadable",
    "too_many_wrong_tokens",
]

# Errors of a store of tokens that cannot be read.
UNREADABLE = (TokenError, OSError, BusyError)
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]{1,512}=*) *", re.IGNORECASE)
REMEMBERED = 64
_LOGGER = logging.getLogger("tagalong.server.access")


class AccessControl:
    """Middleware that lets requests through in the name of those who may make them.

    ``scope["state"]["who"]`` is the holder of the token afterwards. Public paths have none.

    Parameters
    ----------
    app : ASGI application
        The application within.
    tokens : TokenStore
        The tokens.
    sessions : Sessions
        The log-ins of browsers.
    allowed_hosts : iterable of str
        Names of the service besides those of loopback.
    public : callable
        Whether a request needs no token.
    is_change : callable
        Whether a request may change something, so that a read-only token does not allow it.
    wrong_tokens : WrongTokens, optional
        Counts wrong tokens, here and on the log-in page.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: TokenStore,
        sessions: Sessions,
        allowed_hosts: Iterable[str] = (),
        *,
        public: Callable[[Scope], bool] = public_paths.is_public,
        is_change: Callable[[Scope], bool] = public_paths.is_change,
        wrong_tokens: WrongTokens | None = None,
    ):
        self._app = app
        self._tokens = tokens
        self._sessions = sessions
        self._hosts = AllowedHosts(allowed_hosts)
        self._public = public
        self._is_change = is_change
        self._wrong_tokens = wrong_tokens or WrongTokens()
        self._known: dict[str, Who | None] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; refuse anything but HTTP."""
        if scope["type"] == "http":
            refusal = self._refusal(scope)
            await (refusal or self._app)(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that may not pass; None if it may."""
        try:
            host = self._hosts.check(scope)
            who = None
            if self._public(scope):
                _check_public_source(scope, source(scope, host))
            else:
                made_by = source(scope, host)
                _check_source(scope, made_by)
                who = self._who(scope)
                if who is None and _wants_page(scope, made_by):
                    return RedirectResponse(login_path(scope, host), 303)
                who = self._checked(scope, who, made_by)
            scope.setdefault("state", {})["who"] = who
        except Problem as problem:
            return problem.response()
        except UNREADABLE as error:
            return tokens_unreadable(error).response()
        return None

    def _who(self, scope: Scope) -> Who | None:
        """Return who makes a request; None without a valid log-in. Problem for a wrong token."""
        headers = header_values(scope, b"authorization")
        if not headers:
            cookies = header_values(scope, b"cookie")
            return self._sessions.identify(cookies, secure=scope.get("scheme") == "https")
        token = _bearer_token(headers[0]) if len(headers) == 1 else None
        who = None if token is None else self._identify(token)
        if who is not None:
            return who
        wait = self._wrong_tokens.count(client_address(scope))
        if wait:
            raise too_many_wrong_tokens(wait)
        raise Problem(
            401,
            "wrong-token",
            "the header Authorization has no token of this service (it may have been removed or "
            "renewed); send 'Authorization: Bearer TOKEN' with a token of 'tagalong token add'",
            {"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )

    def _identify(self, token: str) -> Who | None:
        """Return who holds a token. Requests in the same step of the event loop look only once."""
        if token not in self._known:
            if not self._known:
                asyncio.get_running_loop().call_soon(self._known.clear)
            self._known[token] = self._tokens.identify(token)
        return self._known[token]

    def _checked(self, scope: Scope, who: Who | None, made_by: Source) -> Who:
        """Return who makes a request; Problem if nobody does, or if it is not allowed to them."""
        if who is None:
            raise Problem(
                401,
                "no-token",
                "send the header 'Authorization: Bearer TOKEN' with a token of 'tagalong token "
                "add', or log in at /login; a log-in ends after 30 days, or with a new token",
                {"WWW-Authenticate": "Bearer"},
            )
        if who.via == "cookie" and scope["method"] not in public_paths.READING:
            _check_own(made_by)
        if who.read_only and self._is_change(scope):
            raise Problem(
                403, "read-only", f"the token {who.name!r} is read-only and allows no changes"
            )
        return who


@lru_cache(REMEMBERED)
def _bearer_token(header: str) -> str | None:
    """Return the token in a header Authorization; None if there is none."""
    match = _BEARER.fullmatch(header)
    return None if match is None else match[1]


def client_address(scope: Scope) -> str:
    """Return the address of the client of a request, as far as it is known.

    Parameters
    ----------
    scope : mapping
        The request.
    """
    client = scope.get("client")
    return str(client[0]) if client else ""


def too_many_wrong_tokens(wait: int) -> Problem:
    """Return the answer to a client that has sent too many wrong tokens.

    Parameters
    ----------
    wait : int
        Number of seconds to wait.
    """
    return Problem(
        429,
        "too-many-wrong-tokens",
        f"this client has sent too many wrong tokens: wait {wait} s, and use another token",
        {"Retry-After": str(wait)},
    )


def tokens_unreadable(error: Exception) -> Problem:
    """Return the answer while tokens cannot be read, and log why: nobody has access then.

    Parameters
    ----------
    error : Exception
        The reason. It names files of the server, which only its operator may know.
    """
    _LOGGER.error("nobody has access, because the tokens cannot be read: %s", error)
    detail = "the server cannot read its tokens; its log says why"
    return Problem(503, "tokens-unreadable", detail, {"Retry-After": "1"})


def _check_source(scope: Scope, made_by: Source) -> None:
    """Raise Problem if a page of another site has made a request, unless it links to a page."""
    if made_by is Source.FOREIGN and not (is_navigation(scope) and public_paths.is_page(scope)):
        raise Problem(
            403,
            "cross-origin",
            "a page of another site has made this request; only the pages of this service may",
        )


def _check_public_source(scope: Scope, made_by: Source) -> None:
    """Raise Problem if a log-in or log-out does not come from a page of this service."""
    if scope["method"] not in public_paths.READING:
        _check_own(made_by)


def _check_own(made_by: Source) -> None:
    """Raise Problem unless the browser says that a page of this service has made a request."""
    if made_by is not Source.OWN:
        raise Problem(
            403,
            "cross-origin",
            "a change by a logged-in browser needs 'Sec-Fetch-Site: same-origin' or an Origin of "
            "this service; other programs send 'Authorization: Bearer TOKEN' instead",
        )


def _wants_page(scope: Scope, made_by: Source) -> bool:
    """Whether a person waits for the answer, who can log in: they open a page or send a form."""
    if "text/html" not in ",".join(header_values(scope, b"accept")):
        return False
    is_form = scope["method"] == "POST" and made_by is Source.OWN
    return public_paths.is_page(scope) or (is_form and not public_paths.is_data(scope["path"]))
