"""A server of PostgreSQL, and what all workspaces in a database share."""

import re
from contextlib import closing
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from tagalong.journal.errors import RefusedError, StorageError
from tagalong.journal.postgres.connection import RawConnection, postgres_errors
from tagalong.journal.postgres.driver import psycopg

__all__ = ["LOCKS", "PostgresServer", "checked_name"]

LOCKS = 0x54616761  # the first part of the numbers of all advisory locks: "Taga"
_SETTING_UP = 0
_OLDEST = 14
_SECONDS_TO_CONNECT = 10
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
# How a commit can be lost although it was acknowledged, and what to do about it.
_UNSAFE = {
    "synchronous_commit": "a commit would be acknowledged before it is on the disk",
    "fsync": "nothing would survive a power failure for certain",
    "full_page_writes": "a power failure could leave torn pages",
}

# `epoch` grows whenever a process takes the lease of a workspace, and fences off earlier ones.
# Rows are updated with every event, so that pages have room for new versions.
_SHARED = """
CREATE SCHEMA tagalong;
CREATE TABLE tagalong.workspaces (
    id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    epoch BIGINT NOT NULL DEFAULT 0,
    last_seq BIGINT NOT NULL DEFAULT 0,
    holder TEXT,
    process TEXT
) WITH (fillfactor = 20);
CREATE TABLE tagalong.tokens (
    name TEXT COLLATE "C" PRIMARY KEY,
    read_only BOOLEAN NOT NULL,
    created TEXT,
    digest TEXT NOT NULL,
    token TEXT
);
"""


def checked_name(name: str) -> str:
    """Return the name of a workspace; RefusedError if it cannot be one.

    Parameters
    ----------
    name : str
        The name.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RefusedError(
            f"the name of a workspace has 1 to 63 characters of a-z, 0-9, '_' and '-', and begins "
            f"with a letter or a digit, unlike {name!r}"
        )
    return name


class PostgresServer:
    """A database in a server of PostgreSQL.

    Parameters
    ----------
    url : str
        The database: ``postgresql://USER@HOST:PORT/DATABASE``, as PostgreSQL defines it.
    """

    def __init__(self, url: str):
        try:
            found = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error as error:
            raise RefusedError(f"this is no URL of PostgreSQL: {error}") from error
        self._url = url
        self._secret = str(found.get("password") or "")

    @property
    def name(self) -> str:
        """The URL without a password."""
        return _without_password(self._url)

    def open(self, **settings: Any) -> RawConnection:
        """Open a connection outside of a transaction; StorageError if that is not possible.

        Parameters
        ----------
        settings : object
            Settings of the session, by name.
        """
        try:
            connection = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=_SECONDS_TO_CONNECT,
                application_name="tagalong",
            )
        except psycopg.Error as error:
            problem = " ".join(str(error).split())
            if self._secret:
                problem = problem.replace(self._secret, "...")
            raise StorageError(f"{self.name}: the database cannot be reached: {problem}") from error
        try:
            with postgres_errors(self.name):
                for name, value in settings.items():
                    connection.execute("SELECT set_config(%s, %s, false)", (name, str(value)))
        except BaseException:
            connection.close()
            raise
        return connection

    def check_durable(self, connection: RawConnection) -> None:
        """Raise RefusedError if an acknowledged commit could be lost; keep it like that.

        Parameters
        ----------
        connection : Connection
            A connection that will write.
        """
        if connection.info.server_version < _OLDEST * 10000:
            raise RefusedError(
                f"{self.name}: this is PostgreSQL {connection.info.server_version // 10000}; "
                f"{_OLDEST} or newer is necessary"
            )
        for name, reason in _UNSAFE.items():
            ((value,),) = connection.execute("SELECT current_setting(%s)", (name,)).fetchall()
            if value == "off":
                raise RefusedError(
                    f"{self.name}: {name} is off, so that {reason}; set {name} = on in "
                    "postgresql.conf, for the role and for the database"
                )
            if name == "synchronous_commit":  # a change of the configuration must not change it
                connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        ((encoding,),) = connection.execute("SELECT current_setting('server_encoding')").fetchall()
        if encoding != "UTF8":
            raise RefusedError(f"{self.name}: the encoding of the database is {encoding}, not UTF8")

    def is_set_up(self, connection: RawConnection) -> bool:
        """Whether the tables that workspaces share exist."""
        query = "SELECT to_regclass('tagalong.workspaces') IS NOT NULL"
        ((found,),) = connection.execute(query).fetchall()
        return bool(found)

    def set_up(self) -> None:
        """Make the tables that workspaces share, unless they exist."""
        with postgres_errors(self.name), closing(self.open()) as connection:
            if self.is_set_up(connection):
                return
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCKS, _SETTING_UP))
                if not self.is_set_up(connection):
                    connection.execute(_SHARED)


def _without_password(url: str) -> str:
    scheme, address, path, query, fragment = urlsplit(url)
    user, at, place = address.rpartition("@")
    shown = [(name, value) for name, value in parse_qsl(query) if name != "password"]
    address = f"{user.partition(':')[0]}{at}{place}"
    return urlunsplit((scheme, address, path, urlencode(shown, safe="/"), fragment))
