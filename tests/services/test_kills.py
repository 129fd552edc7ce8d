"""kill -9 of a server at random moments under load: nothing acknowledged is lost.

`TAGALONG_KILLS` is the number of kills of the long form. Each round of 25 has a workspace of its
own and is a test of its own, so that a run can be continued: ``-k "round-17"``.
"""

import os
import random
import time
from pathlib import Path

import pytest

from tests.journal.examples import new_workspace
from tests.services.load import Acknowledged, Load, load
from tests.services.proofs import (
    assert_acknowledged_are_there,
    assert_nothing_else_is_there,
    assert_sound,
)
from tests.services.server_process import ServerProcess, serving
from tests.services.watchers import Follower

KILLS = int(os.environ.get("TAGALONG_KILLS", "1000"))
KILLS_PER_ROUND = 25
CLIENTS = 4
STARTS = ("small", "race")


def kill_at_a_random_moment(server: ServerProcess, clients: Load, choose: random.Random) -> None:
    """Kill a server that is starting, or one that has acknowledged some more changes."""
    if choose.random() < 0.2:
        server.kill()
        server.begin()
        time.sleep(choose.uniform(0, 1.5))
        server.kill()
    else:
        clients.wait_for(len(clients.acknowledged) + choose.randrange(80))
        time.sleep(choose.uniform(0, 0.02))
        server.kill()


def run_with_kills(folder: Path, kills: int, seed: int) -> None:
    """Let clients work while the server is killed again and again, then look at everything."""
    choose = random.Random(seed)
    start = STARTS[seed % len(STARTS)]
    new_workspace(folder, start).close()
    begin = time.monotonic()
    with serving(folder) as server:
        follower = Follower(server.url, server.token)
        with load(server.url, server.token, clients=CLIENTS, seed=seed) as clients:
            for number in range(1, kills + 1):
                kill_at_a_random_moment(server, clients, choose)
                server.start()
                if number % KILLS_PER_ROUND == 0 or number == kills:
                    seconds = time.monotonic() - begin
                    print(
                        f"seed {seed}: {number} kills, {len(clients.acknowledged)} "
                        f"acknowledged changes, {seconds:.0f} s"
                    )
            clients.wait_for(len(clients.acknowledged) + 20)
            acknowledged = [*clients.finish()]
        last = 1 + len(acknowledged) + 1
        follower.finish(last)
        acknowledged.append(Acknowledged(last, {"kind": "item", "id": "last"}))
        assert server.stop() == 0
        assert server.messages == ""
    tip = assert_acknowledged_are_there(folder, acknowledged)
    assert_nothing_else_is_there(tip, acknowledged)
    assert follower.ids == list(range(2, tip + 1))  # each once, in order, over all kills
    assert_sound(folder, start)
    kinds = {each.facts["kind"] for each in acknowledged}
    assert {"item", "answer", "undo", "label-renamed"} <= kinds


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_three_times(tmp_path: Path, seed: int) -> None:
    run_with_kills(tmp_path / "w", 3, seed)


@pytest.mark.long
@pytest.mark.parametrize(
    "round", [pytest.param(n, id=f"round-{n}") for n in range(-(-KILLS // KILLS_PER_ROUND))]
)
def test_killed_many_times(tmp_path: Path, round: int) -> None:
    kills = min(KILLS_PER_ROUND, KILLS - round * KILLS_PER_ROUND)
    run_with_kills(tmp_path / "w", kills, 1000 + round)
