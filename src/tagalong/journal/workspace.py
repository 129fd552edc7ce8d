"""`Workspace`: a model that people teach together, durable and with exact undo."""

import hashlib
import json
import os
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tagalong.files.lock import exclusive_lock
from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.builds import MIXED
from tagalong.journal.commits import Commits
from tagalong.journal.contents import Content, checked_id, content_of, without_text
from tagalong.journal.errors import (
    ConflictError,
    JournalError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from tagalong.journal.events import Event, Kind
from tagalong.journal.keeper import ModelKeeper
from tagalong.journal.ledger import checked_label, checked_labels
from tagalong.journal.operation import read_operation
from tagalong.journal.reader_pool import ReaderPool
from tagalong.journal.recorder import ANY_ANSWER, Added, Recorder
from tagalong.journal.recovery import recovered_state
from tagalong.journal.settings import Settings
from tagalong.journal.state import ModelState
from tagalong.journal.store import JournalStore
from tagalong.journal.view import AnyContent, ItemRecord, WorkspaceView, journal_path, snapshots_of
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.learning.model_files import load
from tagalong.learning.model_hash import model_hash
from tagalong.learning.places import PLACES_JUDGED
from tagalong.tagger import Tagger
from tagalong.tagger.targets import Target, checked_target

__all__ = ["Filed", "ModelFacts", "Workspace"]

T = TypeVar("T")
SECONDS_TO_SETTLE = 10.0
_ITEMS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Filed:
    """Items that were filed without asking, or would be.

    Parameters
    ----------
    batch : str
        The name of the batch, to undo all of it; "" if nothing was filed.
    items : list of (str, list of str)
        The ids with their labels.
    asked : list of str
        The ids that are left to a person as spot checks.
    """

    batch: str
    items: list[tuple[str, list[str]]]
    asked: list[str]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Which model a workspace has.

    Parameters
    ----------
    hash : str
        See `tagalong.model_hash`.
    seq : int
        The last event in it.
    labels : int
        Number of labels.
    bytes : int
        Memory of the model.
    exact : bool
        Whether this build alone has computed it, so that a replay gives the same bits.
    """

    hash: str
    seq: int
    labels: int
    bytes: int
    exact: bool


class Workspace(WorkspaceView):
    """A folder with a model, everything that it was taught, and undo.

    An answer counts when it is on the disk: if a method returns, the change survives a crash. The
    model is computed from the events of the journal alone.

    Parameters
    ----------
    folder : str or path
        The workspace; it is made if it does not exist, readable by its owner only.
    tagger : Tagger, optional
        The model that a new workspace starts from; by default an empty one. It is copied.
    settings : mapping of str to object, optional
        Settings of a new workspace: see `Settings`.
    create : bool, default True
        Whether to make a workspace that does not exist; otherwise NotFoundError.
    exact : bool, default False
        Whether to use only snapshots of this build of Tagalong, so that the model has the same
        bits as if every event were replayed.
    command : str
        Who opens the workspace, for the message that others get.
    wait : float, default 0
        Number of seconds to wait for another process that has it open.
    on_wait : callable, optional
        Called once when the wait begins, with the words for the process that has it open.
    on_problem : callable, optional
        Called with problems that are survived, such as a damaged snapshot.

    Raises
    ------
    BusyError
        If another process has the workspace open.
    DamagedError
        If the journal is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from tagalong.journal import Workspace
    >>> with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
    ...     first = workspace.add("Your invoice is due", id="a")
    ...     answer = workspace.answer("a", ["money"])
    ...     undo = workspace.undo(answer)
    ...     workspace.item("a").state
    'open'
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        tagger: Tagger | None = None,
        settings: Mapping[str, Any] | None = None,
        create: bool = True,
        exact: bool = False,
        command: str = "tagalong",
        wait: float = 0.0,
        on_wait: Callable[[str], None] | None = None,
        on_problem: Callable[[JournalError], None] | None = None,
    ):
        self.folder = Path(folder)
        path = journal_path(self.folder)
        if not create and not path.exists():
            raise NotFoundError(f"{unicode_path(self.folder)}: there is no workspace here")
        self.problems: list[JournalError] = []
        self._on_problem = on_problem
        self._readers = ReaderPool(path)
        # Before anything is made, so that a model that cannot be used leaves no trace.
        first = None if path.exists() else _first_event(tagger, settings)
        with ExitStack() as stack:
            _make_private_folder(self.folder)
            lock = exclusive_lock(
                path, command=command, wait=wait, on_wait=on_wait, what="workspace"
            )
            stack.enter_context(lock)
            self._store = store = JournalStore(path)
            stack.callback(store.close)
            self._recorder = Recorder(store)
            self._snapshots = snapshots_of(self.folder)
            if store.tip == 0:
                values, model, labels = first or _first_event(tagger, settings)
                with store.transaction():
                    self._recorder.create(values.to_json(), str(uuid.uuid4()), model, labels)
            elif tagger is not None or settings is not None:
                raise ConflictError(
                    f"{unicode_path(self.folder)}: this workspace exists already; it has its own "
                    "model and settings"
                )
            operation = read_operation(self.folder, self.settings)
            state = recovered_state(
                store, self._snapshots, exact=exact, on_damage=self._note_problem
            )
            self._snapshots.remove_unlisted(store)  # now that a missing snapshot is named
            self._keeper = ModelKeeper(
                store,
                self._snapshots,
                state,
                operation.snapshot_budget,
                exact=exact,
                on_problem=self._note_problem,
            )
            self._commits = Commits(
                store, self._keeper.follow, self._recorder.after_refusal, self._after_failure
            )
            self._keeper.start(self._commits)
            stack.callback(self._keeper.close)
            self._stack = stack.pop_all()

    def _note_problem(self, error: JournalError) -> None:
        self.problems.append(error)
        if self._on_problem is not None:
            self._on_problem(error)

    def _after_failure(self) -> None:
        """Open the database anew after a failed commit, and forget what was not stored."""
        try:
            self._store.reopen()
            self._recorder.reload()
        except JournalError as error:
            self._note_problem(error)

    def close(self) -> None:
        """Save what would take long to compute again, and let other processes in."""
        self._stack.close()
        super().close()

    @property
    def _state(self) -> ModelState:
        return self._keeper.state

    @property
    def settings(self) -> Settings:
        """The settings that decide learning and filing."""
        return self._recorder.ledger.settings

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
            added = self._recorder.add(content, given, actor=actor)
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
            for prepared in found:
                try:
                    if isinstance(prepared, JournalError):
                        raise prepared
                    with self._store.part():
                        results.append(self._recorder.add(*prepared, relabel=relabel, actor=actor))
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
        state = self._state
        if self.settings.content == "features":
            content = without_text(content, state.tagger.features)
        self._check_learnable(state, content, given or ())
        return content, given

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

    def add_label(self, name: str, min_precision: Target | None = None, *, actor: str = "") -> int:
        """Add a label before its first item.

        Parameters
        ----------
        name : str
            The label.
        min_precision : float, "never" or None
            Its own required precision.
        actor : str
            Who adds it.
        """
        body: dict[str, Any] = {"name": checked_label(name)}
        if min_precision is not None:
            body["min_precision"] = _checked_target(min_precision)
        return self._operate(Event("label-added", body, actor=actor))

    def rename_label(self, name: str, to: str, *, actor: str = "") -> int:
        """Rename a label.

        Parameters
        ----------
        name, to : str
            The present name and the new name.
        actor : str
            Who renames it.
        """
        body = {"name": checked_label(name), "to": checked_label(to, "the new name")}
        return self._operate(Event("label-renamed", body, actor=actor))

    def merge_labels(self, labels: Collection[str], into: str, *, actor: str = "") -> list[int]:
        """Merge labels into one; return the events, which are one batch.

        Parameters
        ----------
        labels : collection of str
            The labels that end.
        into : str
            The label that gets their items. If it does not exist, the first one is renamed.
        actor : str
            Who merges them.
        """
        target = checked_label(into)
        names = [name for name in checked_labels(labels) if name != target]
        if not names:
            raise RefusedError(f"the label {into!r} cannot be merged into itself")
        batch = str(uuid.uuid4())

        def work() -> list[int]:
            seqs = []
            for name in names:
                is_there = target in self._recorder.ledger.labels
                kind: Kind = "label-merged" if is_there else "label-renamed"
                body = {"name": name, "into" if is_there else "to": target}
                event = Event(kind, body, batch=batch, actor=actor)
                seqs.append(self._recorder.operate(event))
            return seqs

        return self._commits.submit(work)

    def merge_label(self, name: str, into: str, *, actor: str = "") -> int:
        """Merge a label into another one, which must exist.

        Parameters
        ----------
        name, into : str
            The label that ends, and the one that gets its items.
        actor : str
            Who merges them.
        """
        if name == into:
            raise RefusedError(f"the label {name!r} cannot be merged into itself")
        body = {"name": checked_label(name), "into": checked_label(into)}
        return self._operate(Event("label-merged", body, actor=actor))

    def forget_label(self, name: str, *, actor: str = "") -> int:
        """Remove a label and its weights.

        Parameters
        ----------
        name : str
            The label.
        actor : str
            Who removes it.
        """
        return self._operate(Event("label-forgotten", {"name": checked_label(name)}, actor=actor))

    def set_min_precision(self, name: str, min_precision: Target | None, *, actor: str = "") -> int:
        """Give a label its own required precision.

        Parameters
        ----------
        name : str
            The label.
        min_precision : float, "never" or None
            The precision; "never" if the label is never sure; None for that of all labels.
        actor : str
            Who sets it.
        """
        target = None if min_precision is None else _checked_target(min_precision)
        body = {"name": checked_label(name), "min_precision": target}
        return self._operate(Event("label-target", body, actor=actor))

    def change_settings(self, *, actor: str = "", **changes: Any) -> int:
        """Change settings; see `Settings` for their names.

        Parameters
        ----------
        actor : str
            Who changes them.
        changes : object
            New values by name.
        """
        if not changes:
            raise RefusedError("no setting is given")
        new = self.settings.changed(changes)
        tagger = self._state.tagger
        if "one_label" in changes:
            _check_one_label(tagger, new.one_label)
        if new.content == "features":
            without_text(content_of("text"), tagger.features)  # RefusedError if it cannot be
        return self._operate(Event("settings", {"changes": changes}, actor=actor))

    def _operate(self, event: Event) -> int:
        return self._commits.submit(lambda: self._recorder.operate(event))

    def file(
        self, id: str, labels: object, *, asked: bool = False, batch: str = "", actor: str = ""
    ) -> int:
        """Record that an item was filed without asking. It teaches nothing.

        Parameters
        ----------
        id : str
            The item.
        labels : label or collection of labels
            Where it was filed.
        asked : bool, default False
            Whether it was sure, but is left to a person as a spot check.
        batch : str
            Events with the same batch can be undone together.
        actor : str
            Who filed it.
        """
        given = checked_labels(labels)
        return self._commits.submit(
            lambda: self._recorder.file(id, given, asked=asked, batch=batch, actor=actor)
        )

    def file_sure(
        self,
        min_precision: float | None = None,
        *,
        preview: bool = False,
        limit: int | None = None,
        actor: str = "",
    ) -> Filed:
        """File all open items that are sure, as one batch; some are left as spot checks.

        Parameters
        ----------
        min_precision : float, optional
            The share that has to be right; by default the setting.
        preview : bool, default False
            Whether to change nothing.
        limit : int, optional
            Maximum number of items to file or to leave as spot checks.
        actor : str
            Who files them.
        """
        if self.settings.paused and not preview:
            raise ConflictError("filing is paused; change the setting 'paused' to go on")
        required = self.settings.min_precision if min_precision is None else min_precision
        filed: list[tuple[str, list[str]]] = []
        asked: list[tuple[str, list[str]]] = []
        for records in self._open_items():
            found = self.suggest_many(
                [record.content.item for record in records], PLACES_JUDGED, required
            )
            for record, suggestions in zip(records, found, strict=True):
                sure = [str(each.label) for each in suggestions if each.sure]
                if sure and (limit is None or len(filed) + len(asked) < limit):
                    (asked if suggestions.audited else filed).append((record.id, sure))
        names = [id for id, _ in asked]
        if preview or not (filed or asked):
            return Filed("", filed, names)
        batch = str(uuid.uuid4())

        def work() -> None:
            for chosen, is_asked in ((filed, False), (asked, True)):
                for id, labels in chosen:
                    self._recorder.file(id, labels, asked=is_asked, batch=batch, actor=actor)

        self._commits.submit(work)
        return Filed(batch, filed, names)

    def _open_items(self) -> Iterator[list[ItemRecord]]:
        after = 0
        while records := self.items("open", after=after, limit=_ITEMS_AT_ONCE):
            yield records
            after = records[-1].seq

    def settle(self, seconds: float = SECONDS_TO_SETTLE) -> None:
        """Wait until the model has followed every event; TimeoutError if it takes longer.

        Parameters
        ----------
        seconds : float
            How long to wait.
        """
        if not self._keeper.settle(seconds):
            raise TimeoutError(f"the model is still being computed after {seconds:g} s")

    @property
    def is_settled(self) -> bool:
        """Whether the model has followed every event."""
        return self._keeper.is_settled

    def model(self, seconds: float = SECONDS_TO_SETTLE) -> ModelFacts:
        """Return facts about the model, when it has followed every event.

        Parameters
        ----------
        seconds : float
            How long to wait for that; then TimeoutError.
        """
        self.settle(seconds)
        state = self._state
        with state.lock:
            size = state.tagger.size()
            exact = state.build != MIXED
            return ModelFacts(
                model_hash(state.tagger), state.seq, size.labels, size.total_bytes, exact
            )

    def set_document(self, name: str, value: Any) -> None:
        """Store a document: JSON values that decide nothing about learning.

        Parameters
        ----------
        name : str
            Its name.
        value : object
            JSON values.
        """
        self._commits.submit(lambda: self._store.set_document(name, value))

    def snapshot(self) -> None:
        """Save the present state now."""
        self.settle()
        self._keeper.make_snapshot()

    def compact(self) -> None:
        """Free space on the disk. Events and model stay as they are."""
        self.snapshot()
        with self._commits.paused():
            self._store.shrink_log()
            self._store.vacuum()
            self._store.shrink_log()


def _make_private_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(error.errno, error.strerror, unicode_path(folder)) from error


def _checked_target(min_precision: object) -> Target:
    try:
        return checked_target(min_precision)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _check_one_label(tagger: Tagger, one_label: Any) -> None:
    """Raise RefusedError if the learner does not know items with one label."""
    if one_label != "auto" and "one_label" not in tagger.learner.get_params():
        raise RefusedError(
            f"one_label must be 'auto': a {type(tagger.learner).__name__} has no such setting"
        )


def _first_event(
    tagger: Tagger | None, changes: Mapping[str, Any] | None
) -> tuple[Settings, bytes, list[str]]:
    """Return the settings of a new workspace, the file of the model to start from, its labels."""
    first = Tagger() if tagger is None else tagger
    own = {
        "audit": first.audit,
        "one_label": first.learner.get_params().get("one_label", "auto"),
    }
    settings = Settings().changed({**own, **(changes or {})})
    return settings, *_first_model(first, settings)


def _first_model(tagger: Tagger, settings: Settings) -> tuple[bytes, list[str]]:
    """Return the file of the model to start from, with the settings, and its labels."""
    if not tagger.learns_online or tagger.is_compact or tagger.ranks_documents:
        raise RefusedError(
            "a workspace needs a model that learns labels item by item, such as one of 'tagalong "
            f"learn', not a {type(tagger.learner).__name__}"
        )
    _check_one_label(tagger, settings.one_label)
    if settings.content == "features":
        without_text(content_of("text"), tagger.features)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "first.tagalong"
        tagger.save(path, private=True)
        first: Tagger = load(path)
        first.notes.clear()
        first.audit = settings.audit
        if "one_label" in first.learner.get_params():
            first.set_one_label(settings.one_label)
        first.save(path, private=True)
        return path.read_bytes(), [checked_label(label) for label in first.labels]
