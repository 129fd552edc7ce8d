"""`PostgresWorkspaces`: the workspaces in a database, and which server holds which."""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from tagalong.journal.errors import ConflictError, JournalError, NotFoundError
from tagalong.journal.limits import Limits
from tagalong.journal.postgres.connection import postgres_errors
from tagalong.journal.postgres.lease import LEASE_SECONDS, LeaseSession
from tagalong.journal.postgres.schema import schema_name
from tagalong.journal.postgres.server import LOCKS, PostgresServer
from tagalong.journal.postgres.storage import DEFAULT, PostgresStorage
from tagalong.journal.workspace import Workspace
from tagalong.tagger import Tagger

__all__ = ["PostgresWorkspaces"]

# A holder whose session has ended is none, whatever it has left in the table.
_HOLDER = """
SELECT w.holder FROM tagalong.workspaces w JOIN pg_locks l ON l.locktype = 'advisory'
AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND l.classid = %s::oid AND l.objid = w.id::oid AND l.objsubid = 2 AND l.granted
WHERE w.name = %s
"""


class PostgresWorkspaces:
    """The workspaces in a database of PostgreSQL, for a server that shares them with others.

    There is always one named "default", which is made when it is opened for the first time.

    Parameters
    ----------
    url : str
        The database: ``postgresql://USER@HOST:PORT/DATABASE``.
    advertise : str
        The address under which other servers reach this one.
    lease_seconds : float, default 15
        How long a server may say nothing before others can take its workspaces over.
    limits : Limits, optional
        How workspaces are operated.

    Attributes
    ----------
    is_shared : bool
        True: other servers may have the same workspaces, each of which one server holds.
    """

    is_shared = True

    def __init__(
        self,
        url: str,
        *,
        advertise: str = "",
        lease_seconds: float = LEASE_SECONDS,
        limits: Limits | None = None,
    ):
        self._url = url
        self._limits = limits
        self._server = PostgresServer(url)
        self._session = LeaseSession(self._server, advertise, lease_seconds)

    @property
    def name(self) -> str:
        """The URL without a password."""
        return self._server.name

    def set_up(self) -> None:
        """Make the tables that workspaces share; errors if the database cannot be used."""
        self._server.set_up()
        with postgres_errors(self.name), closing(self._server.open()) as connection:
            self._server.check_durable(connection)

    def storage(self, name: str) -> PostgresStorage:
        """Return the storage of a workspace, which need not exist, for `Workspace`.

        Parameters
        ----------
        name : str
            The workspace.
        """
        return PostgresStorage(self._url, name, limits=self._limits, session=self._session)

    def names(self) -> list[str]:
        """Return the names of all workspaces, the default one first."""
        found = [name for (name,) in self._rows("SELECT name FROM tagalong.workspaces ORDER BY 1")]
        return [DEFAULT, *(name for name in found if name != DEFAULT)]

    def exists(self, name: str) -> bool:
        """Whether there is a workspace with this name.

        Parameters
        ----------
        name : str
            The name.
        """
        return name in self.names()

    def open(
        self, name: str, on_problem: Callable[[JournalError], None] | None = None
    ) -> Workspace:
        """Open a workspace for writing; the default one is made if it does not exist.

        Parameters
        ----------
        name : str
            Its name; NotFoundError if there is none.
        on_problem : callable, optional
            Called with problems that are survived.

        Raises
        ------
        WorkspaceBusyError
            If another server holds it; ``address`` is what that one advertises.
        """
        return Workspace(
            self.storage(name),
            create=name == DEFAULT,
            command="tagalong serve",
            on_problem=on_problem,
        )

    def _rows(self, query: Any, *values: Any) -> list[Any]:
        with postgres_errors(self.name), closing(self._server.open()) as connection:
            if not self._server.is_set_up(connection):
                return []
            return connection.execute(query, values).fetchall()

    def holder(self, name: str) -> str | None:
        """Return the address of the server that holds a workspace.

        Parameters
        ----------
        name : str
            The workspace.

        Returns
        -------
        str or None
            The address that it advertises, "" if it advertises none; None if nobody holds the
            workspace.
        """
        rows = self._rows(_HOLDER, LOCKS, name)
        return (rows[0][0] or "") if rows else None

    def create(
        self,
        name: str,
        *,
        tagger: Tagger | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a workspace; ConflictError if there is one.

        Parameters
        ----------
        name : str
            The workspace.
        tagger : Tagger, optional
            The model to start from.
        settings : mapping of str to object, optional
            Its settings.
        """
        storage = self.storage(name)
        if name == DEFAULT or storage.exists():
            raise ConflictError(f"there is a workspace {name!r} already")
        Workspace(storage, tagger=tagger, settings=settings).close()

    def remove(self, name: str) -> None:
        """Delete a workspace with everything in it; BusyError if a process has it open.

        Parameters
        ----------
        name : str
            The workspace; NotFoundError if there is none. The default one cannot be removed.
        """
        if name == DEFAULT:
            raise ConflictError("the default workspace cannot be removed")
        storage = self.storage(name)
        found = storage.database.found()
        if found is None:
            raise NotFoundError(f"there is no workspace {name!r}")
        with (
            storage.lock(command="tagalong"),
            postgres_errors(self.name),
            closing(self._server.open()) as connection,
            connection.transaction(),
        ):
            connection.execute("DELETE FROM tagalong.workspaces WHERE id = %s", (found[0],))
            connection.execute(_drop(found[0]))


def _drop(id: int) -> Any:
    return f"DROP SCHEMA {schema_name(id)} CASCADE"
