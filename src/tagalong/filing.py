"""Filing the mail of a Maildir: the public names of `tagalong.mail.filing`."""

from tagalong.mail.filing import (
    BusyError,
    FilingResult,
    LeftAlone,
    Move,
    default_model,
    file_mail,
)

__all__ = ["BusyError", "FilingResult", "LeftAlone", "Move", "default_model", "file_mail"]
