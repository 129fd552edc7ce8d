"""The history: who has changed what, and undoing it."""

from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.responses import Response

from tagalong.journal import HistoryRow, ListedEvent, WantedEvents, Workspace
from tagalong.journal.listing import KINDS
from tagalong.server.api.calls import Call
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Choice, Text, Type, Whole
from tagalong.server.page.event_texts import batch_text, event_text
from tagalong.server.page.notices import NOT_UNDOABLE
from tagalong.server.page.rendering import NOTICE, P, page
from tagalong.server.page.undo_texts import undo_text

__all__ = ["OPERATIONS"]

ROWS = 50
GROUPS = {
    "answers": ("Answers", ("answer",)),
    "items": ("Items that came in", ("item",)),
    "filed": ("Filed without asking", ("filed", "asked")),
    "labels": ("Labels", tuple(kind for kind in KINDS if kind.startswith("label-"))),
    "settings": ("Settings", ("settings", "created")),
    "undo": ("Undone", ("undo",)),
    "forgotten": ("Deleted", ("forgotten",)),
}
"""Kinds of events that are one to people."""
FILTERS: dict[str, Type] = {
    "kind": Choice(("", *GROUPS)),
    "who": Text(most=200),
    "item": Text(most=512),
    "batch": Text(most=100),
}


@dataclass(frozen=True, slots=True)
class EventRow:
    """A row of the history.

    Parameters
    ----------
    listed : ListedEvent
        The event.
    text : str
        What happened.
    count : int
        Number of events in the row.
    is_undone : bool
        Whether none of them counts.
    can_undo : bool
        Whether it can be undone.
    is_undo : bool
        Whether undoing it means doing something again.
    """

    listed: ListedEvent
    text: str
    count: int
    is_undone: bool
    can_undo: bool
    is_undo: bool

    @property
    def item(self) -> str | None:
        """The item that the row leads to."""
        is_gone = self.is_undone and self.listed.event.kind == "item"
        return None if self.count > 1 or is_gone else self.listed.id


def _row(workspace: Workspace, row: HistoryRow) -> EventRow:
    event = row.listed.event
    is_undo = event.kind == "undo"
    if row.count > 1:
        text = batch_text(workspace, row.listed, row.count)
    elif is_undo:
        text = undo_text(workspace, row.listed)
    else:
        text = event_text(workspace, row.listed)
    is_undone = row.undone == row.count
    can_undo = not is_undone and event.kind not in NOT_UNDOABLE
    return EventRow(row.listed, text, row.count, is_undone, can_undo, is_undo)


async def show(call: Call) -> Response:
    """Show the last events."""
    filters = {name: str(call.query[name]) for name in FILTERS if call.query.get(name)}
    kind = filters.get("kind", "")
    wanted = WantedEvents(
        GROUPS[kind][1] if kind else (),
        filters.get("who"),
        filters.get("item"),
        filters.get("batch"),
    )

    def work(workspace: Workspace) -> list[EventRow]:
        rows = workspace.history(call.query.get("before"), ROWS + 1, wanted)
        return [_row(workspace, row) for row in rows]

    async with call.workspace() as workspace:
        rows = await call.run(work, workspace)
        next_page = None
        if len(rows) > ROWS:
            rows = rows[:ROWS]
            next_page = urlencode({**filters, "before": rows[-1].listed.event.seq})
        return await page(
            call,
            workspace,
            "history.html",
            view="history",
            rows=rows,
            next_page=next_page,
            first_page=urlencode(filters),
            is_first="before" not in call.query,
            filters=filters,
            groups={name: text for name, (text, _) in GROUPS.items()},
        )


OPERATIONS = (
    Operation(
        "historyPage",
        "GET",
        f"{P}/history",
        "Show who has changed what.",
        show,
        query={**NOTICE, **FILTERS, "before": Whole(1)},
        is_change=False,
    ),
)
