"""Undoing an event or a batch from any view, also together with what depends on it."""

from dataclasses import replace

from starlette.responses import Response

from tagalong.journal import ConflictError, Workspace
from tagalong.server.api.calls import Call
from tagalong.server.api.forms import FORM
from tagalong.server.api.handlers.answers import UNDO
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Choice
from tagalong.server.page.event_texts import event_text
from tagalong.server.page.rendering import P, page, redirect
from tagalong.server.page.undo_texts import listed_event, undo_text

__all__ = ["OPERATIONS"]

MOST_LISTED = 100
"""Number of dependent events that the question names one by one."""
VIEWS = {
    "filing": "",
    "sure": "/sure",
    "trust": "/trust",
    "labels": "/labels",
    "history": "/history",
    "settings": "/settings",
    "start": "/start",
}
"""The views that a form can come from, and their paths."""
FORM_FIELDS = replace(
    UNDO,
    name="UndoForm",
    optional={**UNDO.optional, "back": Choice(tuple(VIEWS), "the view to go back to")},
)


async def undo(call: Call) -> Response:
    """Undo, and tell about it; ask first if later events would have to be undone too."""
    what = {name: value for name, value in call.body.items() if name != "back"}
    back = call.body.get("back", "filing")
    async with call.workspace() as workspace:
        try:
            seq = await call.run(workspace.undo, **what, **call.key)
        except ConflictError as error:
            if not error.seqs or what.get("cascade"):
                raise
            texts = await call.run(_texts, workspace, error.seqs[:MOST_LISTED])
            return await page(
                call,
                workspace,
                "undo_more.html",
                view="undo",
                status=409,
                what=what,
                back=back,
                back_path=VIEWS[back],
                texts=texts,
                more=len(error.seqs) - len(texts),
            )
    return redirect(call, VIEWS[back], seq)


def _texts(workspace: Workspace, seqs: list[int]) -> list[str]:
    found = (listed_event(workspace, seq) for seq in seqs)
    return [
        undo_text(workspace, each) if each.event.kind == "undo" else event_text(workspace, each)
        for each in found
        if each is not None
    ]


OPERATIONS = (
    Operation(
        "undoForm",
        "POST",
        f"{P}/undo",
        "Undo an event or a batch.",
        undo,
        body=FORM_FIELDS,
        body_media=FORM,
    ),
)
