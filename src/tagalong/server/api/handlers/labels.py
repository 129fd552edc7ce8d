"""Labels: list, add, rename, merge, set the required precision, forget."""

from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from starlette.responses import Response

from tagalong.journal import ConflictError, NotFoundError, RefusedError, Workspace
from tagalong.journal.label_facts import LabelFacts
from tagalong.server.api.calls import Call, json_answer
from tagalong.server.api.json_forms import LABEL, PRECISION
from tagalong.server.api.operations import Operation, W
from tagalong.server.api.schemas import (
    AnyOf,
    Choice,
    Flag,
    ListOf,
    Nothing,
    Number,
    Record,
    Text,
    Whole,
    nullable,
)

__all__ = ["OPERATIONS", "TARGET", "check_change", "settled_facts"]

SECONDS_TO_SETTLE = 2.0
TARGET = AnyOf((PRECISION, Choice(("never",)), Nothing()), "a number from 0 to 1, 'never' or null")
PREVIEW = {"preview": Flag("only return how many items it concerns")}
NEW_LABEL = Record("NewLabel", {"name": LABEL}, {"min_precision": TARGET})
CHANGE = Record(
    "LabelChange",
    optional={
        "name": replace(LABEL, meaning=f"the new name: {LABEL.meaning}"),
        "into": Text(1, bytes=512, meaning="the label that gets its items"),
        "min_precision": TARGET,
    },
    one_of=("name", "into", "min_precision"),
    alone=("name", "into", "min_precision"),
)
LISTED = Record(
    "Label",
    {
        "name": Text(),
        "items": Whole(meaning="number of items learnt with it"),
        "last": Whole(meaning="the last item learnt with it, counted from 1; 0 without any"),
        "min_precision": TARGET,
        "precision": nullable(Number(meaning="share right among its sure suggestions"), "or null"),
        "sure": Number(meaning="number of these suggestions; old ones count less"),
    },
    is_open=True,
)
LABELS = Record("Labels", {"labels": ListOf(LISTED, 10**9)}, is_open=True)
CHANGED = Record(
    "LabelChanged",
    optional={
        "seq": Whole(1, meaning="the number of the event"),
        "items": Whole(meaning="in a preview: number of items with the label"),
    },
    is_open=True,
)


async def list_labels(call: Call) -> Response:
    """Return all labels."""
    async with call.workspace() as workspace:
        found = await call.run(settled_facts, workspace)
    return json_answer({"labels": [asdict(each) for each in found]})


def settled_facts(workspace: Workspace) -> list[LabelFacts]:
    """Return facts about each label, if possible after everything that was acknowledged.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    """
    _settle(workspace)
    return workspace.label_facts()


def _settle(workspace: Workspace) -> None:
    """Wait for an undo: until then the model has the labels that the undo has removed."""
    with suppress(TimeoutError):
        workspace.settle(SECONDS_TO_SETTLE)


async def add_label(call: Call) -> Response:
    """Add a label before its first item."""
    async with call.workspace() as workspace:
        if call.query.get("preview"):
            _check_new(workspace, call.body["name"])
            return json_answer({"items": 0})
        seq = await call.run(workspace.add_label, **call.body, **call.key)
    return json_answer({"seq": seq})


async def change_label(call: Call) -> Response:
    """Rename a label, merge it into another, or set its required precision."""
    name, body = call.names["label"], call.body
    async with call.workspace() as workspace:
        if call.query.get("preview"):
            return await _preview(call, workspace, name)
        if "name" in body:
            seq = await call.run(workspace.rename_label, name, body["name"], **call.key)
        elif "into" in body:
            seq = await call.run(workspace.merge_label, name, body["into"], **call.key)
        else:
            target = body["min_precision"]
            seq = await call.run(workspace.set_min_precision, name, target, **call.key)
    return json_answer({"seq": seq})


async def forget_label(call: Call) -> Response:
    """Remove a label and its weights."""
    name = call.names["label"]
    async with call.workspace() as workspace:
        if call.query.get("preview"):
            return await _preview(call, workspace, name)
        seq = await call.run(workspace.forget_label, name, **call.key)
    return json_answer({"seq": seq})


async def _preview(call: Call, workspace: Workspace, name: str) -> Response:
    """Return how many items a change concerns, or refuse it as the change would be refused."""
    body = call.body or {}

    def count() -> dict[str, Any]:
        check_change(workspace, name, to=body.get("name"), into=body.get("into"))
        return {"items": workspace.items_with_label(name)}

    return json_answer(await call.run(count))


def check_change(
    workspace: Workspace, name: str, *, to: str | None = None, into: str | None = None
) -> None:
    """Refuse a change of a label as the change itself would be refused.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    name : str
        The label.
    to : str, optional
        Its new name.
    into : str, optional
        The label that gets its items.
    """
    if into == name:
        raise RefusedError(f"the label {name!r} cannot be merged into itself")
    _settle(workspace)
    for each in (name, name if into is None else into):
        if each not in workspace.labels:
            raise NotFoundError(f"there is no label {each!r}")
    if to is not None:
        _check_new(workspace, to)


def _check_new(workspace: Workspace, name: str) -> None:
    if name in workspace.labels:
        raise ConflictError(f"there is a label {name!r} already")


OPERATIONS = (
    Operation(
        "listLabels",
        "GET",
        f"{W}/labels",
        "List the labels with their counts, and how often they were right among the sure.",
        list_labels,
        answers={200: LABELS},
        is_change=False,
    ),
    Operation(
        "addLabel",
        "POST",
        f"{W}/labels",
        "Add a label before its first item.",
        add_label,
        query=PREVIEW,
        body=NEW_LABEL,
        answers={200: CHANGED},
        problems=(409,),
        has_key=True,
    ),
    Operation(
        "changeLabel",
        "PATCH",
        f"{W}/labels/{{label}}",
        "Rename a label (name), merge it into another (into), or set its own required precision.",
        change_label,
        query=PREVIEW,
        body=CHANGE,
        answers={200: CHANGED},
        problems=(409,),
        has_key=True,
    ),
    Operation(
        "forgetLabel",
        "DELETE",
        f"{W}/labels/{{label}}",
        "Remove a label and what was learnt about it.",
        forget_label,
        query=PREVIEW,
        answers={200: CHANGED},
        problems=(409,),
        has_key=True,
    ),
)
