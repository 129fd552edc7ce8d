"""Filing of the mail of a Maildir, with learning from the messages that its owner moves."""

from tagalong.files.lock import BusyError, exclusive_lock
from tagalong.mail.filing.history import LoggedMessage, read_log
from tagalong.mail.filing.paths import default_model
from tagalong.mail.filing.results import FilingResult, LeftAlone, Move
from tagalong.mail.filing.run import file_mail

__all__ = [
    "BusyError",
    "FilingResult",
    "LeftAlone",
    "LoggedMessage",
    "Move",
    "default_model",
    "exclusive_lock",
    "file_mail",
    "read_log",
]
