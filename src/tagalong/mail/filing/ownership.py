"""Check that a model belongs to a mailbox."""

from tagalong.files.unicode_paths import unicode_path
from tagalong.learning.model_files import ModelFileError
from tagalong.mail.filing.mailbox import Mailbox, Snapshot
from tagalong.mail.filing.model import FilingModel

__all__ = ["claim_mailbox"]

# Share of the messages in the journal that a mailbox at a new location must contain.
MIN_SHARE = 0.1


def claim_mailbox(model: FilingModel, mailbox: Mailbox, snapshot: Snapshot) -> None:
    """Record the location of a model's mailbox; raise ModelFileError if it is another mailbox.

    A mailbox is the same if it is where it was at the last run, even with all its files renamed, or
    if it is elsewhere and still contains messages of the journal. Messages have unique names, so
    that other mailboxes contain none of them.

    Parameters
    ----------
    model : FilingModel
        Model of the mailbox. Its journal is not updated to the snapshot yet.
    mailbox : Mailbox
        The mailbox.
    snapshot : Snapshot
        Messages of the mailbox.
    """
    journal, home = model.journal, mailbox.home
    found = sum(key in snapshot.messages for key in journal.present)
    if home != journal.home and found < MIN_SHARE * len(journal.present):
        path = unicode_path(model.path)
        raise ModelFileError(
            f"{path}: this model was made for another mailbox: of its {len(journal.present):,} "
            f"messages, {found:,} are here; {model.advice_for_another_mailbox}"
        )
    journal.home = home
