"""Completion of moves that a killed run has left half done."""

from tagalong.mail.filing.journal import Journal
from tagalong.mail.filing.mailbox import Mailbox, Snapshot, is_inbox

__all__ = ["complete_moves"]


def complete_moves(mailbox: Mailbox, journal: Journal, snapshot: Snapshot) -> None:
    """Remove from the inbox the messages that a killed run has already put into their folder.

    File systems that cannot rename without overwriting have both names of a message for a moment.

    Parameters
    ----------
    mailbox : Mailbox
        The mailbox.
    journal : Journal
        Journal of the last run. Only messages that it was moving are considered.
    snapshot : Snapshot
        Locations of the messages. Those that are removed are removed here too.
    """
    for key, entry in journal.present.items():
        places = snapshot.messages.get(key, [])
        if entry.state != "moving" or len(places) < 2:
            continue
        moved = [message for message in places if not is_inbox(message.folder)]
        for message in [message for message in places if is_inbox(message.folder)]:
            if any(mailbox.remove_second_name(message, other) for other in moved):
                places.remove(message)
