"""Items as they are sent and as they come back."""

from datetime import datetime
from typing import Any

from tagalong.client.address import checked_unicode
from tagalong.client.answers import Answer
from tagalong.client.calls import Record
from tagalong.client.item_json import (
    AnyText,
    date_text,
    explanation_from_json,
    item_from_json,
    item_to_json,
    label_list,
    suggestions_from_json,
)
from tagalong.client.results import Accepted, Added, ServerItem
from tagalong.learning.items import Item

__all__ = ["accepted_of", "added_of", "new_item", "page_of", "server_item", "suggest_request"]

MOST_ID_CHARACTERS = 512


def new_item(
    item: AnyText,
    labels: object,
    *,
    id: str | None = None,
    title: str = "",
    source: str = "",
    date: str | datetime | None = None,
) -> dict[str, Any]:
    """Return an item to add as JSON values; ValueError if it cannot be sent.

    Parameters
    ----------
    item : Item, str or mapping
        The item.
    labels : label or collection of labels, optional
        Its labels; by default those of the item.
    id, title, source, date
        As for ``Client.add``.
    """
    body = item_to_json(item)
    if isinstance(item, Item):
        labels = item.labels if labels is None else labels
        id = id or item.id or None
    if id is not None:
        body["id"] = checked_unicode(id, "the id of the item")
    if labels is not None:
        body["labels"] = label_list(labels)
    for name, text in (("title", title), ("source", source)):
        if text:
            body[name] = checked_unicode(text, name)
    if date is not None:
        body["date"] = date_text(date)
    return body


def suggest_request(item: AnyText, k: int, min_precision: float | None) -> dict[str, Any]:
    """Return a request for suggestions as JSON values.

    Parameters
    ----------
    item : Item, str or mapping
        The item.
    k : int
        Maximum number of labels.
    min_precision : float, optional
        The required precision.
    """
    body = item_to_json(item)
    for name in ("weight", "date"):  # they do not matter
        body.pop(name, None)
    if isinstance(item, Item) and 0 < len(item.id) <= MOST_ID_CHARACTERS and _is_unicode(item.id):
        body["id"] = item.id  # it decides which sure items a person is asked about
    if min_precision is not None:
        body["min_precision"] = min_precision
    return {**body, "k": k}


def _is_unicode(text: str) -> bool:
    try:
        checked_unicode(text, "")
    except ValueError:
        return False
    return True


def added_of(answer: Answer) -> Added:
    """Return the item that was added, and the suggestions for it."""
    return answer.formed(
        lambda found: Added(
            str(found["id"]),
            int(found["seq"]),
            suggestions_from_json(found),
            "new" if answer.status == 201 else "known",
        )
    )


def accepted_of(found: Record) -> Accepted:
    """Return the items that were filed."""
    return Accepted(
        found["batch"] or None,
        [(each["id"], each["labels"]) for each in found["items"]],
        list(found.get("asked", ())),
        int(found.get("limited", 0)),
    )


def page_of(found: Record) -> tuple[list[ServerItem], str | None]:
    """Return a page of items, and where the next one begins."""
    return [server_item(each) for each in found["items"]], found["next"]


def server_item(found: Record) -> ServerItem:
    """Return an item of the server."""
    explanation = found.get("explanation")
    return ServerItem(
        id=found["id"],
        seq=found["seq"],
        state=found["state"],
        labels=found["labels"],
        item=item_from_json(found),
        suggestions=suggestions_from_json(found) if "suggestions" in found else None,
        explanation=None if explanation is None else explanation_from_json(explanation),
        title=found.get("title") or "",
        source=found.get("source") or "",
        date=found.get("date") or "",
    )
