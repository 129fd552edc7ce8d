"""Items, suggestions and labels as the JSON values of the API, and their types."""

from collections.abc import Mapping
from typing import Any

from tagalong.journal import ItemRecord
from tagalong.journal.contents import title_of
from tagalong.learning.items import Item
from tagalong.server.api.schemas import (
    AnyOf,
    Flag,
    ListOf,
    MapOf,
    Number,
    Record,
    Text,
    Type,
    Whole,
    nullable,
)
from tagalong.server.problems import Problem
from tagalong.tagger import Explanation, Suggestions

__all__ = [
    "EXPLANATION",
    "ID",
    "ITEM_PARTS",
    "LABEL",
    "LABELS",
    "PRECISION",
    "SHOWN_PARTS",
    "SUGGESTED",
    "explained",
    "item_of",
    "listed",
    "shown",
    "suggested",
]

LABEL = Text(
    1,
    bytes=512,
    # Not only white space, as Unicode and as Python understand it.
    pattern=r"[\s\S]*[^\s\x1c-\x1f][\s\S]*",
    meaning="a text that is not only spaces",
    example="travel",
)
LABELS = ListOf(LABEL, 1000)
ID = Text(
    1,
    bytes=512,
    pattern=r"[^\x00-\x1f\x7f-\x9f]*",
    meaning="a text without control characters",
    example="mail-1",
)
PRECISION = Number(above=0, most=1, meaning="the share of what is marked sure that has to be right")
_WORD = Text(most=10_000)
_VALUE = AnyOf(
    # The sum of the squares of some hundred values can still be learnt.
    (Number(least=-1e18, most=1e18), _WORD, ListOf(_WORD, 1000)),
    "a number from -1e18 to 1e18, a text or a list of texts",
)
_SHOWN_VALUE = AnyOf((Number(), Text(), ListOf(Text(), 10**9)), "a value")

ITEM_PARTS: dict[str, Type] = {
    "text": Text(meaning="the text of the item"),
    "fields": MapOf(Text(), meaning="one text per field, such as subject and body"),
    "values": MapOf(_VALUE, meaning="further features: numbers, categories, sets of words"),
}
"""The content of an item; a request has at least one of these members."""
SHOWN_PARTS: dict[str, Type] = {
    "text": Text(),
    "fields": MapOf(Text()),
    "values": MapOf(_SHOWN_VALUE),
}
"""The same in answers. A library or a file may have brought longer ones."""

_SUGGESTION = Record(
    "Suggestion",
    {
        "label": Text(),
        "score": Number(),
        "probability": Number(),
        "chosen": Flag("whether the label belongs to the answer"),
        "sure": Flag("whether the item can be filed without asking"),
        "explores": Flag("whether it is shown mainly to learn about it"),
    },
    is_open=True,
)
SUGGESTED: dict[str, Type] = {
    "suggestions": ListOf(_SUGGESTION),
    "whole": Number(meaning="the chance that the chosen labels are exactly the right ones"),
    "known": Whole(meaning="number of features that the model knows"),
    "in_runs": Flag("whether answers came sorted by label, so that nothing is sure"),
    "audited": Flag("whether a person should be asked even if it is sure"),
}
"""Members of answers with suggestions."""

EXPLANATION = nullable(
    Record(
        "Explanation",
        {
            "label": Text(),
            "score": Number(),
            "base": Number(meaning="the score without any word"),
            "parts": ListOf(
                Record("Part", {"name": Text(), "value": Number()}, is_open=True), 10**9
            ),
        },
        is_open=True,
    ),
    "an explanation or null",
)


def item_of(body: Mapping[str, Any], max_bytes: int) -> Item:
    """Return the item that a request describes.

    Parameters
    ----------
    body : mapping
        The checked body.
    max_bytes : int
        Maximum number of bytes of its texts in UTF-8.
    """
    text: str | dict[str, str] = body.get("fields", body.get("text", ""))
    size = len(text.encode()) if isinstance(text, str) else sum(map(_bytes, text.items()))
    size += sum(map(_bytes, body.get("values", {}).items()))
    if size > max_bytes:
        raise Problem(
            413,
            "item-too-large",
            f"the item has {size:,} bytes of text; at most {max_bytes:,} are allowed "
            "(item_bytes in settings.toml)",
        )
    return Item(
        body.get("id", ""),
        text,
        body.get("values", {}),
        weight=body.get("weight", 1.0),
        date=body.get("date"),
    )


def _bytes(pair: tuple[str, Any]) -> int:
    return sum(len(str(part).encode()) for part in pair)


def suggested(found: Suggestions) -> dict[str, Any]:
    """Return suggestions with the facts about their item.

    Parameters
    ----------
    found : Suggestions
        The suggestions.
    """
    return {
        "suggestions": [
            {
                "label": each.label,
                "score": each.score,
                "probability": each.probability,
                "chosen": each.chosen,
                "sure": each.sure,
                "explores": each.explores,
            }
            for each in found
        ],
        "whole": found.whole,
        "known": found.known,
        "in_runs": found.in_runs,
        "audited": found.audited,
    }


def explained(found: Explanation) -> dict[str, Any]:
    """Return an explanation.

    Parameters
    ----------
    found : Explanation
        The explanation.
    """
    parts = [{"name": name, "value": value} for name, value in found.parts]
    return {"label": found.label, "score": found.score, "base": found.base, "parts": parts}


def listed(record: ItemRecord) -> dict[str, Any]:
    """Return an item as it stands in a list, without its content.

    Parameters
    ----------
    record : ItemRecord
        The item.
    """
    content = record.content
    return {
        "id": record.id,
        "seq": record.seq,
        "state": record.state,
        "labels": record.labels,
        "title": title_of(content),
        "source": content.source,
        "date": content.date or None,
        "time": record.time,
        "skipped": record.skipped,
        "answer": record.answer,
        "answered_by": record.answered_by or None,
    }


def shown(record: ItemRecord) -> dict[str, Any]:
    """Return an item with its content.

    Parameters
    ----------
    record : ItemRecord
        The item.
    """
    item = record.content.item
    found = listed(record)
    if isinstance(item, Item):
        name = "text" if isinstance(item.text, str) else "fields"
        found[name] = item.text if isinstance(item.text, str) else dict(item.text)
        found["values"] = dict(item.features)
    if item.weight != 1:
        found["weight"] = item.weight
    return found
