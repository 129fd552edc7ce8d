"""Filing the mail of a Maildir, and learning from what its owner moves."""

from tagalong.filing.guards import BusyError
from tagalong.filing.results import FilingResult, LeftAlone, Move
from tagalong.filing.run import default_model, file_mail

__all__ = ["BusyError", "FilingResult", "LeftAlone", "Move", "default_model", "file_mail"]
