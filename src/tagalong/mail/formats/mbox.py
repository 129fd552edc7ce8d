"""Mail from mbox files, also as Thunderbird and Gmail's Takeout write them."""

import csv
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from tagalong.learning.items import ReadError
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
    printable_name,
)
from tagalong.mail.formats.mime import Mail, parse_mail
from tagalong.streams.compression import read_errors, strip_compression_suffix
from tagalong.streams.format import ItemOrError

__all__ = ["read_mbox"]
_SEPARATOR = re.compile(rb"From (?:\S+\s*$|.*\d:\d\d)")
_FROM_LINE = re.compile(rb"From (?:(?<=\n\nFrom )|(?<=\n\r\nFrom ))[^\n]*")
_QUOTED_FROM = re.compile(rb"\n>(?=>*From )")
_BLOCK = 1 << 17
_EXPUNGED = 0x0008  # in X-Mozilla-Status: deleted or moved, still in the file until compacted


def read_mbox(
    stream: BinaryIO,
    name: str,
    *,
    exclude: Collection[str] = SPECIAL_FOLDERS,
    inbox: str | None = None,
    ignore_labels: Collection[str] = SYSTEM_LABELS,
    max_message: int = MAX_MESSAGE,
) -> Iterator[ItemOrError]:
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
        yield mail_item(mail, place, add_tags(labels, mail, ignored), place)


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
    path = Path(strip_compression_suffix(name))
    if path.name == "mbox" and path.parent.suffix.lower() == ".mbox":  # as Apple Mail exports
        path = path.parent
    names = [path.stem if path.suffix.lower() in (".mbox", ".mbx") else path.name]
    for parent in path.parents:
        if parent.suffix.lower() != ".sbd":
            break
        names.append(parent.stem)
    return printable_name("/".join(reversed(names)))


def _gmail_labels(header: str) -> list[str]:
    """Return the labels of a Takeout header: separated by commas, in quotes where need be."""
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
