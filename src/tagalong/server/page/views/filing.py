"""The filing view: the list of items, and one item with its labels and reasons."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from tagalong.journal import ItemRecord, Workspace
from tagalong.server.api.calls import Call
from tagalong.server.api.json_forms import LABEL
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Choice, Text, Type, Whole
from tagalong.server.page.item_rows import ItemRow, item_rows
from tagalong.server.page.item_views import ItemView, item_view
from tagalong.server.page.rendering import NOTICE, P, fragment, page, redirect

__all__ = ["FILTERS", "OPERATIONS", "as_query", "kept_filters"]

ROWS = 40
MOST_ROWS = 400
MOST_SOURCES = 50
SECONDS_TO_SETTLE = 1.0
FILTERS: dict[str, Type] = {
    "state": Choice(("open", "asked", "filed", "answered"), "which items are listed"),
    "order": Choice(("newest", "unsure")),
    "source": Text(most=1000),
    "q": Text(most=1000),
}
"""Parameters of the list, which stay the same from item to item."""
_PAGE: dict[str, Type] = {
    "after": Text(1, 1000),
    "rows": Whole(1, MOST_ROWS, f"number of items (default: {ROWS})"),
}
_WHY: dict[str, Type] = {"label": LABEL}


@dataclass(frozen=True, slots=True)
class ItemList:
    """A page of the list.

    Parameters
    ----------
    rows : list of ItemRow
        The items.
    next : str or None
        Where the next page begins.
    filters : mapping of str to str
        Which items are listed.
    query : str
        The same as parameters of a URL, with "?"; "" without any.
    sources : list of str
        Where items come from.
    waiting : int
        Number of all items that wait for an answer.
    by_whole : bool
        Whether rows are in the order of the chance that all suggested labels are right.
    """

    rows: list[ItemRow]
    next: str | None
    filters: Mapping[str, str]
    query: str
    sources: list[str]
    waiting: int
    by_whole: bool


def kept_filters(query: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of the list among those of a page.

    Parameters
    ----------
    query : mapping of str to object
        The parameters of the page, or the fields of a form.
    """
    return {name: str(query[name]) for name in FILTERS if query.get(name)}


def _list(call: Call, workspace: Workspace) -> ItemList:
    """Return a page of the list, as the parameters of the request say."""
    filters = kept_filters(call.query)
    state = filters.get("state", "open")
    # Only open items have an order of uncertainty.
    is_unsure = filters.get("order") == "unsure" and state == "open"
    found = workspace.page(
        state=state,
        order="unsure" if is_unsure else "newest",
        after=call.query.get("after"),
        limit=call.query.get("rows", ROWS),
        source=filters.get("source"),
        q=filters.get("q"),
    )
    viewers = [_other_viewers(call, record) for record in found.records]
    rows = item_rows(workspace, found.records, viewers)
    counts = workspace.item_counts()
    return ItemList(
        rows,
        found.next,
        filters,
        as_query(filters),
        workspace.sources(MOST_SOURCES),
        counts.get("open", 0) + counts.get("asked", 0),
        is_unsure and not workspace.tagger.has_one_label,
    )


def as_query(filters: Mapping[str, str]) -> str:
    """Return the parameters of the list as those of a URL, with "?"; "" without any.

    Parameters
    ----------
    filters : mapping of str to str
        The parameters.
    """
    return f"?{urlencode(filters)}" if filters else ""


def _other_viewers(call: Call, record: ItemRecord) -> list[str]:
    viewers = call.service.viewers.of(call.names["name"], record.id)
    return [name for name in viewers if name != call.actor]


def _view(call: Call, workspace: Workspace, record: ItemRecord) -> ItemView:
    with suppress(TimeoutError):  # after an undo, so that the suggestions do not know it any more
        workspace.settle(SECONDS_TO_SETTLE)
    label = call.query.get("label")
    return item_view(workspace, record, label, _other_viewers(call, record))


async def show_filing(call: Call) -> Response:
    """Show the list with its first item, or an item; without any item lead to the start view."""
    id = call.names.get("id")

    def work(workspace: Workspace) -> tuple[ItemList, ItemView | None]:
        listed = _list(call, workspace)
        if id is not None:
            record = workspace.item(id)
        elif listed.rows:
            record = listed.rows[0].record
        else:
            return listed, None
        return listed, _view(call, workspace, record)

    async with call.workspace() as workspace:
        listed, view = await call.run(work, workspace)
        counts = await call.run(workspace.item_counts)
        if not sum(counts.values()) and not listed.filters:
            return redirect(call, "/start", call.query.get("seq"))
        return await page(
            call,
            workspace,
            "filing.html",
            view="filing",
            list=listed,
            item=view,
            filters=listed.filters,
            query=listed.query,
        )


async def show_list(call: Call) -> Response:
    """Return a page of the list as a part of the view."""
    async with call.workspace() as workspace:
        listed = await call.run(_list, call, workspace)
        return fragment(call, workspace, "item_list.html", list=listed, item=None)


async def show_item(call: Call) -> Response:
    """Return an item as a part of the view."""

    def work(workspace: Workspace) -> ItemView:
        return _view(call, workspace, workspace.item(call.id))

    async with call.workspace() as workspace:
        view = await call.run(work, workspace)
        filters = kept_filters(call.query)
        return fragment(
            call, workspace, "item.html", item=view, filters=filters, query=as_query(filters)
        )


OPERATIONS = (
    Operation(
        "filingPage",
        "GET",
        P,
        "Show the open items.",
        show_filing,
        query={**NOTICE, **FILTERS, **_PAGE, **_WHY},
        is_change=False,
    ),
    Operation(
        "itemPage",
        "GET",
        f"{P}/items/{{id}}",
        "Show an item beside the list.",
        show_filing,
        query={**NOTICE, **FILTERS, **_PAGE, **_WHY},
        is_change=False,
    ),
    Operation(
        "listPart",
        "GET",
        f"{P}/parts/list",
        "Return a page of the list.",
        show_list,
        query={**FILTERS, **_PAGE},
        is_change=False,
    ),
    Operation(
        "itemPart",
        "GET",
        f"{P}/parts/items/{{id}}",
        "Return an item with its labels and reasons.",
        show_item,
        query={**FILTERS, **_WHY},
        is_change=False,
    ),
)
