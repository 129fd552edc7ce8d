"""The log-in of browsers: with a one-time code in the address, or with a token in a form."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from html import escape
from typing import TypeAlias
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tagalong.server.access.control import (
    UNREADABLE,
    client_address,
    tokens_unreadable,
    too_many_wrong_tokens,
)
from tagalong.server.access.return_paths import return_path
from tagalong.server.access.sessions import Sessions
from tagalong.server.access.token_records import OWNER
from tagalong.server.access.token_store import TokenStore
from tagalong.server.access.wrong_tokens import WrongTokens
from tagalong.server.problems import Problem

__all__ = ["login_routes"]

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]

_MAX_BODY = 4096
_FORM = "application/x-www-form-urlencoded"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tagalong: log in</title>
{links}</head>
<body>
<main class="login">
<h1>Log in to Tagalong</h1>
{problem}<form method="post" action="/login">
{next}<p><label for="token">Token</label>
<input id="token" name="token" type="password" required autocomplete="off" spellcheck="false"></p>
<p><button>Log in</button></p>
</form>
<p>The owner's token is in the file <code>token</code> of the folder that is served. The command
<code>tagalong token add</code> makes tokens for others.</p>
<p>If you have logged in before: <a href="{wanted}">open Tagalong</a>.</p>
</main>
</body>
</html>
"""
_OLD_CODE = (
    "This link is used up or older than a minute. Start <code>tagalong serve</code> again for a "
    "new one, or paste a token."
)
_UNSENT = "You were logged out. Your last change was not made. Log in and make it again."
_WRONG_TOKEN = "This is no token of this service. It may have been removed or renewed."


def login_routes(
    tokens: TokenStore,
    sessions: Sessions,
    wrong_tokens: WrongTokens | None = None,
    *,
    stylesheet: str | None = None,
    icon: str | None = None,
) -> list[Route]:
    """Return the routes ``/login`` and ``/logout``.

    `AccessControl` around them makes sure that no page of another site logs people in or out.

    Parameters
    ----------
    tokens : TokenStore
        The tokens with which people log in.
    sessions : Sessions
        The log-ins.
    wrong_tokens : WrongTokens, optional
        Counts wrong tokens, here and in `AccessControl`.
    stylesheet : str, optional
        Path of the style sheet of the page.
    icon : str, optional
        Path of its icon.
    """
    counter = wrong_tokens or WrongTokens()
    links = _link("stylesheet", stylesheet) + _link("icon", icon)

    def page(wanted: str, status: int = 200, problem: str = "") -> Response:
        path = escape(wanted)
        text = _PAGE.format(
            links=links,
            problem=f'<p class="notice warn" role="alert">{problem}</p>\n' if problem else "",
            next="" if wanted == "/" else f'<input type="hidden" name="next" value="{path}">\n',
            wanted=path,
        )
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        # With "no-referrer" a browser would send no origin with the form.
        headers["Referrer-Policy"] = "same-origin"
        return HTMLResponse(text, status, headers)

    def logged_in(name: str, request: Request, wanted: str) -> Response:
        cookie = sessions.start(name, secure=request.url.scheme == "https")
        return RedirectResponse(wanted, 303, {"Set-Cookie": cookie})

    async def show(request: Request) -> Response:
        code = request.query_params.get("code")
        wanted = return_path(request.query_params.get("next"))
        # HEAD changes nothing: a program that checks links must not use a code up.
        if code is None or request.method == "HEAD":
            return page(wanted, problem=_UNSENT if "unsent" in request.query_params else "")
        if sessions.use_code(code):
            return logged_in(OWNER, request, wanted)
        return page(wanted, 401, _OLD_CODE)

    async def log_in(request: Request) -> Response:
        form = await _sent_form(request)
        wanted = return_path(form.get("next"))
        with suppress(LookupError):  # the token is removed at this moment
            who = tokens.identify(form.get("token", "").strip())
            if who is not None:
                return logged_in(who.name, request, wanted)
        wait = counter.count(client_address(request.scope))
        if wait:
            raise too_many_wrong_tokens(wait)
        return page(wanted, 401, _WRONG_TOKEN)

    async def log_out(request: Request) -> Response:
        cookies = request.headers.getlist("cookie")
        removal = sessions.end(cookies, secure=request.url.scheme == "https")
        return RedirectResponse("/login", 303, {"Set-Cookie": removal})

    return [
        Route("/login", _answering(show), methods=["GET"], name="logInPage"),
        Route("/login", _answering(log_in), methods=["POST"], name="logIn"),
        Route("/logout", _answering(log_out), methods=["POST"], name="logOut"),
    ]


def _answering(handle: Handler) -> Handler:
    """Return a handler that answers with a problem document where another one raises."""

    async def answer(request: Request) -> Response:
        try:
            return await handle(request)
        except Problem as problem:
            return problem.response()
        except UNREADABLE as error:
            return tokens_unreadable(error).response()

    return answer


def _link(relation: str, path: str | None) -> str:
    return "" if path is None else f'<link rel="{relation}" href="{escape(path)}">\n'


async def _sent_form(request: Request) -> dict[str, str]:
    """Return the fields that the form has once; Problem if the body is no form of ours."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise Problem(415, "unsupported-media-type", f"the log-in needs a body of type {_FORM}")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_BODY:
            raise Problem(413, "too-large", f"a log-in has at most {_MAX_BODY} bytes")
    try:
        values = parse_qs(body.decode("latin-1"), max_num_fields=10)
    except ValueError as error:
        raise Problem(400, "bad-form", f"the form of the log-in: {error}") from error
    return {name: each[0] for name, each in values.items() if len(each) == 1}
