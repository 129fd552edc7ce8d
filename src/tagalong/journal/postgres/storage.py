"""`PostgresStorage`: a workspace in PostgreSQL, with its lease."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from tagalong.journal.connection import Connection
from tagalong.journal.errors import NotFoundError, RefusedError
from tagalong.journal.limits import Limits
from tagalong.journal.postgres.connection import PostgresConnection
from tagalong.journal.postgres.database import PostgresDatabase
from tagalong.journal.postgres.lease import LEASE_SECONDS, LeaseSession
from tagalong.journal.postgres.schema import create_tables, schema_name
from tagalong.journal.postgres.server import PostgresServer, checked_name
from tagalong.journal.postgres.snapshots import PostgresSnapshots
from tagalong.journal.settings import Settings

__all__ = ["DEFAULT", "PostgresStorage"]

DEFAULT = "default"
_SIZE = (
    "SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
    "WHERE c.relnamespace = to_regnamespace(?)::oid AND c.relkind = 'r' "
    "AND (c.relname = 'snapshot_parts') = ?"
)


class PostgresStorage:
    """A workspace in PostgreSQL; see `tagalong.journal.storage.Storage` for the methods.

    Parameters
    ----------
    url : str
        The database: ``postgresql://USER@HOST:PORT/DATABASE``.
    workspace : str, default "default"
        The name of the workspace.
    advertise : str
        The address under which other servers reach this one, when it holds the lease.
    lease_seconds : float, default 15
        How long the holder may say nothing before another process can take the workspace over.
    limits : Limits, optional
        How the workspace is operated.
    session : LeaseSession, optional
        The session that holds the leases of this process; by default one of its own.
    """

    def __init__(
        self,
        url: str,
        workspace: str = DEFAULT,
        *,
        advertise: str = "",
        lease_seconds: float = LEASE_SECONDS,
        limits: Limits | None = None,
        session: LeaseSession | None = None,
    ):
        self.workspace = checked_name(workspace)
        self._server = PostgresServer(url)
        self._limits = Limits() if limits is None else limits
        self._session = session or LeaseSession(self._server, advertise, lease_seconds)
        self.database = PostgresDatabase(
            self._server, self.workspace, self.name, self._session.seconds
        )
        self.snapshots = PostgresSnapshots(self.name, self._viewing, self._fenced)

    @classmethod
    def from_url(cls, url: str, **more: Any) -> "PostgresStorage":
        """Return the storage of ``postgresql://HOST/DATABASE?workspace=NAME``.

        Parameters
        ----------
        url : str
            The URL of the database, with the name of the workspace; by default "default".
        more : object
            Further parameters of the class.
        """
        scheme, address, path, query, fragment = urlsplit(url)
        given = parse_qsl(query, keep_blank_values=True)
        names = [value for name, value in given if name == "workspace"]
        rest = urlencode([pair for pair in given if pair[0] != "workspace"])
        return cls(urlunsplit((scheme, address, path, rest, fragment)), *names[-1:], **more)

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The URL of the workspace, without a password."""
        url = self._server.name
        return f"{url}{'&' if '?' in url else '?'}workspace={self.workspace}"

    def exists(self) -> bool:
        """Whether there is a workspace with this name."""
        return self.database.found() is not None

    @contextmanager
    def lock(
        self,
        *,
        command: str = "tagalong",
        wait: float = 0.0,
        on_wait: Callable[[str], None] | None = None,
    ) -> Iterator[None]:
        """Make the tables if they do not exist, and hold the lease during the block.

        Parameters
        ----------
        command, wait, on_wait
            As for `tagalong.journal.storage.Storage.lock`.
        """
        found = self.database.found() or self._create()
        lease = self._session.take(found[0], self.name, command=command, wait=wait, on_wait=on_wait)
        self.database.lease = lease
        try:
            yield
        finally:
            self.database.lease = None
            self._session.release(lease)

    def _create(self) -> tuple[int, int]:
        """Make an empty workspace, unless another process has just done that."""
        self._server.set_up()
        with self.database.errors(), closing(PostgresConnection(self._server.open)) as connection:
            connection.execute("BEGIN")
            self._insert(connection)
            connection.execute("COMMIT")
        found = self.database.found()
        if found is None:
            raise NotFoundError(f"{self.name}: the workspace was removed meanwhile")
        return found

    def _insert(self, connection: Connection) -> bool:
        """Make the row and the tables, within a transaction; return False if they exist."""
        row = connection.execute(
            "INSERT INTO tagalong.workspaces (name, version) VALUES (?, 0) "
            "ON CONFLICT (name) DO NOTHING RETURNING id",
            (self.workspace,),
        ).fetchone()
        if row is None:
            return False
        connection.execute(f"CREATE SCHEMA {schema_name(row[0])}")
        connection.execute(f"SET LOCAL search_path TO {schema_name(row[0])}")
        version = create_tables(connection)
        query = "UPDATE tagalong.workspaces SET version = ? WHERE id = ?"
        connection.execute(query, (version, row[0]))
        return True

    def limits(self, settings: Settings) -> Limits:
        """Return the limits that were given.

        Parameters
        ----------
        settings : Settings
            The present settings of the journal.
        """
        return self._limits

    def sizes(self) -> dict[str, int]:
        """Return the sizes of tables, with their indexes."""
        with self.reading() as connection:
            return _sizes(connection)

    @contextmanager
    def reading(self, *, older: bool = False) -> Iterator[Connection]:
        """Lend a connection that reads.

        Parameters
        ----------
        older : bool
            Of no use here: a copy has the present version.
        """
        with closing(self.database.connect(read_only=True)) as connection:
            yield connection

    @contextmanager
    def _viewing(self) -> Iterator[Connection]:
        with self.database.errors(), self.reading() as connection:
            self.database.begin_view(connection)
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _fenced(self) -> Iterator[Connection]:
        """Lend a connection that writes much, without holding up other transactions."""
        with self.database.errors(), closing(self.database.connect()) as connection:
            connection.execute("BEGIN")
            yield connection
            self.database.fence(connection)
            connection.execute("COMMIT")

    def check_free(self, what: str) -> None:
        """Raise RefusedError if there is a workspace with this name.

        Parameters
        ----------
        what : str
            Of no use here: a backup in PostgreSQL is a workspace.
        """
        if self.exists():
            raise RefusedError(f"{self.name}: there is a workspace here; choose another name")

    @contextmanager
    def made(self) -> Iterator["NewPostgresStorage"]:
        """Let the block fill a new workspace, within one transaction."""
        self._server.set_up()
        with self.database.errors(), closing(PostgresConnection(self._open)) as connection:
            connection.execute("BEGIN")
            if not self._insert(connection):
                self.check_free("workspace")
            yield NewPostgresStorage(self.name, self.database, connection)
            connection.execute(
                "UPDATE tagalong.workspaces SET last_seq = (SELECT COALESCE(MAX(seq), 0) "
                "FROM events) WHERE name = ?",
                (self.workspace,),
            )
            connection.execute("COMMIT")

    def _open(self) -> Any:
        connection = self._server.open()
        self._server.check_durable(connection)
        return connection


class NewPostgresStorage:
    """A workspace that is being copied, in a transaction that is not yet committed.

    Parameters
    ----------
    name : str
        The workspace, for messages.
    database : PostgresDatabase
        The journal.
    connection : Connection
        The connection with the transaction.
    """

    def __init__(self, name: str, database: PostgresDatabase, connection: Connection):
        self.database = database
        self._connection = connection
        self.snapshots = PostgresSnapshots(name, self.writing, self.writing)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend the connection."""
        yield self._connection

    @contextmanager
    def reading(self, *, older: bool = False) -> Iterator[Connection]:
        """Lend the connection.

        Parameters
        ----------
        older : bool
            Of no use here.
        """
        yield self._connection

    def sizes(self) -> dict[str, int]:
        """Return the sizes of tables, with their indexes."""
        return _sizes(self._connection)


def _sizes(connection: Connection) -> dict[str, int]:
    ((schema,),) = connection.execute("SELECT current_schema()").fetchall()
    found = {}
    for name, is_parts in (("journal", False), ("snapshots", True)):
        ((size,),) = connection.execute(_SIZE, (schema, is_parts)).fetchall()
        found[name] = int(size)
    return found
