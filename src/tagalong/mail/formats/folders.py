"""Options of the mail readers, and labels from folders and tags.

The folder of a message is its label. A malformed message becomes an item with the parts that can be
read. The cost of reading a message is bounded by `MAX_MESSAGE` and by the limits in `mime`.
"""

import binascii
import re
from collections.abc import Collection
from datetime import datetime

from tagalong.learning.items import Item
from tagalong.mail.formats.dates import date_of_mail
from tagalong.mail.formats.fields import mail_fields
from tagalong.mail.formats.mime import Mail
from tagalong.mail.formats.structure import mail_features
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
]

MAX_MESSAGE = 10 << 20

# Folders whose mail was put there by a mail program or server, not filed by the owner.
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
# Labels that describe the state of a mail, not its topic.
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
        "Folders whose mail is left out; for a mailbox from Gmail, labels.",
        "names",
        SPECIAL_FOLDERS,
    ),
    Option("inbox", "Label of mail in the inbox. By default its labels are unknown."),
    Option("ignore_labels", "Labels and tags to ignore.", "names", SYSTEM_LABELS),
    Option(
        "max_message",
        "Number of bytes of a message that are read; the rest is ignored.",
        "size",
        MAX_MESSAGE,
    ),
)

# Names under which Thunderbird stores its first five tags.
_THUNDERBIRD_TAGS = {
    "$label1": "Important",
    "$label2": "Work",
    "$label3": "Personal",
    "$label4": "To Do",
    "$label5": "Later",
}
_UTF7 = re.compile(r"&([A-Za-z0-9+,]{0,500})-")
_NAMESPACES = ("inbox", "[gmail]", "[google mail]")


def mail_item(
    mail: Mail,
    key: str,
    labels: tuple[str, ...] | None,
    place: str,
    delivered: datetime | None = None,
) -> Item:
    """Return the item of a mail.

    Parameters
    ----------
    mail : Mail
        Parsed mail.
    key : str
        The id of the item if the mail has no Message-ID.
    labels : tuple of str, or None
        The labels of the item.
    place : str
        The position in its source.
    delivered : datetime, optional
        The date of the item if the headers of the mail have no valid date.
    """
    return Item(
        id=mail.headers.get("message-id", "").strip("<> ") or key,
        text=mail_fields(mail),
        features=mail_features(mail),
        labels=labels,
        place=place,
        date=date_of_mail(mail, delivered),
    )


def add_tags(
    labels: tuple[str, ...] | None, mail: Mail, ignored: Collection[str]
) -> tuple[str, ...] | None:
    """Return labels with the tags that Thunderbird has written into the message."""
    keys = mail.headers.get("x-mozilla-keys", "").split()
    tags = [_THUNDERBIRD_TAGS.get(key.lower(), decode_imap_utf7(key)) for key in keys]
    # Other names with a dollar sign are IMAP keywords: $Forwarded, $NotJunk, $MDNSent.
    tags = [tag for tag in tags if not tag.startswith("$") and tag.casefold() not in ignored]
    return tuple(dict.fromkeys((*(labels or ()), *tags))) if tags else labels


def is_inbox(label: str) -> bool:
    """Whether a label denotes the inbox; "" is the root of a Maildir, or standard input."""
    return label.casefold() in ("", "inbox")


def inbox_labels(inbox: str | None) -> tuple[str, ...] | None:
    """Return the labels of mail in the inbox: None (unknown) unless the inbox has a label."""
    return None if inbox is None else (inbox,)


def is_excluded(label: str, excluded: frozenset[str]) -> bool:
    """Whether a folder or one of its parents is excluded."""
    names = label.casefold().split("/")
    paths = {"/".join(names[:length]) for length in range(1, len(names) + 1)}
    if names[0] in _NAMESPACES:
        paths |= {path.partition("/")[2] for path in paths}
    return not paths.isdisjoint(excluded)


def casefolded(names: Collection[str]) -> frozenset[str]:
    """Return the set of casefolded names."""
    return frozenset(name.casefold() for name in names)


def decode_imap_utf7(name: str) -> str:
    """Decode IMAP's modified UTF-7 in a folder name; invalid sequences stay unchanged.

    Examples
    --------
    >>> decode_imap_utf7("Entw&APw-rfe &- mehr")
    'Entwürfe & mehr'
    """

    def decode(found: re.Match[str]) -> str:
        if not found[1]:
            return "&"
        padded = found[1].replace(",", "/") + "=" * (-len(found[1]) % 4)
        try:
            return binascii.a2b_base64(padded).decode("utf-16-be")
        except ValueError:
            return found[0]

    return _UTF7.sub(decode, name)
