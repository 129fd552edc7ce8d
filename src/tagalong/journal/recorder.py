"""Turning requests into events, within a transaction: what is possible is stored, or refused."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tagalong.journal.contents import Content, StoredContent, is_same_item
from tagalong.journal.errors import ConflictError, NotFoundError, RefusedError
from tagalong.journal.events import Event
from tagalong.journal.history import revise, write_revision
from tagalong.journal.item_queries import WAITING, ItemState
from tagalong.journal.ledger import Ledger
from tagalong.journal.reader import Status
from tagalong.journal.store import JournalStore
from tagalong.text import TextFeatures

__all__ = ["ANY_ANSWER", "Added", "Recorder"]

ANY_ANSWER: Any = object()
"""The present answer of an item, whatever it is."""
_NOT_UNDOABLE = {
    "created": "the first event cannot be undone",
    "forgotten": "forgetting an item cannot be undone: its content is deleted",
}


@dataclass(frozen=True, slots=True)
class Added:
    """An item that was added, or was there already.

    Parameters
    ----------
    id : str
        Its id.
    seq : int
        The event that added it, or answered it.
    outcome : str
        "new"; "known": the same item was there already; "answered": it was, and got other labels.
    """

    id: str
    seq: int
    outcome: Literal["new", "known", "answered"] = "new"

    @property
    def is_new(self) -> bool:
        """Whether the item was not there before."""
        return self.outcome == "new"


class Recorder:
    """Stores requests as events. All methods are called within a transaction.

    Parameters
    ----------
    store : JournalStore
        The journal.

    Attributes
    ----------
    ledger : Ledger
        The present labels and settings.
    """

    def __init__(self, store: JournalStore):
        self._store = store
        self.ledger = Ledger()
        self.reload()

    def reload(self) -> None:
        """Read labels and settings from the journal, after a transaction that failed."""
        self.ledger = self._store.ledger()
        self._last = self._store.tip

    def after_refusal(self) -> None:
        """Forget what a refused request had stored before it was refused."""
        if self._store.tip != self._last:
            self.reload()

    def create(
        self, settings: Mapping[str, Any], workspace: str, model: bytes, labels: Sequence[str]
    ) -> None:
        """Store the first event.

        Parameters
        ----------
        settings : mapping
            All settings, resolved.
        workspace : str
            A random name of the workspace, by which copies recognise each other.
        model : bytes
            The file of the model to start from.
        labels : sequence of str
            Its labels.
        """
        body = {"settings": dict(settings), "workspace": workspace, "labels": list(labels)}
        self._append(Event("created", body), StoredContent.of(model))

    def _append(self, event: Event, content: StoredContent | None = None) -> Event:
        """Store a possible event with all that follows from it."""
        stored = self._store.append(event, content)
        self._last = stored.seq  # first: if what follows fails, the ledger has to be read again
        self._store.set_label_changes(stored.seq, self.ledger.follow(stored))
        return stored

    def _append_about_item(self, event: Event) -> Event:
        """Store an event about an item that was found in this transaction."""
        problem = self.ledger.problem(event, lambda item: True)
        if problem is not None:
            raise RefusedError(problem)
        return self._append(event)

    def add(
        self,
        content: Content,
        labels: Sequence[str] | None,
        *,
        features: TextFeatures,
        relabel: bool = False,
        revive: bool = False,
        batch: str = "",
        actor: str = "",
    ) -> Added:
        """Store an item. The same item again changes nothing, also if it was corrected meanwhile.

        Parameters
        ----------
        content : Content
            The item. If its id is empty, it gets one.
        labels : sequence of str or None
            Its labels, if they are known.
        features : TextFeatures
            The conversion of items into features, to recognise an item whose text is not stored.
        relabel : bool
            Whether other labels of an item that is there already are an answer, and an item whose
            adding was undone stays undone; otherwise the first is a ConflictError, and the second
            is added again.
        revive : bool
            Whether an item whose adding was undone is added again in any case.
        batch, actor : str
            See `Event`.
        """
        store, id = self._store, content.item.id
        if not id:
            id = self._free_id()
            content = replace(content, item=replace(content.item, id=id))
        elif (item := store.find_item(id)) is not None:
            if not is_same_item(store.item_content(item), content, features):
                raise ConflictError(f"there is an item {id!r} already, with other content")
            present = self.present_labels(item)
            if labels is None or (present is not None and set(labels) == set(present)):
                return Added(id, item, "known")
            if self._was_said_before(item, labels):
                return Added(id, item, "known")
            if relabel:
                seq = self.answer(id, labels, batch=batch, actor=actor)
                return Added(id, seq, "answered")
            raise ConflictError(
                f"there is an item {id!r} already, with other labels; answer it to change them",
                present=present,
            )
        elif relabel and not revive and (undone := store.undone_items(id)):
            return Added(id, undone[-1], "known")
        body = {} if labels is None else {"labels": list(labels)}
        event = Event("item", body, batch=batch, actor=actor)
        if (problem := self.ledger.problem(event, lambda item: True)) is not None:
            raise RefusedError(problem)
        stored = self._append(event, StoredContent.of(content.to_bytes()))
        state: ItemState = "open" if labels is None else "answered"
        store.add_item(stored.seq, id, state, content.source)
        return Added(id, stored.seq)

    def _was_said_before(self, item: int, labels: Sequence[str]) -> bool:
        """Whether a source repeats what it said of an item before labels or answers changed."""
        said = (self._store.event(item).labels, self._store.status(item).labels)
        return any(before is not None and set(before) == set(labels) for before in said)

    def _free_id(self) -> str:
        number = self._store.tip + 1
        while self._store.find_item(f"item-{number}") is not None:
            number += 1
        return f"item-{number}"

    def answer(
        self,
        id: str,
        labels: Sequence[str],
        *,
        shown: Sequence[str] | None = None,
        unknown: Sequence[str] = (),
        was: Collection[str] | None = ANY_ANSWER,
        batch: str = "",
        actor: str = "",
    ) -> int:
        """Store the answer to an item, and return its number.

        Parameters
        ----------
        id : str
            The item.
        labels : sequence of str
            The right labels; none if no label is right.
        shown, unknown : sequence of str
            Labels that were shown, and labels of unknown relevance.
        was : collection of str or None
            The answer that the request is about; ConflictError if it is not the present one.
        batch, actor : str
            See `Event`.
        """
        item = self.item(id)
        if was is not ANY_ANSWER:
            present = self.present_labels(item)
            if (None if was is None else set(was)) != (None if present is None else set(present)):
                raise ConflictError(
                    f"the item {id!r} has another answer by now: "
                    f"{'none' if present is None else present}",
                    present=present,
                )
        body: dict[str, Any] = {"labels": list(labels)}
        if shown is not None:
            body["shown"] = list(shown)
        if unknown:
            body["unknown"] = list(unknown)
        event = Event("answer", body, item=item, batch=batch, actor=actor)
        stored = self._append_about_item(event)
        self._store.set_state(item, "answered")
        return stored.seq

    def file(
        self, id: str, labels: Sequence[str], *, asked: bool, batch: str = "", actor: str = ""
    ) -> int:
        """Store that an item was filed without asking, or is left to a person as a spot check.

        Parameters
        ----------
        id : str
            The item, which must not be answered yet.
        labels : sequence of str
            The labels that were sure.
        asked : bool
            Whether it is a spot check.
        batch, actor : str
            See `Event`.
        """
        item = self.item(id)
        state = self._store.status(item).state
        if state not in WAITING:
            raise ConflictError(f"the item {id!r} is {state} already")
        kind: ItemState = "asked" if asked else "filed"
        body = {"labels": list(labels)}
        event = Event("asked" if asked else "filed", body, item=item, batch=batch, actor=actor)
        stored = self._append_about_item(event)
        self._store.set_state(item, kind)
        return stored.seq

    def skip(self, id: str) -> None:
        """Put an item off.

        Parameters
        ----------
        id : str
            The item, which must not be answered yet.
        """
        item = self.item(id)
        state = self._store.status(item).state
        if state not in WAITING:
            raise ConflictError(f"the item {id!r} is {state} already")
        self._store.skip_item(item)

    def operate(self, event: Event) -> int:
        """Store an operation on a label, or a change of settings; return its number.

        Parameters
        ----------
        event : Event
            The event. NotFoundError if there is no such label, ConflictError if the name of a new
            label is in use.
        """
        if event.kind == "settings":
            self.ledger.settings.changed(event.body["changes"])  # RefusedError if it is not valid
        problem = self.ledger.problem(event, lambda item: True)
        if problem is None:
            return self._append(event).seq
        named = [event.body[part] for part in ("name", "into") if part in event.body]
        if event.kind == "label-added" or self.ledger.labels.issuperset(named):
            raise ConflictError(problem)  # the new name is that of another label
        raise NotFoundError(problem)

    def undo(self, seqs: Sequence[int], *, cascade: bool = False, actor: str = "") -> int:
        """Take events back, and return the number of the event that does so.

        Parameters
        ----------
        seqs : sequence of int
            The events.
        cascade : bool
            Whether later events that become impossible are taken back too.
        actor : str
            See `Event`.
        """
        gone = self._store.taken_back()
        for seq in seqs:
            event = self._store.event(seq)
            if event.kind in _NOT_UNDOABLE:
                raise ConflictError(_NOT_UNDOABLE[event.kind])
            if seq in gone:
                raise ConflictError(f"event {seq} is undone already")
        revision = revise(self._store, seqs, cascade=cascade)
        taken = sorted({*seqs, *revision.impossible})
        stored = self._store.append(Event("undo", {"seqs": taken}, actor=actor))
        write_revision(self._store, revision)
        self.reload()
        return stored.seq

    def forget(self, id: str, *, actor: str = "") -> tuple[int, list[str]]:
        """Delete the content of an item, and take back all events about it.

        An item with this id whose adding was undone is forgotten too.

        Parameters
        ----------
        id : str
            The item.
        actor : str
            See `Event`.

        Returns
        -------
        seq : int
            The event.
        names : list of str
            The snapshots that have learnt the item, which are no longer listed.
        """
        store = self._store
        present = store.find_item(id)
        items = [*store.undone_items(id), *([] if present is None else [present])]
        if not items:
            raise NotFoundError(f"there is no item {id!r}")
        gone = store.taken_back()
        about = sorted(seq for item in items for seq in store.events_of_item(item))
        counting = [seq for seq in about if seq not in gone]
        # Events that were undone before are named too, so that they never come back.
        body: dict[str, Any] = {"items": items, "seqs": about}
        revision = revise(store, counting, cascade=True) if counting else None
        if revision is not None and not set(revision.impossible) <= set(about):
            # Other events need labels that came with the item: those stay.
            events = [store.event(seq) for seq in counting]
            body["keeps"] = [e.seq for e in events if e.kind in ("item", "answer") and e.labels]
            revision = revise(store, counting, cascade=True, keeping=body["keeps"])
        if revision is not None:
            body["seqs"] = sorted({*about, *revision.impossible})
        stored = store.append(Event("forgotten", body, actor=actor))
        if revision is not None:
            write_revision(store, revision)
        for item in items:
            store.delete_item(item)
        names = [each.name for each in store.snapshots() if each.seq >= min(items)]
        store.drop_snapshots(names)
        self.reload()
        return stored.seq, names

    def item(self, id: str) -> int:
        """Return the number of an item; NotFoundError if there is none."""
        item = self._store.find_item(id)
        if item is None:
            raise NotFoundError(f"there is no item {id!r}")
        return item

    def status(self, item: int) -> Status:
        """Return what has become of an item, with labels by their present names."""
        status = self._store.status(item)
        if status.labels:
            names = self._store.current_names(status.labels, status.seq)
            status = replace(status, labels=names)
        return status

    def present_labels(self, item: int) -> list[str] | None:
        """Return the labels of an item by their present names; None while it is open."""
        return self.status(item).labels
