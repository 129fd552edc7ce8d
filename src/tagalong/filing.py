"""Public names of `tagalong.mail.filing`, which files the mail of a Maildir."""

from tagalong.mail.filing import (
    BusyError,
    FilingResult,
    LeftAlone,
    Move,
    default_model,
    file_mail,
)

__all__ = ["BusyError", "FilingResult", "LeftAlone", "Move", "default_model", "file_mail"]
