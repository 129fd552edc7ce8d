"""`Workspace`: a model that people teach together, durable and with exact undo."""

import os
import tempfile
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tagalong.journal.builds import MIXED
from tagalong.journal.commits import Commits
from tagalong.journal.contents import content_of, without_text
from tagalong.journal.errors import (
    ConflictError,
    JournalError,
    LeaseLostError,
    NotFoundError,
    RefusedError,
    StorageError,
    as_journal_error,
)
from tagalong.journal.filing import FilingWorkspace
from tagalong.journal.keeper import ModelKeeper
from tagalong.journal.ledger import checked_label
from tagalong.journal.limits import Limits
from tagalong.journal.operations import check_one_label
from tagalong.journal.pages import PageOrders
from tagalong.journal.reader_pool import ReaderPool
from tagalong.journal.recorder import Recorder
from tagalong.journal.recovery import recovered_state
from tagalong.journal.settings import Settings
from tagalong.journal.state import ModelState
from tagalong.journal.storage import Place, storage_of
from tagalong.journal.store import JournalStore
from tagalong.learning.model_files import load, pack
from tagalong.learning.model_hash import hash_of_parts
from tagalong.tagger import Tagger

__all__ = ["ModelFacts", "Workspace"]

T = TypeVar("T")
SECONDS_TO_SETTLE = 10.0
_ITEMS_AT_ONCE = 1000


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


class Workspace(FilingWorkspace):
    """A folder, or a part of a database, with a model, everything that it was taught, and undo.

    An answer counts when it is on the disk: if a method returns, the change survives a crash. The
    model is computed from the events of the journal alone.

    Parameters
    ----------
    folder : str, path or Storage
        The workspace: a folder, the URL of one in PostgreSQL, or a storage. It is made if it does
        not exist; a folder is readable by its owner only.
    tagger : Tagger, optional
        The model that a new workspace starts from; by default an empty one. It is copied.
    settings : mapping of str to object, optional
        Settings of a new workspace: see `Settings`.
    create : bool, default True
        Whether to make a workspace that does not exist; otherwise NotFoundError.
    exact : bool, default False
        Whether to use only snapshots of this build of Tagalong, so that the model has the same
        bits as if every event were replayed.
    quick_undo : bool, default True
        Whether to keep a second copy of the model in memory, some answers behind, so that recent
        answers are undone at once.
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
    StorageError
        If its files cannot be opened, made or read.

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
        folder: Place,
        *,
        tagger: Tagger | None = None,
        settings: Mapping[str, Any] | None = None,
        create: bool = True,
        exact: bool = False,
        quick_undo: bool = True,
        command: str = "tagalong",
        wait: float = 0.0,
        on_wait: Callable[[str], None] | None = None,
        on_problem: Callable[[JournalError], None] | None = None,
    ):
        self.storage = storage = storage_of(folder)
        exists = storage.exists()
        if not create and not exists:
            raise NotFoundError(f"{storage.name}: there is no workspace here")
        self.problems: list[JournalError] = []
        self._orders = PageOrders()
        self._listeners: list[Callable[[int], None]] = []
        self._process = os.getpid()
        self._on_problem = on_problem
        self._readers = ReaderPool(storage.database)
        self._is_behind = self._is_lost = False
        # Before anything is made, so that a model that cannot be used leaves no trace.
        first = None if exists else _first_event(tagger, settings)
        with ExitStack() as stack:
            stack.enter_context(storage.lock(command=command, wait=wait, on_wait=on_wait))
            self._store = store = JournalStore(storage.database)
            stack.callback(store.close)
            with suppress(StorageError):
                store.shrink_log()  # a killed process may have left forgotten content there
            self._recorder = Recorder(store)
            self._snapshots = storage.snapshots
            for problem in self._snapshots.later_than(store.tip):
                if store.tip == 0:  # a new journal would hide that the old one is gone
                    raise problem
                self._note_problem(problem)
            if store.tip == 0:
                values, model, labels = first or _first_event(tagger, settings)
                with store.transaction():
                    self._recorder.create(values.to_json(), str(uuid.uuid4()), model, labels)
            elif tagger is not None or settings is not None:
                raise ConflictError(
                    f"{storage.name}: this workspace exists already; it has its own "
                    "model and settings"
                )
            self._limits = limits = storage.limits(self.settings)
            state = recovered_state(
                store, self._snapshots, exact=exact, on_damage=self._note_problem
            )
            self._snapshots.remove_unlisted(store)  # now that a missing snapshot is named
            self._keeper = ModelKeeper(
                store,
                self._snapshots,
                state,
                limits.snapshot_budget,
                exact=exact,
                spare_bytes=limits.spare_bytes if quick_undo else 0,
                on_problem=self._note_problem,
                on_settled=self._tell_listeners,
            )
            self._commits = Commits(
                store,
                self._catch_up,
                self._after_commit,
                self._recorder.after_refusal,
                self._after_failure,
                lambda error: self._note_problem(as_journal_error(error)),
            )
            stack.callback(self._commits.close)
            self._keeper.start(self._commits)
            stack.callback(self._keeper.close)
            self._stack = stack.pop_all()

    def _note_problem(self, error: JournalError) -> None:
        self.problems.append(error)
        if self._on_problem is not None:
            self._on_problem(error)

    def _after_commit(self) -> None:
        try:
            self._keeper.follow()
        finally:
            self._tell_listeners()

    def subscribe(self, listener: Callable[[int], None]) -> Callable[[], None]:
        """Call a listener after each commit, and when the model was computed anew after an undo.

        Parameters
        ----------
        listener : callable
            Called with the number of the last event, in the thread that commits, before the request
            returns. It must return at once, and change nothing in the workspace. Its errors are
            ignored.

        Returns
        -------
        callable
            Ends the subscription.
        """
        self._listeners.append(listener)

        def unsubscribe() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return unsubscribe

    def _tell_listeners(self) -> None:
        for listener in tuple(self._listeners):
            with suppress(Exception):
                listener(self._state.seq)

    def _after_failure(self) -> None:
        """Open the database anew after a failed commit, and forget what was not stored."""
        self._is_behind = True
        if self._commits.is_closed or self._is_lost:
            return
        try:
            self._catch_up()
        except JournalError as error:  # the next request tries it again
            self._note_problem(error)

    def _catch_up(self) -> None:
        """After a failure, read what was stored: the outcome of the last commit is not known."""
        if self._is_lost:
            raise LeaseLostError(f"{self.storage.name}: another process has taken it over")
        if not (self._is_behind or self._store.is_broken):
            return
        try:
            self._store.reopen()
            self._recorder.reload()
        except LeaseLostError:
            self._is_lost = True
            raise
        self._is_behind = False
        self._after_commit()

    @property
    def is_lost(self) -> bool:
        """Whether another process has taken the workspace over, so that this one must close it."""
        return self._is_lost or self.storage.database.is_lost

    def close(self) -> None:
        """Save what would take long to compute again, and let other processes in."""
        if self._process != os.getpid():  # after a fork the workspace belongs to the parent
            self._stack.pop_all()
            return
        super().close()  # first: the last connection to close empties the log
        self._stack.close()

    @property
    def _state(self) -> ModelState:
        return self._keeper.state

    @property
    def settings(self) -> Settings:
        """The settings that decide learning and filing."""
        return self._recorder.ledger.settings

    @property
    def limits(self) -> Limits:
        """How the workspace is operated, as its file settings.toml said when it was opened."""
        return self._limits

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
            parts, size, seq = pack(state.tagger), state.tagger.size(), state.seq
        exact = state.build != MIXED
        return ModelFacts(hash_of_parts(*parts), seq, size.labels, size.total_bytes, exact)

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
    check_one_label(tagger, settings.one_label)
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
