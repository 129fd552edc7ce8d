"""SIGTERM under load: a clean end in time, nothing acknowledged is lost, and a quick start."""

from pathlib import Path

import numpy as np

from tagalong import Item
from tagalong.client import Client
from tagalong.journal.listing import list_events
from tagalong.server.http.running import Running
from tests.cpu_time import FIXED_WORK, fixed_work, processor_seconds
from tests.journal.examples import new_workspace
from tests.services.load import load
from tests.services.processor_time import cpu_seconds, cpu_seconds_of_ended
from tests.services.proofs import assert_acknowledged_are_there, assert_sound
from tests.services.server_process import ServerProcess, serving
from tests.services.waiting import wait_until


def lessons(count: int) -> list[Item]:
    """Long texts: seconds of work, which are worth several snapshots."""
    rng = np.random.default_rng(1)
    found = []
    for number in range(count):
        words = [f"word{word}" for word in rng.integers(0, 20_000, 400)]
        labels = [f"label {label}" for label in rng.integers(0, 50, 2)]
        found.append(Item(f"lesson {number}", " ".join(words), labels=tuple(dict.fromkeys(labels))))
    return found


def snapshots_of(folder: Path) -> list[int]:
    """The last events of the snapshots."""
    return [snapshot.seq for snapshot in list_events(folder).summary.snapshots]


def assert_stops_in_time(server: ServerProcess) -> None:
    """Stop a server. After 5 seconds it would end itself: so much work may be left at most.

    Its processor time counts, as on a busy machine everything takes longer.
    """
    cpu, earlier = cpu_seconds(server.pid), cpu_seconds_of_ended()
    assert server.stop() == 0
    taken = cpu_seconds_of_ended() - earlier - cpu
    slowness = max(1.0, processor_seconds(fixed_work) / FIXED_WORK)
    assert taken < Running().stop_seconds * slowness


def test_a_server_that_nobody_uses_saves_everything(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    with serving(folder) as server:
        with Client(server.url, server.token) as client:
            # Too little for a snapshot in the background, too much to be done at every start.
            taught = list(client.add_many(lessons(300)))
            hash = client.model()["hash"]
        assert_stops_in_time(server)
        assert max(snapshots_of(folder)) > len(taught) / 2
        server.start()
        with Client(server.url, server.token) as client:
            assert client.model()["hash"] == hash
        assert server.stop() == 0
        assert server.messages == ""


def test_a_server_is_stopped_under_load(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    new_workspace(folder, "race").close()
    with serving(folder) as server:
        with Client(server.url, server.token) as client:
            taught = list(client.add_many(lessons(1000)))
        wait_until(lambda: snapshots_of(folder))  # it is made in the background
        options = {"clients": 8, "seed": 1, "goes_on": False}
        with load(server.url, server.token, **options) as clients:
            clients.wait_for(150)
            assert_stops_in_time(server)
            acknowledged = clients.finish()
        assert server.messages == ""
        tip = assert_acknowledged_are_there(folder, acknowledged)
        assert tip >= 1 + len(taught) + len(acknowledged)
        assert max(snapshots_of(folder)) > len(taught) / 2  # less than a second of replaying
        server.start()
        with Client(server.url, server.token) as client:
            model = client.model()
            assert model["seq"] == tip
            client.learn("the invoice of the bank", ["money"])
        assert server.stop() == 0
    hash = assert_sound(folder, "race", tmp_path / "again")
    assert hash != model["hash"]  # of one more answer
