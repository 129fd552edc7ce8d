"""Snapshots in PostgreSQL: model files in parts, so that none is in memory as a whole."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tagalong.journal.connection import Connection
from tagalong.journal.errors import DamagedError
from tagalong.journal.reader import Snapshot
from tagalong.journal.snapshots import Snapshots

__all__ = ["PostgresSnapshots"]

BYTES_IN_A_PART = 1 << 20


class PostgresSnapshots(Snapshots):
    """The snapshots of a workspace in PostgreSQL.

    Parameters
    ----------
    name : str
        The workspace, for messages.
    reading : callable
        Lends a connection that sees one state of the tables.
    writing : callable
        Lends a connection within a transaction, which is committed at the end of the block.
    """

    def __init__(
        self,
        name: str,
        reading: Callable[[], AbstractContextManager[Connection]],
        writing: Callable[[], AbstractContextManager[Connection]],
    ):
        self._name = name
        self._reading = reading
        self._writing = writing

    def place(self, name: str) -> str:
        """Return where a snapshot is, for messages.

        Parameters
        ----------
        name : str
            The name of the snapshot.
        """
        return f"{self._name}: snapshots/{name}"

    @contextmanager
    def file(self, snapshot: Snapshot) -> Iterator[Path]:
        """Lend a temporary file with a snapshot; DamagedError if it is missing.

        Parameters
        ----------
        snapshot : Snapshot
            The snapshot.
        """
        query = "SELECT data FROM snapshot_parts WHERE name = ? AND part = ?"
        with tempfile.NamedTemporaryFile(suffix=".tagalong") as file:
            with self._reading() as connection:
                part = 0
                while row := connection.execute(query, (snapshot.name, part)).fetchone():
                    file.write(row[0])
                    part += 1
            if not part:
                raise DamagedError(f"{self.place(snapshot.name)}: the snapshot is missing")
            file.flush()
            yield Path(file.name)

    def write_file(self, snapshot: Snapshot, write: Callable[[Path], None]) -> int:
        """Store the file of a snapshot; return its size.

        Parameters
        ----------
        snapshot : Snapshot
            The snapshot.
        write : callable
            Writes the file, given its path.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / snapshot.name
            write(path)
            with path.open("rb") as file, self._writing() as connection:
                _delete(connection, snapshot.name)
                part = 0
                while data := file.read(BYTES_IN_A_PART):
                    row = (snapshot.name, part, data)
                    connection.execute("INSERT INTO snapshot_parts VALUES (?, ?, ?)", row)
                    part += 1
            return path.stat().st_size

    def names(self) -> list[str]:
        """Return the names of all snapshots that have parts."""
        with self._reading() as connection:
            rows = connection.execute("SELECT name FROM snapshot_parts WHERE part = 0").fetchall()
        return [name for (name,) in rows]

    def remove(self, names: Sequence[str]) -> None:
        """Remove snapshots that are no longer listed.

        Parameters
        ----------
        names : sequence of str
            Their names.
        """
        if names:
            with self._writing() as connection:
                for name in names:
                    _delete(connection, name)


def _delete(connection: Connection, name: str) -> None:
    connection.execute("DELETE FROM snapshot_parts WHERE name = ?", (name,))
