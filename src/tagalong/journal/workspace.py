"""`Workspace`: a model that people teach together, durable and with exact undo."""

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tagalong.files.lock import exclusive_lock
from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.builds import MIXED
from tagalong.journal.commits import Commits
from tagalong.journal.contents import content_of, without_text
from tagalong.journal.errors import (
    ConflictError,
    JournalError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from tagalong.journal.keeper import ModelKeeper
from tagalong.journal.ledger import checked_label
from tagalong.journal.limits import read_limits
from tagalong.journal.operations import OperatedWorkspace, check_one_label
from tagalong.journal.reader_pool import ReaderPool
from tagalong.journal.recorder import Recorder
from tagalong.journal.recovery import recovered_state
from tagalong.journal.settings import Settings
from tagalong.journal.state import ModelState
from tagalong.journal.store import JournalStore
from tagalong.journal.view import journal_path, snapshots_of
from tagalong.learning.model_files import load
from tagalong.learning.model_hash import model_hash
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


class Workspace(OperatedWorkspace):
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
        folder: str | os.PathLike[str],
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
        self.folder = Path(folder)
        path = journal_path(self.folder)
        if not create and not path.exists():
            raise NotFoundError(f"{unicode_path(self.folder)}: there is no workspace here")
        self.problems: list[JournalError] = []
        self._process = os.getpid()
        self._on_problem = on_problem
        self._readers = ReaderPool(path)
        # Before anything is made, so that a model that cannot be used leaves no trace.
        first = None if path.exists() else _first_event(tagger, settings)
        with _storage_errors(self.folder), ExitStack() as stack:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = exclusive_lock(
                path, command=command, wait=wait, on_wait=on_wait, what="workspace"
            )
            stack.enter_context(lock)
            self._store = store = JournalStore(path)
            stack.callback(store.close)
            with suppress(StorageError):
                store.shrink_log()  # a killed process may have left forgotten content there
            self._recorder = Recorder(store)
            self._snapshots = snapshots_of(self.folder)
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
                    f"{unicode_path(self.folder)}: this workspace exists already; it has its own "
                    "model and settings"
                )
            limits = read_limits(self.folder, self.settings)
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
            )
            self._commits = Commits(
                store, self._keeper.follow, self._recorder.after_refusal, self._after_failure
            )
            stack.callback(self._commits.close)
            self._keeper.start(self._commits)
            stack.callback(self._keeper.close)
            self._stack = stack.pop_all()

    def _note_problem(self, error: JournalError) -> None:
        self.problems.append(error)
        if self._on_problem is not None:
            self._on_problem(error)

    def _after_failure(self) -> None:
        """Open the database anew after a failed commit, and forget what was not stored."""
        if self._commits.is_closed:
            return
        try:
            self._store.reopen()
            self._recorder.reload()
        except JournalError as error:
            self._note_problem(error)

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


@contextmanager
def _storage_errors(folder: Path) -> Iterator[None]:
    """Turn errors of files, such as the lock, into errors of the workspace that name the file."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        name = unicode_path(error.filename or folder)
        raise StorageError(error.errno, error.strerror, name) from error


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
