"""Filing of the mail of a Maildir, with learning from the messages that its owner moves."""

from tagalong.mail.filing.guards import BusyError
from tagalong.mail.filing.results import FilingResult, LeftAlone, Move
from tagalong.mail.filing.run import default_model, file_mail

__all__ = ["BusyError", "FilingResult", "LeftAlone", "Move", "default_model", "file_mail"]
