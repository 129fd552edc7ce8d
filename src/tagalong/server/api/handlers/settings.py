"""Settings of a workspace, and the workspaces of the server."""

from typing import Any

from starlette.responses import Response

from tagalong.server.api.calls import Call, json_answer
from tagalong.server.api.json_forms import PRECISION
from tagalong.server.api.operations import API, SEQ, Operation, W
from tagalong.server.api.schemas import (
    AnyOf,
    Choice,
    Flag,
    ListOf,
    Number,
    Record,
    Text,
    Type,
    Whole,
)
from tagalong.server.directories import NAME

__all__ = ["NEW_WORKSPACE", "OPERATIONS"]

_AUDIT = "the share of the sure items that a person is asked about nevertheless"
_SETTINGS: dict[str, Type] = {
    "labels": Choice(("grow", "fixed"), "fixed: answers may only have labels that exist"),
    "one_label": AnyOf((Flag(), Choice(("auto",))), "true, false or 'auto'"),
    "min_precision": PRECISION,
    "audit": AnyOf(
        (Number(least=0.001, most=1, meaning=_AUDIT), Number(least=0, most=0, meaning="never")),
        "0 or a number from 0.001 to 1",
    ),
    "content": Choice(("text", "features"), "features: no text of items is stored"),
    "paused": Flag("whether nothing is filed without asking"),
}
SETTINGS = Record("Settings", _SETTINGS, is_open=True)
CHANGES = Record("SettingsChange", optional=_SETTINGS, one_of=tuple(_SETTINGS))
_NAME = Text(pattern=NAME.pattern, meaning="a name from a-z, 0-9, _ and -, at most 63 characters")
NEW_WORKSPACE = Record("NewWorkspace", {"name": _NAME})
WORKSPACE = Record(
    "Workspace",
    {"name": Text(), "loaded": Flag("whether its model is in memory")},
    {
        "items": Record("ItemCounts", is_open=True),
        "labels": Whole(),
        "seq": Whole(meaning="the number of the last event"),
    },
    is_open=True,
)
WORKSPACES = Record("Workspaces", {"workspaces": ListOf(WORKSPACE, 10**9)}, is_open=True)


async def get_settings(call: Call) -> Response:
    """Return the settings that decide learning and filing."""
    async with call.workspace() as workspace:
        return json_answer(workspace.settings.to_json())


async def change_settings(call: Call) -> Response:
    """Change settings."""
    async with call.workspace() as workspace:
        seq = await call.run(workspace.change_settings, **call.body, **call.key)
    return json_answer({"seq": seq})


async def list_workspaces(call: Call) -> Response:
    """Return the names of all workspaces."""
    workspaces = call.service.workspaces
    names = await call.run(workspaces.names)
    loaded = workspaces.loaded
    return json_answer({"workspaces": [{"name": name, "loaded": name in loaded} for name in names]})


async def get_workspace(call: Call) -> Response:
    """Return numbers about a workspace."""
    async with call.workspace() as workspace:

        def count() -> dict[str, Any]:
            states = dict.fromkeys(("open", "asked", "filed", "answered"), 0)
            items = {**states, **workspace.item_counts()}
            return {"items": items, "labels": len(workspace.labels), "seq": workspace.tip}

        found = await call.run(count)
    return json_answer({"name": call.names["name"], "loaded": True, **found})


async def create_workspace(call: Call) -> Response:
    """Make a workspace."""
    name = call.body["name"]
    await call.service.workspaces.create(name)
    return json_answer({"name": name, "loaded": False}, 201)


async def remove_workspace(call: Call) -> Response:
    """Remove a workspace for good."""
    await call.service.workspaces.remove(call.names["name"])
    return Response(status_code=204)


OPERATIONS = (
    Operation(
        "getSettings",
        "GET",
        f"{W}/settings",
        "Return the settings that decide learning and filing.",
        get_settings,
        answers={200: SETTINGS},
        is_change=False,
    ),
    Operation(
        "changeSettings",
        "PATCH",
        f"{W}/settings",
        "Change settings that decide learning and filing.",
        change_settings,
        body=CHANGES,
        answers={200: SEQ},
        problems=(409,),
        has_key=True,
    ),
    Operation(
        "listWorkspaces",
        "GET",
        f"{API}/workspaces",
        "List the workspaces.",
        list_workspaces,
        answers={200: WORKSPACES},
        is_change=False,
    ),
    Operation(
        "createWorkspace",
        "POST",
        f"{API}/workspaces",
        "Make a workspace. Needs the token of the owner.",
        create_workspace,
        body=NEW_WORKSPACE,
        answers={201: WORKSPACE},
        problems=(409,),
        is_for_owner=True,
    ),
    Operation(
        "getWorkspace",
        "GET",
        W,
        "Return numbers about a workspace.",
        get_workspace,
        answers={200: WORKSPACE},
        is_change=False,
    ),
    Operation(
        "removeWorkspace",
        "DELETE",
        W,
        "Remove a workspace with everything in it, for good. Needs the token of the owner.",
        remove_workspace,
        answers={204: ""},
        problems=(409,),
        is_for_owner=True,
    ),
)
