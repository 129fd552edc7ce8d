r"""Where a log-in leads: back to the page that somebody wanted to see.

The path travels in the address of the log-in page, so anybody can write one. Only a path of a page
of this service is accepted. Browsers read ``//host``, ``/\host`` and some paths with control
characters as addresses of other hosts; no accepted path has two slashes in a row, a backslash or
anything but visible ASCII.
"""

import re
from urllib.parse import quote, urlsplit

from starlette.types import Scope

from tagalong.server.access.hosts import first_header
from tagalong.server.access.public_paths import is_data

__all__ = ["login_path", "return_path"]

LOGIN = "/login"
HOME = "/"
MOST = 2000
"""Length of the longest path."""
_PATH = re.compile(r"/|(/[A-Za-z0-9._~%!$&'()*+,;=:@-]+)+")
_QUERY = re.compile(r"[A-Za-z0-9._~%!$&'()*+,;=:@/?-]*")
_NO_PAGES = ("/login", "/logout", "/static")


def return_path(text: str | None) -> str:
    """Return the path to go to after a log-in: the one asked for if it is a page here, else "/".

    Parameters
    ----------
    text : str or None
        Any text.
    """
    if text is None or len(text) > MOST:
        return HOME
    path, _, query = text.partition("?")
    is_sound = _PATH.fullmatch(path) is not None and _QUERY.fullmatch(query) is not None
    return text if is_sound and _is_page(path) else HOME


def _is_page(path: str) -> bool:
    return not is_data(path) and not any(
        path == each or path.startswith(f"{each}/") for each in _NO_PAGES
    )


def login_path(scope: Scope, host: str) -> str:
    """Return the address of the log-in page that leads back to the page of a request.

    A form leads back to the page that it is on, and the log-in page says that it was not sent.

    Parameters
    ----------
    scope : mapping
        The request.
    host : str
        Its host and port, in lower case.
    """
    is_form = scope["method"] not in ("GET", "HEAD")
    wanted = return_path(_referring_path(scope, host) if is_form else _own_path(scope))
    parameters = [] if wanted == HOME else [f"next={quote(wanted, safe='/')}"]
    parameters += ["unsent=1"] if is_form else []
    return f"{LOGIN}?{'&'.join(parameters)}" if parameters else LOGIN


def _own_path(scope: Scope) -> str:
    raw: bytes = scope.get("raw_path", scope["path"].encode("utf-8", "replace"))
    query: bytes = scope.get("query_string", b"")
    return (raw + b"?" + query if query else raw).decode("latin-1")


def _referring_path(scope: Scope, host: str) -> str | None:
    try:
        parts = urlsplit(first_header(scope, b"referer", ""))
    except ValueError:
        return None
    if parts.netloc.lower() != host:
        return None
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
