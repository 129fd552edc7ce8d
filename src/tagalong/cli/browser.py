"""Opening a page in the user's browser."""

import os
import sys
import threading
import webbrowser
from contextlib import suppress

__all__ = ["has_display", "open_browser"]


def has_display() -> bool:
    """Whether a browser would have a window. One in the terminal would hide the messages."""
    names = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in names)


def open_browser(url: str) -> None:
    """Open a page, if there is a display. It never fails and never waits.

    Parameters
    ----------
    url : str
        The address.
    """
    if has_display():
        threading.Thread(target=_open, args=(url,), name="browser", daemon=True).start()


def _open(url: str) -> None:
    with suppress(Exception):  # the address is shown in any case
        webbrowser.open(url)
