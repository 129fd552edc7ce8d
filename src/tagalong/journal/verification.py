"""Verifying a workspace: everything that can be checked is checked, and every problem is named."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from tagalong.journal.builds import current_build
from tagalong.journal.connection import Connection
from tagalong.journal.derived_tables import differences
from tagalong.journal.errors import DamagedError, JournalError, RefusedError
from tagalong.journal.integrity import Integrity, OnProgress, check_integrity, one_view
from tagalong.journal.reader import JournalReader, Snapshot
from tagalong.journal.recovery import catch_up, first_state
from tagalong.journal.state import ModelState
from tagalong.journal.storage import Place, Storage, existing_storage
from tagalong.learning.model_hash import model_hash

__all__ = ["Verification", "verify"]

EVENTS_BETWEEN_STEPS = 1024


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of the verification of a workspace.

    Parameters
    ----------
    problems : list of str
        One text per problem, which names the file, and the event or the snapshot.
    notes : list of str
        What could not be compared, and why.
    events : int
        Number of events that could be read.
    contents : int
        Number of sound contents of items, and of the first model.
    snapshots : int
        Number of snapshots in the list.
    compared : int
        Number of snapshots whose model and figures were compared with the replayed ones.
    seq : int
        The last event that was replayed; 0 if none was.
    hash : str or None
        The hash of the model after this event; see `tagalong.model_hash`.
    """

    problems: list[str]
    notes: list[str]
    events: int
    contents: int
    snapshots: int
    compared: int
    seq: int
    hash: str | None

    @property
    def is_sound(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {"sound": self.is_sound, **asdict(self)}


def verify(folder: Place, progress: OnProgress | None = None) -> Verification:
    """Verify a workspace, also while another process writes it. Nothing is changed.

    The database is checked by itself (SQLite only), every event and content by its digest. The
    tables that follow from the events are computed again. All events are replayed, and the model
    and its figures are compared with those of every snapshot that this build of Tagalong has
    computed.

    Parameters
    ----------
    folder : str, path or Storage
        The workspace; NotFoundError if there is none.
    progress : callable, optional
        Called now and then with the number of steps done, and the number of all steps.

    Examples
    --------
    >>> import tempfile
    >>> from tagalong.journal import Workspace, verify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Workspace(folder) as workspace:
    ...         added = workspace.add("Your invoice is due", ["money"])
    ...         known = workspace.model().hash
    ...     found = verify(folder)
    >>> found.problems, found.events, found.hash == known
    ([], 2, True)
    """
    storage = existing_storage(folder)
    database = storage.database
    try:
        connection = database.connect(read_only=True)
    except DamagedError as error:
        return Verification([str(error)], [], 0, 0, 0, 0, 0, None)
    with closing(connection), one_view(database, connection):
        reader = JournalReader(database, connection)
        return _Verifier(storage, reader, connection, progress).run()


class _Verifier:
    """A verification in progress."""

    def __init__(
        self,
        storage: Storage,
        reader: JournalReader,
        connection: Connection,
        progress: OnProgress | None,
    ):
        self._storage = storage
        self._database = storage.database
        self._reader = reader
        self._connection = connection
        self._progress = progress or (lambda done, total: None)
        self._snapshots = storage.snapshots
        self._problems: list[str] = []
        self._notes: list[str] = []
        self._compared = 0
        self._state: ModelState | None = None

    def run(self) -> Verification:
        checked = check_integrity(
            self._database, self._connection, lambda done, total: self._progress(done, 2 * total)
        )
        self._problems += checked.problems
        if checked.first_damage is None:
            self._collect(self._compare_tables(checked))
        else:
            self._notes.append(
                f"{self._database.short_name}: the tables that follow from the events were not "
                "compared, as events are damaged"
            )
        listed: list[Snapshot] = []
        failures: tuple[type[Exception], ...] = (JournalError, *self._database.failures)
        try:
            listed = self._reader.snapshots()
            self._check_operation()
            self._replay(checked, listed)
        except failures as error:
            self._problems.append(self._named(error))
        hash = None if self._state is None else model_hash(self._state.tagger)
        return Verification(
            list(dict.fromkeys(self._problems)),
            self._notes,
            checked.events,
            checked.contents,
            len(listed),
            self._compared,
            0 if self._state is None else self._state.seq,
            hash,
        )

    def _named(self, error: Exception) -> str:
        """Return the text of an error, with the name of the journal relative to the workspace."""
        database = self._database
        return f"{database.short_name}: {str(error).removeprefix(f'{database.name}: ')}"

    def _collect(self, problems: Iterator[str]) -> None:
        failures: tuple[type[Exception], ...] = (
            JournalError,
            ValueError,
            KeyError,
            TypeError,
            *self._database.failures,
        )
        try:
            self._problems.extend(problems)
        except failures as error:
            self._problems.append(self._named(error))

    def _compare_tables(self, checked: Integrity) -> Iterator[str]:
        return differences(self._database, self._connection, checked.takings)

    def _check_operation(self) -> None:
        """Check the file settings.toml, which a workspace refuses if it contradicts the events."""
        try:
            settings = self._reader.ledger().settings
        except DamagedError:  # an event of the settings, which was named above
            return
        try:
            self._storage.limits(settings)
        except RefusedError as error:
            self._problems.append(str(error).removeprefix(f"{self._storage.name}/"))

    def _replay(self, checked: Integrity, listed: list[Snapshot]) -> None:
        """Replay the events up to the first damage, and compare with every snapshot."""
        tip = self._reader.tip
        last = tip if checked.first_damage is None else checked.first_damage - 1
        if last >= 1:
            self._state = first_state(self._reader)
        present = {each.name for each in self._snapshots.usable(self._reader)}
        for snapshot in listed:
            name = f"snapshots/{snapshot.name}"
            loaded = self._loaded(snapshot)
            if loaded is None:
                continue
            if snapshot.seq > tip:
                self._problems.append(
                    f"{name}: it has learnt event {snapshot.seq:,}, but the journal ends with "
                    f"event {tip:,}"
                )
            elif snapshot.seq > last or self._state is None:
                self._notes.append(f"{name}: not compared, as events before it are damaged")
            elif snapshot.name not in present:
                self._notes.append(f"{name}: not compared, as events before it were undone since")
            elif snapshot.build != current_build():
                self._notes.append(f"{name}: not compared, as another build has computed it")
            else:
                self._follow(self._state, snapshot.seq, last)
                self._compare(name, loaded, self._state)
        if self._state is not None:
            self._follow(self._state, last, last)

    def _loaded(self, snapshot: Snapshot) -> ModelState | None:
        """Return the state of a snapshot; None, and a problem, if it is not sound."""
        try:
            return self._snapshots.load(snapshot)
        except DamagedError as error:
            # The process that writes the workspace may have removed it meanwhile.
            if snapshot in self._listed_now():
                place = self._snapshots.place(snapshot.name)
                problem = str(error).removeprefix(f"{place}: ")
                self._problems.append(f"snapshots/{snapshot.name}: {problem}")
            return None

    def _listed_now(self) -> list[Snapshot]:
        with self._reader.another() as reader:
            return reader.snapshots()

    def _follow(self, state: ModelState, upto: int, last: int) -> None:
        """Replay events, in pieces for the display of progress; the result is the same."""
        while state.seq < upto:
            catch_up(self._reader, state, min(state.seq + EVENTS_BETWEEN_STEPS, upto))
            self._progress(last + state.seq, 2 * last)

    def _compare(self, name: str, loaded: ModelState, state: ModelState) -> None:
        self._compared += 1
        found, expected = model_hash(loaded.tagger), model_hash(state.tagger)
        if found != expected:
            self._problems.append(
                f"{name}: its model has the hash {found[:16]}…, but replaying gives "
                f"{expected[:16]}…"
            )
        if (loaded.progress.to_json(), loaded.refused) != (state.progress.to_json(), state.refused):
            self._problems.append(f"{name}: its figures are not those of a replay")
