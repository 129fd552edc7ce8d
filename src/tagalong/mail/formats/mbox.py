"""Reader of mbox files, including those of Thunderbird and Gmail's Takeout."""

import csv
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from tagalong.files.unicode_paths import unicode_path
from tagalong.learning.items import ReadError
from tagalong.mail.formats.dates import envelope_date
from tagalong.mail.formats.folders import (
    MAX_MESSAGE,
    SPECIAL_FOLDERS,
    SYSTEM_LABELS,
    add_tags,
    casefolded,
    inbox_labels,
    is_excluded,
    is_inbox,
    mail_item,
)
from tagalong.mail.formats.mime import Mail, parse_mail
from tagalong.streams.compression import read_errors, strip_compression_suffix
from tagalong.streams.format import ItemOrError

__all__ = ["read_mbox"]
_SEPARATOR = re.compile(rb"From (?:\S+\s*$|.*\d:\d\d)")
_FROM_LINE = re.compile(rb"From (?:(?<=\n\nFrom )|(?<=\n\r\nFrom ))[^\n]*")
_QUOTED_FROM = re.compile(rb"\n>(?=>*From )")
_BLOCK = 1 << 17
_EXPUNGED = 0x0008  # bit of X-Mozilla-Status: deleted or moved, but still in the file


def read_mbox(
    stream: BinaryIO,
    name: str,
    *,
    exclude: Collection[str] = SPECIAL_FOLDERS,
    inbox: str | None = None,
    ignore_labels: Collection[str] = SYSTEM_LABELS,
    max_message: int = MAX_MESSAGE,
) -> Iterator[ItemOrError]:
    """Yield the messages of an mbox file in the order of the file.

    A message starts after an empty line, at a line "From " with a time or a single word. Messages
    that Thunderbird has deleted or moved, but not yet removed from the file, are left out.

    Parameters
    ----------
    stream : binary file
        Decompressed mailbox.
    name : str
        File name. The label is its last part without .mbox, preceded by the names of parent folders
        that end in .sbd, which is how Thunderbird nests folders.
    exclude : collection of str
        Labels of Gmail messages to leave out.
    inbox : str, optional
        Label of messages that are in the inbox and have no other label.
    ignore_labels : collection of str
        Gmail labels and Thunderbird tags to ignore.
    max_message : int
        Number of bytes of a message that are read; the rest is ignored.
    """
    folder = _mbox_folder(name)
    excluded, ignored = casefolded(exclude), casefolded(ignore_labels)
    for line, data in _mbox_messages(stream, name, max_message):
        mail = parse_mail(data)
        if _is_expunged(mail):
            continue
        gmail = mail.headers.get("x-gmail-labels")
        if gmail is None:
            labels = inbox_labels(inbox) if is_inbox(folder) else (folder,)
        else:
            names = _gmail_labels(gmail)
            labels = tuple(label for label in names if label.casefold() not in ignored)
            if any(is_excluded(label, excluded) for label in labels):
                continue
            if not labels and any(map(is_inbox, names)):
                labels = inbox_labels(inbox)
        place = f"{name}:{line}"
        labels = add_tags(labels, mail, ignored)
        yield mail_item(mail, place, labels, place, envelope_date(data))


def _mbox_messages(stream: BinaryIO, name: str, max_message: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number of the first line of each message, and the message with its "From " line."""
    message = bytearray()
    number, start = 1, 0
    before = b"\n\n"  # end of the previous block; a file starts as if after an empty line
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
                problem = f"not an mbox file: it starts with {bytes(text[:40])!r}, not 'From '"
                raise ReadError(f"{name}:{number}", problem)
            message.clear()
        number += data.count(b"\n", at)
        before = data[-3:]
    if start:
        yield start, _unquoted(message)


def _blocks(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield a file in blocks that end at a line end, except inside very long lines."""
    lines = 1
    read = getattr(stream, "read1", stream.read)
    while True:
        try:
            block: bytes = read(_BLOCK)
            block += stream.readline(_BLOCK) if block else b""
        except read_errors() as error:
            problem = f"cannot be read further: {error or type(error).__name__}"
            raise ReadError(f"{name}:{lines}", problem) from error
        if not block:
            return
        yield block
        lines += block.count(b"\n")


def _add(message: bytearray, data: bytes, start: int, end: int, most: int) -> None:
    message += data[start : min(end, start + most - len(message))]


def _unquoted(message: bytearray) -> bytes:
    """Return a message without the ">" by which mbox quotes lines that start with "From "."""
    return _QUOTED_FROM.sub(b"\n", message) if b">From " in message else bytes(message)


def _mbox_folder(name: str) -> str:
    """Return the folder label of an mbox file from its name; "" for standard input.

    Examples
    --------
    >>> _mbox_folder("Takeout/Work.mbox.gz"), _mbox_folder("Local Folders/Work.sbd/Tagalong")
    ('Work', 'Work/Tagalong')
    """
    if name in ("-", "<stdin>"):
        return ""
    path = Path(strip_compression_suffix(name))
    if path.name == "mbox" and path.parent.suffix.lower() == ".mbox":  # export of Apple Mail
        path = path.parent
    names = [path.stem if path.suffix.lower() in (".mbox", ".mbx") else path.name]
    for parent in path.parents:
        if parent.suffix.lower() != ".sbd":
            break
        names.append(parent.stem)
    return unicode_path("/".join(reversed(names)))


def _gmail_labels(header: str) -> list[str]:
    """Return the labels of a Takeout header: comma-separated, with optional quotes."""
    try:
        labels = next(csv.reader([header], skipinitialspace=True), [])
    except csv.Error:
        labels = header.split(",")
    return list(dict.fromkeys(label.strip() for label in labels if label.strip()))


def _is_expunged(mail: Mail) -> bool:
    try:
        return bool(int(mail.headers.get("x-mozilla-status", "0")[:8], 16) & _EXPUNGED)
    except ValueError:
        return False
