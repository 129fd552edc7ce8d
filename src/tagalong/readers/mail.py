"""Mail as items: mbox files and Maildir trees, where the folder is the label.

A message that is broken gives an item with what there is. What it costs to read one is bounded:
by `MAX_MESSAGE` here, by the limits of `tagalong.readers.mime` within the message.
"""

import binascii
import csv
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from tagalong.readers.compression import broken, without_suffix
from tagalong.readers.format import Found, Option
from tagalong.readers.items import Item, ReadError
from tagalong.readers.mime import Mail, mail_fields, parse_mail

__all__ = [
    "MAIL_OPTIONS",
    "SPECIAL_FOLDERS",
    "maildir_folders",
    "maildir_messages",
    "read_maildir",
    "read_mbox",
    "read_message",
]

MAX_MESSAGE = 10 << 20

# Folders that mail is not filed in: the program or the server puts it there.
SPECIAL_FOLDERS = (
    *("Drafts", "Draft", "Outbox", "Templates", "Unsent Messages"),
    *("Sent", "Sent Items", "Sent Mail", "Sent Messages"),
    *("Trash", "Bin", "Deleted", "Deleted Items", "Deleted Messages"),
    *("Junk", "Junk E-mail", "Junk Email", "Spam", "Bulk Mail"),
    *("[Gmail]/All Mail", "[Gmail]/Starred", "[Gmail]/Important", "Chat", "Chats"),
    *("Entwürfe", "Gesendet", "Gesendete Elemente", "Gesendete Objekte", "Postausgang"),
    *("Papierkorb", "Gelöschte Elemente", "Gelöschte Objekte"),
    *("Brouillons", "Envoyés", "Éléments envoyés", "Corbeille", "Éléments supprimés"),
    *("Borradores", "Enviados", "Elementos enviados", "Papelera", "Elementos eliminados"),
)
# Labels that say what happened to a mail and not what it is about.
SYSTEM_LABELS = (
    *("Inbox", "Unread", "Opened", "Archived", "Important", "Starred", "Muted", "Snoozed"),
    *("Category Personal", "Category Social", "Category Promotions", "Category Updates"),
    *("Category Forums", "Category Purchases", "Category Reservations", "Category Travel"),
    *("IMAP_NonJunk", "IMAP_NotJunk", "IMAP_Junk", "IMAP_$Forwarded", "IMAP_Forwarded"),
    *("Junk", "NonJunk", "NotJunk", "Forwarded", "Redirected", "Receipt-Handled"),
)
MAIL_OPTIONS = (
    Option(
        "exclude",
        "Folders whose mail is left out; in a mailbox from Gmail, labels.",
        "names",
        SPECIAL_FOLDERS,
    ),
    Option("inbox", "The label of mail in the inbox; by default it has none yet."),
    Option("ignore_labels", "Labels and tags that do not count.", "names", SYSTEM_LABELS),
    Option("max_message", "How much of a message is read, in bytes.", "size", MAX_MESSAGE),
)

# Thunderbird keeps its five first tags under these names.
_THUNDERBIRD_TAGS = {
    "$label1": "Important",
    "$label2": "Work",
    "$label3": "Personal",
    "$label4": "To Do",
    "$label5": "Later",
}
_EXPUNGED = 0x0008  # in X-Mozilla-Status: deleted or moved, still in the file until compacted
_SEPARATOR = re.compile(rb"From (?:\S+\s*$|.*\d:\d\d)")
_FROM_LINE = re.compile(rb"From (?:(?<=\n\nFrom )|(?<=\n\r\nFrom ))[^\n]*")
_QUOTED_FROM = re.compile(rb"\n>(?=>*From )")
_BLOCK = 1 << 17
_FLAGS = re.compile(r"[:;!]2,")
_UTF7 = re.compile(r"&([A-Za-z0-9+,]{0,500})-")
_NAMESPACES = ("inbox", "[gmail]", "[google mail]")
_DEEPEST_FOLDER = 50


def read_mbox(
    stream: BinaryIO,
    name: str,
    *,
    exclude: Collection[str] = SPECIAL_FOLDERS,
    inbox: str | None = None,
    ignore_labels: Collection[str] = SYSTEM_LABELS,
    max_message: int = MAX_MESSAGE,
) -> Iterator[Found]:
    """Read the messages of an mbox file, in its order.

    A message starts at a line "From " with a time or with one word only, after an empty line.
    Messages that Thunderbird has deleted or moved, but not yet removed, are left out.

    Parameters
    ----------
    stream : binary file
        The mailbox, decompressed.
    name : str
        The file's name: its last part without .mbox is the label; with the names of the folders
        above that end in .sbd, as Thunderbird nests them.
    exclude : collection of str
        Messages from Gmail that bear one of these labels are left out.
    inbox : str, optional
        The label of messages that lie in the inbox and have no other.
    ignore_labels : collection of str
        Labels from Gmail and tags from Thunderbird that do not count.
    max_message : int
        How many bytes of a message are read; the rest is passed over.
    """
    folder = _mbox_folder(name)
    excluded, ignored = _folded(exclude), _folded(ignore_labels)
    for line, data in _mbox_messages(stream, name, max_message):
        mail = parse_mail(data)
        if _is_expunged(mail):
            continue
        gmail = mail.headers.get("x-gmail-labels")
        if gmail is None:
            labels = _inbox_labels(inbox) if _is_inbox(folder) else (folder,)
        else:
            names = _gmail_labels(gmail)
            labels = tuple(label for label in names if label.casefold() not in ignored)
            if any(_is_excluded(label, excluded) for label in labels):
                continue
            if not labels and any(map(_is_inbox, names)):
                labels = _inbox_labels(inbox)
        place = f"{name}:{line}"
        yield _item(mail, place, _with_tags(labels, mail, ignored), place)


def read_maildir(
    folder: Path,
    *,
    exclude: Collection[str] = SPECIAL_FOLDERS,
    inbox: str | None = None,
    ignore_labels: Collection[str] = SYSTEM_LABELS,
    max_message: int = MAX_MESSAGE,
) -> Iterator[Found]:
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
    ignored = _folded(ignore_labels)
    names = [
        (_delivered(path), path.name, number, path.parent.name)
        for number, (_, where) in enumerate(folders)
        for _, path in _listed(where)
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
        labels = _inbox_labels(inbox) if _is_inbox(label) else (label,)
        yield _item(mail, _key(name), _with_tags(labels, mail, ignored), _shown(path))


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
    return _item(mail, _key(path.name), labels, _shown(path))


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
    return iter(sorted(_listed(Path(folder)), key=lambda found: (_delivered(found[1]), found[0])))


def _mbox_messages(stream: BinaryIO, name: str, max_message: int) -> Iterator[tuple[int, bytes]]:
    """Yield the line where each message starts, and the message with its "From " line."""
    message = bytearray()
    number, start = 1, 0
    before = b"\n\n"  # the end of what was read before: the start of a file is as after a blank
    for block in _blocks(stream, name):
        data = before + block
        at = len(before)
        for found in _FROM_LINE.finditer(data, at):
            if start and not _SEPARATOR.match(found[0]):
                continue
            _add(message, data, at, found.start(), max_message)
            if start:
                yield start, _unquoted(message)
            elif message.strip():
                break
            message.clear()
            number += data.count(b"\n", at, found.start())
            at, start = found.start(), number
        _add(message, data, at, len(data), max_message)
        if not start:
            text = message.lstrip()
            if text:
                number += message.count(b"\n", 0, len(message) - len(text))
                problem = f"not an mbox: it starts with {bytes(text[:40])!r}, not with 'From '"
                raise ReadError(f"{name}:{number}", problem)
            message.clear()
        number += data.count(b"\n", at)
        before = data[-3:]
    if start:
        yield start, _unquoted(message)


def _blocks(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield a file in blocks that end where a line does, unless the line is very long."""
    lines = 1
    some = getattr(stream, "read1", stream.read)
    while True:
        try:
            block: bytes = some(_BLOCK)
            block += stream.readline(_BLOCK) if block else b""
        except broken() as error:
            problem = f"cannot be read further: {error or type(error).__name__}"
            raise ReadError(f"{name}:{lines}", problem) from error
        if not block:
            return
        yield block
        lines += block.count(b"\n")


def _add(message: bytearray, data: bytes, start: int, end: int, most: int) -> None:
    message += data[start : min(end, start + most - len(message))]


def _unquoted(message: bytearray) -> bytes:
    """Return a message without the mark that mbox sets before a line "From " of its own."""
    return _QUOTED_FROM.sub(b"\n", message) if b">From " in message else bytes(message)


def _mbox_folder(name: str) -> str:
    """Return the folder that a mailbox file stands for; "" if its name says nothing.

    Examples
    --------
    >>> _mbox_folder("Takeout/Work.mbox.gz"), _mbox_folder("Local Folders/Work.sbd/Tagalong")
    ('Work', 'Work/Tagalong')
    """
    if name in ("-", "<stdin>"):
        return ""
    path = Path(without_suffix(name))
    if path.name == "mbox" and path.parent.suffix.lower() == ".mbox":  # as Apple Mail exports
        path = path.parent
    names = [path.stem if path.suffix.lower() in (".mbox", ".mbx") else path.name]
    for parent in path.parents:
        if parent.suffix.lower() != ".sbd":
            break
        names.append(parent.stem)
    return _clean("/".join(reversed(names)))


def _folders(root: Path, exclude: Collection[str]) -> Iterator[tuple[str, Path]]:
    """Yield label and path of every Maildir in a tree, in order of label."""
    excluded = _folded(exclude)
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
            below = (*names, *(_utf7_decoded(_clean(part)) for part in parts if part))
            if len(below) <= _DEEPEST_FOLDER and not _is_excluded("/".join(below), excluded):
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


def _listed(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield key and path of each message of a Maildir, in no order, each key once."""
    found: dict[str, Path] = {}
    # First new, then cur: a message that moves on in between is seen twice, not missed.
    for state in ("new", "cur"):
        try:
            with os.scandir(folder / state) as entries:
                for entry in entries:
                    key, _, flags = _parted(entry.name)
                    is_message = not entry.name.startswith(".") and "T" not in flags
                    if is_message and entry.is_file(follow_symlinks=False):
                        found[key] = Path(entry)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(folder / state, error) from error
    for key, path in found.items():
        yield _clean(key), path


def _parted(name: str) -> tuple[str, str, str]:
    """Return a message's unique name, the mark that ends it, and its flags."""
    mark = _FLAGS.search(name)
    return (name[: mark.start()], mark[0], name[mark.end() :]) if mark else (name, "", "")


def _key(name: str) -> str:
    return _clean(_parted(name)[0])


def _delivered(path: Path) -> int:
    """Return when a message was delivered: as its name says, else as its file does."""
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


def _item(mail: Mail, key: str, labels: tuple[str, ...] | None, place: str) -> Item:
    name = mail.headers.get("message-id", "").strip("<> ")
    return Item(id=name or key, text=mail_fields(mail), labels=labels, place=place)


def _gmail_labels(header: str) -> list[str]:
    """Return the labels of a Takeout header: separated by commas, in quotes where need be."""
    try:
        labels = next(csv.reader([header], skipinitialspace=True), [])
    except csv.Error:
        labels = header.split(",")
    return list(dict.fromkeys(label.strip() for label in labels if label.strip()))


def _with_tags(
    labels: tuple[str, ...] | None, mail: Mail, ignored: Collection[str]
) -> tuple[str, ...] | None:
    """Add the tags that Thunderbird has noted in a message to its labels."""
    keys = mail.headers.get("x-mozilla-keys", "").split()
    tags = [_THUNDERBIRD_TAGS.get(key.lower(), _utf7_decoded(key)) for key in keys]
    # Other names with a dollar are IMAP's: $Forwarded, $NotJunk, $MDNSent.
    tags = [tag for tag in tags if not tag.startswith("$") and tag.casefold() not in ignored]
    return tuple(dict.fromkeys((*(labels or ()), *tags))) if tags else labels


def _is_expunged(mail: Mail) -> bool:
    try:
        return bool(int(mail.headers.get("x-mozilla-status", "0")[:8], 16) & _EXPUNGED)
    except ValueError:
        return False


def _is_inbox(label: str) -> bool:
    """Whether a label stands for mail that is not filed yet; "" is a Maildir's root, or stdin."""
    return label.casefold() in ("", "inbox")


def _inbox_labels(inbox: str | None) -> tuple[str, ...] | None:
    return None if inbox is None else (inbox,)


def _is_excluded(label: str, excluded: frozenset[str]) -> bool:
    """Whether a folder, or one above it, is among those excluded."""
    names = label.casefold().split("/")
    paths = {"/".join(names[:length]) for length in range(1, len(names) + 1)}
    if names[0] in _NAMESPACES:
        paths |= {path.partition("/")[2] for path in paths}
    return not paths.isdisjoint(excluded)


def _folded(names: Collection[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


def _utf7_decoded(name: str) -> str:
    """Return a folder's name from the modified UTF-7 of IMAP; as it is where it is none.

    Examples
    --------
    >>> _utf7_decoded("Entw&APw-rfe &- mehr")
    'Entwürfe & mehr'
    """

    def letters(found: re.Match[str]) -> str:
        if not found[1]:
            return "&"
        padded = found[1].replace(",", "/") + "=" * (-len(found[1]) % 4)
        try:
            return binascii.a2b_base64(padded).decode("utf-16-be")
        except ValueError:
            return found[0]

    return _UTF7.sub(letters, name)


def _clean(name: str) -> str:
    """Return a file's name as valid Unicode, so that it can be printed and saved."""
    return os.fsencode(name).decode("utf-8", "replace")


def _shown(path: str | os.PathLike[str]) -> str:
    return _clean(os.fspath(path))


def _unreadable(path: Path, error: OSError) -> ReadError:
    return ReadError(_shown(path), f"cannot be read: {error.strerror or error}")
