"""Implementation of the `Mailbox` protocol for a Maildir."""

import os
import re
from collections.abc import Collection
from pathlib import Path

from tagalong.files.rename import move_without_overwriting
from tagalong.files.unicode_paths import unicode_path
from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.journal import digest
from tagalong.mail.filing.mailbox import Message, MessageGoneError, MoveError, Snapshot, is_inbox
from tagalong.mail.formats.folders import casefolded, is_excluded
from tagalong.mail.formats.maildir import (
    delivery_time,
    left_out,
    maildir_folders,
    maildir_messages,
    no_maildir,
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
        self._folders, self._unlisted, _ = _all_folders(root)

    @property
    def home(self) -> str:
        """Digest of the path of the Maildir."""
        return digest(os.fsencode(self._root.resolve()))

    def check_inbox(self) -> None:
        """Raise NoInboxError if there is no inbox, readable or not."""
        labels = [*self._folders, *self._unlisted]
        if any(map(is_inbox, labels)):
            return
        place = unicode_path(self._root)
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
        self._folders, unread, links = _all_folders(self._root)
        folders = self._folders
        messages: dict[str, list[Message]] = {}
        for label, folder in folders.items():
            found: list[Path] = []
            try:
                for _, path in maildir_messages(folder, found):
                    message = Message(delivery_time(path), path.name, label, path.parent.name)
                    messages.setdefault(_key(path.name), []).append(message)
            except ReadError as error:
                unread[label] = error
            for path in found:
                links.append(path)
                if path.parent == folder:  # without cur or new, its messages would seem gone
                    unread[label] = left_out(path)
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
        return Snapshot(
            labels,
            frozenset(ordinary),
            frozenset(movable),
            messages,
            unread,
            [unicode_path(path) for path in links],
        )

    def why_unmovable(self, folder: str) -> str:
        """Return why messages cannot be moved from or to a folder of the last scan."""
        place = unicode_path(self._folders[folder])
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
        """Move a message; raise MessageGoneError or MoveError on failure."""
        try:
            move_without_overwriting(source, target)
        except FileNotFoundError as error:
            if os.path.lexists(source):
                raise MoveError(
                    f"{unicode_path(target.parent)}: the folder does not exist"
                ) from error
            raise MessageGoneError from error
        except FileExistsError as error:
            raise MoveError(
                _not_moved(source, target, "a file with this name already exists")
            ) from error
        except OSError as error:
            raise MoveError(_not_moved(source, target, str(error.strerror or error))) from error

    def remove_second_name(self, message: Message, other: Message) -> bool:
        """Remove a message whose file is also that of another one; return whether that is so."""
        first, second = self.source(message), self.source(other)
        try:
            if not os.path.samestat(first.lstat(), second.lstat()):
                return False
            first.unlink()
        except OSError:  # the owner has moved one of them
            return False
        return True


def _not_moved(source: Path, target: Path, reason: str) -> str:
    return f"{unicode_path(source)}: cannot be moved to {unicode_path(target)}: {reason}"


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


def _all_folders(root: Path) -> tuple[dict[str, Path], dict[str, ReadError], list[Path]]:
    """Return the folders of a Maildir by label, errors by label, and links that are no folders.

    ReadError is raised if it is not a Maildir.
    """
    unlisted: dict[str, ReadError] = {}
    links: list[Path] = []
    folders = maildir_folders(root, exclude=(), unreadable=unlisted, links=links)
    if not folders:
        raise no_maildir(root, links)
    return folders, unlisted, links


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
