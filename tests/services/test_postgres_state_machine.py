"""The state machine of the journal over PostgreSQL.

After a crash another process goes on: it takes the lease over, and the first one may do what it
likes.
"""

import itertools
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import settings

from tagalong.journal import Workspace
from tagalong.journal.postgres import PostgresStorage
from tests.journal.test_state_machine import IS_LONG, JournalMachine
from tests.services.postgres import PostgresProcess
from tests.services.test_postgres_leases import LONG, end_lease_session

_numbers = itertools.count()
_server: list[PostgresProcess] = []


@pytest.fixture(scope="module", autouse=True)
def server(postgres_server: PostgresProcess) -> Iterator[None]:
    _server.append(postgres_server)
    yield
    _server.clear()


class PostgresMachine(JournalMachine):
    """Requests to a workspace in PostgreSQL and to the naive one."""

    def __init__(self) -> None:
        super().__init__()
        self._url = _server[0].create(f"machine_{next(_numbers)}")
        self._storage = self._new_storage()

    def _new_storage(self) -> PostgresStorage:
        return PostgresStorage(self._url, lease_seconds=LONG)

    @property
    def _place(self) -> PostgresStorage:
        return self._storage

    def _go_on_after_a_crash(self) -> None:
        crashed = self.workspace
        end_lease_session(self._url)
        self._storage = self._new_storage()
        self.workspace = Workspace(self._storage, create=False)
        crashed.close()  # it may want to make a snapshot

    def _remove_snapshots(self) -> None:
        with self._storage.lock(), closing(self._storage.database.connect()) as connection:
            connection.execute("DELETE FROM snapshots")
            connection.execute("DELETE FROM snapshot_parts")


PostgresMachine.TestCase.settings = settings(
    max_examples=200 if IS_LONG else 10, stateful_step_count=60 if IS_LONG else 30, deadline=None
)
TestJournalInPostgres = PostgresMachine.TestCase
