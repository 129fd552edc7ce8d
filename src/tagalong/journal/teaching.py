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
from tagalong.journal.reader import JournalReader
from tagalong.journal.recorder import ANY_ANSWER, Added, Recorder
from tagalong.journal.snapshots import Snapshots
from tagalong.journal.state import ModelState
from tagalong.journal.store import JournalStore
from tagalong.journal.view import AnyContent, WorkspaceView
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item

__all__ = ["TaughtWorkspace", "request_digest"]

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
        return self._commits.submit(self._once(work, key, scope, request, item))

    def _once(
        self,
        work: Callable[[], T],
        key: str | None,
        scope: str,
        request: object,
        item: Callable[[T], int | None],
    ) -> Callable[[], T]:
        """Return work that, with a key that was used before, returns the result of that time."""
        if key is None:
            return work
        digest = request_digest(request)

        def once() -> T:
            earlier: list[T] = self._earlier(self._store, scope, key, digest)
            if earlier:
                return earlier[0]
            result = work()
            self._store.store_key(scope, key, digest, result, item(result))
            return result

        return once

    def remember(self, result: T, *, key: str, scope: str = "", request: object = None) -> T:
        """Store the result of a request whose changes are stored later, in several commits.

        Parameters
        ----------
        result : object
            The result, as JSON values.
        key, scope : str
            As for ``add``.
        request : object
            The request, as JSON values.

        Returns
        -------
        object
            The result of the earlier request with this key, if there was one; RefusedError if
            that was another request.
        """
        return self._commit(lambda: result, key, scope, request)

    def do_together(self, works: Sequence[Callable[[], T]]) -> list[T | BaseException]:
        """Do the work of several requests in one commit, as if as many threads had made them.

        Parameters
        ----------
        works : sequence of callables
            What each request does: see ``answering``.

        Returns
        -------
        list of object or BaseException
            For each request its result, or its error.
        """
        return self._commits.submit_together(works)

    def _earlier(self, reader: JournalReader, scope: str, key: str, digest: bytes) -> list[Any]:
        """Return the result of an earlier request with the same key, if there was one."""
        found = reader.find_key(scope, key)
        if found is None:
            return []
        if found[0] != digest:
            raise RefusedError(f"the key {key!r} was used for another request")
        return [found[1]]

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
        content = content_of(item, title, source)
        if id is not None:
            content = replace(content, item=replace(content.item, id=id))
        asked = content
        content, given = self._prepared(content, _labels_of(item) if labels is None else labels)
        request = ["add", asked.to_bytes().decode(errors="surrogateescape"), given]

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
        revive: bool = False,
        source: str = "",
        batch: str = "",
        actor: str = "",
    ) -> list[Added | JournalError]:
        """Add items in one commit, and return for each what was added, or why it was refused.

        Parameters
        ----------
        items : sequence of Item, str or mapping
            The items. Those with labels are learnt at once.
        relabel : bool, default False
            Whether an item that is there already, with other labels, is answered with these, and
            an item whose adding was undone stays undone.
        revive : bool, default False
            Whether an item whose adding was undone is added again in any case.
        source : str
            As for ``add``.
        batch : str
            Events with the same batch can be undone together, also those of several calls.
        actor : str
            As for ``add``.
        """
        found: list[Any] = []
        for item in items:
            try:
                found.append(self._prepared(content_of(item, source=source), _labels_of(item)))
            except JournalError as error:
                found.append(error)
        return self._add_prepared(found, relabel=relabel, revive=revive, batch=batch, actor=actor)

    def add_contents(
        self,
        contents: Sequence[tuple[Content, object]],
        *,
        relabel: bool = False,
        actor: str = "",
    ) -> list[Added | JournalError]:
        """Add items with titles and sources of their own in one commit, as ``add_many`` does.

        Parameters
        ----------
        contents : sequence of (Content, labels)
            The items, each with its labels; None if it is open.
        relabel : bool, default False
            As for ``add_many``.
        actor : str
            Who adds them.
        """
        found: list[Any] = []
        for content, labels in contents:
            try:
                found.append(self._prepared(content, labels))
            except JournalError as error:
                found.append(error)
        return self._add_prepared(found, relabel=relabel, actor=actor)

    def _add_prepared(
        self,
        found: Sequence[Any],
        *,
        relabel: bool,
        actor: str,
        revive: bool = False,
        batch: str = "",
    ) -> list[Added | JournalError]:
        """Add prepared items in one commit; an error in place of an item is passed on."""

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
                            stored,
                            labels,
                            features=features,
                            relabel=relabel,
                            revive=revive,
                            batch=batch,
                            actor=actor,
                        )
                    results.append(added)
                except StorageError:
                    raise
                except JournalError as error:
                    self._recorder.after_refusal()
                    results.append(error)
            return results

        return self._commits.submit(work)

    def _prepared(self, content: Content, labels: object) -> tuple[Content, list[str] | None]:
        """Return the content and the labels of an item that can be stored and learnt."""
        if content.item.id:
            checked_id(content.item.id)
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
        work = self.answering(
            id,
            labels,
            shown=shown,
            unknown=unknown,
            was=was,
            key=key,
            scope=scope,
            actor=actor,
        )
        return self._commits.submit(work)

    def answering(
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
    ) -> Callable[[], int]:
        """Return the work of ``answer`` for ``do_together``; RefusedError if it can't be an answer.

        Parameters
        ----------
        id, labels, shown, unknown, was, key, scope, actor
            As for ``answer``.
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

        return self._once(work, key, scope, request, lambda seq: self._store.event(seq).item)

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

    def skip(self, id: str) -> None:
        """Put an item off: it comes after all other open ones. This is stored, but is no event.

        Parameters
        ----------
        id : str
            The item. ConflictError if it is answered or filed.
        """
        self._commits.submit(lambda: self._recorder.skip(id))

    def forget(self, id: str, *, key: str | None = None, scope: str = "", actor: str = "") -> int:
        """Delete an item and its influence on the model. This cannot be undone.

        When this returns, the content is overwritten in the database and gone from its log, and the
        snapshots that have learnt the item are removed. Only if somebody reads an older state at
        this moment, the old bytes stay in the log until the new model is computed, or the workspace
        is closed. The model without the item is computed in the background; `settle` waits for it.

        Parameters
        ----------
        id : str
            The item.
        key, scope, actor
            As for ``add``. With a key, a digest of the request is kept for seven days.
        """

        def work() -> list[Any]:
            return list(self._recorder.forget(id, actor=actor))

        # The scope may name the item, so only a digest of it is stored.
        seq, names = self._commit(work, key, request_digest(scope).hex(), ["forget", id])
        self._snapshots.remove(names)
        self._readers.close()  # a reader could keep old pages in the log
        with self._commits.paused():
            self._store.shrink_log()
        return int(seq)


def _labels_of(item: AnyContent) -> object:
    return item.labels if isinstance(item, (Item, FeatureItem)) else None


def request_digest(request: object) -> bytes:
    """Return a digest of a request, by which the same request is recognised.

    Parameters
    ----------
    request : object
        JSON values.
    """
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()
