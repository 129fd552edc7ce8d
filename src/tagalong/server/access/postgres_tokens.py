"""Tokens in PostgreSQL, shared by all servers of a database."""

import hmac
import threading
import time
from collections.abc import Callable, Mapping
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
    check_name,
    digest,
    matching,
    new_token,
)
from tagalong.server.access.who import Who

__all__ = ["PostgresTokens"]

T = TypeVar("T")
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_WITHOUT_A_LOOK = 30.0
"""For so long the last known tokens count while the database cannot be reached."""
_MAX_NAMED = 1000
_ALL = "SELECT name, read_only, created, digest, token FROM tagalong.tokens"
_SET_OWNER = (
    "INSERT INTO tagalong.tokens (name, read_only, digest, token) VALUES (%s, false, %s, %s) "
    "ON CONFLICT (name) DO "
)


class PostgresTokens:
    """The owner's token and the named ones, in a table; see `TokenStore` for the methods.

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
        self._records: Mapping[str, TokenRecord] = {}
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
        found = {
            name: TokenRecord(name, read_only, _time(created), sha256)
            for name, read_only, created, sha256, _ in rows
        }
        (self._owner,) = [token for name, *_, token in rows if name == OWNER]
        self._records = found
        self._looked = time.monotonic()

    def _known(self) -> Mapping[str, TokenRecord]:
        if time.monotonic() - self._looked > SECONDS_WITHOUT_A_LOOK:
            raise TokenError(f"{self._server.name}: the tokens cannot be read")
        return self._records

    def owner(self) -> str:
        """Return the owner's token. It is made when it is needed for the first time."""
        self._known()
        return self._owner

    def secret(self) -> bytes:
        """Return a key that follows from the owner's token. It signs log-ins."""
        return hmac.digest(self.owner().encode(), b"tagalong log-ins", "sha256")

    def identify(self, token: str) -> Who | None:
        """Return who holds a token; None if it is not, or no longer, a token.

        Parameters
        ----------
        token : str
            Any text.
        """
        record = matching(token, self._known().values())
        return record.who() if record else None

    def find(self, name: str) -> TokenRecord | None:
        """Return the facts about the token with a name, also "owner"; None if there is none.

        Parameters
        ----------
        name : str
            Any text.
        """
        return self._known().get(name)

    def list(self) -> tuple[TokenRecord, ...]:
        """Return the named tokens, in the order of their names."""
        return tuple(record for name, record in sorted(self._known().items()) if name != OWNER)

    def add(self, name: str, read_only: bool = False) -> str:
        """Make a named token and return it; TokenError if the name is taken or not allowed.

        Parameters
        ----------
        name : str
            Its name: 1 to 63 characters of a-z, 0-9, "_", "." and "-"; not "owner".
        read_only : bool
            Whether it allows no changes.
        """
        check_name(name)
        token, now = new_token(), datetime.now(UTC).replace(microsecond=0)

        def work(connection: RawConnection) -> None:
            ((count,),) = connection.execute("SELECT COUNT(*) FROM tagalong.tokens").fetchall()
            if count > _MAX_NAMED:
                raise TokenError(
                    f"there are {_MAX_NAMED:,} named tokens already: remove some first"
                )
            row = connection.execute(
                "INSERT INTO tagalong.tokens (name, read_only, created, digest) "
                "VALUES (%s, %s, %s, %s) ON CONFLICT (name) DO NOTHING RETURNING 1",
                (name, read_only, now.isoformat(), digest(token)),
            ).fetchone()
            if row is None:
                raise TokenError(
                    f"there is a token {name!r} already: choose another name, or remove it first"
                )

        self._change(work)
        return token

    def remove(self, name: str) -> None:
        """Remove a named token; TokenError if there is none.

        Parameters
        ----------
        name : str
            Its name.
        """
        check_name(name)

        def work(connection: RawConnection) -> None:
            query = "DELETE FROM tagalong.tokens WHERE name = %s RETURNING 1"
            if connection.execute(query, (name,)).fetchone() is None:
                rows = connection.execute(_ALL).fetchall()
                names = ", ".join(sorted(each for each, *_ in rows if each != OWNER)) or "none"
                raise TokenError(f"there is no token {name!r}; named tokens: {names}")

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
