"""The model of an open workspace, kept up to date with the journal, and its snapshots."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from tagalong.journal.commits import Commits
from tagalong.journal.errors import JournalError, as_journal_error
from tagalong.journal.recovery import catch_up, newest_state
from tagalong.journal.snapshots import PackedState, Snapshot, Snapshots, packed, thinned
from tagalong.journal.spare import Spare
from tagalong.journal.state import ModelState
from tagalong.journal.store import JournalStore

__all__ = ["ModelKeeper"]

WORK_BETWEEN_SNAPSHOTS = 0.4
"""Seconds of replaying after which a snapshot is made: undoing must not take longer than a second
or two, and most of it is replaying from the snapshot before."""
WORK_WORTH_A_SNAPSHOT = 0.05
EVENTS_WITHOUT_WRITERS = 256
SECONDS_AFTER_A_FAILURE = 10.0
SECONDS_OF_REST = 0.5
"""How long nothing must have been committed before the spare copy is brought up to date."""
_UNKNOWN = -1


class ModelKeeper:
    """Lets the model follow the journal; computes it anew after an undo; makes snapshots.

    Parameters
    ----------
    store : JournalStore
        The journal.
    snapshots : Snapshots
        Its snapshots.
    state : ModelState
        The present state.
    budget : callable
        Returns how many bytes the snapshots may take, given the size of the newest.
    exact : bool
        Whether only snapshots of this build are used.
    spare_bytes : int
        Number of bytes up to which a model has a second copy in memory, for quick undo.
    on_problem : callable
        Called with each damaged snapshot, and each snapshot that could not be written.
    on_settled : callable
        Called when the model was computed anew after an undo.

    Attributes
    ----------
    state : ModelState
        The model that answers requests. After an undo it is the old one until the new is ready.
    """

    def __init__(
        self,
        store: JournalStore,
        snapshots: Snapshots,
        state: ModelState,
        budget: Callable[[int], int],
        *,
        exact: bool,
        spare_bytes: int,
        on_problem: Callable[[JournalError], None],
        on_settled: Callable[[], None],
    ):
        self.state = state
        self._store = store
        self._snapshots = snapshots
        self._budget = budget
        self._exact = exact
        self._spare = Spare(snapshots, exact=exact)
        self._spare_bytes = spare_bytes
        self._last_commit = 0.0
        self._on_problem = on_problem
        self._on_settled = on_settled
        self._revision = self._state_revision = store.revision
        self._changed = threading.Condition()
        self._closing = False
        self._failed_until = 0.0
        self._saving_takes = 0.0
        self._thread: threading.Thread | None = None
        self.commits: Commits

    def start(self, commits: Commits) -> None:
        """Start the thread that works in the background.

        Parameters
        ----------
        commits : Commits
            Commits the list of snapshots.
        """
        self.commits = commits
        self._thread = threading.Thread(target=self._run, name="tagalong journal", daemon=True)
        self._thread.start()

    @property
    def is_settled(self) -> bool:
        """Whether the model has followed every event."""
        return self._state_revision == self._revision

    def follow(self) -> None:
        """Follow new events; called after each commit, while its lock is held."""
        try:
            revision = self._store.revision
            if revision != self._revision:
                self._revision = revision
                self._wake()
            catch_up(self._store, self.state)
        except BaseException as error:
            # The commit stays acknowledged. Until the model is computed anew, the old one
            # learns as well as it can.
            if self.is_settled:
                self._state_revision = _UNKNOWN
                self._wake()
                if isinstance(error, Exception):
                    self._on_problem(as_journal_error(error))
            with suppress(JournalError):
                self.state.seq = self._store.tip
            if not isinstance(error, Exception):
                raise
        self._last_commit = time.monotonic()
        if self._needs_snapshot() or self._needs_spare():
            self._wake()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def settle(self, seconds: float) -> bool:
        """Wait until the model has followed every event; return False if it takes longer.

        Parameters
        ----------
        seconds : float
            How long to wait.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.is_settled or self._closing, seconds)
            return self.is_settled

    def _needs_snapshot(self) -> bool:
        least = max(WORK_BETWEEN_SNAPSHOTS, self._saving_takes / 2)
        return self.is_settled and self.state.work >= least

    def _needs_spare(self) -> bool:
        weights = self.state.tagger.learner.bytes_of_weights
        if self._spare_bytes == 0 or weights > self._spare_bytes:
            self._spare.drop()
            return False
        return self.is_settled and self._spare.is_due(self.state.seq)

    def _run(self) -> None:
        while True:
            with self._changed:
                idle = SECONDS_OF_REST if self._needs_spare() else None
                has_work = self._changed.wait_for(self._has_work, idle)
            if self._closing:
                return
            try:
                if not self.is_settled:
                    self._rebuild()
                elif has_work:
                    self.make_snapshot()
                elif time.monotonic() - self._last_commit >= SECONDS_OF_REST:
                    self._refresh_spare()
            except InterruptedError:
                return
            except Exception as error:
                self._on_problem(as_journal_error(error))
                self._pause()

    def _refresh_spare(self) -> None:
        if self._needs_spare():
            with self._store.another() as reader:
                self._spare.refresh(reader, lambda: self._closing)

    def _has_work(self) -> bool:
        if self._closing:
            return True
        if not self.is_settled:
            return True
        return self._needs_snapshot() and time.monotonic() >= self._failed_until

    def _pause(self) -> None:
        """Try no snapshot for some seconds after a failure; wait if a model cannot be computed."""
        self._failed_until = time.monotonic() + SECONDS_AFTER_A_FAILURE
        if not self.is_settled:
            with self._changed:
                self._changed.wait_for(lambda: self._closing, 1.0)

    def _rebuild(self) -> None:
        """Compute the model anew, from the newest snapshot that belongs to the present history."""
        with self._store.another() as reader:
            with reader.view():
                revision = reader.revision
                state = self._spare.take(reader) or newest_state(
                    reader, self._snapshots, exact=self._exact, on_damage=self._on_problem
                )
                catch_up(reader, state, stopping=lambda: self._closing)
            while reader.tip - state.seq > EVENTS_WITHOUT_WRITERS:
                with reader.view():
                    if reader.revision != revision:
                        return  # start again with the newer history
                    catch_up(reader, state, stopping=lambda: self._closing)
        with self.commits.paused():
            if self._store.revision != revision:
                return
            catch_up(self._store, state)
            self.state, self._state_revision = state, revision
            self._wake()
            # Forgotten content may still be in the log, if somebody was reading until now. On a
            # full disk it stays there until the workspace is closed.
            with suppress(JournalError):
                self._store.shrink_log()
        self._on_settled()

    def make_snapshot(self) -> None:
        """Save the present state, and remove snapshots that are no longer needed."""
        start = time.monotonic()
        with self.commits.paused():
            if not self.is_settled:
                return
            copy = packed(self.state)
            chosen = self._snapshots.named(self._store, copy)
            self.state.work = 0.0
        try:
            self._write(copy, chosen)
        except OSError as error:
            raise JournalError(f"no snapshot was made: {error}") from error
        self._saving_takes = time.monotonic() - start

    def _write(self, copy: PackedState, chosen: Snapshot) -> None:
        snapshot = self._snapshots.write(chosen, copy)

        def enter() -> list[str]:
            # Later events may have been undone meanwhile, but an item in it may be forgotten.
            if self._store.taken_back_digest(snapshot.seq) != snapshot.taken_back:
                # The same state may have been saved before; that file is of use after a redo.
                listed = {each.name for each in self._store.snapshots()}
                return [] if snapshot.name in listed else [snapshot.name]
            self._store.list_snapshot(snapshot)
            return self._drop_superfluous(snapshot.size)

        self._snapshots.remove(self.commits.submit(enter))

    def _drop_superfluous(self, newest_size: int) -> list[str]:
        """Remove snapshots from the list, within a transaction; return the names of their files."""
        every = self._store.snapshots()
        usable = list(self._snapshots.usable(self._store))
        budget = self._budget(newest_size)
        dropped = thinned(usable, self._store.tip, budget)
        # Those of another history may be of use again if an undo is undone, while there is room.
        room = budget - sum(each.size for each in usable if each not in dropped)
        for each in sorted(every, key=lambda each: -each.seq):
            if each not in usable:
                room -= each.size
                if room < 0:
                    dropped.append(each)
        names = [each.name for each in dropped]
        self._store.drop_snapshots(names)
        return names

    def close(self) -> None:
        """Stop the background thread, and save the state if replaying would take a while."""
        self._closing = True
        self._wake()
        if self._thread is not None:
            self._thread.join()
        if self.is_settled and self.state.work >= WORK_WORTH_A_SNAPSHOT:
            with suppress(JournalError, OSError):  # replaying gives the same state
                self.make_snapshot()
