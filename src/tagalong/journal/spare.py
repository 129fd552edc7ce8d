"""A second copy of the model, some answers behind: an undo of a recent answer starts from it.

Loading a snapshot of a large model takes most of a second. The copy is in memory, so that an undo
needs only the few events since. It is brought up to date while nothing is being written.
"""

from collections.abc import Callable

from tagalong.journal.reader import JournalReader
from tagalong.journal.recovery import catch_up, newest_state
from tagalong.journal.snapshots import Snapshots
from tagalong.journal.state import ModelState

__all__ = ["Spare"]

ANSWERS_BEHIND = 150
"""The copy is at least so many answers behind: any of them can be undone with it."""
EVENTS_BEHIND = 1000
"""The copy is brought up to date when it is so many events behind."""
EVENTS_TO_LOAD = 5000
"""If it is further behind, a snapshot is loaded instead."""


class Spare:
    """A copy of the model that follows at a distance.

    Parameters
    ----------
    snapshots : Snapshots
        The snapshots of the workspace.
    exact : bool
        Whether only snapshots of this build are used.
    """

    def __init__(self, snapshots: Snapshots, *, exact: bool):
        self._snapshots = snapshots
        self._exact = exact
        self._state: ModelState | None = None
        self._history = b""

    def is_due(self, tip: int) -> bool:
        """Whether the copy should be made or brought up to date.

        Parameters
        ----------
        tip : int
            The number of the last event.
        """
        return self._state is None or tip - self._state.seq > EVENTS_BEHIND

    def take(self, reader: JournalReader) -> ModelState | None:
        """Return the copy, if it has followed the present history only, and keep none.

        Parameters
        ----------
        reader : JournalReader
            The journal.
        """
        if not self._belongs_to(reader):
            return None
        state, self._state = self._state, None
        return state

    def drop(self) -> None:
        """Free the memory of the copy."""
        self._state = None

    def refresh(self, reader: JournalReader, stopping: Callable[[], bool]) -> None:
        """Make the copy, or let it follow; it stays some answers behind.

        Parameters
        ----------
        reader : JournalReader
            The journal.
        stopping : callable
            Whether to give up, with an InterruptedError.
        """
        with reader.view():
            last = reader.lesson_before_last(ANSWERS_BEHIND)
            state = self._state if self._belongs_to(reader) else None
            self._state = None
            if state is None or last - state.seq > EVENTS_TO_LOAD:
                state = newest_state(reader, self._snapshots, before=last + 1, exact=self._exact)
            catch_up(reader, state, last, stopping)
            self._history = reader.taken_back_digest(state.seq)
            self._state = state

    def _belongs_to(self, reader: JournalReader) -> bool:
        state = self._state
        return state is not None and reader.taken_back_digest(state.seq) == self._history
