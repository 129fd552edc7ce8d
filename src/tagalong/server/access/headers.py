"""Headers of all responses: a browser runs, embeds, stores and passes on as little as possible."""

from collections.abc import Mapping
from types import MappingProxyType

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "SecurityHeaders"]

HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
)


class SecurityHeaders:
    """Middleware that adds headers to every response, unless the response has its own.

    Parameters
    ----------
    app : ASGI application
        The application within.
    """

    def __init__(self, app: ASGIApp):
        self._app = app
        self._headers = [
            (name.lower().encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()
        ]
        self._names = frozenset(name for name, _ in self._headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                names = {name.lower() for name, _ in own}
                added = self._headers
                if not names.isdisjoint(self._names):
                    added = [header for header in added if header[0] not in names]
                message = {**message, "headers": own + added}
            await send(message)

        await self._app(scope, receive, send_with_headers)
