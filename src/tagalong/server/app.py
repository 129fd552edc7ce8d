"""`make_app`: the whole application, from the access log to the operations."""

from collections.abc import Callable

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tagalong import __version__
from tagalong.server.access.control import AccessControl
from tagalong.server.access.headers import SecurityHeaders
from tagalong.server.access.login import login_routes
from tagalong.server.access.public_paths import is_data
from tagalong.server.access.wrong_tokens import WrongTokens
from tagalong.server.api.dispatch import Dispatch
from tagalong.server.api.openapi import document
from tagalong.server.api.table import OPERATIONS
from tagalong.server.http.access_log import AccessLog
from tagalong.server.http.overload import Overload, RequestLimits
from tagalong.server.page.rendering import refuse
from tagalong.server.page.static_files import PREFIX, static_file, static_path
from tagalong.server.page.table import PAGES
from tagalong.server.problems import Problem
from tagalong.server.service import Service

__all__ = ["make_app"]


def make_app(
    service: Service,
    write_log: Callable[[str], None] = lambda line: None,
    *,
    errors_only: bool = False,
) -> ASGIApp:
    """Return the application of a service.

    Parameters
    ----------
    service : Service
        The service.
    write_log : callable
        Writes a line of the access log; it must not block.
    errors_only : bool
        Whether to log only requests that failed with an unexpected error.
    """
    wrong_tokens = WrongTokens()
    login = login_routes(
        service.tokens,
        service.sessions,
        wrong_tokens,
        stylesheet=static_path("tagalong.css"),
        icon=static_path("icon.svg"),
    )
    parts = _Parts(
        login,
        Dispatch(
            service,
            OPERATIONS,
            document=document(OPERATIONS, __version__, service.limits.page_items),
        ),
        Dispatch(service, PAGES, refuse=refuse),
    )
    access = AccessControl(
        parts,
        service.tokens,
        service.sessions,
        service.allow_hosts,
        wrong_tokens=wrong_tokens,
    )
    metrics = service.request_metrics
    limits = RequestLimits(at_work=service.limits.requests)
    bounded = Overload(access, limits, metrics)
    # Outermost, so that the answers to unexpected errors and to too many requests have them too.
    return SecurityHeaders(AccessLog(bounded, write_log, metrics, errors_only=errors_only))


class _Parts:
    """Chooses the part of the service that answers a request.

    Parameters
    ----------
    login : list of Route
        The log-in, whose paths have no parameters.
    api : ASGI application
        Answers requests for data.
    pages : ASGI application
        Answers requests for pages.
    """

    def __init__(self, login: list[Route], api: ASGIApp, pages: ASGIApp):
        self._login: dict[str, list[Route]] = {}
        for route in login:
            self._login.setdefault(route.path, []).append(route)
        self._api = api
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = scope["path"]
        if path in self._login:
            await self._log_in(scope, receive, send)
        elif path.startswith(PREFIX):
            scope["state"]["operation"] = "static"
            await static_file(scope, receive, send)
        else:
            await (self._api if is_data(path) else self._pages)(scope, receive, send)

    async def _log_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["operation"] = "login"
        routes = self._login[scope["path"]]
        for route in routes:
            if scope["method"] in (route.methods or ()):
                await route.handle(scope, receive, send)
                return
        allowed = ", ".join(sorted({each for route in routes for each in route.methods or ()}))
        problem = f"{scope['method']} is not possible here; possible: {allowed}"
        refusal = Problem(405, "no-such-method", problem, {"Allow": allowed})
        await refusal.response()(scope, receive, send)
