"""Items as a reader of a workspace sees them."""

from dataclasses import dataclass

from tagalong.journal.contents import Content
from tagalong.journal.item_queries import WAITING, ItemState
from tagalong.journal.label_names import LabelNames
from tagalong.journal.reader import JournalReader

__all__ = ["ItemRecord", "item_record"]


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """An item of a workspace.

    Parameters
    ----------
    id : str
        Its id.
    seq : int
        The event that added it.
    state : str
        "open"; "asked": left to a person as a spot check; "filed" without asking; "answered".
    labels : list of str or None
        Its labels by their present names; None while it is open.
    content : Content
        The item itself.
    time : str
        When it came, in UTC (RFC 3339).
    skipped : bool
        Whether it waits for an answer and was put off.
    answer : int or None
        The event that gave it its labels, which can be undone; None while it is open.
    answered_by : str
        Who caused that event; "" while it is open.
    """

    id: str
    seq: int
    state: ItemState
    labels: list[str] | None
    content: Content
    time: str = ""
    skipped: bool = False
    answer: int | None = None
    answered_by: str = ""


def item_record(
    reader: JournalReader, item: int, content: Content, names: LabelNames | None = None
) -> ItemRecord:
    """Return an item that exists.

    Parameters
    ----------
    reader : JournalReader
        The journal.
    item : int
        The event that added the item.
    content : Content
        Its content.
    names : LabelNames, optional
        The names of labels over time, if many items are read.
    """
    listed = reader.listed_item(item)
    assert listed is not None
    id, _, skipped = listed
    status = reader.status(item)
    labels = status.labels
    if labels:
        labels = (names.present if names else reader.current_names)(labels, status.seq)
    waits = status.state in WAITING
    return ItemRecord(
        id,
        item,
        status.state,
        labels,
        content,
        reader.event(item).time,
        waits and skipped > 0,
        None if waits else status.seq,
        "" if waits else status.actor,
    )
