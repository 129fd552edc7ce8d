"""Tokens in PostgreSQL, shared by all servers of a database."""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import Any, TypeVar

from tagalong.journal.errors import JournalError
from tagalong.journal.postgres.connection import RawConnection, postgres_errors
from tagalong.journal.postgres.server import PostgresServer
from tagalong.server.access.token_records import (
    OWNER,
    TokenError,
    TokenRecord,
    digest,
    new_token,
)
from tagalong.server.access.token_store import (
    TokenStore,
    check_number,
    name_is_taken,
    no_such_token,
)

__all__ = ["PostgresTokens"]

T = TypeVar("T")
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_WITHOUT_A_LOOK = 30.0
"""For so long the last known tokens count while the database cannot be reached."""
_ALL = "SELECT name, read_only, created, digest, token FROM tagalong.tokens"
_SET_OWNER = (
    "INSERT INTO tagalong.tokens (name, read_only, digest, token) VALUES (%s, false, %s, %s) "
    "ON CONFLICT (name) DO "
)


class PostgresTokens(TokenStore):
    """The owner's token and the named ones, in a table.

    A copy is kept in memory and compared with the table every second, so that a request waits for
    nothing. A token that another server has removed counts for that long.

    Parameters
    ----------
    url : str
        The database: ``postgresql://USER@HOST:PORT/DATABASE``.
    """

    def __init__(self, url: str):
        self._server = PostgresServer(url)
        self._server.set_up()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._owner = ""
        self._records: tuple[TokenRecord, ...] = ()
        self._looked = 0.0
        self._change(lambda connection: None)
        self._thread = threading.Thread(target=self._follow, name="tagalong tokens", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop comparing with the table."""
        self._ended.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN_LOOKS):
            with suppress(JournalError):
                self._change(lambda connection: None)

    def _change(self, work: Callable[[RawConnection], T]) -> T:
        """Do work in a transaction, and read all tokens; there is always one of the owner."""
        with (
            self._lock,
            postgres_errors(self._server.name),
            closing(self._server.open()) as connection,
        ):
            with connection.transaction():
                result = work(connection)
                rows = connection.execute(_ALL).fetchall()
                if not any(name == OWNER for name, *_ in rows):
                    _write_owner(connection, "NOTHING")  # unless another server was faster
                    rows = connection.execute(_ALL).fetchall()
            self._take_over(rows)
            return result

    def _take_over(self, rows: list[Any]) -> None:
        (self._owner,) = [token for name, *_, token in rows if name == OWNER]
        self._records = tuple(
            TokenRecord(name, read_only, _time(created), sha256)
            for name, read_only, created, sha256, _ in rows
        )
        self._looked = time.monotonic()

    def owner(self) -> str:
        """Return the owner's token. It is made when it is needed for the first time."""
        self.records()
        return self._owner

    def records(self) -> Iterable[TokenRecord]:
        """Return the facts about all tokens, the owner's among them."""
        if time.monotonic() - self._looked > SECONDS_WITHOUT_A_LOOK:
            raise TokenError(f"{self._server.name}: the tokens cannot be read")
        return self._records

    def _insert(self, record: TokenRecord) -> None:
        def work(connection: RawConnection) -> None:
            query = "SELECT COUNT(*) FROM tagalong.tokens WHERE name <> %s"
            check_number(connection.execute(query, (OWNER,)).fetchall()[0][0])
            created = record.created.isoformat() if record.created else None
            row = connection.execute(
                "INSERT INTO tagalong.tokens (name, read_only, created, digest) "
                "VALUES (%s, %s, %s, %s) ON CONFLICT (name) DO NOTHING RETURNING 1",
                (record.name, record.read_only, created, record.sha256),
            ).fetchone()
            if row is None:
                raise name_is_taken(record.name)

        self._change(work)

    def _delete(self, name: str) -> None:
        def work(connection: RawConnection) -> None:
            query = "DELETE FROM tagalong.tokens WHERE name = %s RETURNING 1"
            if connection.execute(query, (name,)).fetchone() is None:
                rows = connection.execute(_ALL).fetchall()
                raise no_such_token(name, (each for each, *_ in rows))

        self._change(work)

    def renew(self) -> str:
        """Replace the owner's token, which ends all log-ins, and return the new one."""
        return self._change(
            lambda connection: _write_owner(
                connection, "UPDATE SET digest = excluded.digest, token = excluded.token"
            )
        )


def _write_owner(connection: RawConnection, if_there_is_one: Any) -> str:
    token = new_token()
    connection.execute(f"{_SET_OWNER}{if_there_is_one}", (OWNER, digest(token), token))
    return token


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)
