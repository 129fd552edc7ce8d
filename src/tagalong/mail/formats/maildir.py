"""Mail from Maildir trees: Maildir++ (".Work.Tagalong") and folders within folders."""

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

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
    printable_name,
)
from tagalong.mail.formats.mime import parse_mail
from tagalong.streams.format import ItemOrError

__all__ = ["delivery_time", "maildir_folders", "maildir_messages", "read_maildir", "read_message"]
_FLAGS = re.compile(r"[:;!]2,")
_MAX_DEPTH = 50


def read_maildir(
    folder: Path,
    *,
    exclude: Collection[str] = SPECIAL_FOLDERS,
    inbox: str | None = None,
    ignore_labels: Collection[str] = SYSTEM_LABELS,
    max_message: int = MAX_MESSAGE,
) -> Iterator[ItemOrError]:
    """Read the messages of a Maildir and of the folders below, oldest delivery first.

    All folders are merged by the time that a message's name starts with. Names are held in memory,
    messages are not. A message that vanishes while the others are read is passed over.

    Parameters
    ----------
    folder : path
        A Maildir, or a folder with Maildirs below it.
    exclude : collection of str
        Folders that are left out with all below them.
    inbox : str, optional
        The label of messages in the inbox, which is the Maildir itself or a folder of that name.
    ignore_labels : collection of str
        Tags from Thunderbird that do not count.
    max_message : int
        How many bytes of a message are read; the rest is passed over.
    """
    folders = list(_folders(Path(folder), exclude))
    if not folders and not any(_folders(Path(folder), ())):
        raise ReadError(_shown(folder), "no Maildir: it and the folders below have no cur or new")
    ignored = casefolded(ignore_labels)
    names = [
        (delivery_time(path), path.name, number, path.parent.name)
        for number, (_, where) in enumerate(folders)
        for _, path in _list_messages(where)
    ]
    names.sort()
    for _, name, number, state in names:
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
        yield mail_item(mail, _key(name), add_tags(labels, mail, ignored), _shown(path))


def read_message(
    path: str | os.PathLike[str],
    labels: tuple[str, ...] | None = None,
    *,
    max_message: int = MAX_MESSAGE,
) -> Item:
    """Read a file that is one message, such as one of a Maildir.

    Parameters
    ----------
    path : str or path
        The file.
    labels : tuple of str, optional
        What it is filed under.
    max_message : int
        How many bytes of it are read.

    Raises
    ------
    FileNotFoundError
        If it is not there, or no longer.
    ReadError
        If it cannot be read.
    """
    path = Path(path)
    try:
        mail = parse_mail(_first_bytes(path, max_message))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(path, error) from error
    return mail_item(mail, _key(path.name), labels, _shown(path))


def maildir_folders(
    root: str | os.PathLike[str], exclude: Collection[str] = SPECIAL_FOLDERS
) -> dict[str, Path]:
    """Return the folders of a Maildir tree by label, in order of label; the root's label is "".

    Both ways to nest are read: "Work/Tagalong" and ".Work.Tagalong" have the label
    "Work/Tagalong". If both are there, the second is returned. Symbolic links are not followed.

    Parameters
    ----------
    root : str or path
        A Maildir, or a folder with Maildirs below it.
    exclude : collection of str
        Folders that are left out with all below them.
    """
    found: dict[str, Path] = {}
    for label, folder in _folders(Path(root), exclude):
        found.setdefault(label, folder)
    return found


def maildir_messages(folder: str | os.PathLike[str]) -> Iterator[tuple[str, Path]]:
    """Yield key and path of each message of one Maildir, oldest delivery first.

    The key is the file's name without its flags: it stays when a message is read, answered or
    moved. Messages that are flagged as deleted are left out.

    Parameters
    ----------
    folder : str or path
        The folder that holds cur and new.
    """
    return iter(
        sorted(_list_messages(Path(folder)), key=lambda found: (delivery_time(found[1]), found[0]))
    )


def _folders(root: Path, exclude: Collection[str]) -> Iterator[tuple[str, Path]]:
    """Yield label and path of every Maildir in a tree, in order of label."""
    excluded = casefolded(exclude)
    found: list[tuple[str, Path]] = []
    waiting: list[tuple[tuple[str, ...], Path]] = [((), root)]
    while waiting:
        names, folder = waiting.pop()
        inner = _subfolders(folder, is_root=not names)
        is_maildir = any(path.name in ("cur", "new") for path in inner)
        if is_maildir:
            found.append(("/".join(names), folder))
        for path in inner:
            if is_maildir and path.name in ("cur", "new", "tmp"):
                continue
            # In Maildir++ the name has the whole path; other hidden folders are a program's own.
            is_hidden = path.name.startswith(".")
            if is_hidden and not (path / "cur").is_dir():
                continue
            parts = path.name.split(".") if is_hidden else [path.name]
            below = (*names, *(decode_imap_utf7(printable_name(part)) for part in parts if part))
            if len(below) <= _MAX_DEPTH and not is_excluded("/".join(below), excluded):
                waiting.append((below, path))
    yield from sorted(found)


def _subfolders(folder: Path, is_root: bool) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        if not is_root:
            return []  # It has gone since it was listed.
        raise ReadError(_shown(folder), "there is no such folder") from None
    except NotADirectoryError:
        raise ReadError(_shown(folder), "not a folder, so no Maildir") from None
    except OSError as error:
        raise _unreadable(folder, error) from error


def _list_messages(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield key and path of each message of a Maildir, in no order, each key once."""
    found: dict[str, Path] = {}
    # First new, then cur: a message that moves on in between is seen twice, not missed.
    for state in ("new", "cur"):
        try:
            with os.scandir(folder / state) as entries:
                for entry in entries:
                    key, _, flags = _split_flags(entry.name)
                    is_message = not entry.name.startswith(".") and "T" not in flags
                    if is_message and entry.is_file(follow_symlinks=False):
                        found[key] = Path(entry)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(folder / state, error) from error
    for key, path in found.items():
        yield printable_name(key), path


def _split_flags(name: str) -> tuple[str, str, str]:
    """Return a message's unique name, the mark that ends it, and its flags."""
    mark = _FLAGS.search(name)
    return (name[: mark.start()], mark[0], name[mark.end() :]) if mark else (name, "", "")


def _key(name: str) -> str:
    return printable_name(_split_flags(name)[0])


def delivery_time(path: Path) -> int:
    """Return when a message was delivered, in seconds: as its name says, else as its file does."""
    digits = re.match("[0-9]+", path.name)
    if digits:
        return int(digits[0])
    try:
        return int(path.stat().st_mtime)
    except OSError:
        return 0


def _first_bytes(path: Path, most: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(most)


def _shown(path: str | os.PathLike[str]) -> str:
    return printable_name(os.fspath(path))


def _unreadable(path: Path, error: OSError) -> ReadError:
    return ReadError(_shown(path), f"cannot be read: {error.strerror or error}")
