"""The first page: the workspaces of the server."""

from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from tagalong.files.lock import BusyError
from tagalong.journal import JournalError
from tagalong.server.access.token_records import OWNER
from tagalong.server.api.calls import Call
from tagalong.server.api.handlers.settings import NEW_WORKSPACE
from tagalong.server.api.operations import Operation
from tagalong.server.page.rendering import FORM, plain_page, workspace_path
from tagalong.server.workspaces import Workspaces

__all__ = ["OPERATIONS"]


@dataclass(frozen=True, slots=True)
class _Row:
    """A workspace in the list; the numbers are those of workspaces that are open."""

    name: str
    path: str
    open: int | None
    labels: int | None


async def home(call: Call) -> Response:
    """Lead to the only workspace, or show all of them."""
    names = await call.run(call.service.workspaces.names)
    if len(names) == 1:
        return RedirectResponse(workspace_path(names[0]), 303)
    return await list_workspaces(call)


async def list_workspaces(call: Call) -> Response:
    """Show all workspaces."""
    workspaces = call.service.workspaces
    names = await call.run(workspaces.names)
    rows = await call.run(_rows, workspaces, names)
    may_add = call.who.name == OWNER
    return plain_page(call.request, "workspaces.html", rows=rows, may_add=may_add)


def _rows(workspaces: Workspaces, names: list[str]) -> list[_Row]:
    loaded = workspaces.loaded
    found = []
    for name in names:
        open_items = labels = None
        workspace = loaded.get(name)
        if workspace is not None:
            try:
                stats = workspace.stats()
            except (JournalError, BusyError):  # it is being closed
                pass
            else:
                open_items = stats.items.get("open", 0) + stats.items.get("asked", 0)
                labels = stats.labels
        found.append(_Row(name, workspace_path(name), open_items, labels))
    return found


async def add_workspace(call: Call) -> Response:
    """Make a workspace, and lead to it."""
    name = call.body["name"]
    await call.service.workspaces.create(name)
    return RedirectResponse(workspace_path(name), 303)


OPERATIONS = (
    Operation("homePage", "GET", "/", "Lead to the workspace.", home, is_change=False),
    Operation(
        "workspacesPage",
        "GET",
        "/workspaces",
        "Show the workspaces.",
        list_workspaces,
        is_change=False,
    ),
    Operation(
        "addWorkspaceForm",
        "POST",
        "/workspaces",
        "Make a workspace.",
        add_workspace,
        body=NEW_WORKSPACE,
        body_media=FORM,
        is_for_owner=True,
    ),
)
