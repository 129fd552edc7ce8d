"""Lists of items and events as a service shows them: pages, present answers, numbers filed."""

import heapq
import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from tagalong.journal.events import Event, ListedEvent, time_text
from tagalong.journal.label_names import LabelNames

__all__ = ["ItemQueries", "ItemState", "Place"]

ItemState: TypeAlias = Literal["open", "asked", "filed", "answered"]
WAITING: tuple[ItemState, ...] = ("open", "asked")
"""The states of items that can be put off."""
_HIGHEST = 2**62
_FILED_AT_ONCE = 1000
# No clock is set back further.
_CLOCK_CHANGE = timedelta(days=1)


class Place(NamedTuple):
    """The place of an item in the list of the newest ones: those that were put off come last.

    Parameters
    ----------
    skipped : int
        0 for an item that was not put off; otherwise a number that is higher the later it was.
    item : int
        The event that added the item.
    """

    skipped: int
    item: int


class ItemQueries:
    """Base class of `JournalReader`: queries for lists."""

    def _rows(self, query: str, *values: Any) -> list[Any]:
        raise NotImplementedError

    def _value(self, query: str, *values: Any) -> Any:
        raise NotImplementedError

    def _checked_event(self, row: Sequence[Any]) -> Event:
        raise NotImplementedError

    def newest(
        self,
        states: Sequence[ItemState],
        *,
        after: Place | None = None,
        last_skip: int = _HIGHEST,
        source: str | None = None,
        limit: int,
    ) -> list[Place]:
        """Return the places of the newest items; in a list of open ones, those put off come last.

        Parameters
        ----------
        states : sequence of str
            Only items in these states.
        after : Place, optional
            The place before the first one.
        last_skip : int
            Items that were put off after this put-off are left out.
        source : str, optional
            Only items from there, as the list of items has it.
        limit : int
            Maximum number of items.
        """
        # In a list with answered items, undoing an answer must not move an item to the end.
        can_wait = set(states) <= set(WAITING)
        places: list[Place] = []
        if after is None or not after.skipped:
            below = _HIGHEST if after is None else after.item
            which = "AND skipped = 0" if can_wait else ""
            rows = [self._by_number(state, below, source, limit, which) for state in states]
            merged = heapq.merge(*rows, key=lambda row: -row[0])
            places = [Place(0, item) for (item,) in islice(merged, limit)]
        if can_wait and len(places) < limit:
            first = 0 if after is None else after.skipped
            room = limit - len(places)
            rows = [self._by_skip(state, first, last_skip, source, room) for state in states]
            places += [Place(*row) for row in islice(heapq.merge(*rows), room)]
        return places

    def _by_number(
        self, state: str, below: int, source: str | None, limit: int, condition: str
    ) -> list[Any]:
        which, values = _from(source)
        return self._rows(
            f"SELECT seq FROM items WHERE state = ? AND seq < ? {which} {condition} "
            "ORDER BY seq DESC LIMIT ?",
            state,
            below,
            *values,
            limit,
        )

    def _by_skip(
        self, state: str, after: int, last: int, source: str | None, limit: int
    ) -> list[Any]:
        which, values = _from(source)
        return self._rows(
            "SELECT skipped, seq FROM items WHERE state = ? AND skipped > 0 AND skipped > ? "
            f"AND skipped <= ? {which} ORDER BY skipped LIMIT ?",
            state,
            after,
            last,
            *values,
            limit,
        )

    def sources(self, limit: int) -> list[str]:
        """Return where items come from, by name, without items that have no source.

        Parameters
        ----------
        limit : int
            Maximum number of sources.
        """
        found: list[str] = []
        last = ""
        while len(found) < limit:  # one step in the index for each source, however many items
            next: str | None = self._value("SELECT MIN(source) FROM items WHERE source > ?", last)
            if next is None:
                break
            found.append(next)
            last = next
        return found

    def last_skip(self) -> int:
        """Return the number of the last put-off; 0 if there is none."""
        query = "SELECT MAX(skipped) FROM items WHERE state = ? AND skipped > 0"
        states = (*WAITING, "filed", "answered", "undone")
        return max(int(self._value(query, state) or 0) for state in states)

    def listed_item(self, item: int) -> tuple[str, str, int] | None:
        """Return id, state and put-off of an item; None if it does not exist, or no longer.

        Parameters
        ----------
        item : int
            The event that added the item.
        """
        rows = self._rows(
            "SELECT id, state, skipped FROM items WHERE seq = ? AND state <> 'undone'", item
        )
        return rows[0] if rows else None

    def state_of(self, id: str) -> str | None:
        """Return the state of the item with an id; None if there is none.

        Parameters
        ----------
        id : str
            The id.
        """
        state: str | None = self._value(
            "SELECT state FROM items WHERE id = ? AND state <> 'undone'", id
        )
        return state

    def answers(self) -> Iterator[tuple[int, str]]:
        """Return for each answered or filed item the event that decided it, and its body."""
        yield from self._rows(
            "SELECT e.seq, e.body FROM items i JOIN events e ON e.seq = COALESCE("
            "(SELECT MAX(a.seq) FROM events a WHERE a.item = i.seq "
            "AND a.kind IN ('answer', 'filed', 'asked') "
            "AND a.seq NOT IN (SELECT seq FROM taken_back)), i.seq) "
            "WHERE i.state IN ('answered', 'filed')"
        )

    def last_answered(self, before: int, limit: int) -> list[tuple[int, str, int, str]]:
        """Return number and id of items that people have answered, the event, and its body.

        The newest items come first.

        Parameters
        ----------
        before : int
            The item before the first one.
        limit : int
            Maximum number of items.
        """
        return self._rows(
            "SELECT i.seq, i.id, e.seq, e.body FROM items i JOIN events e ON e.seq = COALESCE("
            "(SELECT MAX(a.seq) FROM events a WHERE a.item = i.seq AND a.kind = 'answer' "
            "AND a.seq NOT IN (SELECT seq FROM taken_back)), i.seq) "
            "WHERE i.state = 'answered' AND i.seq < ? ORDER BY i.seq DESC LIMIT ?",
            before,
            limit,
        )

    def first_answers(self, limit: int) -> list[tuple[str, int, str]]:
        """Return the last answers to items that had no labels before: id, event and body.

        Items that came with labels are among them. The newest come first.

        Parameters
        ----------
        limit : int
            Maximum number of answers.
        """
        return self._rows(
            "SELECT i.id, e.seq, e.body FROM events e "
            "JOIN items i ON i.seq = COALESCE(e.item, e.seq) "
            "JOIN events o ON o.seq = i.seq WHERE i.state <> 'undone' "
            "AND e.seq NOT IN (SELECT seq FROM taken_back) "
            "AND (e.kind = 'item' AND e.body <> '{}' OR e.kind = 'answer' AND o.body = '{}' "
            "AND NOT EXISTS (SELECT 1 FROM events b WHERE b.item = e.item AND b.seq < e.seq "
            "AND b.kind IN ('answer', 'filed') AND b.seq NOT IN (SELECT seq FROM taken_back))) "
            "ORDER BY e.seq DESC LIMIT ?",
            limit,
        )

    def asked(self, limit: int) -> list[tuple[str, int, str, int | None, str | None]]:
        """Return the last spot checks: id, event and body, and event and body of the answer.

        Parameters
        ----------
        limit : int
            Maximum number of spot checks.
        """
        return self._rows(
            "SELECT i.id, e.seq, e.body, a.seq, a.body FROM events e "
            "JOIN items i ON i.seq = e.item LEFT JOIN events a ON a.seq = ("
            "SELECT MAX(d.seq) FROM events d WHERE d.item = e.item AND d.seq > e.seq "
            "AND d.kind = 'answer' AND d.seq NOT IN (SELECT seq FROM taken_back)) "
            "WHERE e.kind NOT IN ('item', 'answer') AND e.kind = 'asked' AND i.state <> 'undone' "
            "AND e.seq NOT IN (SELECT seq FROM taken_back) ORDER BY e.seq DESC LIMIT ?",
            limit,
        )

    def label_names(self) -> LabelNames:
        """Return the names of labels over time."""
        return LabelNames(
            self._checked_event(row)
            for row in self._rows(
                "SELECT e.seq, e.time, e.kind, e.item, e.batch, e.actor, e.body, e.content_digest, "
                "e.chain, (SELECT chain FROM events b WHERE b.seq = e.seq - 1) FROM events e "
                "WHERE kind NOT IN ('item', 'answer') AND kind IN "
                "('label-renamed', 'label-merged', 'label-forgotten') "
                "AND seq NOT IN (SELECT seq FROM taken_back) ORDER BY seq"
            )
        )

    def filed_since(self, time: datetime) -> int:
        """Return how many events since a time have filed an item without asking, and count.

        Parameters
        ----------
        time : datetime
            The time, with its time zone.
        """
        since, enough = time_text(time), time_text(time - _CLOCK_CHANGE)
        count, before = 0, _HIGHEST
        while True:
            rows = self._rows(
                "SELECT e.seq, e.time, t.seq FROM events e LEFT JOIN taken_back t ON t.seq = e.seq "
                "WHERE e.kind NOT IN ('item', 'answer') AND e.kind = 'filed' AND e.seq < ? "
                "ORDER BY e.seq DESC LIMIT ?",
                before,
                _FILED_AT_ONCE,
            )
            count += len([seq for seq, when, taken in rows if taken is None and when >= since])
            if len(rows) < _FILED_AT_ONCE or rows[-1][1] < enough:
                return count
            before = rows[-1][0]

    def listed_events(
        self, after: int, limit: int, kinds: Sequence[str] | None = None
    ) -> list[ListedEvent]:
        """Return events with the ids of their items, and whether they count.

        Parameters
        ----------
        after : int
            The event before the first one.
        limit : int
            Maximum number of events.
        kinds : sequence of str, optional
            Only events of these kinds.
        """
        which = ""
        if kinds is not None:
            if not kinds:
                return []
            which = f"AND e.kind IN ({', '.join('?' for _ in kinds)})"
            if not {"item", "answer"} & set(kinds):
                which += " AND e.kind NOT IN ('item', 'answer')"  # for the index of rare kinds
        rows = self._rows(
            "SELECT i.id, t.seq, e.seq, e.time, e.kind, e.item, e.batch, e.actor, e.body, "
            "e.content_digest, e.chain, (SELECT chain FROM events b WHERE b.seq = e.seq - 1) "
            "FROM events e LEFT JOIN items i ON i.seq = COALESCE(e.item, e.seq) "
            "LEFT JOIN taken_back t ON t.seq = e.seq "
            f"WHERE e.seq > ? {which} ORDER BY e.seq LIMIT ?",
            after,
            *(kinds or ()),
            limit,
        )
        return [
            ListedEvent.of(self._checked_event(row), id, is_undone=taken is not None)
            for id, taken, *row in rows
        ]

    def last_events(
        self,
        before: int,
        limit: int,
        *,
        kinds: Sequence[str] = (),
        actor: str | None = None,
        seqs: Sequence[int] | None = None,
        batch: str | None = None,
    ) -> list[ListedEvent]:
        """Return events from the newest on, and of each batch only the last one.

        Parameters
        ----------
        before : int
            The event after the first one.
        limit : int
            Maximum number of events.
        kinds : sequence of str
            Only events of these kinds, if any is given.
        actor : str, optional
            Only events that were caused by this one.
        seqs : sequence of int, optional
            Only these events.
        batch : str, optional
            Only events of this batch, and all of them.
        """
        conditions: list[str] = []
        values: list[Any] = []
        for column, chosen in (("kind", kinds), ("actor", () if actor is None else (actor,))):
            if chosen:
                conditions.append(f"AND {{0}}.{column} IN ({', '.join('?' for _ in chosen)})")
                values += chosen
        if seqs is not None:
            conditions.append(f"AND {{0}}.seq IN ({', '.join(map(str, seqs)) or 'NULL'})")
        which = " ".join(conditions)
        fold = (
            "(e.batch IS NULL OR e.seq = (SELECT b.seq FROM events b WHERE b.batch = e.batch "
            f"{which.format('b')} ORDER BY b.seq DESC LIMIT 1))"
        )
        rows = self._rows(
            "SELECT i.id, t.seq, e.seq, e.time, e.kind, e.item, e.batch, e.actor, e.body, "
            "e.content_digest, e.chain, (SELECT chain FROM events b WHERE b.seq = e.seq - 1) "
            "FROM events e LEFT JOIN items i ON i.seq = COALESCE(e.item, e.seq) "
            "LEFT JOIN taken_back t ON t.seq = e.seq WHERE e.seq < ? "
            f"{which.format('e')} AND {fold if batch is None else 'e.batch = ?'} "
            "ORDER BY e.seq DESC LIMIT ?",
            before,
            *values,
            *(values if batch is None else (batch,)),
            limit,
        )
        return [
            ListedEvent.of(self._checked_event(row), id, is_undone=taken is not None)
            for id, taken, *row in rows
        ]

    def batch_counts(self, batch: str) -> tuple[int, int]:
        """Return the number of events of a batch, and of those that do not count.

        Parameters
        ----------
        batch : str
            The batch.
        """
        events, undone = self._rows(
            "SELECT COUNT(*), COUNT(t.seq) FROM events e LEFT JOIN taken_back t ON t.seq = e.seq "
            "WHERE e.batch = ?",
            batch,
        )[0]
        return events, undone

    def find_key(self, scope: str, key: str) -> tuple[bytes, Any] | None:
        """Return the request and the result of an idempotency key; None if it is new.

        Parameters
        ----------
        scope, key : str
            The key, and where it is valid.
        """
        rows = self._rows(
            "SELECT request, result FROM idempotency_keys WHERE scope = ? AND key = ?", scope, key
        )
        return (bytes(rows[0][0]), json.loads(rows[0][1])) if rows else None


def _from(source: str | None) -> tuple[str, list[str]]:
    return ("", []) if source is None else ("AND source = ?", [source])
