"""Paths as text. A file name consists of bytes, which need not be valid Unicode."""

import os

__all__ = ["unicode_path"]


def unicode_path(path: str | os.PathLike[str]) -> str:
    r"""Return a path or file name as valid Unicode, with invalid bytes replaced.

    Parameters
    ----------
    path : str or path
        The path. Python holds an invalid byte of it as a surrogate, which cannot be stored.

    Examples
    --------
    >>> unicode_path("Caf\udce9.mbox")
    'Caf�.mbox'
    """
    return os.fsencode(path).decode("utf-8", "replace")
