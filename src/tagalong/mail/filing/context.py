"""Shared state of the steps of a filing run."""

from dataclasses import dataclass, field

from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.identity import KnownMessages
from tagalong.mail.filing.mailbox import Mailbox, Message, MessageGoneError, Snapshot
from tagalong.mail.filing.model import FilingModel
from tagalong.mail.filing.results import FilingResult

__all__ = ["FilingContext"]


@dataclass(slots=True)
class FilingContext:
    """Mailbox, snapshot, model and result of a filing run.

    Parameters
    ----------
    mailbox : Mailbox
        Mailbox that reads and moves messages.
    snapshot : Snapshot
        Location of each message. The journal is already updated to these messages.
    model : FilingModel
        Tagger and journal.
    result : FilingResult
        Result of the run so far.
    """

    mailbox: Mailbox
    snapshot: Snapshot
    model: FilingModel
    result: FilingResult
    known: KnownMessages = field(init=False)

    def __post_init__(self) -> None:
        self.known = KnownMessages(self.model.journal)

    def read(self, message: Message) -> Item | None:
        """Read a message; if it is unreadable, count a failure and return None."""
        try:
            return self.mailbox.read(message)
        except MessageGoneError:
            self.result.vanished += 1
        except ReadError as error:
            self.result.fail(str(error))
        return None
