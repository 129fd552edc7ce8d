"""Teaching a workspace: items, answers, undo, forgetting. Each method returns when it is stored."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tagalong import parameters
from tagalong.journal.commits import Commits
from tagalong.journal.contents import Content, checked_id, content_of, without_text
from tagalong.journal.errors import (
    ConflictError,
    JournalError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from tagalong.journal.ledger import checked_labels
from tagalong.journal.recorder import ANY_ANSWER, Added, Recorder
from tagalong.journal.snapshots import Snapshots
from tagalong.journal.state import ModelState
from tagalong.journal.store import JournalStore
from tagalong.journal.view import AnyContent, WorkspaceView
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item

__all__ = ["TaughtWorkspace"]

T = TypeVar("T")


class TaughtWorkspace(WorkspaceView):
    """Base class of `Workspace`: what people say about items."""

    _store: JournalStore
    _recorder: Recorder
    _commits: Commits
    _snapshots: Snapshots

    def _commit(
        self,
        work: Callable[[], T],
        key: str | None = None,
        scope: str = "",
        request: object = None,
        item: Callable[[T], int | None] = lambda result: None,
    ) -> T:
        """Commit work; with a key that was used before, return the result of that time."""
        if key is None:
            return self._commits.submit(work)
        digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()

        def once() -> T:
            if (found := self._store.find_key(scope, key)) is not None:
                if found[0] != digest:
                    raise RefusedError(f"the key {key!r} was used for another request")
                earlier: T = found[1]
                return earlier
            result = work()
            self._store.store_key(scope, key, digest, result, item(result))
            return result

        return self._commits.submit(once)

    def add(
        self,
        item: AnyContent,
        labels: object = None,
        *,
        id: str | None = None,
        title: str = "",
        source: str = "",
        key: str | None = None,
        scope: str = "",
        actor: str = "",
    ) -> Added:
        """Add an item; with labels, it is learnt at once.

        Parameters
        ----------
        item : Item, str or mapping
            The item, as for `Tagger.learn`.
        labels : label or collection of labels, optional
            Its labels; by default those of the item. Without labels it is open.
        id : str, optional
            Its id; by default that of the item, or a new one. Adding the same item again changes
            nothing; other content with the same id is a ConflictError.
        title : str
            A short text to show in a list.
        source : str
            Where it comes from.
        key, scope : str, optional
            Idempotency key, and where it is valid: the same request again has no further effect.
        actor : str
            Who adds it.
        """
        content, given = self._prepared(item, labels, id, title, source)
        request = ["add", content.to_bytes().decode(errors="surrogateescape"), given]

        def work() -> list[Any]:
            added = self._recorder.add(
                self._as_stored(content), given, features=self._state.tagger.features, actor=actor
            )
            return [added.id, added.seq, added.outcome]

        return Added(*self._commit(work, key, scope, request, lambda result: result[1]))

    def add_many(
        self,
        items: Sequence[AnyContent],
        *,
        relabel: bool = False,
        source: str = "",
        actor: str = "",
    ) -> list[Added | JournalError]:
        """Add items in one commit, and return for each what was added, or why it was refused.

        Parameters
        ----------
        items : sequence of Item, str or mapping
            The items. Those with labels are learnt at once.
        relabel : bool, default False
            Whether an item that is there already, with other labels, is answered with these.
        source, actor : str
            As for ``add``.
        """
        found: list[Any] = []
        for item in items:
            try:
                found.append(self._prepared(item, None, None, "", source))
            except JournalError as error:
                found.append(error)

        def work() -> list[Added | JournalError]:
            results: list[Added | JournalError] = []
            features = self._state.tagger.features
            for prepared in found:
                try:
                    if isinstance(prepared, JournalError):
                        raise prepared
                    content, labels = prepared
                    stored = self._as_stored(content)
                    with self._store.part():
                        added = self._recorder.add(
                            stored, labels, features=features, relabel=relabel, actor=actor
                        )
                    results.append(added)
                except StorageError:
                    raise
                except JournalError as error:
                    self._recorder.after_refusal()
                    results.append(error)
            return results

        return self._commits.submit(work)

    def _prepared(
        self, item: AnyContent, labels: object, id: str | None, title: str, source: str
    ) -> tuple[Content, list[str] | None]:
        """Return the content and the labels of an item that can be stored and learnt."""
        content = content_of(item, title, source)
        if id is not None:
            content = replace(content, item=replace(content.item, id=id))
        if content.item.id:
            checked_id(content.item.id)
        if labels is None and isinstance(item, (Item, FeatureItem)):
            labels = item.labels
        given = None if labels is None else checked_labels(labels)
        content = self._as_stored(content)
        self._check_learnable(self._state, content, given or ())
        return content, given

    def _as_stored(self, content: Content) -> Content:
        """Return content without text, if the settings say so. They may have changed meanwhile."""
        if self.settings.content == "features":
            return without_text(content, self._state.tagger.features)
        return content

    def _check_learnable(self, state: ModelState, content: Content, labels: Sequence[str]) -> None:
        try:
            state.check(content.item, labels)
        except ValueError as error:
            raise RefusedError(str(error)) from error

    def answer(
        self,
        id: str,
        labels: object,
        *,
        shown: object = None,
        unknown: object = (),
        was: Any = ANY_ANSWER,
        key: str | None = None,
        scope: str = "",
        actor: str = "",
    ) -> int:
        """Learn the labels of an item; answering again corrects. Return the event's number.

        Parameters
        ----------
        id : str
            The item.
        labels : label or collection of labels
            The right labels. None of them ([]) changes no weights, and counts as wrong for every
            suggestion.
        shown : collection of labels, optional
            The labels that were shown. Labels neither shown nor answered have unknown relevance.
        unknown : collection of labels
            Further labels of unknown relevance.
        was : collection of labels or None, optional
            The present answer, None if there is none. If it is another one, nothing is changed,
            and a ConflictError has it.
        key, scope, actor
            As for ``add``.
        """
        given = checked_labels(labels)
        shown_labels = None if shown is None else checked_labels(shown, "shown")
        unknown_labels = checked_labels(unknown, "unknown")
        if both := [label for label in given if label in unknown_labels]:
            raise RefusedError(f"the label {both[0]!r} cannot be both right and unknown")
        expected = was if was is ANY_ANSWER or was is None else checked_labels(was, "was")
        request = [
            "answer",
            id,
            given,
            shown_labels,
            unknown_labels,
            "any" if was is ANY_ANSWER else [expected],
        ]

        def work() -> int:
            return self._recorder.answer(
                id,
                given,
                shown=shown_labels,
                unknown=unknown_labels,
                was=expected,
                actor=actor,
            )

        return self._commit(work, key, scope, request, lambda seq: self._store.event(seq).item)

    def undo(
        self,
        seq: int | None = None,
        *,
        batch: str | None = None,
        cascade: bool = False,
        key: str | None = None,
        scope: str = "",
        actor: str = "",
    ) -> int:
        """Take an event back: the model becomes what it would be without it.

        The model is computed anew in the background; until then the old one gives suggestions. An
        undo can be undone.

        Parameters
        ----------
        seq : int, optional
            The event.
        batch : str, optional
            In place of it, all events of a batch that still count.
        cascade : bool, default False
            Whether later events that become impossible are taken back too. Otherwise they are
            listed in a ConflictError.
        key, scope, actor
            As for ``add``.
        """
        if (seq is None) == (batch is None):
            raise RefusedError("undo takes either an event or a batch")
        try:
            seq = None if seq is None else parameters.integer(seq, "event", 1, 2**62)
        except ValueError as error:
            raise RefusedError(str(error)) from None

        def work() -> int:
            seqs = [seq] if seq is not None else self._events_of_batch(batch or "")
            return self._recorder.undo(seqs, cascade=cascade, actor=actor)

        return self._commit(work, key, scope, ["undo", seq, batch, cascade])

    def _events_of_batch(self, batch: str) -> list[int]:
        seqs = self._store.events_of_batch(batch)
        if not seqs:
            raise NotFoundError(f"there is no batch {batch!r}")
        counting = sorted(set(seqs) - self._store.taken_back())
        if not counting:
            raise ConflictError(f"the batch {batch!r} is undone already")
        return counting

    def forget(self, id: str, *, actor: str = "") -> int:
        """Delete an item and its influence on the model. This cannot be undone.

        The content is deleted before this returns. The model without it is computed in the
        background; `settle` waits for it.

        Parameters
        ----------
        id : str
            The item.
        actor : str
            Who forgets it.
        """
        seq, names = self._commits.submit(lambda: self._recorder.forget(id, actor=actor))
        self._snapshots.remove(names)
        self._readers.close()  # a reader could keep old pages in the log
        with self._commits.paused():
            self._store.shrink_log()
        return seq
