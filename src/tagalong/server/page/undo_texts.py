"""Undoing as sentences: what was undone, or done again, in words."""

from tagalong.journal import ListedEvent, Workspace
from tagalong.server.page.event_texts import batch_text, event_text

__all__ = ["listed_event", "undo_text"]


def listed_event(workspace: Workspace, seq: int) -> ListedEvent | None:
    """Return an event; None if there is none with this number.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    seq : int
        The number of the event.
    """
    listed = workspace.listed_events(seq - 1, 1)
    return listed[0] if listed and listed[0].event.seq == seq else None


def undo_text(workspace: Workspace, undo: ListedEvent) -> str:
    """Return what an undo has undone as a sentence; undoing an undo is doing something again.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    undo : ListedEvent
        An event of the kind "undo".
    """
    is_undoing = False
    found: ListedEvent | None = undo
    taken: list[int] = []
    while found is not None and found.event.kind == "undo":
        is_undoing = not is_undoing
        taken = found.event.taken
        found = listed_event(workspace, taken[0])
    verb = "Undone" if is_undoing else "Done again"
    if found is None:
        return verb
    if len(taken) == 1:
        return f"{verb}: {event_text(workspace, found)}"
    batch = found.event.batch
    if batch and workspace.events_of_batch(batch) == taken:
        return f"{verb}: {batch_text(workspace, found, len(taken))}"
    others = len(taken) - 1
    more = f"{others:,} {'change' if others == 1 else 'changes'} more"
    return f"{verb}: {event_text(workspace, found)}, and {more}"
