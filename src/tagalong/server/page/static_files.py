"""The files of the page that never change while the server runs: styles, script, icon.

Their paths contain a digest of their content, so that browsers may keep them for ever and still see
a new version at once.
"""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tagalong.server.page.compression import accepts_gzip
from tagalong.server.problems import Problem

__all__ = ["PREFIX", "static_file", "static_path"]

FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PREFIX = "/static/"
_KEPT = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    media_type: str
    content: bytes
    compressed: bytes


@cache
def _files() -> dict[str, _File]:
    """Return all files by name."""
    found = {}
    for file in sorted(FOLDER.iterdir()):
        content = file.read_bytes()
        digest = hashlib.sha256(content).hexdigest()[:12]
        media = MEDIA_TYPES[file.suffix]
        path = f"{PREFIX}{digest}/{file.name}"
        found[file.name] = _File(path, media, content, gzip.compress(content, mtime=0))
    return found


def static_path(name: str) -> str:
    """Return the path of a file.

    Parameters
    ----------
    name : str
        Its name.
    """
    return _files()[name].path


async def static_file(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for a file, as an ASGI application."""
    response = _answer(Request(scope, receive))
    await response(scope, receive, send)


def _answer(request: Request) -> Response:
    path = request.scope["path"]
    file = _files().get(path.rpartition("/")[2])
    if request.method not in ("GET", "HEAD"):
        allowed = {"Allow": "GET"}
        return Problem(405, "no-such-method", "static files can only be read", allowed).response()
    if file is None or file.path != path:
        return Problem(404, "no-such-path", "there is no such file in this version").response()
    headers = {"Cache-Control": _KEPT, "Vary": "Accept-Encoding"}
    content = file.content
    if accepts_gzip(request.scope):
        headers["Content-Encoding"] = "gzip"
        content = file.compressed
    return Response(content, 200, headers, file.media_type)
