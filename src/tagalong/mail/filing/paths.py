"""Where the model of a Maildir is kept."""

import os
from pathlib import Path

__all__ = ["default_model"]

MODEL_NAME = "model.tagalong"


def default_model(maildir: str | os.PathLike[str]) -> Path:
    """Return the default path of the model file of a Maildir.

    It is a regular file in the Maildir itself. Mail servers would treat a subfolder, or a name that
    starts with a dot, as a folder of mail.

    Parameters
    ----------
    maildir : str or path
        Folder of the Maildir.
    """
    return Path(maildir) / MODEL_NAME
