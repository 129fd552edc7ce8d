"""Verifying a workspace: everything that can be checked is checked, and every problem is named."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.builds import current_build
from tagalong.journal.database import connect
from tagalong.journal.derived_tables import differences
from tagalong.journal.errors import DamagedError, JournalError, NotFoundError, RefusedError
from tagalong.journal.integrity import Integrity, OnProgress, check_integrity, one_view
from tagalong.journal.limits import read_limits
from tagalong.journal.reader import JournalReader, Snapshot
from tagalong.journal.recovery import catch_up, first_state
from tagalong.journal.state import ModelState
from tagalong.journal.view import journal_path, snapshots_of
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


def verify(folder: str | os.PathLike[str], progress: OnProgress | None = None) -> Verification:
    """Verify a workspace, also while another process writes it. Nothing is changed.

    The database is checked by SQLite, every event and content by its digest. The tables that follow
    from the events are computed again. All events are replayed, and the model and its figures are
    compared with those of every snapshot that this build of Tagalong has computed.

    Parameters
    ----------
    folder : str or path
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
    path = journal_path(folder)
    if not path.exists():
        raise NotFoundError(f"{unicode_path(folder)}: there is no workspace here")
    try:
        connection = connect(path, read_only=True)
    except DamagedError as error:
        return Verification([str(error)], [], 0, 0, 0, 0, 0, None)
    with closing(connection), one_view(path, connection):
        reader = JournalReader(path, connection)
        return _Verifier(Path(folder), reader, connection, progress).run()


class _Verifier:
    """A verification in progress."""

    def __init__(
        self,
        folder: Path,
        reader: JournalReader,
        connection: sqlite3.Connection,
        progress: OnProgress | None,
    ):
        self._folder = folder
        self._reader = reader
        self._connection = connection
        self._progress = progress or (lambda done, total: None)
        self._snapshots = snapshots_of(folder)
        self._problems: list[str] = []
        self._notes: list[str] = []
        self._compared = 0
        self._state: ModelState | None = None

    def run(self) -> Verification:
        path = self._reader.path
        checked = check_integrity(
            path, self._connection, lambda done, total: self._progress(done, 2 * total)
        )
        self._problems += checked.problems
        if checked.first_damage is None:
            self._collect(self._compare_tables(checked))
        else:
            self._notes.append(
                f"{path.name}: the tables that follow from the events were not compared, as events "
                "are damaged"
            )
        listed: list[Snapshot] = []
        try:
            listed = self._reader.snapshots()
            self._check_operation()
            self._replay(checked, listed)
        except (JournalError, sqlite3.Error) as error:
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
        path = self._reader.path
        return f"{path.name}: {str(error).removeprefix(f'{unicode_path(path)}: ')}"

    def _collect(self, problems: Iterator[str]) -> None:
        try:
            self._problems.extend(problems)
        except (JournalError, sqlite3.Error, ValueError, KeyError, TypeError) as error:
            self._problems.append(self._named(error))

    def _compare_tables(self, checked: Integrity) -> Iterator[str]:
        return differences(self._reader.path, self._connection, checked.takings)

    def _check_operation(self) -> None:
        """Check the file settings.toml, which a workspace refuses if it contradicts the events."""
        try:
            settings = self._reader.ledger().settings
        except DamagedError:  # an event of the settings, which was named above
            return
        try:
            read_limits(self._folder, settings)
        except RefusedError as error:
            self._problems.append(str(error).removeprefix(f"{unicode_path(self._folder)}/"))

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
        path = self._snapshots.path(snapshot)
        try:
            return self._snapshots.load(snapshot)
        except DamagedError as error:
            # The process that writes the workspace may have removed it meanwhile.
            if snapshot in _listed_now(self._reader.path):
                problem = str(error).removeprefix(f"{unicode_path(path)}: ")
                self._problems.append(f"snapshots/{snapshot.name}: {problem}")
            return None

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


def _listed_now(path: Path) -> list[Snapshot]:
    with JournalReader(path) as reader:
        return reader.snapshots()
