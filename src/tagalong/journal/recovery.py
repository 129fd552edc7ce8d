"""Computing the state of a workspace: from the newest sound snapshot, by replaying what follows."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tagalong.evaluate import Progress
from tagalong.journal.builds import current_build
from tagalong.journal.errors import DamagedError, NotFoundError
from tagalong.journal.history import taken_back_by
from tagalong.journal.lessons import Lesson, lessons
from tagalong.journal.reader import JournalReader
from tagalong.journal.snapshots import Snapshots, state_from_file
from tagalong.journal.state import ModelState

__all__ = ["catch_up", "check_lists", "first_state", "newest_state", "recovered_state"]


def first_state(reader: JournalReader) -> ModelState:
    """Return the state after the first event, whose content is a model file.

    Parameters
    ----------
    reader : JournalReader
        The journal.
    """
    data = reader.content(1)
    if data is None:
        raise NotFoundError(f"{reader.database.name}: the journal has no first event")
    with tempfile.NamedTemporaryFile(suffix=".tagalong") as file:
        file.write(data)
        file.flush()
        state = state_from_file(Path(file.name), 1, current_build())
    state.progress = Progress()  # the figures of a workspace begin with it
    return state


def newest_state(
    reader: JournalReader,
    snapshots: Snapshots,
    *,
    before: int | None = None,
    exact: bool = False,
    on_damage: Callable[[DamagedError], None] | None = None,
) -> ModelState:
    """Return the state of the newest sound snapshot, or the first state.

    Parameters
    ----------
    reader : JournalReader
        The journal.
    snapshots : Snapshots
        Its snapshots.
    before : int, optional
        Only snapshots of earlier events count.
    exact : bool
        Whether only snapshots of this build count.
    on_damage : callable, optional
        Called for each damaged snapshot, which is passed over.
    """
    for snapshot in snapshots.usable(reader, before, exact=exact):
        try:
            return snapshots.load(snapshot)
        except DamagedError as error:
            if on_damage is not None:
                on_damage(error)
    return first_state(reader)


def catch_up(
    reader: JournalReader,
    state: ModelState,
    upto: int | None = None,
    stopping: Callable[[], bool] | None = None,
) -> None:
    """Let a state follow the journal.

    Parameters
    ----------
    reader : JournalReader
        The journal.
    state : ModelState
        The state, whose history is the present one.
    upto : int, optional
        The last event to follow; by default the end.
    stopping : callable, optional
        Whether to give up, with an InterruptedError; asked after each event.
    """
    last = reader.tip if upto is None else upto
    found = lessons(reader, state.seq, last)
    state.follow(found if stopping is None else _until(stopping, found))
    state.seq = max(state.seq, last)


def _until(stopping: Callable[[], bool], found: Iterable[Lesson]) -> Iterator[Lesson]:
    for lesson in found:
        if stopping():
            raise InterruptedError("the workspace is being closed")
        yield lesson


def recovered_state(
    reader: JournalReader,
    snapshots: Snapshots,
    *,
    exact: bool = False,
    on_damage: Callable[[DamagedError], None] | None = None,
    stopping: Callable[[], bool] | None = None,
) -> ModelState:
    """Return the present state; DamagedError if an event that it needs is not sound.

    Parameters
    ----------
    reader : JournalReader
        The journal; what is read must be one view of it.
    snapshots, exact, on_damage
        As for `newest_state`.
    stopping : callable, optional
        As for `catch_up`.
    """
    check_lists(reader)
    state = newest_state(reader, snapshots, exact=exact, on_damage=on_damage)
    catch_up(reader, state, stopping=stopping)
    return state


def check_lists(reader: JournalReader) -> None:
    """Raise DamagedError if events are missing or not found, or other events count than should.

    That takes a fraction of a second for a million events, unlike checking everything.

    Parameters
    ----------
    reader : JournalReader
        The journal.
    """
    if reader.last_listed > reader.tip:
        raise reader.damage(f"event {reader.tip + 1:,} is missing")
    reader.check_indexes()
    try:
        expected = taken_back_by(reader.takings())
    except (KeyError, TypeError):
        raise reader.damage("an event that takes others back is not what was written") from None
    listed = reader.taken_back()
    if missing := sorted(expected - listed):
        raise reader.damage(f"event {missing[0]:,} was taken back, but is not listed as such")
    if wrong := sorted(listed - expected):
        raise reader.damage(f"event {wrong[0]:,} is listed as taken back, but no event does that")
