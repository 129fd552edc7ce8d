"""Protocol of a mailbox: list, read and move messages."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.journal import Entry

__all__ = ["Mailbox", "Message", "MessageGoneError", "MoveError", "Snapshot", "is_inbox"]


class MessageGoneError(Exception):
    """The message is no longer at the location in the snapshot."""


class MoveError(Exception):
    """A message could not be moved; the error message names it and the reason."""


class Message(NamedTuple):
    """Location of a message; messages sort by delivery time."""

    delivered: int
    name: str
    folder: str
    state: str  # "new" or "cur"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Locations of all messages of a mailbox at the time of a scan.

    Parameters
    ----------
    folders : set of str
        Labels of all folders.
    ordinary : set of str
        Labels of the folders that mail is learnt from and filed into.
    movable : set of str
        Labels of the folders that messages can be moved from and to.
    messages : dict of str to list of Message
        Locations by message key. A copied message has several.
    unread : dict of str to ReadError
        Folders that could not be read, with the error.
    links : list of str
        Paths of symbolic links to messages and folders, which are not followed.
    """

    folders: frozenset[str]
    ordinary: frozenset[str]
    movable: frozenset[str]
    messages: dict[str, list[Message]]
    unread: dict[str, ReadError]
    links: list[str] = field(default_factory=list)

    def place(self, key: str, entry: Entry | None) -> Message:
        """Return the location of a message; of several, the one with the highest priority.

        The folder of the journal entry comes first, then an ordinary folder, then the inbox.
        """

        def rank(message: Message) -> tuple[bool, bool, bool, str]:
            is_entry_folder = entry is not None and entry.folder == message.folder
            is_ordinary = message.folder in self.ordinary
            return (
                not is_entry_folder,
                not is_ordinary,
                not is_inbox(message.folder),
                message.folder,
            )

        found = self.messages[key]
        return found[0] if len(found) == 1 else min(found, key=rank)


class Mailbox(Protocol):
    """Folders of messages that can be listed, read and moved."""

    @property
    def home(self) -> str:
        """Digest of the location of the mailbox."""

    def scan(self) -> Snapshot:
        """Return the location of every message, without reading messages."""

    def why_unmovable(self, folder: str) -> str:
        """Return why messages cannot be moved from or to a folder of the last scan."""

    def date(self, message: Message) -> float:
        """Return when a message was sent, in seconds since 1970, without failing."""

    def read(self, message: Message) -> Item:
        """Read a message; raise MessageGoneError if it is gone, ReadError if it is unreadable."""

    def source(self, message: Message) -> Path:
        """Return the path of a message."""

    def target(self, message: Message, folder: str) -> Path:
        """Return the path that a message would have in another folder."""

    def move(self, source: Path, target: Path) -> None:
        """Move a message; raise MessageGoneError or MoveError on failure."""

    def remove_second_name(self, message: Message, other: Message) -> bool:
        """Remove a message whose file is also that of another one; return whether that is so."""


def is_inbox(label: str) -> bool:
    """Whether a label denotes the inbox: the mailbox itself ("") or a folder named inbox."""
    return label.casefold() in ("", "inbox")
