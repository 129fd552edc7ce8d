"""Workspaces in PostgreSQL: the journals of many, shared by servers on several machines.

Each workspace has a schema with the tables of a journal. One process at a time holds its lease and
writes. psycopg is needed: ``pip install 'tagalong[postgresql]'``.
"""

from tagalong.journal.postgres.lease import WorkspaceBusyError
from tagalong.journal.postgres.storage import PostgresStorage
from tagalong.journal.postgres.workspaces import PostgresWorkspaces

__all__ = ["PostgresStorage", "PostgresWorkspaces", "WorkspaceBusyError"]
