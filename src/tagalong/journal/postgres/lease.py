"""Leases: which process may write a workspace.

An advisory lock of PostgreSQL says whether the holder is alive. It belongs to a session that the
holder keeps busy; PostgreSQL ends the session of a holder that says nothing for some seconds. The
lock alone would not be enough: a process that was stopped for a while does not know that it has
lost it. So taking a lease increments the epoch of the workspace, and every transaction that writes
checks it. A lease whose session was lost goes on if nobody has taken the workspace meanwhile.
"""

import os
import platform
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from tagalong.files.lock import BusyError
from tagalong.journal.errors import JournalError, LeaseLostError
from tagalong.journal.postgres.connection import RawConnection, postgres_errors
from tagalong.journal.postgres.driver import psycopg
from tagalong.journal.postgres.server import LOCKS, PostgresServer

__all__ = ["LEASE_SECONDS", "Lease", "LeaseSession", "WorkspaceBusyError"]

LEASE_SECONDS = 15.0
_SECONDS_BETWEEN_TRIES = 0.1
_SIGNS_PER_LEASE = 5
_TRY = "SELECT pg_try_advisory_lock(%s, %s)"


class WorkspaceBusyError(BusyError):
    """Another process holds the lease of a workspace.

    Parameters
    ----------
    name : str
        The workspace, for the message.
    process : str
        The words for the process.
    address : str
        The address that it advertises; "" if there is none.
    waited : float
        Number of seconds that this process has waited.
    """

    def __init__(self, name: str, process: str, address: str, waited: float):
        self.holder = None
        self.address = address
        after = f"; waited {waited:g} s for it" if waited else ""
        RuntimeError.__init__(self, f"{name}: this workspace is in use by {process}{after}")


@dataclass(slots=True)
class Lease:
    """The right to write a workspace.

    Parameters
    ----------
    id : int
        The number of the workspace.
    name : str
        The workspace, for messages.
    epoch : int
        The epoch that the holder has begun.
    is_lost : bool
        Whether another process has taken the workspace.
    """

    id: int
    name: str
    epoch: int
    is_lost: bool = False

    def lost(self) -> LeaseLostError:
        """Return the error of a request that came too late."""
        self.is_lost = True
        return LeaseLostError(
            f"{self.name}: another process has taken this workspace over; nothing was stored"
        )


class LeaseSession:
    """A session of PostgreSQL that holds the leases of this process.

    Parameters
    ----------
    server : PostgresServer
        The database.
    advertise : str
        The address under which other servers reach this one; "" if there is none.
    seconds : float
        How long the holder may say nothing before others can take its workspaces.
    """

    def __init__(self, server: PostgresServer, advertise: str = "", seconds: float = LEASE_SECONDS):
        self._server = server
        self._advertise = advertise
        self.seconds = seconds
        self._leases: dict[int, Lease] = {}
        self._connection: RawConnection | None = None
        self._mutex = threading.Lock()
        self._ended: threading.Event | None = None

    def take(
        self,
        id: int,
        name: str,
        *,
        command: str = "tagalong",
        wait: float = 0.0,
        on_wait: Callable[[str], None] | None = None,
    ) -> Lease:
        """Take the lease of a workspace; WorkspaceBusyError if another process has it.

        Parameters
        ----------
        id : int
            The number of the workspace.
        name : str
            The workspace, for messages.
        command : str
            Who takes it.
        wait : float
            Number of seconds to wait for the present holder.
        on_wait : callable, optional
            Called once when the wait begins, with the words for the holder.
        """
        start = time.monotonic()
        try:
            while True:
                with postgres_errors(self._server.name), self._mutex:
                    lease = self._try(id, name, command)
                    process, address = self._holder(id)
                if lease is not None:
                    return lease
                if time.monotonic() - start >= wait:
                    raise WorkspaceBusyError(name, process, address, wait)
                if on_wait is not None:
                    on_wait(process)
                    on_wait = None
                time.sleep(min(wait, _SECONDS_BETWEEN_TRIES))
        finally:
            with self._mutex:
                self._end_if_unused()

    def _try(self, id: int, name: str, command: str) -> Lease | None:
        """Take a lease that nobody has. A session would get its own lock a second time."""
        if id in self._leases:
            return None
        connection = self._session()
        ((is_mine,),) = connection.execute(_TRY, (LOCKS, id)).fetchall()
        if not is_mine:
            return None
        row = connection.execute(
            "UPDATE tagalong.workspaces SET epoch = epoch + 1, holder = %s, process = %s "
            "WHERE id = %s RETURNING epoch",
            (self._advertise or None, _process(command), id),
        ).fetchone()
        if row is None:  # the workspace was removed meanwhile
            raise Lease(id, name, 0).lost()
        lease = self._leases[id] = Lease(id, name, row[0])
        return lease

    def _session(self) -> RawConnection:
        """Return the session, with the locks of all leases, and begin to keep it busy."""
        if self._connection is None or self._connection.closed:
            milliseconds = max(1, round(1000 * self.seconds))
            connection = self._server.open(idle_session_timeout=milliseconds)
            self._server.check_durable(connection)
            self._connection = connection
            for id, lease in list(self._leases.items()):
                connection.execute(_TRY, (LOCKS, id))  # an old session may still have it
                query = "SELECT epoch FROM tagalong.workspaces WHERE id = %s"
                lease.is_lost |= connection.execute(query, (id,)).fetchone() != (lease.epoch,)
        if self._ended is None:
            self._ended = threading.Event()
            threading.Thread(
                target=self._keep_alive, args=(self._ended,), name="tagalong leases", daemon=True
            ).start()
        return self._connection

    def _end_if_unused(self) -> None:
        """End the session if it holds no lease."""
        if self._leases:
            return
        if self._ended is not None:
            self._ended.set()
            self._ended = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _keep_alive(self, ended: threading.Event) -> None:
        while not ended.wait(self.seconds / _SIGNS_PER_LEASE):
            with suppress(psycopg.Error, JournalError), self._mutex:
                if ended.is_set():
                    return
                session = self._session()
                for id, lease in self._leases.items():
                    if not lease.is_lost:  # once more: an old session may have ended by now
                        session.execute(_LOCK_ONCE, (LOCKS, id, LOCKS, id))
                session.execute("SELECT 1")

    def _holder(self, id: int) -> tuple[str, str]:
        """Return the words for the process that holds a lease, and its address."""
        query = "SELECT process, holder FROM tagalong.workspaces WHERE id = %s"
        row = self._session().execute(query, (id,)).fetchone() or (None, None)
        return row[0] or "another process", row[1] or ""

    def release(self, lease: Lease) -> None:
        """Give a lease back. The session ends with the last one.

        Parameters
        ----------
        lease : Lease
            The lease.
        """
        with self._mutex:
            self._leases.pop(lease.id, None)
            connection = self._connection
            if connection is not None:
                with suppress(psycopg.Error):
                    connection.execute(
                        "UPDATE tagalong.workspaces SET holder = NULL, process = NULL "
                        "WHERE id = %s AND epoch = %s",
                        (lease.id, lease.epoch),
                    )
                    connection.execute("SELECT pg_advisory_unlock(%s, %s)", (LOCKS, lease.id))
            self._end_if_unused()


# Takes a lock unless this session has it: a lock that is taken twice must be released twice.
_LOCK_ONCE = """
SELECT pg_try_advisory_lock(%s, %s) WHERE NOT EXISTS (
    SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
    AND classid = %s::oid AND objid = %s::oid AND objsubid = 2 AND granted
)
"""


def _process(command: str) -> str:
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return (
        f"process {os.getpid()} ({ascii(command)[1:-1][:60]}) on {platform.node()}, since {since}"
    )
