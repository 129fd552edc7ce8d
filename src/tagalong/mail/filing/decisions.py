"""Decision table of a filing run: what to learn from the location of a message.

The decision depends on the journal's entry of the message and on the folder it is in now.
"""

from typing import Literal, NamedTuple, TypeAlias

from tagalong.mail.filing.journal import Entry, State
from tagalong.mail.filing.mailbox import is_inbox

__all__ = ["Decision", "Lesson", "decide"]

Lesson: TypeAlias = Literal["learn", "answer", "correct", "refile", "reject", "retry"]


class Decision(NamedTuple):
    """Lesson to learn from a message, and its new journal entry.

    Lessons: "learn" if the owner chose a folder; "answer" if the owner did so for a spot check;
    "correct" if the owner moved the message to a folder other than the owner's earlier choice;
    "refile" if the owner moved a message that Tagalong had filed to another folder; "reject" if the
    owner put such a message back into the inbox, and "retry" if the owner filed it after that; None
    if there is nothing to learn. If the state is None, the message has no entry.
    """

    lesson: Lesson | None
    state: State | None
    folder: str


_NOTHING = Decision(None, None, "")


def decide(entry: Entry | None, place: str, is_ordinary: bool) -> Decision:
    """Return the lesson and the new journal entry of a message.

    Parameters
    ----------
    entry : Entry, optional
        Journal entry of the message from the last run.
    place : str
        Folder of the message now.
    is_ordinary : bool
        Whether mail in that folder is learnt; False for the inbox and special folders.
    """
    if is_ordinary:
        return _decide_in_folder(entry, place)
    if entry is None or entry.state == "moving":
        return _NOTHING  # A "moving" message outside its folder: the move was never made.
    if is_inbox(place) and entry.state == "filed":
        return Decision("reject", "refused", entry.folder)
    if is_inbox(place) and entry.state == "learnt":
        return Decision(None, "withdrawn", entry.folder)
    # A move to a special folder such as the trash says nothing about the message's earlier folder.
    return Decision(None, entry.state, entry.folder)


def _decide_in_folder(entry: Entry | None, place: str) -> Decision:
    if entry is None:
        return Decision("learn", "learnt", place)
    match entry.state:
        case "asked":
            return Decision("answer", "learnt", place)
        case "refused":
            return Decision("retry", "learnt", place)
        case "filed" | "moving" if entry.folder == place:
            return Decision(None, "filed", place)
        case "filed" | "moving":
            # Whether or not a planned move was made: the owner chose another folder. The folder
            # that Tagalong chose was never learnt, so the tagger has nothing to unlearn.
            return Decision("refile", "learnt", place)
        case "learnt" | "withdrawn" if entry.folder == place:
            return Decision(None, "learnt", place)
        case "learnt" | "withdrawn":
            return Decision("correct", "learnt", place)
