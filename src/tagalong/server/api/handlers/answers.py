"""Answers, undo, suggestions without keeping anything, filing what is sure."""

from starlette.responses import Response

from tagalong.server.api.calls import Call, JsonText, json_answer
from tagalong.server.api.json_forms import (
    ID,
    ITEM_PARTS,
    LABELS,
    PRECISION,
    SUGGESTED,
    item_of,
)
from tagalong.server.api.operations import SEQ, Operation, W
from tagalong.server.api.schemas import Flag, ListOf, Record, Text, Whole, nullable
from tagalong.server.api.suggesting import suggestions_for
from tagalong.server.api.suggestion_texts import suggestion_bytes

__all__ = ["OPERATIONS", "UNDO"]

ANSWER = Record(
    "Answer",
    {"labels": LABELS},
    {
        "shown": LABELS,
        "unknown": LABELS,
        "was": nullable(LABELS, "a list of labels, or null"),
    },
)
UNDO = Record(
    "Undo",
    optional={
        "seq": Whole(1, meaning="the event"),
        "batch": Text(1, 100, meaning="in place of it, all events of a batch"),
        "cascade": Flag("whether later events that become impossible are undone too"),
    },
    one_of=("seq", "batch"),
    alone=("seq", "batch"),
)
SUGGEST = Record(
    "SuggestRequest",
    # An id decides which sure items a person is asked about.
    optional={"id": ID, **ITEM_PARTS, "k": Whole(1, 1000), "min_precision": PRECISION},
    one_of=tuple(ITEM_PARTS),
    alone=("text", "fields"),
)
ACCEPT = Record(
    "AcceptRequest", optional={"min_precision": PRECISION, "preview": Flag("change nothing")}
)
_FILED = Record("FiledItem", {"id": Text(), "labels": ListOf(Text())}, is_open=True)
ACCEPTED = Record(
    "Accepted",
    {
        "batch": nullable(Text(meaning="names the batch, to undo all of it"), "a text or null"),
        "items": ListOf(_FILED, 10**9),
        "asked": ListOf(Text(meaning="left to a person as a spot check"), 10**9),
        "limited": Whole(meaning="number of items left out because of the limit per day"),
    },
    is_open=True,
)


async def answer_item(call: Call) -> Response:
    """Learn the answer to an item."""
    async with call.workspace() as workspace:
        work = workspace.answering(call.id, **call.body, **call.key)
        seq = await call.service.commit(workspace, work)
    return json_answer({"seq": seq})


async def undo(call: Call) -> Response:
    """Take an event or a batch back."""
    async with call.workspace() as workspace:
        seq = await call.run(workspace.undo, **call.body, **call.key)
    return json_answer({"seq": seq})


async def suggest(call: Call) -> Response:
    """Suggest labels for an item that is not kept."""
    body = call.body
    item = item_of(body, call.service.limits.item_bytes)
    k, precision = body.get("k", 5), body.get("min_precision")
    async with call.workspace() as workspace:
        found = await suggestions_for(call, workspace, item, k, precision)
    return JsonText(suggestion_bytes(found))


async def accept_sure(call: Call) -> Response:
    """File all open items that are sure."""
    async with call.workspace() as workspace:
        filed = await call.run(workspace.file_sure, **call.body, **call.key)
    items = [{"id": id, "labels": labels} for id, labels in filed.items]
    return json_answer(
        {
            "batch": filed.batch or None,
            "items": items,
            "asked": filed.asked,
            "limited": filed.limited,
        }
    )


OPERATIONS = (
    Operation(
        "answerItem",
        "POST",
        f"{W}/items/{{id}}/answer",
        "Learn the labels of an item. Answering again corrects; no labels: none of them is right.",
        answer_item,
        body=ANSWER,
        answers={200: SEQ},
        problems=(409,),
        has_key=True,
    ),
    Operation(
        "undo",
        "POST",
        f"{W}/undo",
        "Take an event back: the model becomes what it would be without it.",
        undo,
        body=UNDO,
        answers={200: SEQ},
        problems=(409,),
        has_key=True,
    ),
    Operation(
        "suggest",
        "POST",
        f"{W}/suggest",
        "Suggest labels without keeping anything.",
        suggest,
        body=SUGGEST,
        answers={200: Record("Suggestions", SUGGESTED, is_open=True)},
        is_change=False,
    ),
    Operation(
        "acceptSure",
        "POST",
        f"{W}/accept-sure",
        "File all open items that are sure, as one batch that can be undone.",
        accept_sure,
        body=ACCEPT,
        answers={200: ACCEPTED},
        problems=(409,),
        has_key=True,
    ),
)
