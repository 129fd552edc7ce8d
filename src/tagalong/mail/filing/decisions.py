"""What the way of a message means.

A message was last seen somewhere and is somewhere now: the two decide what is learnt.
"""

from typing import Literal, NamedTuple, TypeAlias

from tagalong.mail.filing.journal import Entry, State
from tagalong.mail.filing.mailbox import is_inbox

__all__ = ["Decision", "Lesson", "decide"]

Lesson: TypeAlias = Literal["learn", "correct", "refile", "reject"]


class Decision(NamedTuple):
    """What a message's way from there to here means.

    The lesson is "learn" where a folder was chosen for it, "correct" where another one than before
    was, "refile" where that overrides Tagalong, "reject" where Tagalong was wrong and nothing else
    is known, and None where there is nothing to learn. No new state means no entry.
    """

    lesson: Lesson | None
    state: State | None
    folder: str


_NOTHING = Decision(None, None, "")


def decide(entry: Entry | None, place: str, is_ordinary: bool) -> Decision:
    """Return what is to be learnt from where a message is.

    Parameters
    ----------
    entry : Entry, optional
        What was known about the message.
    place : str
        The folder that it is in.
    is_ordinary : bool
        Whether that is a folder to learn from; neither the inbox nor a special one is.
    """
    if is_ordinary:
        return _decide_in_folder(entry, place)
    if entry is None or entry.state == "moving":
        return _NOTHING  # The move was planned but never made.
    if is_inbox(place) and entry.state == "filed":
        return Decision("reject", "refused", entry.folder)
    if is_inbox(place) and entry.state == "learnt":
        return Decision(None, "withdrawn", entry.folder)
    # That it is in the trash, say, tells nothing about the folder where it was.
    return Decision(None, entry.state, entry.folder)


def _decide_in_folder(entry: Entry | None, place: str) -> Decision:
    if entry is None:
        return Decision("learn", "learnt", place)
    if entry.folder == place:
        if entry.state == "refused":
            return Decision("learn", "learnt", place)
        is_ours = entry.state in ("moving", "filed")
        return Decision(None, "filed" if is_ours else "learnt", place)
    if entry.state in ("learnt", "withdrawn"):
        return Decision("correct", "learnt", place)
    # What Tagalong has filed was never counted as learnt there, so there is nothing to take back.
    return Decision("refile" if entry.state == "filed" else "learn", "learnt", place)
