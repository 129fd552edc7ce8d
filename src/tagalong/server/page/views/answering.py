"""Forms of the filing view: answers, put-offs, and forgetting after a question."""

import json
from typing import Any

from starlette.responses import Response

from tagalong.journal.contents import title_of
from tagalong.learning.items import Item
from tagalong.server.api.calls import Call
from tagalong.server.api.forms import FORM
from tagalong.server.api.json_forms import LABELS
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Flag, Record, Text
from tagalong.server.page.rendering import P, page, redirect
from tagalong.server.page.views.filing import FILTERS, as_query, kept_filters
from tagalong.server.problems import Problem

__all__ = ["OPERATIONS"]

ANSWER = Record(
    "AnswerForm",
    {"labels": LABELS},
    {
        "other": Text(most=10_000, meaning="further labels, one per line"),
        "none": Flag("no label is right"),
        "was": Text(most=1_000_000, meaning="the present answer as JSON"),
        **FILTERS,
    },
)
FORGET = Record("ForgetForm", optional=FILTERS)


async def answer_item(call: Call) -> Response:
    """Learn the labels of a form, and lead to the next item."""
    body = call.body
    others = [line.strip() for line in body.get("other", "").splitlines()]
    chosen = [*body["labels"], *(line for line in others if line)]
    labels = [] if body.get("none") else list(dict.fromkeys(chosen))
    if not labels and not body.get("none"):
        raise Problem(
            422, "not-valid", "no label is chosen: choose one, or use the button 'None of these'"
        )
    async with call.workspace() as workspace:
        work = workspace.answering(call.id, labels, was=_was(body), **call.key)
        seq = await call.service.commit(workspace, work)
    return redirect(call, "", seq, **kept_filters(body))


def _was(body: dict[str, Any]) -> list[str] | None:
    """Return the answer that the form was made for; None for an open item."""
    try:
        was = json.loads(body.get("was", "null"))
    except ValueError:
        was = ""
    if was is None or (isinstance(was, list) and all(isinstance(each, str) for each in was)):
        return was
    raise Problem(422, "not-valid", "the field was must be a list of labels in JSON, or null")


async def skip_item(call: Call) -> Response:
    """Put an item off, and lead to the next one."""
    async with call.workspace() as workspace:
        await call.run(workspace.skip, call.id)
    return redirect(call, "", None, **kept_filters(call.body))


async def show_forget(call: Call) -> Response:
    """Show what deleting an item would do, with a form that does it."""
    filters = kept_filters(call.query)
    async with call.workspace() as workspace:
        record = await call.run(workspace.item, call.id)
        return await page(
            call,
            workspace,
            "item_forget.html",
            view="filing-forget",
            record=record,
            title=title_of(record.content),
            has_text=isinstance(record.content.item, Item),
            filters=filters,
            query=as_query(filters),
        )


async def forget_item(call: Call) -> Response:
    """Delete an item for good."""
    async with call.workspace() as workspace:
        seq = await call.run(workspace.forget, call.id, **call.key)
    return redirect(call, "", seq, **kept_filters(call.body))


OPERATIONS = (
    Operation(
        "answerForm",
        "POST",
        f"{P}/items/{{id}}/answer",
        "Learn the labels of an item.",
        answer_item,
        body=ANSWER,
        body_media=FORM,
    ),
    Operation(
        "skipForm",
        "POST",
        f"{P}/items/{{id}}/skip",
        "Put an item off.",
        skip_item,
        body=ANSWER,  # a button of the same form
        body_media=FORM,
    ),
    Operation(
        "forgetPage",
        "GET",
        f"{P}/items/{{id}}/forget",
        "Show what deleting an item would do.",
        show_forget,
        query=FILTERS,
        is_change=False,
    ),
    Operation(
        "forgetForm",
        "POST",
        f"{P}/items/{{id}}/forget",
        "Delete an item for good.",
        forget_item,
        body=FORGET,
        body_media=FORM,
    ),
)
