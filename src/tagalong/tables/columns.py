"""The columns of a table of suggestions, and the row of one item."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from tagalong.learning.items import Item
from tagalong.tagger.suggestions import Suggestion

__all__ = ["Column", "Row", "id_of", "place_cells", "suggestion_columns"]

Kind: TypeAlias = Literal["text", "label", "number", "integer", "flag", "labels"]
Row: TypeAlias = Sequence[object]


class Column(NamedTuple):
    """A column of a table.

    Parameters
    ----------
    name : str
        Its name.
    kind : str
        What its cells hold: "text", "label" (any hashable value), "number", "integer", "flag"
        (True or False) or "labels" (a list of labels). A cell may also be None.
    """

    name: str
    kind: Kind


def suggestion_columns(places: int) -> list[Column]:
    """Return the columns of a table of suggestions.

    Parameters
    ----------
    places : int
        Number of suggestions per row.
    """
    columns = [Column("id", "text")]
    for place in range(1, places + 1):
        columns += [
            Column(f"label_{place}", "label"),
            Column(f"probability_{place}", "number"),
            Column(f"sure_{place}", "flag"),
        ]
    return [
        *columns,
        Column("chosen", "integer"),
        Column("whole", "number"),
        Column("known", "integer"),
    ]


def place_cells(found: Sequence[Suggestion], places: int) -> list[object]:
    """Return the cells of the labels, their probabilities and marks; None where there are fewer.

    Parameters
    ----------
    found : sequence of Suggestion
        The suggestions for an item.
    places : int
        Number of suggestions per row.
    """
    cells: list[object] = []
    for one in found[:places]:
        cells += [one.label, one.probability, one.sure]
    return cells + [None] * (3 * places - len(cells))


def id_of(item: Item) -> str:
    """Return what identifies an item in a table: its id, or else its position in its source."""
    return item.id or item.place
