"""The items of a journal with their present labels, for other programs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from tagalong.journal.contents import Content
from tagalong.journal.errors import DamagedError
from tagalong.journal.label_names import LabelNames
from tagalong.journal.reader import ItemState, JournalReader
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item

__all__ = ["ExportedItem", "exported_items"]

_ITEMS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class ExportedItem:
    """An item with what has become of it.

    Parameters
    ----------
    item : Item
        The item with its present labels, if people have given them.
    state : str
        "open", "asked", "filed" or "answered".
    title, source : str
        As for `Content`.
    """

    item: Item
    state: ItemState
    title: str
    source: str


def exported_items(
    reader: JournalReader,
    state: ItemState | None = None,
    *,
    filed: bool = False,
    on_damage: Callable[[DamagedError], None] | None = None,
) -> Iterator[ExportedItem]:
    """Return the items of a journal in the order of their arrival.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    state, filed, on_damage
        As for `tagalong.journal.export_items`.
    """
    names = reader.label_names()
    after = 0
    while found := reader.items(state, after, _ITEMS_AT_ONCE):
        for seq, _, _ in found:
            try:
                item = _item(reader, names, seq, filed)
            except DamagedError as error:
                if on_damage is None:
                    raise
                on_damage(error)
            else:
                yield item
        after = found[-1][0]


def _item(reader: JournalReader, names: LabelNames, seq: int, filed: bool) -> ExportedItem:
    status = reader.status(seq)
    labels = status.labels
    if labels is not None:
        labels = names.present(labels, status.seq)
    if status.state == "filed" and not filed:
        labels = None
    content = reader.item_content(seq)
    item = _with_labels(content, labels)
    return ExportedItem(item, status.state, content.title, content.source)


def _with_labels(content: Content, labels: list[str] | None) -> Item:
    item = content.item
    if isinstance(item, FeatureItem):
        # The names say no more than the numbers, but they are the same in every item.
        pairs = zip(item.numbers.tolist(), item.values.tolist(), strict=True)
        item = Item(item.id, "", {str(name): value for name, value in pairs}, weight=item.weight)
    date = datetime.fromisoformat(content.date) if content.date else None
    return replace(item, labels=None if labels is None else tuple(labels), date=date)
