"""What the planner needs of a mailbox: where its messages are, to read one, to move one."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.journal import Entry

__all__ = ["Mailbox", "Message", "MessageGoneError", "MoveError", "Snapshot", "is_inbox"]


class MessageGoneError(Exception):
    """The message is no longer where the snapshot saw it."""


class MoveError(Exception):
    """A message could not be moved; the text says which one, and why."""


class Message(NamedTuple):
    """Where a message is; messages sort by their time of delivery."""

    delivered: int
    name: str
    folder: str
    state: str  # "new" or "cur"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The messages of a mailbox, at about one time.

    Parameters
    ----------
    folders : set of str
        The labels of all folders.
    ordinary : set of str
        Those that mail is learnt from and filed into.
    movable : set of str
        Those that messages can be moved from and to.
    messages : dict of str to list of Message
        The messages by key. One that has been copied is in several folders.
    unread : dict of str to ReadError
        Folders that could not be read, and why.
    """

    folders: frozenset[str]
    ordinary: frozenset[str]
    movable: frozenset[str]
    messages: dict[str, list[Message]]
    unread: dict[str, ReadError]

    def place(self, key: str, entry: Entry | None) -> Message:
        """Return where a message counts as being, should it be in several folders.

        Where it was before, if it is still there; else a folder that its owner may have chosen;
        else the inbox.
        """

        def rank(message: Message) -> tuple[bool, bool, bool, str]:
            was_there = entry is not None and entry.folder == message.folder
            is_ordinary = message.folder in self.ordinary
            return (not was_there, not is_ordinary, not is_inbox(message.folder), message.folder)

        found = self.messages[key]
        return found[0] if len(found) == 1 else min(found, key=rank)


class Mailbox(Protocol):
    """Folders of messages that can be listed, read and moved."""

    def scan(self) -> Snapshot:
        """Return where every message is, without reading one."""

    def why_unmovable(self, folder: str) -> str:
        """Return why messages cannot be moved from or to a folder of the last scan."""

    def read(self, message: Message) -> Item:
        """Return a message; MessageGoneError if it is not there, ReadError if that fails."""

    def source(self, message: Message) -> Path:
        """Return the place of a message."""

    def target(self, message: Message, folder: str) -> Path:
        """Return the place that a message would have in another folder."""

    def move(self, source: Path, target: Path) -> None:
        """Move a message in one step; MessageGoneError or MoveError if it stays."""


def is_inbox(label: str) -> bool:
    """Whether a label stands for the inbox: the mailbox itself, or a folder of that name."""
    return label.casefold() in ("", "inbox")
