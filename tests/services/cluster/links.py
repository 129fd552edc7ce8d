"""A link between two processes that can be cut: a relay of bytes on loopback."""

import socket
from contextlib import suppress
from threading import Lock, Thread


class Link:
    """Passes bytes on to a port of this machine, until it is cut; then connections may come again.

    Parameters
    ----------
    port : int
        The port to pass bytes on to.
    """

    def __init__(self, port: int):
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = Lock()
        self._open: list[socket.socket] = []
        self.port = self._listener.getsockname()[1]
        self.connections = 0
        Thread(target=self._accept, daemon=True).start()

    def cut(self) -> int:
        """Close all connections, and return how many there were."""
        with self._lock:
            cut, self._open = self._open, []
        for end in cut:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        return len(cut) // 2

    def close(self) -> None:
        """Close the link for good."""
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                with self._lock:
                    self._open += [near, far]
                    self.connections += 1
                for ends in ((near, far), (far, near)):
                    Thread(target=_relay, args=ends, daemon=True).start()


def _relay(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
