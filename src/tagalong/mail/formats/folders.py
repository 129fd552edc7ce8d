"""What mbox files and Maildirs share: options, and the labels that folders and tags give.

The folder is the label. A message that is broken gives an item with what there is. What it costs
to read one is bounded: by `MAX_MESSAGE` here, by the limits of `mime` within it.
"""

import binascii
import os
import re
from collections.abc import Collection

from tagalong.learning.items import Item
from tagalong.mail.formats.fields import mail_fields
from tagalong.mail.formats.mime import Mail
from tagalong.streams.format import Option

__all__ = [
    "MAIL_OPTIONS",
    "MAX_MESSAGE",
    "SPECIAL_FOLDERS",
    "SYSTEM_LABELS",
    "add_tags",
    "casefolded",
    "decode_imap_utf7",
    "inbox_labels",
    "is_excluded",
    "is_inbox",
    "mail_item",
    "printable_name",
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
_UTF7 = re.compile(r"&([A-Za-z0-9+,]{0,500})-")
_NAMESPACES = ("inbox", "[gmail]", "[google mail]")


def mail_item(mail: Mail, key: str, labels: tuple[str, ...] | None, place: str) -> Item:
    """Return the item of a mail; the key is its id if it has none of its own."""
    name = mail.headers.get("message-id", "").strip("<> ")
    return Item(id=name or key, text=mail_fields(mail), labels=labels, place=place)


def add_tags(
    labels: tuple[str, ...] | None, mail: Mail, ignored: Collection[str]
) -> tuple[str, ...] | None:
    """Add the tags that Thunderbird has noted in a message to its labels."""
    keys = mail.headers.get("x-mozilla-keys", "").split()
    tags = [_THUNDERBIRD_TAGS.get(key.lower(), decode_imap_utf7(key)) for key in keys]
    # Other names with a dollar are IMAP's: $Forwarded, $NotJunk, $MDNSent.
    tags = [tag for tag in tags if not tag.startswith("$") and tag.casefold() not in ignored]
    return tuple(dict.fromkeys((*(labels or ()), *tags))) if tags else labels


def is_inbox(label: str) -> bool:
    """Whether a label stands for mail that is not filed yet; "" is a Maildir's root, or stdin."""
    return label.casefold() in ("", "inbox")


def inbox_labels(inbox: str | None) -> tuple[str, ...] | None:
    """Return the labels of mail in the inbox: not known, unless the inbox has a label."""
    return None if inbox is None else (inbox,)


def is_excluded(label: str, excluded: frozenset[str]) -> bool:
    """Whether a folder, or one above it, is among those excluded."""
    names = label.casefold().split("/")
    paths = {"/".join(names[:length]) for length in range(1, len(names) + 1)}
    if names[0] in _NAMESPACES:
        paths |= {path.partition("/")[2] for path in paths}
    return not paths.isdisjoint(excluded)


def casefolded(names: Collection[str]) -> frozenset[str]:
    """Return names without regard to case."""
    return frozenset(name.casefold() for name in names)


def decode_imap_utf7(name: str) -> str:
    """Return a folder's name from the modified UTF-7 of IMAP; as it is where it is none.

    Examples
    --------
    >>> decode_imap_utf7("Entw&APw-rfe &- mehr")
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


def printable_name(name: str) -> str:
    """Return a file's name as valid Unicode, so that it can be printed and saved."""
    return os.fsencode(name).decode("utf-8", "replace")
