"""The labels as a list for people: sorted, searched, and in pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote

from tagalong.journal import LabelFacts
from tagalong.server.page.folded_names import folded
from tagalong.server.page.label_search import LabelSearch

__all__ = ["LabelList", "LabelOrder", "label_list", "label_of", "label_path"]

ROWS = 100
"""Number of labels on a page."""
MOST_SIMILAR = 20
LabelOrder: TypeAlias = Literal["items", "name"]
# Browsers take these two for steps in a path. No label consists of spaces only.
_DOTS = {".": " ", "..": "  "}


@dataclass(frozen=True, slots=True)
class LabelList:
    """A page of the list of labels.

    Parameters
    ----------
    rows : list of LabelFacts
        The labels on this page.
    found : int
        Number of labels on all pages.
    total : int
        Number of labels of the workspace.
    most : int
        Number of items of the most frequent label.
    page : int
        The number of this page, from 1.
    pages : int
        Number of pages.
    is_similar : bool
        Whether no label has the text that was searched for, and the rows are similar ones.
    """

    rows: list[LabelFacts]
    found: int
    total: int
    most: int
    page: int
    pages: int
    is_similar: bool


def label_list(facts: Sequence[LabelFacts], query: str, order: LabelOrder, page: int) -> LabelList:
    """Return a page of the list of labels.

    Parameters
    ----------
    facts : sequence of LabelFacts
        All labels.
    query : str
        Only labels with this text, whatever the case; similar ones if there is none.
    order : str
        "items": the most frequent first; "name": by name.
    page : int
        The number of the page, from 1; the last one if there are fewer.
    """
    found = [each for each in facts if _fits(each.name, query)] if query else list(facts)
    is_similar = not found and bool(query)
    if is_similar:
        by_name = {each.name: each for each in facts}
        names = LabelSearch(list(by_name)).search(query, MOST_SIMILAR)
        found = [by_name[name] for name in names if name in by_name]
    else:
        found.sort(key=lambda each: (folded(each.name).spaced, each.name))
        if order == "items":
            found.sort(key=lambda each: -each.items)
    pages = max(1, -(-len(found) // ROWS))
    page = min(page, pages)
    rows = found[(page - 1) * ROWS : page * ROWS]
    most = max((each.items for each in facts), default=0)
    return LabelList(rows, len(found), len(facts), most, page, pages, is_similar)


def _fits(name: str, query: str) -> bool:
    letters = folded(query).letters
    return query in name or (bool(letters) and letters in folded(name).letters)


def label_path(name: str) -> str:
    """Return a label as a part of a path.

    Parameters
    ----------
    name : str
        The label.

    Examples
    --------
    >>> label_path("a/b"), label_path("..")
    ('a%2Fb', '%20%20')
    """
    return quote(_DOTS.get(name, name), safe="")


def label_of(part: str) -> str:
    """Return the label that a decoded part of a path stands for.

    Parameters
    ----------
    part : str
        The part.
    """
    return next((name for name, spaces in _DOTS.items() if spaces == part), part)
