"""What the steps of a run share."""

from dataclasses import dataclass, field

from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.identity import KnownMessages
from tagalong.mail.filing.mailbox import Mailbox, Message, MessageGoneError, Snapshot
from tagalong.mail.filing.model import FilingModel
from tagalong.mail.filing.results import FilingResult

__all__ = ["FilingContext"]


@dataclass(slots=True)
class FilingContext:
    """The mailbox, what is known about it, and the account of the run.

    Parameters
    ----------
    mailbox : Mailbox
        Reads and moves messages.
    snapshot : Snapshot
        Where each message is; the journal has met these messages.
    model : FilingModel
        The tagger, and its journal of what is known about each message.
    result : FilingResult
        What the run has done so far.
    """

    mailbox: Mailbox
    snapshot: Snapshot
    model: FilingModel
    result: FilingResult
    known: KnownMessages = field(init=False)

    def __post_init__(self) -> None:
        self.known = KnownMessages(self.model.journal)

    def read(self, message: Message) -> Item | None:
        """Return a message, or None if that fails, which is counted."""
        try:
            return self.mailbox.read(message)
        except MessageGoneError:
            self.result.vanished += 1
        except ReadError as error:
            self.result.fail(str(error))
        return None
