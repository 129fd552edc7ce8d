"""Checks of a journal that need no model: the database, every event, every content.

Checking goes on after a problem. A part of the database that cannot be read at once is read event
by event, so that only what is lost is named.
"""

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tagalong.journal.connection import Connection, Database
from tagalong.journal.contents import StoredContent
from tagalong.journal.events import TAKING_KINDS, Event
from tagalong.journal.reader import FIRST_LINK, next_link

__all__ = ["Integrity", "OnProgress", "check_integrity", "one_view"]

OnProgress: TypeAlias = Callable[[int, int], None]
"""Called now and then with the number of steps done, and the number of all steps."""

EVENTS_AT_ONCE = 256
MOST_PROBLEMS = 1000

_EVENTS = (
    "SELECT seq, time, kind, item, batch, actor, body, content_digest, chain FROM events "
    "WHERE seq > ? AND seq <= ? ORDER BY seq"
)
_CONTENTS = "SELECT seq, salt, data FROM contents WHERE seq > ? AND seq <= ?"


@dataclass(slots=True)
class Integrity:
    """Result of a check.

    Parameters
    ----------
    problems : list of str
        One text per problem, which names the file and the event. At most a thousand are listed; the
        last text then says how many more there are.
    events : int
        Number of events that could be read.
    contents : int
        Number of sound contents.
    first_damage : int or None
        The first event that is not sound, or whose content is not; None if all are.
    takings : list of Event
        The events that take others back.
    """

    problems: list[str] = field(default_factory=list)
    events: int = 0
    contents: int = 0
    first_damage: int | None = None
    takings: list[Event] = field(default_factory=list)


@contextmanager
def one_view(database: Database, connection: Connection) -> Iterator[None]:
    """Let all reading in the block see the same state, even if the events cannot be read.

    Parameters
    ----------
    database : Database
        The journal.
    connection : Connection
        A connection to it.
    """
    with database.errors():
        database.begin_view(connection)
    try:
        yield
    finally:
        with suppress(*database.failures):
            connection.execute("COMMIT")


def check_integrity(
    database: Database,
    connection: Connection,
    progress: OnProgress | None = None,
    *,
    quick: bool = False,
) -> Integrity:
    """Check the database, the chain of events, and the digests of contents.

    Parameters
    ----------
    database : Database
        The journal.
    connection : Connection
        A connection to it. All that it reads must be one state of the journal.
    progress : callable, optional
        Called with the number of events checked, and the number of all events.
    quick : bool
        Whether to leave out the comparison of indexes with their tables.
    """
    check = _Check(database, connection)
    check.check_database(quick=quick)
    check.check_events(progress or (lambda done, total: None))
    return check.result()


class _Check:
    """A check in progress."""

    def __init__(self, database: Database, connection: Connection):
        self._found = Integrity()
        self._database = database
        self._name = database.short_name
        self._connection = connection
        self._chain = _Chain()
        self._unreadable: set[tuple[str, int]] = set()
        self._without_content: list[int] = []
        self._unlisted = 0

    def result(self) -> Integrity:
        if self._unlisted:
            self._found.problems.append(f"{self._name}: {self._unlisted:,} further problems")
        return self._found

    def _report(self, problem: str, seq: int | None = None) -> None:
        if len(self._found.problems) < MOST_PROBLEMS:
            self._found.problems.append(f"{self._name}: {problem}")
        else:
            self._unlisted += 1
        if seq is not None:
            first = self._found.first_damage
            self._found.first_damage = seq if first is None else min(first, seq)

    def check_database(self, *, quick: bool) -> None:
        """Run the database's own check."""
        for problem in self._database.damage(self._connection, most=MOST_PROBLEMS, quick=quick):
            self._report(problem)

    def check_events(self, progress: OnProgress) -> None:
        """Check every event with its place in the chain, and every content."""
        try:
            last = self._last()
        except self._database.failures as error:
            self._report(f"the events cannot be read: {error}", 1)
            return
        if last == 0:
            self._report("event 1 is missing", 1)
        for start in range(0, last, EVENTS_AT_ONCE):
            end = min(start + EVENTS_AT_ONCE, last)
            self._check_piece(start, end)
            progress(end, last)
        self._report_damaged(self._chain.interrupt())
        self._report_missing_contents()

    def _last(self) -> int:
        """Return the number of the last event or content."""
        rows = self._connection.execute(
            "SELECT MAX(seq) FROM events UNION ALL SELECT MAX(seq) FROM contents"
        )
        return max(last or 0 for (last,) in rows)

    def _check_piece(self, start: int, end: int) -> None:
        """Check the events after one, up to another one."""
        contents = {row[0]: row[1:] for row in self._rows(_CONTENTS, start, end, "the content of ")}
        expected = start + 1
        for *row, digest, link in self._rows(_EVENTS, start, end, ""):
            seq = row[0]
            self._report_gap(expected, seq - 1)
            expected = seq + 1
            self._found.events += 1
            self._report_damaged(self._chain.add(row, digest, link))
            self._note_taking(row)
            self._check_content(seq, digest, contents.pop(seq, None))
        self._report_gap(expected, end)
        for seq in contents:
            if ("", seq) not in self._unreadable:
                self._report(f"there is content of event {seq:,}, but no such event")

    def _rows(self, query: str, start: int, end: int, part: str) -> Iterator[Any]:
        """Return the rows of events after one, up to another; report what cannot be read."""
        try:
            found = self._connection.execute(query, (start, end)).fetchall()
        except self._database.failures:
            found = []
            for seq in range(start + 1, end + 1):
                try:
                    found += self._connection.execute(query, (seq - 1, seq)).fetchall()
                except self._database.failures as error:
                    self._report(f"{part}event {seq:,} cannot be read: {error}", seq)
                    self._unreadable.add((part, seq))
        yield from found

    def _report_gap(self, first: int, last: int) -> None:
        """Report the events that are missing from one up to another."""
        if first > last:
            return
        self._report_damaged(self._chain.interrupt())
        missing = [seq for seq in range(first, last + 1) if ("", seq) not in self._unreadable]
        for seq in missing:
            self._report(f"event {seq:,} is missing", seq)

    def _report_damaged(self, damaged: list[tuple[str, int]]) -> None:
        for part, seq in damaged:
            self._report(f"{part}event {seq:,} is not what was written", seq)

    def _note_taking(self, row: Collection[Any]) -> None:
        seq, time, kind, item, batch, actor, body = row
        if kind in TAKING_KINDS:
            try:
                event = Event(kind, json.loads(body), item, batch or "", actor, seq, time)
                assert all(type(each) is int for each in event.taken)
                self._found.takings.append(event)
            except (ValueError, TypeError, KeyError, AssertionError):
                pass  # its place in the chain is wrong too

    def _check_content(self, seq: int, digest: bytes | None, row: Any) -> None:
        """Check the content of an event that has a digest of content."""
        if digest is None:
            if row is not None:
                self._report(f"there is content of event {seq:,}, which has none")
            return
        if row is None:
            if ("the content of ", seq) not in self._unreadable:
                self._without_content.append(seq)
            return
        salt, data = row
        try:
            is_sound = StoredContent(data, salt).digest == digest
        except (TypeError, ValueError):
            is_sound = False
        if is_sound:
            self._found.contents += 1
        else:
            self._report(f"the content of event {seq:,} is not what was written", seq)

    def _report_missing_contents(self) -> None:
        """Report missing contents, except those of forgotten items."""
        takings = self._found.takings
        forgotten = {
            seq for each in takings if each.kind == "forgotten" for seq in each.body["items"]
        }
        for seq in self._without_content:
            if seq not in forgotten:
                self._report(f"the content of event {seq:,} is missing", seq)


class _Chain:
    """Finds events that are not what was written, by the chain of digests.

    If the link of an event does not fit, either the event or its link has changed. The next event
    shows which: it fits the link that the event should have, if only the link has changed.
    """

    def __init__(self) -> None:
        self._before: list[bytes] = [FIRST_LINK]  # links that the next event may follow
        self._suspect: int | None = None

    def add(self, row: Collection[Any], digest: bytes | None, link: bytes) -> list[tuple[str, int]]:
        """Return what has changed before this event: "the link of " or "", and the event."""
        possible = [next_link(before, row, digest) for before in self._before]
        fits = not possible or link in possible  # nothing is known after a gap
        only_link = fits and len(possible) > 1 and link == possible[1]
        damaged = self._settle("the link of " if only_link else "")
        self._before = [link] if fits else [link, possible[0]]
        if not fits:
            (self._suspect, *_) = row
        return damaged

    def interrupt(self) -> list[tuple[str, int]]:
        """Begin again after missing events, or at the end; return what has changed before."""
        self._before = []
        return self._settle("")

    def _settle(self, part: str) -> list[tuple[str, int]]:
        found = [] if self._suspect is None else [(part, self._suspect)]
        self._suspect = None
        return found
