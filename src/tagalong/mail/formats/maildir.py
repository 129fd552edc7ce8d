"""Reader of Maildir trees: Maildir++ (".Work.Tagalong") and nested folders ("Work/Tagalong")."""

import errno
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tagalong.files.unicode_paths import unicode_path
from tagalong.learning.items import Item, ReadError
from tagalong.mail.formats.folders import (
    MAX_MESSAGE,
    SPECIAL_FOLDERS,
    SYSTEM_LABELS,
    add_tags,
    casefolded,
    decode_imap_utf7,
    inbox_labels,
    is_excluded,
    is_inbox,
    mail_item,
)
from tagalong.mail.formats.mime import parse_mail
from tagalong.streams.format import ItemOrError, LeftOutError

__all__ = [
    "delivery_time",
    "left_out",
    "maildir_folders",
    "maildir_messages",
    "no_maildir",
    "read_maildir",
    "read_message",
]

_FLAGS = re.compile(r"[:;!]2,")
_MAX_DEPTH = 50
_FIRST_DELIVERY = 31_536_000  # 1971, the year of the first mail


def read_maildir(
    folder: Path,
    *,
    exclude: Collection[str] = SPECIAL_FOLDERS,
    inbox: str | None = None,
    ignore_labels: Collection[str] = SYSTEM_LABELS,
    max_message: int = MAX_MESSAGE,
) -> Iterator[ItemOrError]:
    """Yield the messages of a Maildir and the folders below it, by delivery time.

    The messages of all folders are merged in the order of their delivery times, which their file
    names start with. Only the names are kept in memory. A message that disappears during reading is
    skipped. Symbolic links inside the Maildir are left out, and reported first.

    Parameters
    ----------
    folder : path
        A Maildir, or a folder with Maildirs below it.
    exclude : collection of str
        Folders to leave out, with their subfolders.
    inbox : str, optional
        Label of messages in the inbox, which is the Maildir itself or a folder named inbox.
    ignore_labels : collection of str
        Thunderbird tags to ignore.
    max_message : int
        Number of bytes of a message that are read; the rest is ignored.
    """
    links: list[Path] = []
    folders = list(_folders(Path(folder), exclude, links=links))
    if not folders and not any(_folders(Path(folder), ())):
        raise no_maildir(folder, links)
    ignored = casefolded(ignore_labels)
    names = [
        (delivery_time(path), path.name, number, path.parent.name)
        for number, (_, where) in enumerate(folders)
        for _, path in _list_messages(where, links)
    ]
    names.sort()
    yield from map(left_out, links)
    for seconds, name, number, state in names:
        label, where = folders[number]
        path = where / state / name
        try:
            mail = parse_mail(_first_bytes(path, max_message))
        except FileNotFoundError:
            continue
        except OSError as error:
            yield _unreadable(path, error)
            continue
        labels = inbox_labels(inbox) if is_inbox(label) else (label,)
        labels = add_tags(labels, mail, ignored)
        yield mail_item(mail, _key(name), labels, unicode_path(path), _delivered(path, seconds))


def left_out(link: Path) -> LeftOutError:
    """Return the error of a symbolic link inside a Maildir."""
    return LeftOutError(unicode_path(link), "a symbolic link, which is not followed")


def no_maildir(folder: Path, links: Sequence[Path] = ()) -> ReadError:
    """Return the error of a folder without Maildirs.

    Parameters
    ----------
    folder : path
        The folder.
    links : sequence of path
        Symbolic links in the folder. There could be a Maildir behind them.
    """
    hint = f"; {unicode_path(links[0])} is a symbolic link, which is not followed" if links else ""
    return ReadError(
        unicode_path(folder),
        f"not a Maildir: neither this folder nor a folder below it contains cur or new{hint}",
    )


def read_message(
    path: str | os.PathLike[str],
    labels: tuple[str, ...] | None = None,
    *,
    max_message: int = MAX_MESSAGE,
) -> Item:
    """Read a file with a single message, such as a file of a Maildir.

    Parameters
    ----------
    path : str or path
        Path of the file. Neither it nor its folder may be a symbolic link.
    labels : tuple of str, optional
        Labels of the message.
    max_message : int
        Number of bytes that are read; the rest is ignored.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ReadError
        If the file cannot be read.
    """
    path = Path(path)
    try:
        mail = parse_mail(_first_bytes(path, max_message))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(path, error) from error
    delivered = _delivered(path, delivery_time(path))
    return mail_item(mail, _key(path.name), labels, unicode_path(path), delivered)


def maildir_folders(
    root: str | os.PathLike[str],
    exclude: Collection[str] = SPECIAL_FOLDERS,
    unreadable: dict[str, ReadError] | None = None,
    links: list[Path] | None = None,
) -> dict[str, Path]:
    """Return the folders of a Maildir tree by label, sorted by label; the root's label is "".

    Both nesting styles are supported: "Work/Tagalong" and ".Work.Tagalong" have the label
    "Work/Tagalong". If both exist, the second is returned. Symbolic links are not followed.

    Parameters
    ----------
    root : str or path
        A Maildir, or a folder with Maildirs below it.
    exclude : collection of str
        Folders to leave out, with their subfolders.
    unreadable : dict of str to ReadError, optional
        Receives the errors of folders that cannot be listed, by label. Without it, the first one
        is raised; the error of the root always is.
    links : list of path, optional
        Receives the symbolic links to folders.
    """
    found: dict[str, Path] = {}
    for label, folder in _folders(Path(root), exclude, unreadable, links):
        found.setdefault(label, folder)
    return found


def maildir_messages(
    folder: str | os.PathLike[str], links: list[Path] | None = None
) -> Iterator[tuple[str, Path]]:
    """Yield key and path of each message of one Maildir, by delivery time.

    The key is the file name without flags. It does not change when a message is read, answered or
    moved. Messages that are flagged as deleted are left out.

    Parameters
    ----------
    folder : str or path
        Folder that contains cur and new.
    links : list of path, optional
        Receives the symbolic links to messages, and cur or new if they are symbolic links. They
        are not followed.
    """
    messages = _list_messages(Path(folder), [] if links is None else links)
    return iter(sorted(messages, key=lambda found: (delivery_time(found[1]), found[0])))


def _folders(
    root: Path,
    exclude: Collection[str],
    unreadable: dict[str, ReadError] | None = None,
    links: list[Path] | None = None,
) -> Iterator[tuple[str, Path]]:
    """Yield label and path of every Maildir in a tree, sorted by label."""
    excluded = casefolded(exclude)
    found: list[tuple[str, Path]] = []
    waiting: list[tuple[tuple[str, ...], Path]] = [((), root)]
    while waiting:
        names, folder = waiting.pop()
        try:
            inner, linked = _subfolders(folder, is_root=not names)
        except ReadError as error:
            if unreadable is None or not names:
                raise
            unreadable["/".join(names)] = error
            continue
        is_maildir = any(path.name in ("cur", "new") for path in inner)
        if is_maildir:
            found.append(("/".join(names), folder))
        for path in (*inner, *linked):
            if is_maildir and path.name in ("cur", "new", "tmp"):
                continue
            # A Maildir++ folder name contains the whole path. Other hidden folders belong to
            # mail programs.
            is_hidden = path.name.startswith(".")
            if is_hidden and _is_absent(path / "cur"):
                continue
            parts = path.name.split(".") if is_hidden else [path.name]
            below = (*names, *(decode_imap_utf7(unicode_path(part)) for part in parts if part))
            if len(below) > _MAX_DEPTH or is_excluded("/".join(below), excluded):
                continue
            if path not in linked:
                waiting.append((below, path))
            elif links is not None:
                links.append(path)
    yield from sorted(found)


def _is_absent(folder: Path) -> bool:
    """Whether a folder does not exist; False if that cannot be found out."""
    try:
        return not folder.is_dir()
    except OSError:
        return False


def _subfolders(folder: Path, is_root: bool) -> tuple[list[Path], list[Path]]:
    """Return the folders in a folder, and the symbolic links that may lead to folders."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
        linked = [Path(entry) for entry in found if entry.is_symlink() and _may_be_folder(entry)]
        return [Path(entry) for entry in found if entry.is_dir(follow_symlinks=False)], linked
    except FileNotFoundError:
        if not is_root:
            return [], []  # deleted since it was listed
        raise ReadError(unicode_path(folder), "the folder does not exist") from None
    except NotADirectoryError:
        raise ReadError(unicode_path(folder), "not a folder, so not a Maildir") from None
    except OSError as error:
        raise _unreadable(folder, error) from error


def _may_be_folder(link: os.DirEntry[str]) -> bool:
    """Whether a link leads to a folder; True if that cannot be found out.

    A link may lead in a circle, to nothing, or into a folder without permission.
    """
    try:
        return stat.S_ISDIR(link.stat().st_mode)
    except OSError:
        return True


def _list_messages(folder: Path, links: list[Path]) -> Iterator[tuple[str, Path]]:
    """Yield key and path of each message of a Maildir, unordered, each key once."""
    found: dict[str, Path] = {}
    # Mail programs move messages from new to cur. Listing new first cannot miss such a message.
    for state in ("new", "cur"):
        place = folder / state
        if place.is_symlink():
            links.append(place)
            continue
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    key, _, flags = _split_flags(entry.name)
                    if entry.name.startswith(".") or "T" in flags:
                        continue
                    if entry.is_file(follow_symlinks=False):
                        found[key] = place / entry.name
                    elif entry.is_symlink():
                        links.append(place / entry.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(place, error) from error
    for key, path in found.items():
        yield unicode_path(key), path


def _split_flags(name: str) -> tuple[str, str, str]:
    """Split a file name into the unique name of the message, the separator and the flags."""
    mark = _FLAGS.search(name)
    return (name[: mark.start()], mark[0], name[mark.end() :]) if mark else (name, "", "")


def _key(name: str) -> str:
    return unicode_path(_split_flags(name)[0])


def delivery_time(path: Path) -> int:
    """Return the delivery time of a message in seconds, from its name or else from its mtime."""
    digits = re.match("[0-9]+", path.name)
    if digits:
        return int(digits[0])
    try:
        return int(path.stat().st_mtime)
    except OSError:
        return 0


def _delivered(path: Path, seconds: int) -> datetime | None:
    """Return the delivery time of a message as a date; None if it is unknown.

    Some programs number messages from 1. Such a number is no time: then the mtime counts.
    """
    try:
        if seconds < _FIRST_DELIVERY:
            seconds = int(path.stat().st_mtime)
        return datetime.fromtimestamp(seconds, UTC) if seconds >= _FIRST_DELIVERY else None
    except (ValueError, OverflowError, OSError):
        return None


@contextmanager
def _unlinked_folder(path: Path) -> Iterator[int]:
    """Open a folder, unless it is a symbolic link."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _first_bytes(path: Path, most: int) -> bytes:
    """Read a message, unless it is a symbolic link, or has been replaced by a pipe."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with (
        _unlinked_folder(path.parent) as folder,
        open(os.open(path.name, flags, dir_fd=folder), "rb") as file,
    ):
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read(most)


def _unreadable(path: Path, error: OSError) -> ReadError:
    return ReadError(unicode_path(path), f"cannot be read: {error.strerror or error}")
