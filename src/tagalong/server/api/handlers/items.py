"""Items: add, list, show, put off, forget."""

from typing import Any

from starlette.responses import Response

from tagalong.journal import ItemRecord, NotFoundError, Workspace
from tagalong.server.api.calls import Call, json_answer, page_limit
from tagalong.server.api.json_forms import (
    EXPLANATION,
    ID,
    ITEM_PARTS,
    LABEL,
    LABELS,
    PRECISION,
    SHOWN_PARTS,
    SUGGESTED,
    explained,
    item_of,
    listed,
    shown,
    suggested,
)
from tagalong.server.api.operations import SEQ, Operation, W
from tagalong.server.api.schemas import (
    Choice,
    Flag,
    ListOf,
    Moment,
    Number,
    Record,
    Text,
    Type,
    Whole,
    nullable,
)
from tagalong.server.api.suggesting import suggestions_for
from tagalong.tagger import Suggestions

__all__ = ["ITEM", "OPERATIONS", "add_item"]

K = Whole(1, 1000, "number of suggestions (default: 5)")
STATES = ("open", "answered", "asked", "filed")

ITEM = Record(
    "NewItem",
    optional={
        "id": ID,
        **ITEM_PARTS,
        "labels": nullable(LABELS, "a list of labels, or null"),
        "title": Text(most=1000, meaning="a short text to show in lists"),
        "source": Text(most=1000, meaning="where it comes from"),
        "date": Moment("when it was written"),
        "weight": Number(above=0, most=1e10, meaning="how much it counts (default: 1)"),
    },
    one_of=tuple(ITEM_PARTS),
    alone=("text", "fields"),
)
ADDED = Record("AddedItem", {"id": Text(), "seq": Whole(1), **SUGGESTED}, is_open=True)
_LISTED: dict[str, Type] = {
    "id": Text(),
    "seq": Whole(1),
    "state": Choice(STATES),
    "labels": nullable(ListOf(Text()), "a list of labels, or null"),
    "title": Text(),
    "source": Text(),
    "date": nullable(Text(), "a text or null"),
    "time": Text(meaning="when it came"),
    "skipped": Flag("whether it was put off"),
    "answer": nullable(Whole(meaning="the event that gave it its labels"), "a number or null"),
    "answered_by": nullable(Text(meaning="the name of the token"), "a text or null"),
    "viewers": ListOf(Text()),
}
LISTED = Record("ListedItem", _LISTED, SUGGESTED, is_open=True)
PAGE = Record(
    "ItemPage",
    {
        "items": ListOf(LISTED),
        "next": nullable(Text(meaning="where the next page begins"), "a cursor or null"),
    },
    is_open=True,
)
SHOWN = Record(
    "Item",
    {**_LISTED, **SUGGESTED, "explanation": EXPLANATION},
    SHOWN_PARTS,
    is_open=True,
)


async def add_item(call: Call) -> Response:
    """Add an item, and suggest labels for it."""
    body = call.body
    item = item_of(body, call.service.limits.item_bytes)
    options = {name: body[name] for name in ("title", "source") if name in body}
    async with call.workspace() as workspace:
        added = await call.run(
            workspace.add, item, body.get("labels"), id=body.get("id"), **options, **call.key
        )
        found = await _suggestions(call, workspace, item)
    answer = {"id": added.id, "seq": added.seq, **suggested(found)}
    return json_answer(answer, 201 if added.is_new else 200)


async def _suggestions(call: Call, workspace: Workspace, item: Any) -> Suggestions:
    k, min_precision = call.query.get("k", 5), call.query.get("min_precision")
    return await suggestions_for(call, workspace, item, k, min_precision)


async def list_items(call: Call) -> Response:
    """Return a page of items."""
    query = dict(call.query)
    k = query.pop("k", None)
    query.setdefault("order", "newest")
    query.setdefault("after", None)
    if query["order"] == "unsure":
        query.setdefault("state", "open")
    limit = page_limit(call)
    query.pop("limit", None)
    state, source, q = (query.pop(name, None) for name in ("state", "source", "q"))
    async with call.workspace() as workspace:
        page = await call.run(workspace.page, state=state, source=source, q=q, limit=limit, **query)
        answers = [_listed(call, record) for record in page.records]
        if k is not None:
            items = [record.content.item for record in page.records]
            found = await call.run(workspace.suggest_many, items, k)
            answers = [
                {**answer, **suggested(each)} for answer, each in zip(answers, found, strict=True)
            ]
    return json_answer({"items": answers, "next": page.next})


def _listed(call: Call, record: ItemRecord) -> dict[str, Any]:
    viewers = call.service.viewers.of(call.names["name"], record.id)
    return {**listed(record), "viewers": viewers}


async def get_item(call: Call) -> Response:
    """Return an item with suggestions, and the words that speak for a label."""
    async with call.workspace() as workspace:
        record = await call.run(workspace.item, call.id)
        item = record.content.item
        found = await _suggestions(call, workspace, item)
        explanation = await call.run(_explanation, workspace, item, call.query.get("label"))
    viewers = call.service.viewers.of(call.names["name"], record.id)
    return json_answer(
        {**shown(record), **suggested(found), "explanation": explanation, "viewers": viewers}
    )


def _explanation(workspace: Workspace, item: Any, label: str | None) -> dict[str, Any] | None:
    """Explain a label, or the best one; None if there are no labels."""
    tagger = workspace.tagger  # the same one for all, even if an undo replaces it meanwhile
    if label is not None and label not in tagger.labels:
        raise NotFoundError(f"there is no label {label!r}")
    return explained(tagger.explain(item, label)) if tagger.labels else None


async def skip_item(call: Call) -> Response:
    """Put an item off."""
    async with call.workspace() as workspace:
        await call.run(workspace.skip, call.id)
    return Response(status_code=204)


async def view_item(call: Call) -> Response:
    """Note that somebody looks at an item."""
    name = call.names["name"]
    async with call.workspace() as workspace:
        await call.run(workspace.item, call.id)
        call.service.viewers.note(name, call.id, call.actor)
        viewers = call.service.viewers.of(name, call.id)
        call.service.workspaces.news(name).tell("viewing", {"id": call.id, "viewers": viewers})
    return Response(status_code=204)


async def forget_item(call: Call) -> Response:
    """Forget an item."""
    async with call.workspace() as workspace:
        seq = await call.run(workspace.forget, call.id, **call.key)
    return json_answer({"seq": seq}, 202)


OPERATIONS = (
    Operation(
        "addItem",
        "POST",
        f"{W}/items",
        "Add an item, learn its labels if it has some, and suggest labels for it.",
        add_item,
        query={"k": K, "min_precision": PRECISION},
        body=ITEM,
        answers={201: ADDED, 200: ADDED},
        problems=(409,),
        has_key=True,
    ),
    Operation(
        "listItems",
        "GET",
        f"{W}/items",
        "List items page by page.",
        list_items,
        query={
            "state": Choice(
                STATES,
                "open: to be answered, spot checks included; answered: filed ones included",
            ),
            "order": Choice(
                ("newest", "unsure"), "unsure: the least certain ones first, for open ones"
            ),
            "after": Text(1, 1000, meaning="the cursor `next` of the page before"),
            "limit": Whole(1, 10_000, "number of items (default: 100)"),
            "source": Text(most=1000, meaning="only items from there"),
            "q": Text(most=1000, meaning="only items with all these words"),
            "k": Whole(1, 100, "also return so many suggestions per item"),
        },
        answers={200: PAGE},
        is_change=False,
    ),
    Operation(
        "getItem",
        "GET",
        f"{W}/items/{{id}}",
        "Show an item with its content, suggestions, and the words that speak for a label.",
        get_item,
        query={"k": K, "min_precision": PRECISION, "label": LABEL},
        answers={200: SHOWN},
        is_change=False,
    ),
    Operation(
        "skipItem",
        "POST",
        f"{W}/items/{{id}}/skip",
        "Put an open item off: it comes after all others.",
        skip_item,
        answers={204: ""},
        problems=(409,),
    ),
    Operation(
        "viewItem",
        "POST",
        f"{W}/items/{{id}}/viewing",
        "Tell others for 30 seconds that somebody looks at the item.",
        view_item,
        answers={204: ""},
    ),
    Operation(
        "forgetItem",
        "DELETE",
        f"{W}/items/{{id}}",
        "Delete an item and what was learnt from it. This cannot be undone.",
        forget_item,
        answers={202: SEQ},
        problems=(409,),
        has_key=True,
    ),
)
