"""Names of sources as every worker understands them."""

import os
import stat
from typing import Any

from tagalong.streams.format import OptionError

__all__ = ["check_can_be_shared", "everywhere"]


def everywhere(source: str | os.PathLike[str]) -> str:
    """Return a source as all workers see it: an absolute path, unless it is a built-in stream.

    Parameters
    ----------
    source : str or path
        A file, a folder, a pattern, or the name of a built-in stream.
    """
    name = os.fspath(source)
    return name if name.endswith(":") else os.path.abspath(name)


def check_can_be_shared(source: Any) -> None:
    """Raise OptionError if a source is standard input or a pipe, which only one process can read.

    Parameters
    ----------
    source : str or path
        The source.
    """
    try:
        mode = os.stat(source).st_mode
    except OSError:  # a glob pattern, a built-in stream, or nothing
        mode = stat.S_IFREG
    if source == "-" or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        name = "standard input" if source == "-" else source
        raise OptionError(
            f"{name}: workers cannot share a pipe; write the items to a file, and give the file"
        )
