"""How a message is known again under another name."""

from tagalong.learning.items import Item
from tagalong.mail.filing.journal import Entry, Journal, digest

__all__ = ["KnownMessages", "identity_of"]


def identity_of(item: Item) -> str:
    """Return a digest of what stays when a mail program gives a message another name.

    The Message-ID alone would do, were there not programs that use one twice.
    """
    fields = {"": item.text} if isinstance(item.text, str) else item.text
    parts = (item.id, fields.get("subject", ""), fields.get("from", ""))
    return digest(*(part.encode("utf-8", "replace") for part in parts))


class KnownMessages:
    """Finds the journal's entry of a message, even if a mail program has renamed it.

    Parameters
    ----------
    journal : Journal
        Knows already which messages are there and which are gone.
    """

    def __init__(self, journal: Journal):
        self._journal = journal
        self._gone = journal.gone_by_identity()

    def find(self, key: str, item: Item) -> Entry | None:
        """Return what is known about a message, or None.

        A message that is new under its key takes the entry of one that is gone, if both have the
        same identity. Each entry is taken once.

        Parameters
        ----------
        key : str
            The key of the message.
        item : Item
            What it says.
        """
        journal = self._journal
        if key not in journal.present:
            before = self._gone.pop(identity_of(item), None)
            if before is not None:
                journal.present[key] = journal.gone.pop(before)
        return journal.present.get(key)
