"""Fate of the messages in the log: whether they stayed, or where the owner put them."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tagalong.files.unicode_paths import unicode_path
from tagalong.learning.items import ReadError
from tagalong.mail.filing.journal import Entry
from tagalong.mail.filing.log import LogRecord
from tagalong.mail.filing.mailbox import Mailbox, Message, MessageGoneError, is_inbox
from tagalong.mail.filing.maildir import Maildir
from tagalong.mail.filing.model import FilingModel
from tagalong.mail.filing.model_file import ModelFile
from tagalong.mail.filing.ownership import claim_mailbox
from tagalong.mail.filing.paths import default_model
from tagalong.mail.filing.workspace_model import view_of_workspace
from tagalong.mail.formats.folders import SPECIAL_FOLDERS

__all__ = ["LoggedMessage", "Outcome", "read_log"]

Outcome: TypeAlias = Literal[
    "stayed", "moved by you", "filed by you", "put back", "waiting", "not moved", "gone"
]


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """Message that Tagalong moved or left to its owner as a spot check.

    Parameters
    ----------
    record : LogRecord
        What was done, when and why.
    outcome : str
        ``"stayed"``: the message is where Tagalong filed it; ``"moved by you"``: the owner moved it
        to another folder; ``"put back"``: the owner put it back into the inbox; ``"filed by you"``:
        the owner filed it in the folder, after a spot check or after putting it back;
        ``"waiting"``: the owner has not filed the spot check yet; ``"not moved"``: the run ended
        before the move; ``"gone"``: it was deleted, or moved under a new file name since the last
        run.
    folder : str, optional
        Folder of the message now; None if it is gone.
    subject : str
        Subject of the message; "" if it is gone or cannot be read. The log does not store it.
    """

    record: LogRecord
    outcome: Outcome
    folder: str | None
    subject: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "time": datetime.fromtimestamp(self.record.time, UTC).isoformat(),
            "act": self.record.act,
            "to": self.record.folder,
            "probability": self.record.probability,
            "min_precision": self.record.min_precision,
            "why": list(self.record.why),
            "outcome": self.outcome,
            "now_in": self.folder,
            "subject": self.subject,
        }


def read_log(
    maildir: str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | None = None,
    workspace: str | os.PathLike[str] | None = None,
    exclude: Collection[str] = SPECIAL_FOLDERS,
) -> list[LoggedMessage]:
    """Return what `file_mail` did with messages, and what became of them, oldest first.

    The model file keeps the last 1,000 moves and spot checks. Nothing on disk changes.

    Parameters
    ----------
    maildir : str or path
        The Maildir.
    model : str or path, optional
        Model file of this Maildir; by default the path from `default_model`.
    workspace : str or path, optional
        Workspace of this Maildir, in place of a model file.
    exclude : collection of str
        Folders that mail is neither learnt from nor filed into.

    Raises
    ------
    FileNotFoundError
        If there is no model file yet.
    ReadError
        If `maildir` is not a Maildir.
    ModelFileError
        If the model file is not usable, or was not made by `file_mail` for this Maildir.
    """
    mailbox = Maildir(Path(maildir), exclude)
    filing: FilingModel
    if workspace is not None:
        filing = view_of_workspace(Path(workspace))
    else:
        path = default_model(maildir) if model is None else Path(model)
        if not path.exists():
            raise FileNotFoundError(
                f"{unicode_path(path)}: there is no model yet, so nothing has been moved"
            )
        filing = ModelFile(path, names=True, save=False)
    snapshot = mailbox.scan()
    claim_mailbox(filing, mailbox, snapshot)
    journal = filing.journal
    found = []
    for key, record in journal.log.items():
        entry = journal.present.get(key) or journal.gone.get(key)
        message = snapshot.place(key, entry) if key in snapshot.messages else None
        place = None if message is None else message.folder
        outcome = _outcome(record, entry, place)
        found.append(LoggedMessage(record, outcome, place, _subject(mailbox, message)))
    return found


def _outcome(record: LogRecord, entry: Entry | None, place: str | None) -> Outcome:
    if place is None:
        return "gone"
    if is_inbox(place):
        if record.act == "asked":
            return "waiting"
        return "not moved" if entry is not None and entry.state == "moving" else "put back"
    if place != record.folder:
        return "moved by you"
    by_tagalong = entry is not None and entry.state in ("filed", "moving")
    return "stayed" if by_tagalong else "filed by you"


def _subject(mailbox: Mailbox, message: Message | None) -> str:
    if message is None:
        return ""
    try:
        text = mailbox.read(message).text
    except (MessageGoneError, ReadError):
        return ""
    return "" if isinstance(text, str) else text.get("subject", "")
