"""psycopg, which is installed only if PostgreSQL is used."""

from tagalong.journal.errors import RefusedError

__all__ = ["psycopg"]

try:
    import psycopg
except ImportError as error:
    raise RefusedError(
        "workspaces in PostgreSQL need the package psycopg: pip install 'tagalong[postgresql]'"
    ) from error
