"""Many clients at once: the final state is that of a serial replay of the events."""

from pathlib import Path

import pytest

from tagalong.client import Client
from tagalong.journal import WorkspaceView
from tests.journal.examples import new_workspace
from tests.services.load import Acknowledged, load
from tests.services.proofs import (
    assert_acknowledged_are_there,
    assert_nothing_else_is_there,
    assert_sound,
)
from tests.services.server_process import serving
from tests.services.watchers import Watcher

CLIENTS = 16


def run_clients(folder: Path, changes: int, seed: int) -> None:
    new_workspace(folder, "race").close()
    with serving(folder) as server:
        watchers = [Watcher(server.url, server.token, each) for each in (None, None, 7, 1)]
        options = {"clients": CLIENTS, "seed": seed, "reads": 0.3}
        with load(server.url, server.token, **options) as clients:
            clients.wait_for(changes)
            acknowledged = [*clients.finish()]
        assert [str(error) for error in clients.waits] == []  # no 429, no 5xx, nothing lost
        with Client(server.url, server.token) as client:
            last = client.model()["seq"] + 1
            for watcher in watchers:
                watcher.expect(last)
            assert client.add("the last one", id="last").seq == last
            acknowledged.append(Acknowledged(last, {"kind": "item", "id": "last"}))
            model = client.model()
            items = [(item.id, item.state, item.labels) for item in client.items(page=500)]
        assert model["exact"]
        for watcher in watchers:
            watcher.finish()
        assert server.stop() == 0
        assert server.messages == ""
    tip = assert_acknowledged_are_there(folder, acknowledged)
    assert tip == model["seq"]
    assert_nothing_else_is_there(tip, acknowledged)
    assert assert_sound(folder, "race", folder.with_name("again")) == model["hash"]
    with WorkspaceView(folder) as view:
        kept = [(item.id, item.state, item.labels) for item in view.items(limit=10**9)]
        listed = [each.event.to_json() for each in view.listed_events(after=1, limit=10**9)]
    assert items == kept[::-1]  # the newest first
    for watcher in watchers:
        assert watcher.ids == list(range(2, tip + 1))
        for event, stored in zip(watcher.events, listed, strict=True):
            assert {name: event[name] for name in stored} == stored
    assert watchers[-1].connections == tip - 1


def test_16_clients_at_once(tmp_path: Path) -> None:
    run_clients(tmp_path / "w", changes=300, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_16_clients_for_long(tmp_path: Path, seed: int) -> None:
    run_clients(tmp_path / "w", changes=3000, seed=seed)
