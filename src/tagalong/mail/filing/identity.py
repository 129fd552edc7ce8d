"""Recognition of messages whose files a mail program has renamed."""

from tagalong.learning.items import Item
from tagalong.mail.filing.journal import Entry, Journal, digest

__all__ = ["KnownMessages", "identity_of"]


def identity_of(item: Item) -> str:
    """Return a digest of a message that does not depend on the name of its file.

    The digest covers subject and sender too, because some programs use a Message-ID twice.
    """
    fields = {"": item.text} if isinstance(item.text, str) else item.text
    parts = (item.id, fields.get("subject", ""), fields.get("from", ""))
    return digest(*(part.encode("utf-8", "replace") for part in parts))


class KnownMessages:
    """Lookup of the journal entry of a message, even if its file has been renamed.

    Parameters
    ----------
    journal : Journal
        Journal that is already updated to the present messages.
    """

    def __init__(self, journal: Journal):
        self._journal = journal
        self._gone = journal.gone_by_identity()

    def find(self, key: str, item: Item) -> Entry | None:
        """Return the journal entry of a message, or None.

        A message with a new key takes over the entry of a gone message with the same identity.
        Each entry is taken over at most once.

        Parameters
        ----------
        key : str
            Key of the message.
        item : Item
            Contents of the message.
        """
        journal = self._journal
        if key not in journal.present:
            old_key = self._gone.pop(identity_of(item), None)
            if old_key is not None:
                journal.take_over(old_key, key)
        return journal.present.get(key)
