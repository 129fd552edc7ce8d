"""Answers with HTML: whole pages, parts of pages, and going on to another page after a change."""

import gzip
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tagalong import __version__
from tagalong.journal import Workspace
from tagalong.server.access.hosts import header_values
from tagalong.server.api.calls import Call
from tagalong.server.api.forms import FORM
from tagalong.server.api.operations import API
from tagalong.server.api.schemas import Type, Whole
from tagalong.server.page.compression import accepts_gzip
from tagalong.server.page.notices import Notice, notice_of
from tagalong.server.page.rendered_templates import render
from tagalong.server.problems import Problem

__all__ = [
    "FORM",
    "NOTICE",
    "P",
    "fragment",
    "page",
    "plain_page",
    "redirect",
    "refuse",
    "workspace_path",
]

P = "/w/{name}"
"""The path of a workspace's pages."""
NOTICE: dict[str, Type] = {"seq": Whole(1, meaning="an event to tell about")}
"""The parameter of pages to which `redirect` leads."""
# With "no-referrer" a browser would send no origin with a form.
HEADERS = {"Referrer-Policy": "same-origin"}
_LEAST_COMPRESSED = 1000
"""Size of an answer from which on it is compressed."""
_COMPRESSION = 4
"""The level of compression: 6 would save 2 % and take half as long again."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """The values of the frame around every page of a workspace."""

    open: int
    tip: int
    one_label: bool
    notice: Notice | None


def workspace_path(name: str) -> str:
    """Return the path of the pages of a workspace.

    Parameters
    ----------
    name : str
        Its name.
    """
    return f"/w/{quote(name, safe='')}"


def _frame(workspace: Workspace, seq: int | None) -> _Frame:
    stats = workspace.stats()
    waiting = stats.items.get("open", 0) + stats.items.get("asked", 0)
    notice = None if seq is None else notice_of(workspace, seq)
    return _Frame(waiting, stats.events, workspace.tagger.has_one_label, notice)


async def page(
    call: Call, workspace: Workspace, template: str, *, view: str, status: int = 200, **values: Any
) -> Response:
    """Return a page of a workspace.

    Parameters
    ----------
    call : Call
        The request.
    workspace : Workspace
        The workspace, which is open.
    template : str
        The name of the template.
    view : str
        The view, which the navigation marks.
    status : int
        The status code.
    values : object
        Values for the template.
    """
    frame = await call.run(_frame, workspace, call.query.get("seq"))
    text = render(
        template,
        **_values(call.request, call.names["name"]),
        view=view,
        open_items=frame.open,
        tip=frame.tip,
        one_label=frame.one_label,
        settings=workspace.settings,
        notice=frame.notice,
        **values,
    )
    return _html(call.request, text, status)


def fragment(call: Call, workspace: Workspace, template: str, **values: Any) -> Response:
    """Return a part of a page.

    Parameters
    ----------
    call : Call
        The request.
    workspace : Workspace
        The workspace, which is open.
    template : str
        The name of the template.
    values : object
        Values for the template.
    """
    text = render(
        template,
        **_values(call.request, call.names["name"]),
        one_label=workspace.tagger.has_one_label,
        settings=workspace.settings,
        **values,
    )
    return _html(call.request, text)


def _html(request: Request, text: str, status: int = 200) -> Response:
    """Return the answer with a text of HTML, compressed if the browser allows it.

    Pages have no secrets, so the length of a compressed page tells nothing that is not on it.
    """
    headers = {**HEADERS, "Vary": "Accept-Encoding"}
    content = text.encode()
    if len(content) >= _LEAST_COMPRESSED and accepts_gzip(request.scope):
        headers["Content-Encoding"] = "gzip"
        content = gzip.compress(content, _COMPRESSION, mtime=0)
    return HTMLResponse(content, status, headers)


def _values(request: Request, name: str | None) -> dict[str, Any]:
    who = request.scope["state"].get("who")
    found = {
        "version": __version__,
        "who": None if who is None else who.name,
        "may_change": who is not None and not who.read_only,
        "key": secrets.token_urlsafe(18),
    }
    if name is not None:
        path = quote(name, safe="")
        found |= {
            "workspace_name": name,
            "base": workspace_path(name),
            "api": f"{API}/workspaces/{path}",
        }
    return found


def redirect(call: Call, path: str, seq: int | None = None, **query: Any) -> Response:
    """Return the answer to a form: another page, which tells what was changed.

    Parameters
    ----------
    call : Call
        The request.
    path : str
        The path below that of the workspace, such as "/labels".
    seq : int, optional
        The event that the page tells about.
    query : object
        Further parameters of the page; None is left out.
    """
    parameters = {"seq": seq, **query}
    text = urlencode({name: value for name, value in parameters.items() if value is not None})
    where = workspace_path(call.names["name"]) + path
    return RedirectResponse(f"{where}?{text}" if text else where, 303)


def plain_page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a page that belongs to no workspace.

    Parameters
    ----------
    request : Request
        The request.
    template : str
        The name of the template.
    status : int
        The status code.
    values : object
        Values for the template.
    """
    text = render(template, **_values(request, None), view="", **values)
    return _html(request, text, status)


def refuse(request: Request, problem: Problem) -> Response:
    """Return the answer to a request with a problem: a page for people, else a document.

    Parameters
    ----------
    request : Request
        The request.
    problem : Problem
        The problem.
    """
    accepted = ",".join(header_values(request.scope, b"accept"))
    if "text/html" not in accepted:
        return problem.response()
    response = plain_page(request, "problem.html", problem.status, problem=problem)
    response.headers.update(problem.headers)
    return response
