"""Where every message of a Maildir is."""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.journal import Entry, digest
from tagalong.mail.filing.results import shown
from tagalong.mail.formats.maildir import maildir_folders, maildir_messages

__all__ = [
    "Message",
    "Snapshot",
    "all_folders",
    "identity_of",
    "is_inbox",
    "name_elsewhere",
    "scan",
]

_FLAGS = re.compile("[:;!]2,")
_NUMBER = re.compile(",U=[0-9]+")


class Message(NamedTuple):
    """A message's file; messages sort by their time of delivery."""

    delivered: int
    name: str
    folder: str
    state: str  # "new" or "cur"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The messages of a Maildir, at about one time.

    Parameters
    ----------
    folders : dict of str to path
        All folders by label.
    ordinary : set of str
        Those that mail is learnt from and filed into.
    whole : set of str
        Those with cur, new and tmp: no folder of something else that happens to have a "new".
    messages : dict of str to list of Message
        The messages by key. One that has been copied is in several folders.
    unread : dict of str to ReadError
        Folders that could not be read, and why.
    """

    folders: dict[str, Path]
    ordinary: frozenset[str]
    whole: frozenset[str]
    messages: dict[str, list[Message]]
    unread: dict[str, ReadError]

    def path(self, message: Message) -> Path:
        """Return a message's file."""
        return self.folders[message.folder] / message.state / message.name

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


def scan(root: Path, exclude: Collection[str]) -> Snapshot:
    """Look where every message of a Maildir is, without opening one.

    Parameters
    ----------
    root : path
        The Maildir.
    exclude : collection of str
        Folders that mail is neither learnt from nor filed into. Their messages are listed, so
        that they do not count as gone.
    """
    folders = all_folders(root)
    ordinary = [label for label in maildir_folders(root, exclude) if not is_inbox(label)]
    whole = [label for label, folder in folders.items() if _is_whole(folder)]
    messages: dict[str, list[Message]] = {}
    unread: dict[str, ReadError] = {}
    for label, folder in folders.items():
        try:
            for _, path in maildir_messages(folder):
                message = Message(_delivered(path), path.name, label, path.parent.name)
                messages.setdefault(_key(path.name), []).append(message)
        except ReadError as error:
            unread[label] = error
    there = frozenset(folders).intersection
    return Snapshot(folders, there(ordinary), frozenset(whole), messages, unread)


def all_folders(root: Path) -> dict[str, Path]:
    """Return the folders of a Maildir by label; ReadError if it is none.

    Parameters
    ----------
    root : path
        The Maildir.
    """
    folders = maildir_folders(root, exclude=())
    if not folders:
        raise ReadError(shown(root), "no Maildir: it and the folders below have no cur or new")
    return folders


def is_inbox(label: str) -> bool:
    """Whether a label stands for the inbox: the Maildir itself, or a folder of that name."""
    return label.casefold() in ("", "inbox")


def name_elsewhere(name: str) -> str:
    """Return the name that a message takes along to another folder.

    mbsync and OfflineIMAP write a message's number into its name. It is one of that folder, and
    mbsync refuses a folder where a number occurs twice.

    Parameters
    ----------
    name : str
        The name of the message's file.

    Examples
    --------
    >>> name_elsewhere("1700000000.M1P2.host,U=12:2,FS")
    '1700000000.M1P2.host:2,FS'
    """
    return _NUMBER.sub("", name)


def identity_of(item: Item) -> str:
    """Return a digest of what stays when a mail program gives a message another name.

    The Message-ID alone would do, were there not programs that use one twice.
    """
    fields = {"": item.text} if isinstance(item.text, str) else item.text
    parts = (item.id, fields.get("subject", ""), fields.get("from", ""))
    return digest(*(part.encode("utf-8", "replace") for part in parts))


def _is_whole(folder: Path) -> bool:
    """Whether a folder is a Maildir in full; links, which may lead out of it, do not count."""
    parts = [folder / state for state in ("cur", "new", "tmp")]
    return all(part.is_dir() and not part.is_symlink() for part in parts)


def _key(name: str) -> str:
    """Return a digest of a file's name without flags and number.

    Of its bytes, since names that are no Unicode look alike once they are made valid.
    """
    return digest(os.fsencode(_FLAGS.split(name_elsewhere(name), maxsplit=1)[0]))


def _delivered(path: Path) -> int:
    """Return when a message was delivered: as its name says, else as its file does."""
    digits = re.match("[0-9]+", path.name)
    if digits:
        return int(digits[0])
    try:
        return int(path.stat().st_mtime)
    except OSError:
        return 0
