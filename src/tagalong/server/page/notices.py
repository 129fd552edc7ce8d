"""A notice about a change: what happened, and whether it can be undone."""

from dataclasses import dataclass

from tagalong.journal import Workspace
from tagalong.server.page.event_texts import batch_text, event_text
from tagalong.server.page.undo_texts import listed_event, undo_text

__all__ = ["Notice", "notice_of"]

NOT_UNDOABLE = ("created", "forgotten")


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice about an event.

    Parameters
    ----------
    text : str
        What happened.
    seq : int
        The event.
    batch : str
        The batch that it belongs to, which is undone as one; "" if it is alone.
    can_undo : bool
        Whether it still counts, and can be undone.
    is_undo : bool
        Whether it has undone others, so that undoing it means doing them again.
    """

    text: str
    seq: int
    batch: str
    can_undo: bool
    is_undo: bool = False


def notice_of(workspace: Workspace, seq: int) -> Notice | None:
    """Return a notice about an event; None if there is no such event.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    seq : int
        The number of the event.
    """
    listed = listed_event(workspace, seq)
    if listed is None:
        return None
    event = listed.event
    is_undo = event.kind == "undo"
    count = len(workspace.events_of_batch(event.batch)) if event.batch else 1
    if is_undo:
        text = undo_text(workspace, listed)
    elif count == 1:
        text = event_text(workspace, listed)
    else:
        text = batch_text(workspace, listed, count)
    can_undo = not listed.is_undone and event.kind not in NOT_UNDOABLE
    return Notice(text, seq, event.batch, can_undo, is_undo)
