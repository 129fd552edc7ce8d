"""kill -9 of the server or its database under load: nothing that was acknowledged is lost.

`TAGALONG_KILLS` is the number of kills of each long form. Each round of 50 has a workspace of its
own and is a test of its own, so that a run can be continued: ``-k "round-17"``. Servers of the
long form are forked from a process that has imported everything, so that they start at once.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from tagalong.journal.storage import Place
from tests.journal.examples import new_workspace
from tests.services.forked_server import Forker
from tests.services.load import Acknowledged, Load, load
from tests.services.postgres import PostgresProcess
from tests.services.proofs import (
    assert_acknowledged_are_there,
    assert_nothing_else_is_there,
    assert_sound,
)
from tests.services.server_process import ServerProcess, serving
from tests.services.watchers import Follower

KILLS = int(os.environ.get("TAGALONG_KILLS", "1000"))
KILLS_PER_ROUND = 50
CLIENTS = 4
STARTS = ("small", "race")

Kill: TypeAlias = Callable[[ServerProcess, Load, random.Random], None]
"""Kills a process at a random moment, and starts it again."""


def wait_for_changes(clients: Load, choose: random.Random) -> None:
    clients.wait_for(len(clients.acknowledged) + choose.randrange(80))
    time.sleep(choose.uniform(0, 0.02))


def kill_the_server(server: ServerProcess, clients: Load, choose: random.Random) -> None:
    """Kill a server that is starting, or one that has acknowledged some more changes."""
    if choose.random() < 0.2:
        server.kill()
        server.begin()
        time.sleep(choose.uniform(0, 1.2 * server.seconds_to_start))
    else:
        wait_for_changes(clients, choose)
    server.kill()
    server.start()


def kill_the_database(database: PostgresProcess) -> Kill:
    def kill(server: ServerProcess, clients: Load, choose: random.Random) -> None:
        wait_for_changes(clients, choose)
        database.kill()
        time.sleep(choose.uniform(0, 0.3))
        database.start()

    return kill


def run_with_kills(
    place: Place,
    folder: Path,
    kills: int,
    seed: int,
    kill: Kill = kill_the_server,
    *options: str,
    forker: Forker | None = None,
) -> str:
    """Let clients work while something is killed again and again, then look at everything.

    Parameters
    ----------
    place : path or str
        The workspace.
    folder : path
        The folder of the server.
    kills, seed : int
        How often, and the random moments.
    kill : callable
        What is killed.
    options : str
        Further options of the server.
    forker : Forker, optional
        Starts the server; by default it is a command of its own.

    Returns
    -------
    str
        The messages of the server.
    """
    choose = random.Random(seed)
    start = STARTS[seed % len(STARTS)]
    new_workspace(place, start).close()
    begin = time.monotonic()
    with serving(folder, *options, forker=forker) as server:
        follower = Follower(server.url, server.token)
        with load(server.url, server.token, clients=CLIENTS, seed=seed) as clients:
            for _ in range(kills):
                kill(server, clients, choose)
            clients.wait_for(len(clients.acknowledged) + 20)
            acknowledged = [*clients.finish()]
        seconds = time.monotonic() - begin
        print(f"seed {seed}: {kills} kills, {len(acknowledged)} changes, {seconds:.0f} s")
        last = 1 + len(acknowledged) + 1
        follower.finish(last)
        acknowledged.append(Acknowledged(last, {"kind": "item", "id": "last"}))
        assert server.stop() == 0
        messages = server.messages
    tip = assert_acknowledged_are_there(place, acknowledged)
    assert_nothing_else_is_there(tip, acknowledged)
    assert follower.ids == list(range(2, tip + 1))  # each once, in order, over all kills
    assert_sound(place, start, folder.with_name("again"))
    kinds = {each.facts["kind"] for each in acknowledged}
    assert {"item", "answer", "undo", "label-renamed"} <= kinds
    return messages


@pytest.fixture(scope="module")
def forking() -> Iterator[Forker]:
    """Starts many servers."""
    forker = Forker()
    yield forker
    forker.close()


@pytest.fixture
def forker(request: pytest.FixtureRequest) -> Forker | None:
    """Starts the servers of the long form; those of the short form are commands of their own."""
    is_long = request.node.get_closest_marker("long") is not None
    return request.getfixturevalue("forking") if is_long else None


few_and_many = pytest.mark.parametrize(
    "kills, seed",
    [
        pytest.param(3, 1, id="3-kills"),
        *(
            pytest.param(
                min(KILLS_PER_ROUND, KILLS - round * KILLS_PER_ROUND),
                1000 + round,
                id=f"round-{round}",
                marks=pytest.mark.long,
            )
            for round in range(-(-KILLS // KILLS_PER_ROUND))
        ),
    ],
)


@few_and_many
def test_kills_of_the_server(tmp_path: Path, kills: int, seed: int, forker: Forker | None) -> None:
    folder = tmp_path / "w"
    assert run_with_kills(folder, folder, kills, seed, forker=forker) == ""


@few_and_many
def test_kills_of_the_server_with_postgresql(
    tmp_path: Path, postgres_url: str, kills: int, seed: int, forker: Forker | None
) -> None:
    options = ("--journal", postgres_url)
    run_with_kills(
        postgres_url, tmp_path / "w", kills, seed, kill_the_server, *options, forker=forker
    )


@few_and_many
def test_kills_of_the_database(
    tmp_path: Path, own_postgres_server: PostgresProcess, kills: int, seed: int
) -> None:
    url, kill = own_postgres_server.url(), kill_the_database(own_postgres_server)
    run_with_kills(url, tmp_path / "w", kills, seed, kill, "--journal", url)
