"""Items as rows of the list in the filing view."""

from collections.abc import Sequence
from dataclasses import dataclass

from tagalong.journal import ItemRecord, Workspace
from tagalong.journal.contents import title_of

__all__ = ["ItemRow", "item_rows"]

SUGGESTED = 9
"""Number of suggestions among which one that is sure is looked for."""


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item in the list.

    Parameters
    ----------
    record : ItemRecord
        The item.
    title : str
        A short text.
    label : str
        Its present labels; while it is open a suggestion, one that is sure if there is any; "" if
        there is none.
    probability : float or None
        The chance of this suggestion; None if it has an answer.
    whole : float or None
        The chance that the suggested labels are exactly the right ones; None if it has an answer.
    sure : bool
        Whether it can be filed without asking.
    viewers : list of str
        Who else looks at it.
    """

    record: ItemRecord
    title: str
    label: str
    probability: float | None
    whole: float | None
    sure: bool
    viewers: list[str]


def item_rows(
    workspace: Workspace, records: Sequence[ItemRecord], viewers: Sequence[list[str]]
) -> list[ItemRow]:
    """Return items as rows of the list, with the first suggestions of open ones.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    records : sequence of ItemRecord
        The items.
    viewers : sequence of list of str
        For each of them, who else looks at it.
    """
    waiting = [record for record in records if record.labels is None]
    suggested = workspace.suggest_many([record.content.item for record in waiting], SUGGESTED)
    found = {record.id: each for record, each in zip(waiting, suggested, strict=True)}
    rows = []
    for record, who in zip(records, viewers, strict=True):
        label, probability, whole, sure = "", None, None, False
        if record.labels is not None:
            label = ", ".join(record.labels) or "none of these"
        elif suggestions := found[record.id]:
            # The label that would be filed stands for the item, also if another one is first.
            shown = next((each for each in suggestions if each.sure), suggestions[0])
            label, probability, sure = str(shown.label), shown.probability, shown.sure
            whole = suggestions.whole
        title = title_of(record.content)
        rows.append(ItemRow(record, title, label, probability, whole, sure, who))
    return rows
