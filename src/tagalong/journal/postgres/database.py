"""The database of a journal in PostgreSQL: connections to it, and transactions that are fenced."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from typing import Any

from tagalong.journal.connection import ROWS_AT_ONCE, Connection
from tagalong.journal.errors import DamagedError, NotFoundError, StorageError
from tagalong.journal.postgres.connection import (
    PostgresConnection,
    RawConnection,
    postgres_errors,
)
from tagalong.journal.postgres.driver import psycopg
from tagalong.journal.postgres.lease import LEASE_SECONDS, Lease
from tagalong.journal.postgres.schema import MIGRATIONS, schema_name
from tagalong.journal.postgres.server import PostgresServer
from tagalong.journal.schema import SCHEMA_VERSION

__all__ = ["PostgresDatabase"]

_READ_ONLY = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_READ_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_FENCE = "SELECT 1 FROM tagalong.workspaces WHERE id = ? AND epoch = ? FOR"
_DELETED_FROM = ("contents", "items", "idempotency_keys", "snapshot_parts")


class PostgresDatabase:
    """A journal in PostgreSQL; see `tagalong.journal.connection.Database` for the methods.

    Parameters
    ----------
    server : PostgresServer
        The database.
    workspace : str
        The name of the workspace.
    name : str
        The name of the workspace in messages.
    seconds : float
        How long a transaction may be idle, and how long one may wait for another.

    Attributes
    ----------
    lease : Lease or None
        The lease of this process.
    """

    failures: tuple[type[Exception], ...] = (psycopg.Error,)
    short_name = "journal"
    most_idle = 2

    def __init__(
        self, server: PostgresServer, workspace: str, name: str, seconds: float = LEASE_SECONDS
    ):
        self.lease: Lease | None = None
        self._server = server
        self._workspace = workspace
        self.name = name
        self._seconds = seconds

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of PostgreSQL into errors of the journal."""
        return postgres_errors(self.name)

    def found(self) -> tuple[int, int] | None:
        """Return the number of the workspace and the version of its tables; None without one."""
        with self.errors(), closing(self._server.open()) as connection:
            return self._row(connection)

    def _row(self, connection: RawConnection) -> tuple[int, int] | None:
        if not self._server.is_set_up(connection):
            return None
        query = "SELECT id, version FROM tagalong.workspaces WHERE name = %s"
        return connection.execute(query, (self._workspace,)).fetchone()

    def connect(self, *, read_only: bool = False) -> Connection:
        """Open a connection; one that writes needs the lease, and upgrades older tables."""
        with self.errors():
            connection = PostgresConnection(self._open_reader if read_only else self._open_writer)
            try:
                if not read_only:
                    self._upgrade(connection)
                    for problem in self.damage(connection, most=1):
                        raise DamagedError(f"{self.name}: damaged: {problem}")
            except BaseException:
                connection.close()
                raise
            return connection

    def _open_reader(self) -> RawConnection:
        return self._open(default_transaction_read_only="on")

    def _open_writer(self) -> RawConnection:
        milliseconds = max(1, round(1000 * self._seconds))
        connection = self._open(
            idle_in_transaction_session_timeout=milliseconds, lock_timeout=2 * milliseconds
        )
        try:
            self._server.check_durable(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self, **settings: Any) -> RawConnection:
        connection = self._server.open(**settings)
        try:
            row = self._row(connection)
            if row is None:
                raise NotFoundError(f"{self.name}: there is no workspace here")
            id, version = row
            if version > SCHEMA_VERSION:
                raise DamagedError(
                    f"{self.name}: the journal has version {version}, but this Tagalong reads "
                    f"versions up to {SCHEMA_VERSION}: upgrade Tagalong to use it"
                )
            if version < SCHEMA_VERSION and "default_transaction_read_only" in settings:
                raise DamagedError(
                    f"{self.name}: the journal has version {version}, from an older Tagalong: open "
                    "it once for writing to upgrade it, for example with 'tagalong journal compact'"
                )
            connection.execute("SELECT set_config('search_path', %s, false)", (schema_name(id),))
        except BaseException:
            connection.close()
            raise
        return connection

    def _upgrade(self, connection: PostgresConnection) -> None:
        query = "SELECT version FROM tagalong.workspaces WHERE name = ?"
        ((version,),) = connection.execute(query, (self._workspace,)).fetchall()
        if version == SCHEMA_VERSION:
            return
        self.begin_writing(connection)
        for step in range(version, SCHEMA_VERSION):
            MIGRATIONS[step](connection)
        query = "UPDATE tagalong.workspaces SET version = ? WHERE name = ?"
        connection.execute(query, (SCHEMA_VERSION, self._workspace))
        connection.execute("COMMIT")

    def begin_view(self, connection: Connection) -> None:
        """Begin to read one state; a query that fails does not end the view."""
        _begin(connection, _READ_ONLY)
        connection.execute("SELECT 1").fetchone()
        connection.execute("SAVEPOINT view")

    def begin_writing(self, connection: Connection) -> None:
        """Begin to write. Until the end of the transaction nobody can take the workspace."""
        lease = self._lease()
        _begin(connection, _READ_WRITE)
        self._check(connection, lease, "NO KEY UPDATE")

    def _lease(self) -> Lease:
        if self.lease is None:
            raise StorageError(f"{self.name}: the workspace is not open for writing")
        if self.lease.is_lost:
            raise self.lease.lost()
        return self.lease

    def _check(self, connection: Connection, lease: Lease, strength: str) -> None:
        query = f"{_FENCE} {strength}"
        if connection.execute(query, (lease.id, lease.epoch)).fetchone() is None:
            raise lease.lost()

    def fence(self, connection: Connection) -> None:
        """Raise LeaseLostError unless this process may write, at the end of a long transaction.

        Parameters
        ----------
        connection : Connection
            The connection, whose transaction began without ``begin_writing``, so that it held up
            no other.
        """
        self._check(connection, self._lease(), "SHARE")

    def claim(self, connection: Connection, seq: int) -> None:
        """Count an event, or raise LeaseLostError if another process has appended it."""
        lease = self._lease()
        row = connection.execute(
            "UPDATE tagalong.workspaces SET last_seq = ? WHERE id = ? AND epoch = ? "
            "AND last_seq = ? RETURNING 1",
            (seq, lease.id, lease.epoch, seq - 1),
        ).fetchone()
        if row is None:
            raise lease.lost()

    def settle(self, connection: Connection) -> None:
        """Wait for a transaction of a lost connection, which PostgreSQL may still be ending."""
        self.begin_writing(connection)
        connection.execute("COMMIT")

    def rows(self, connection: Connection, query: str, after: int, upto: int) -> Iterator[Any]:
        """Return the rows of a query part by part, as a client gets all its rows at once."""
        while True:
            rows = connection.execute(f"{query} LIMIT {ROWS_AT_ONCE}", (after, upto)).fetchall()
            yield from rows
            if len(rows) < ROWS_AT_ONCE:
                return
            after = rows[-1][0]

    @property
    def is_lost(self) -> bool:
        """Whether another process has taken the lease."""
        return self.lease is not None and self.lease.is_lost

    def is_broken(self, connection: Connection) -> bool:
        """Whether a connection is lost."""
        return isinstance(connection, PostgresConnection) and connection.is_broken

    def shrink_log(self, connection: Connection) -> bool:
        """Let the space of deleted rows be used again, so that it is overwritten by and by."""
        connection.execute(f"VACUUM (SKIP_LOCKED) {', '.join(_DELETED_FROM)}")
        return True

    def vacuum(self, connection: Connection) -> None:
        """Write the tables anew, without deleted rows."""
        connection.execute(f"VACUUM (FULL, ANALYZE) {', '.join(_DELETED_FROM)}")
        connection.execute("VACUUM (ANALYZE) events, taken_back, label_changes")

    def damage(self, connection: Connection, *, most: int, quick: bool = False) -> list[str]:
        """Return whether the last events are missing; pg_amcheck checks the files themselves."""
        query = (
            "SELECT last_seq, (SELECT COALESCE(MAX(seq), 0) FROM events) "
            "FROM tagalong.workspaces WHERE name = ?"
        )
        ((counted, tip),) = connection.execute(query, (self._workspace,)).fetchall()
        missing = range(tip + 1, min(counted, tip + most) + 1)
        return [f"event {seq:,} is missing" for seq in missing]

    def unlisted_event(self, connection: Connection) -> str | None:
        """Return None: pg_amcheck compares indexes with their tables."""
        return None


def _begin(connection: Connection, query: str) -> None:
    assert isinstance(connection, PostgresConnection)
    connection.begin(query)
