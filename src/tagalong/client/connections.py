"""Connections that are kept open between calls. Each is used by one call at a time."""

import http.client
import os
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tagalong.client.address import Address

__all__ = ["Connections", "Lent"]

MOST_IDLE = 16


class Lent:
    """A connection in the hands of one call.

    Parameters
    ----------
    connection : HTTPConnection
        The connection.
    is_reused : bool
        Whether it has carried a call before, so that the server may have closed it by now.

    Attributes
    ----------
    is_clean : bool
        Whether the call has read its whole answer, so that the next call can use the connection.
    """

    def __init__(self, connection: http.client.HTTPConnection, is_reused: bool):
        self.connection = connection
        self.is_reused = is_reused
        self.is_clean = False


class Connections:
    """Connections to one server. Several threads may use them.

    Parameters
    ----------
    address : Address
        The server.
    context : SSLContext, optional
        Checks the certificate of an https server.
    """

    def __init__(self, address: Address, context: ssl.SSLContext | None = None):
        self._address = address
        self._context = context
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._lent: set[http.client.HTTPConnection] = set()
        self._process = os.getpid()
        self.is_closed = False

    @contextmanager
    def lend(self, timeout: float) -> Iterator[Lent]:
        """Lend a connection: one that is idle, or a new one. It is closed unless it is clean.

        Parameters
        ----------
        timeout : float
            Number of seconds without any progress after which it is given up.
        """
        connection = self._idle_one()
        is_reused = connection is not None
        if connection is None:
            connection = self._new(timeout)
        connection.timeout = timeout
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        lent = Lent(connection, is_reused)
        with self._lock:
            self._check_open()
            self._lent.add(connection)
        try:
            yield lent
        finally:
            self._take_back(lent)

    def _check_open(self) -> None:
        if self.is_closed:
            raise ValueError("the client is closed")

    def _new(self, timeout: float) -> http.client.HTTPConnection:
        host, port = self._address.host, self._address.port
        if self._address.is_secure:
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=timeout)

    def _idle_one(self) -> http.client.HTTPConnection | None:
        """Return an idle connection that the server has not closed; None if there is none."""
        while True:
            with self._lock:
                self._check_open()
                self._leave_those_of_the_parent()
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if not _has_ended(connection):
                return connection
            connection.close()

    def _leave_those_of_the_parent(self) -> None:
        """Forget all connections after a fork: two processes must not share one."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._idle.clear()
            self._lent.clear()

    def _take_back(self, lent: Lent) -> None:
        connection = lent.connection
        with self._lock:
            self._lent.discard(connection)
            is_kept = (
                lent.is_clean
                and connection.sock is not None
                and not self.is_closed
                and len(self._idle) < MOST_IDLE
            )
            if is_kept:
                self._idle.append(connection)
        if not is_kept:
            connection.close()

    def close(self) -> None:
        """Close all connections. Calls on their way end with an error."""
        with self._lock:
            self.is_closed = True
            self._leave_those_of_the_parent()
            idle, self._idle = self._idle, []
            lent = list(self._lent)
        for connection in idle:
            connection.close()
        for connection in lent:
            if (open_socket := connection.sock) is not None:
                with suppress(OSError):  # wakes the thread that waits for it
                    open_socket.shutdown(socket.SHUT_RDWR)


def _has_ended(connection: http.client.HTTPConnection) -> bool:
    """Whether an idle connection has something to read: its end, or bytes that nobody asked for."""
    if connection.sock is None:
        return True
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(0))
