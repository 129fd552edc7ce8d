"""Telling a process manager such as systemd that the server is ready, or stops."""

import os
import socket
from contextlib import suppress

__all__ = ["notify"]


def notify(message: str) -> None:
    """Send a message to the process manager; do nothing if there is none.

    Parameters
    ----------
    message : str
        For example "READY=1": see ``man sd_notify``.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # a name that is no file
        address = "\0" + address[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.sendto(message.encode(), address)
