"""What a run has on its desk: the model, its journal, the messages, and the account of it all."""

from dataclasses import dataclass, field

from tagalong.learning.items import Item, ReadError
from tagalong.mail.filing.journal import Entry, Journal
from tagalong.mail.filing.results import FilingResult
from tagalong.mail.filing.scan import Message, Snapshot, identity_of
from tagalong.mail.formats.maildir import read_message
from tagalong.tagger import Tagger

__all__ = ["NOTES", "Desk"]

NOTES = "filing"


@dataclass(slots=True)
class Desk:
    """Everything that the steps of a run share.

    Parameters
    ----------
    tagger : Tagger
        The model.
    journal : Journal
        What is known about each message.
    snapshot : Snapshot
        Where each message is.
    result : FilingResult
        What the run has done so far.
    planned : list of (str, Entry)
        For each move of the result the message's key, and its entry before the move is made.
    """

    tagger: Tagger
    journal: Journal
    snapshot: Snapshot
    result: FilingResult
    planned: list[tuple[str, Entry]] = field(default_factory=list)
    _claims: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._claims = self.journal.claims()

    def read(self, message: Message) -> Item | None:
        """Return a message, or None if that fails, which is counted."""
        try:
            return read_message(self.snapshot.path(message))
        except FileNotFoundError:
            self.result.vanished += 1
        except ReadError as error:
            self.result.fail(str(error))
        return None

    def entry(self, key: str, item: Item) -> Entry | None:
        """Return what is known about a message, be it under the name that it had before."""
        if key not in self.journal.here:
            before = self._claims.pop(identity_of(item), None)
            if before is not None:
                self.journal.here[key] = self.journal.gone.pop(before)
        return self.journal.here.get(key)

    def save(self) -> None:
        """Write model and journal to the model file, together and at once; not in a dry run."""
        if not self.result.applied:
            return
        journal = self.journal.to_json()
        if self.tagger.notes.get(NOTES) != journal:
            self.tagger.notes[NOTES] = journal
            self.tagger.save(self.result.model)
