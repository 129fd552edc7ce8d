"""Implementation of the `Mailbox` protocol for a Maildir."""

import os
import re
from collections.abc import Collection
from pathlib import Path

from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.journal import digest
from tagalong.mail.filing.mailbox import Message, MessageGoneError, MoveError, Snapshot, is_inbox
from tagalong.mail.filing.results import printable_path
from tagalong.mail.formats.folders import casefolded, is_excluded
from tagalong.mail.formats.maildir import (
    delivery_time,
    maildir_folders,
    maildir_messages,
    read_message,
)

__all__ = ["Maildir", "NoInboxError", "name_without_uid"]

# Bytes of a message that are read to find its date. Headers are seldom half as long.
HEADER_BYTES = 1 << 15
FIRST_DELIVERY = 365 * 24 * 3600  # 1971, the year of the first mail

_FLAGS = re.compile("[:;!]2,")
_UID = re.compile(",U=[0-9]+")


class NoInboxError(ReadError):
    """A folder of Maildirs has no inbox, so that there is nothing to file."""


class Maildir:
    """A Maildir with folders.

    Parameters
    ----------
    root : path
        Folder of the Maildir. ReadError is raised if it is not a Maildir.
    exclude : collection of str
        Folders that mail is neither learnt from nor filed into. Their messages are listed, so
        that they do not count as gone.
    """

    def __init__(self, root: Path, exclude: Collection[str]):
        self._root = root
        self._exclude = casefolded(exclude)
        self._folders, self._unlisted = _all_folders(root)

    @property
    def home(self) -> str:
        """Digest of the path of the Maildir."""
        return digest(os.fsencode(self._root.resolve()))

    def check_inbox(self) -> None:
        """Raise NoInboxError if there is no inbox, readable or not."""
        labels = [*self._folders, *self._unlisted]
        if any(map(is_inbox, labels)):
            return
        place = printable_path(self._root)
        parents = sorted({label.partition("/")[0] for label in labels if "/" in label})
        where = f"{place}/{parents[0] if parents else 'NAME'}"
        raise NoInboxError(
            place,
            "there is no inbox here, so nothing can be filed: the folder is no Maildir itself, and "
            f"has none named inbox. Give the Maildir that is your inbox: tagalong file {where}. To "
            f"learn the folders without filing: tagalong learn {place}",
        )

    def scan(self) -> Snapshot:
        """Return the location of every message, without opening files."""
        self._folders, unread = _all_folders(self._root)
        folders = self._folders
        messages: dict[str, list[Message]] = {}
        for label, folder in folders.items():
            try:
                for _, path in maildir_messages(folder):
                    message = Message(delivery_time(path), path.name, label, path.parent.name)
                    messages.setdefault(_key(path.name), []).append(message)
            except ReadError as error:
                unread[label] = error
        labels = frozenset(folders) | unread.keys()
        ordinary = [
            label
            for label in folders
            if not is_inbox(label) and not is_excluded(label, self._exclude)
        ]
        movable = [
            label
            for label, folder in folders.items()
            if label not in unread and _is_complete_maildir(folder)
        ]
        return Snapshot(labels, frozenset(ordinary), frozenset(movable), messages, unread)

    def why_unmovable(self, folder: str) -> str:
        """Return why messages cannot be moved from or to a folder of the last scan."""
        place = printable_path(self._folders[folder])
        return f"{place}: mail is not filed from this folder, because it lacks cur, new or tmp"

    def date(self, message: Message) -> float:
        """Return the date in a message's header, or the delivery time if there is none.

        Programs such as mbsync deliver old mail folder by folder, so that delivery times say
        nothing about its order. A date after the delivery is wrong.
        """
        try:
            found = read_message(self.source(message), max_message=HEADER_BYTES).date
        except (OSError, ReadError):
            found = None
        if found is None:
            return message.delivered
        # Some programs number messages from 1 instead of naming them by their delivery.
        is_time = message.delivered >= FIRST_DELIVERY
        return min(found.timestamp(), message.delivered) if is_time else found.timestamp()

    def read(self, message: Message) -> Item:
        """Read a message; raise MessageGoneError if it is gone, ReadError if it is unreadable."""
        try:
            return read_message(self.source(message))
        except FileNotFoundError as error:
            raise MessageGoneError from error

    def source(self, message: Message) -> Path:
        """Return the path of a message."""
        return self._folders[message.folder] / message.state / message.name

    def target(self, message: Message, folder: str) -> Path:
        """Return the path that a message would have in another folder."""
        return self._folders[folder] / message.state / name_without_uid(message.name)

    def move(self, source: Path, target: Path) -> None:
        """Move a message atomically; raise MessageGoneError or MoveError on failure."""
        try:
            _rename(source, target)
        except FileNotFoundError as error:
            if os.path.lexists(source):
                raise MoveError(
                    f"{printable_path(target.parent)}: the folder does not exist"
                ) from error
            raise MessageGoneError from error
        except OSError as error:
            problem = f"cannot be moved to {printable_path(target)}: {error.strerror or error}"
            raise MoveError(f"{printable_path(source)}: {problem}") from error


def name_without_uid(name: str) -> str:
    """Return the file name of a message without its UID, for use in another folder.

    mbsync and OfflineIMAP write the UID of a message into its file name. A UID is valid in one
    folder only, and mbsync refuses a folder in which a UID occurs twice.

    Parameters
    ----------
    name : str
        File name of the message.

    Examples
    --------
    >>> name_without_uid("1700000000.M1P2.host,U=12:2,FS")
    '1700000000.M1P2.host:2,FS'
    """
    return _UID.sub("", name)


def _all_folders(root: Path) -> tuple[dict[str, Path], dict[str, ReadError]]:
    """Return the folders of a Maildir by label, and errors by label for unreadable folders.

    ReadError is raised if it is not a Maildir.
    """
    unlisted: dict[str, ReadError] = {}
    folders = maildir_folders(root, exclude=(), unreadable=unlisted)
    if not folders:
        raise ReadError(
            printable_path(root),
            "not a Maildir: neither this folder nor a folder below it contains cur or new",
        )
    return folders, unlisted


def _is_complete_maildir(folder: Path) -> bool:
    """Whether a folder has cur, new and tmp, none of them a symbolic link.

    A link may lead out of the Maildir. A folder that only has "new" may not be a Maildir at all.
    """
    parts = [folder / state for state in ("cur", "new", "tmp")]
    try:
        return all(part.is_dir() and not part.is_symlink() for part in parts)
    except OSError:
        return False


def _key(name: str) -> str:
    """Return a digest of a message's file name without flags and UID.

    The digest is of the name's bytes, since replacing invalid Unicode could make names equal.
    """
    return digest(os.fsencode(_FLAGS.split(name_without_uid(name), maxsplit=1)[0]))


def _rename(source: Path, target: Path) -> None:
    """Move a file atomically: at every time it is at exactly one of the two paths."""
    # Maildir file names are unique, and messages with several locations are not moved. This check
    # is for a file that appeared after the scan.
    if os.path.lexists(target):
        raise FileExistsError("a file with this name already exists")
    os.rename(source, target)
