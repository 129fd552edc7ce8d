"""Public names of `tagalong.mail.filing`, which files the mail of a Maildir."""

from tagalong.mail.filing import (
    BusyError,
    FilingResult,
    LeftAlone,
    LoggedMessage,
    Move,
    default_model,
    exclusive_lock,
    file_mail,
    read_log,
)

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
