"""The labels: the list, and the page of one label with what can be done with it."""

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from tagalong.journal import ConflictError, LabelFacts, NotFoundError, Workspace
from tagalong.journal.contents import title_of
from tagalong.server.api.calls import Call
from tagalong.server.api.forms import FORM
from tagalong.server.api.handlers.labels import check_change, settled_facts
from tagalong.server.api.json_forms import LABEL
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Choice, Record, Text, Whole
from tagalong.server.page.label_rows import label_list, label_of, label_path
from tagalong.server.page.percent_fields import percent_of
from tagalong.server.page.rendering import NOTICE, P, page, redirect
from tagalong.server.problems import Problem
from tagalong.tagger.targets import Target

__all__ = ["OPERATIONS"]

EXAMPLES = 8
MOST_CHOICES = 300
"""With more labels, the one that stays is typed in place of chosen."""
ORDERS = ("items", "name")
L = f"{P}/labels/{{label}}"
"""The path of a label."""
_ANY_LABEL = Text(1, bytes=512, meaning="a label")
NEW_NAME = replace(LABEL, meaning="a name that is not only spaces")
NEW = Record("NewLabelForm", {"name": NEW_NAME})
RENAME = Record("RenameForm", {"name": NEW_NAME})
MERGE = Record("MergeForm", {"into": _ANY_LABEL})
FORGET = Record("ForgetLabelForm")
TARGET = Record(
    "TargetForm",
    {"target": Choice(("workspace", "own", "never"))},
    {"percent": Text(most=40, meaning="the required share in percent")},
)


async def show_labels(call: Call) -> Response:
    """Show the list."""
    query = call.query.get("q", "")
    order = call.query.get("order", "items")
    number = call.query.get("page", 1)
    async with call.workspace() as workspace:
        facts = await call.run(settled_facts, workspace)
        found = await call.run(label_list, facts, query, order, number)
        counts = await call.run(workspace.item_counts)
        return await page(
            call,
            workspace,
            "labels.html",
            view="labels",
            list=found,
            answered=max(counts.get("answered", 0), 1),
            q=query,
            order=order,
            label_path=label_path,
        )


def _facts(workspace: Workspace, name: str) -> LabelFacts:
    found = next((each for each in settled_facts(workspace) if each.name == name), None)
    if found is None:
        raise NotFoundError(f"there is no label {name!r}")
    return found


async def show_label(call: Call) -> Response:
    """Show one label."""
    name = label_of(call.names["label"])

    def work(workspace: Workspace) -> dict[str, Any]:
        facts = _facts(workspace, name)
        others = [each for each in workspace.labels if each != name]
        items = workspace.labelled_items([name], EXAMPLES)[name]
        return {
            "label": facts,
            "use": workspace.label_use(name),
            "examples": [(each.id, title_of(each.content)) for each in items],
            "others": len(others),
            "choices": sorted(others, key=str.casefold) if len(others) <= MOST_CHOICES else [],
        }

    async with call.workspace() as workspace:
        values = await call.run(work, workspace)
        path = label_path(name)
        return await page(call, workspace, "label.html", view="labels", path=path, **values)


async def add_label(call: Call) -> Response:
    """Make a label."""
    name = call.body["name"].strip()
    async with call.workspace() as workspace:
        seq = await call.run(workspace.add_label, name, **call.key)
    return redirect(call, f"/labels/{label_path(name)}", seq)


async def _show_effect(
    call: Call, action: str, *, to: str | None = None, into: str | None = None
) -> Response:
    """Show what a change would do, with a form that does it."""
    name = label_of(call.names["label"])

    def work(workspace: Workspace) -> dict[str, Any]:
        check_change(workspace, name, to=to, into=into)
        target = None if into is None else workspace.label_use(into)
        return {"use": workspace.label_use(name), "target_use": target}

    async with call.workspace() as workspace:
        values = await call.run(work, workspace)
        return await page(
            call,
            workspace,
            "label_change.html",
            view="labels",
            action=action,
            name=name,
            to=to,
            into=into,
            path=label_path(name),
            **values,
        )


def _needed(call: Call, field: str) -> str:
    value = str(call.query.get(field, "")).strip()
    if not value:
        raise Problem(422, "not-valid", f"{field} is missing: say which one", place=field)
    return value


async def show_rename(call: Call) -> Response:
    """Show what renaming would do."""
    to = _needed(call, "name")
    try:
        return await _show_effect(call, "rename", to=to)
    except ConflictError:
        return await _show_taken(call, to)


async def _show_taken(call: Call, to: str) -> Response:
    """Say that another label has this name, and offer to merge the two."""
    name = label_of(call.names["label"])
    async with call.workspace() as workspace:
        return await page(
            call,
            workspace,
            "label_taken.html",
            view="labels",
            status=409,
            name=name,
            to=to,
            path=label_path(name),
        )


async def show_merge(call: Call) -> Response:
    """Show what merging would do."""
    into = call.query.get("into", "")
    return await _show_effect(call, "merge", into=into if into else _needed(call, "into"))


async def show_forget(call: Call) -> Response:
    """Show what forgetting would do."""
    return await _show_effect(call, "forget")


async def rename(call: Call) -> Response:
    """Rename a label."""
    name, to = label_of(call.names["label"]), call.body["name"]
    async with call.workspace() as workspace:
        try:
            seq = await call.run(workspace.rename_label, name, to, **call.key)
        except ConflictError:
            if to not in workspace.labels:
                raise
            return await _show_taken(call, to)
    return redirect(call, f"/labels/{label_path(to)}", seq)


async def merge(call: Call) -> Response:
    """Merge a label into another one."""
    name, into = label_of(call.names["label"]), call.body["into"]
    async with call.workspace() as workspace:
        seq = await call.run(workspace.merge_label, name, into, **call.key)
    return redirect(call, f"/labels/{label_path(into)}", seq)


async def forget(call: Call) -> Response:
    """Forget a label."""
    name = label_of(call.names["label"])
    async with call.workspace() as workspace:
        seq = await call.run(workspace.forget_label, name, **call.key)
    return redirect(call, "/labels", seq)


async def set_target(call: Call) -> Response:
    """Say when a label may be filed without asking."""
    name, choice = label_of(call.names["label"]), call.body["target"]
    target: Target | None = {"workspace": None, "never": "never"}.get(choice)
    if choice == "own":
        target = percent_of(call.body.get("percent", ""), "the share", above=0)
    async with call.workspace() as workspace:
        seq = await call.run(workspace.set_min_precision, name, target, **call.key)
    return redirect(call, f"/labels/{label_path(name)}", seq)


def _form(name: str, path: str, summary: str, handler: Any, body: Record) -> Operation:
    return Operation(name, "POST", path, summary, handler, body=body, body_media=FORM)


def _page(id: str, path: str, summary: str, handler: Any, /, **query: Any) -> Operation:
    return Operation(id, "GET", path, summary, handler, query=query, is_change=False)


OPERATIONS = (
    _page(
        "labelsPage",
        f"{P}/labels",
        "Show the labels.",
        show_labels,
        **NOTICE,
        q=Text(most=512),
        order=Choice(ORDERS),
        page=Whole(1, 10**6),
    ),
    _form("newLabelForm", f"{P}/labels", "Make a label.", add_label, NEW),
    _page("labelPage", L, "Show a label.", show_label, **NOTICE),
    _page("renamePage", f"{L}/rename", "Show what it would do.", show_rename, name=_ANY_LABEL),
    _page("mergePage", f"{L}/merge", "Show what it would do.", show_merge, into=Text(bytes=512)),
    _page("forgetLabelPage", f"{L}/forget", "Show what it would do.", show_forget),
    _form("renameForm", f"{L}/rename", "Rename a label.", rename, RENAME),
    _form("mergeForm", f"{L}/merge", "Merge a label into another one.", merge, MERGE),
    _form("forgetLabelForm", f"{L}/forget", "Forget a label.", forget, FORGET),
    _form("targetForm", f"{L}/target", "Say when it may be filed.", set_target, TARGET),
)
