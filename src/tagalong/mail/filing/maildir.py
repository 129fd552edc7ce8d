"""A Maildir as a mailbox: the names of its files tell where and how old its messages are."""

import os
import re
from collections.abc import Collection
from pathlib import Path

from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.journal import digest
from tagalong.mail.filing.mailbox import Message, MessageGoneError, MoveError, Snapshot, is_inbox
from tagalong.mail.filing.results import printable_path
from tagalong.mail.formats.maildir import (
    delivery_time,
    maildir_folders,
    maildir_messages,
    read_message,
)

__all__ = ["Maildir", "name_without_uid"]

_FLAGS = re.compile("[:;!]2,")
_UID = re.compile(",U=[0-9]+")


class Maildir:
    """A Maildir with folders, behind the protocol `Mailbox`.

    Parameters
    ----------
    root : path
        The Maildir; ReadError if it is none.
    exclude : collection of str
        Folders that mail is neither learnt from nor filed into. Their messages are listed, so
        that they do not count as gone.
    """

    def __init__(self, root: Path, exclude: Collection[str]):
        self._root = root
        self._exclude = exclude
        self._folders = _all_folders(root)

    def scan(self) -> Snapshot:
        """Return where every message is, without opening one."""
        self._folders = folders = _all_folders(self._root)
        ordinary = [
            label for label in maildir_folders(self._root, self._exclude) if not is_inbox(label)
        ]
        movable = [label for label, folder in folders.items() if _is_complete_maildir(folder)]
        messages: dict[str, list[Message]] = {}
        unread: dict[str, ReadError] = {}
        for label, folder in folders.items():
            try:
                for _, path in maildir_messages(folder):
                    message = Message(delivery_time(path), path.name, label, path.parent.name)
                    messages.setdefault(_key(path.name), []).append(message)
            except ReadError as error:
                unread[label] = error
        labels = frozenset(folders)
        return Snapshot(labels, labels.intersection(ordinary), frozenset(movable), messages, unread)

    def why_unmovable(self, folder: str) -> str:
        """Return why messages cannot be moved from or to a folder of the last scan."""
        place = printable_path(self._folders[folder])
        return f"{place}: nothing is filed from it, for want of cur, new and tmp"

    def read(self, message: Message) -> Item:
        """Return a message; MessageGoneError if it is not there, ReadError if that fails."""
        try:
            return read_message(self.source(message))
        except FileNotFoundError as error:
            raise MessageGoneError from error

    def source(self, message: Message) -> Path:
        """Return a message's file."""
        return self._folders[message.folder] / message.state / message.name

    def target(self, message: Message, folder: str) -> Path:
        """Return the file that a message would have in another folder."""
        return self._folders[folder] / message.state / name_without_uid(message.name)

    def move(self, source: Path, target: Path) -> None:
        """Move a message in one step; MessageGoneError or MoveError if it stays."""
        try:
            _rename(source, target)
        except FileNotFoundError as error:
            if os.path.lexists(source):
                raise MoveError(
                    f"{printable_path(target.parent)}: there is no such folder"
                ) from error
            raise MessageGoneError from error
        except OSError as error:
            problem = f"cannot be moved to {printable_path(target)}: {error.strerror or error}"
            raise MoveError(f"{printable_path(source)}: {problem}") from error


def name_without_uid(name: str) -> str:
    """Return the name that a message takes along to another folder.

    mbsync and OfflineIMAP write a message's number into its name. It is one of that folder, and
    mbsync refuses a folder where a number occurs twice.

    Parameters
    ----------
    name : str
        The name of the message's file.

    Examples
    --------
    >>> name_without_uid("1700000000.M1P2.host,U=12:2,FS")
    '1700000000.M1P2.host:2,FS'
    """
    return _UID.sub("", name)


def _all_folders(root: Path) -> dict[str, Path]:
    """Return the folders of a Maildir by label; ReadError if it is none."""
    folders = maildir_folders(root, exclude=())
    if not folders:
        raise ReadError(
            printable_path(root), "no Maildir: it and the folders below have no cur or new"
        )
    return folders


def _is_complete_maildir(folder: Path) -> bool:
    """Whether a folder is a Maildir in full; links, which may lead out of it, do not count.

    A folder of something else may happen to have a "new".
    """
    parts = [folder / state for state in ("cur", "new", "tmp")]
    return all(part.is_dir() and not part.is_symlink() for part in parts)


def _key(name: str) -> str:
    """Return a digest of a file's name without flags and number.

    Of its bytes, since names that are no Unicode look alike once they are made valid.
    """
    return digest(os.fsencode(_FLAGS.split(name_without_uid(name), maxsplit=1)[0]))


def _rename(source: Path, target: Path) -> None:
    """Move a file in one step, so that it is at no time in both places or in none."""
    # Names are unique by the rules of Maildir, and no message is moved that the scan saw twice;
    # this is for one that has come since.
    if os.path.lexists(target):
        raise FileExistsError("there is a file of that name already")
    os.rename(source, target)
