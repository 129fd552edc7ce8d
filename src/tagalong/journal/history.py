"""Taking events back: which events count, and which later ones become impossible."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from tagalong.journal.errors import ConflictError
from tagalong.journal.events import Event
from tagalong.journal.ledger import Ledger
from tagalong.journal.store import JournalStore

__all__ = ["Revision", "revise", "taken_back_by", "write_revision"]

MAX_LISTED = 100


def taken_back_by(takings: Sequence[Event]) -> set[int]:
    """Return the numbers of the events that do not count.

    An undo that is undone takes nothing back. Undoing is possible only for earlier events, so the
    last taking always counts, and the others follow from the last to the first.

    Parameters
    ----------
    takings : sequence of Event
        All events that take others back, in order.
    """
    found: set[int] = set()
    for event in reversed(takings):
        if event.seq not in found:
            found.update(event.taken)
    return found


@dataclass(frozen=True, slots=True)
class Revision:
    """The changes if events are taken back or come back.

    Parameters
    ----------
    taken : set of int
        Events that no longer count.
    returned : set of int
        Events that count again.
    impossible : list of int
        Later events that became impossible and are therefore taken back too.
    first : int
        The first event whose counting changes.
    label_changes : dict of int to dict
        The labels that events add (True) or remove (False), from ``first`` to ``last``.
    last : int
        The last event up to which label changes differ from before.
    """

    taken: set[int]
    returned: set[int]
    impossible: list[int]
    first: int
    label_changes: dict[int, dict[str, bool]] = field(default_factory=dict)
    last: int = 0


def revise(
    store: JournalStore, seqs: Iterable[int], *, cascade: bool, keeping: Collection[int] = ()
) -> Revision:
    """Return what changes if events no longer count, with all consequences. Nothing is written.

    Parameters
    ----------
    store : JournalStore
        The journal, within a transaction.
    seqs : iterable of int
        Events that count at present. If one is an undo, what it took back counts again.
    cascade : bool
        Whether later events that become impossible are taken back too; otherwise they are listed
        in a ConflictError.
    keeping : collection of int
        Those of the events whose labels stay, although they no longer count.
    """
    before = store.taken_back()
    takings = store.takings()
    target = Event("undo", {"seqs": list(seqs)}, seq=store.tip + 1)
    after = taken_back_by([*takings, target])
    changed = before ^ after
    # An event that takes others back changes neither labels nor settings by itself.
    others = changed - {event.seq for event in takings}
    walk = _Walk(store, before, after, others, keeping)
    if others:
        walk.run(min(others))
    impossible = sorted(walk.impossible)
    if impossible and not cascade:
        listed = ", ".join(map(str, impossible[:MAX_LISTED]))
        raise ConflictError(
            f"later events would become impossible: {listed}; undo them too, with cascade, or "
            f"first ({walk.reasons[impossible[0]]})",
            seqs=impossible,
        )
    revived = sorted(set(impossible) & (before - after))
    if revived:
        raise ConflictError(
            f"event {revived[0]} cannot count again: {walk.reasons[revived[0]]}", seqs=revived
        )
    final = after | set(impossible)
    first = min(others, default=0)
    return Revision(
        final - before, before - final, impossible, first, walk.label_changes, walk.last
    )


def write_revision(store: JournalStore, revision: Revision) -> None:
    """Store what follows from a revision: which events count, labels, and states of items.

    Parameters
    ----------
    store : JournalStore
        The journal, within a transaction.
    revision : Revision
        The revision.
    """
    store.take_back(sorted(revision.taken))
    store.bring_back(sorted(revision.returned))
    store.drop_label_changes(revision.first, revision.last)
    for seq, changes in revision.label_changes.items():
        store.set_label_changes(seq, changes)
    touched: set[int] = set()
    for seq in revision.taken | revision.returned:
        event = store.event(seq)
        if event.kind == "item":
            touched.add(seq)
        elif event.item is not None:
            touched.add(event.item)
    gone = store.taken_back()
    for item in sorted(touched, key=lambda item: item not in gone):  # free ids first
        if item in gone:
            store.hide_item(item)
        else:
            store.set_state(item, store.status(item).state)


class _Walk:
    """Follows two histories, with and without some events, until they agree again."""

    def __init__(
        self,
        store: JournalStore,
        before: set[int],
        after: set[int],
        changed: set[int],
        keeping: Collection[int],
    ):
        self._store = store
        self._before, self._after = before, set(after)
        self._changed = changed
        self._kept_before = store.kept_events()
        self._kept_after = self._kept_before | set(keeping)
        self._reach = max(changed, default=0)
        self.impossible: set[int] = set()
        self.reasons: dict[int, str] = {}
        self.label_changes: dict[int, dict[str, bool]] = {}
        self.last = 0

    def run(self, first: int) -> None:
        """Walk from the first changed event to where both histories agree."""
        old = self._store.ledger(before=first)
        new = old.copy()
        for seq in self._changed:
            if seq in self._after:
                self._reach_dependents(seq)
        for event in self._store.events(after=first - 1):
            if event.seq > self._reach and old == new:
                return
            self.last = event.seq
            if event.seq not in self._after:
                problem = self._problem(event, new)
                if problem is None:
                    changes = new.follow(event)
                    if changes:
                        self.label_changes[event.seq] = changes
                else:
                    self.reasons[event.seq] = f"event {event.seq}: {problem}"
                    self.impossible.add(event.seq)
                    self._after.add(event.seq)
                    self._reach_dependents(event.seq)
            elif event.seq in self._kept_after and (changes := new.follow(event)):
                self.label_changes[event.seq] = changes
            if event.seq not in self._before or event.seq in self._kept_before:
                old.follow(event)

    def _problem(self, event: Event, ledger: Ledger) -> str | None:
        if event.kind == "item" and event.seq in self._before:
            id = self._store.item_content(event.seq).item.id
            other = self._store.find_item(id)
            if other is not None and other not in self._after:
                return f"there is another item with the id {id!r} by now"
        return ledger.problem(event, lambda item: item not in self._after)

    def _reach_dependents(self, item: int) -> None:
        """Walk at least to the last event about an item that no longer counts."""
        self._reach = max(self._reach, *self._store.events_of_item(item))
