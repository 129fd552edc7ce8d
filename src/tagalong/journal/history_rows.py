"""The history of a workspace for people: the newest events first, a batch as one row."""

from dataclasses import dataclass

from tagalong.journal.events import ListedEvent
from tagalong.journal.reader import ALL, JournalReader

__all__ = ["HistoryRow", "WantedEvents", "events_about", "history_rows"]


@dataclass(frozen=True, slots=True)
class WantedEvents:
    """Which events a history has.

    Parameters
    ----------
    kinds : tuple of str
        Only events of these kinds; all if there is none.
    actor : str, optional
        Only events that this one has caused.
    item : str, optional
        Only events about items with this id, and those that took such events back.
    batch : str, optional
        Only the events of this batch, each as a row of its own.
    """

    kinds: tuple[str, ...] = ()
    actor: str | None = None
    item: str | None = None
    batch: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """An event, or a batch by its last event.

    Parameters
    ----------
    listed : ListedEvent
        The event.
    count : int
        Number of events of the batch; 1 for a single event.
    undone : int
        Number of these that do not count.
    """

    listed: ListedEvent
    count: int
    undone: int


def history_rows(
    reader: JournalReader, before: int | None, limit: int, wanted: WantedEvents
) -> list[HistoryRow]:
    """Return the last events, the newest first; the events of a batch are one row.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    before : int, optional
        The event after the first one; by default the end.
    limit : int
        Maximum number of rows.
    wanted : WantedEvents
        Which events.
    """
    listed = reader.last_events(
        ALL if before is None else before,
        limit,
        kinds=wanted.kinds,
        actor=wanted.actor,
        seqs=None if wanted.item is None else events_about(reader, wanted.item),
        batch=wanted.batch,
    )
    return [_row(reader, each, is_single=wanted.batch is not None) for each in listed]


def _row(reader: JournalReader, listed: ListedEvent, *, is_single: bool) -> HistoryRow:
    if is_single or not listed.event.batch:
        return HistoryRow(listed, 1, int(listed.is_undone))
    return HistoryRow(listed, *reader.batch_counts(listed.event.batch))


def events_about(reader: JournalReader, id: str) -> list[int]:
    """Return the events about the items with an id, and those that took them back, in order.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    id : str
        The id, of an item or of items whose adding was undone; without any there are no events.
    """
    present = reader.find_item(id)
    items = [*reader.undone_items(id), *([] if present is None else [present])]
    about = {seq for item in items for seq in reader.events_of_item(item)}
    takings = [each for each in reader.takings() if about & set(each.taken)]
    return sorted(about | {each.seq for each in takings})
