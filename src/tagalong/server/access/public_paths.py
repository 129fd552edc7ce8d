"""Which requests need no token, which ones change something, and which ones ask for a page.

A path with an escape such as ``%2e``, or with an empty or dotted part, is never public: the checks
here and the routes then cannot read it in two ways.
"""

import re

from starlette.types import Scope

__all__ = ["READING", "is_change", "is_data", "is_page", "is_public"]

READING = ("GET", "HEAD", "OPTIONS")
_PUBLIC = {
    "/healthz": ("GET", "HEAD"),
    "/login": ("GET", "HEAD", "POST"),
    "/logout": ("POST",),
}
_STATIC = re.compile(r"/static(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
_SUGGEST = re.compile(r"/api/v1/workspaces/[a-z0-9][a-z0-9_-]{0,62}/suggest")
_DATA = ("/api", "/openapi.json", "/metrics", "/healthz")


def _plain_path(scope: Scope) -> str:
    """Return the path; empty if it does not mean what it says, because of escapes."""
    path: str = scope["path"]
    plain = path.encode("utf-8", "surrogatepass")
    return path if scope.get("raw_path", plain) == plain else ""


def is_public(scope: Scope) -> bool:
    """Whether a request needs no token: health, log-in, log-out and static files.

    Parameters
    ----------
    scope : mapping
        The request.
    """
    path = _plain_path(scope)
    if scope["method"] in _PUBLIC.get(path, ()):
        return True
    return scope["method"] in ("GET", "HEAD") and bool(_STATIC.fullmatch(path))


def is_change(scope: Scope) -> bool:
    """Whether a request may change something, so that a read-only token does not allow it.

    Parameters
    ----------
    scope : mapping
        The request. Suggestions are asked for with POST and change nothing.
    """
    if scope["method"] in READING:
        return False
    return not (scope["method"] == "POST" and _SUGGEST.fullmatch(_plain_path(scope)))


def is_page(scope: Scope) -> bool:
    """Whether a request asks for a page for people, not for data.

    Parameters
    ----------
    scope : mapping
        The request.
    """
    path: str = scope["path"]
    is_static = path.startswith("/static/")
    return scope["method"] in ("GET", "HEAD") and not is_static and not is_data(path)


def is_data(path: str) -> bool:
    """Whether a path belongs to the API, for programs.

    Parameters
    ----------
    path : str
        The path of a request, decoded.
    """
    return path.startswith("/api/") or path in _DATA
