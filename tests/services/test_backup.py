"""Backup and restore while a server runs and clients change things."""

from pathlib import Path

from tagalong.client import Client
from tests.journal.examples import new_workspace
from tests.services.load import Acknowledged, load
from tests.services.proofs import (
    assert_acknowledged_are_there,
    assert_nothing_else_is_there,
    assert_sound,
)
from tests.services.server_process import run, serving


def test_a_backup_under_load_is_a_moment_of_the_workspace(tmp_path: Path) -> None:
    folder, backup, restored = (tmp_path / name for name in ("w", "backup", "restored"))
    new_workspace(folder, "race").close()
    with serving(folder) as server:
        with load(server.url, server.token, clients=4, seed=1) as clients:
            clients.wait_for(60)
            before = clients.acknowledged
            run("journal", "backup", folder, "--out", backup)
            clients.wait_for(len(clients.acknowledged) + 20)
            acknowledged = clients.finish()
        with Client(server.url, server.token) as client:
            present = client.model()
        run("journal", "verify", backup)
        run("journal", "restore", backup, "--to", restored)
        # The backup is a beginning of the history, with all that was acknowledged before it.
        with serving(restored) as other, Client(other.url, other.token) as client:
            past = client.model()
            seqs = [each.seq for each in before]
            assert max(seqs) <= past["seq"] < present["seq"]
            client.learn("the invoice of the bank", ["money"])
            assert client.model()["hash"] != past["hash"]
            assert client.undo(past["seq"] + 1) == past["seq"] + 2
            assert client.model()["hash"] == past["hash"]
            assert other.stop() == 0
        assert server.stop() == 0
        assert server.messages == ""
    known = [each for each in acknowledged if each.seq <= past["seq"]]
    assert_acknowledged_are_there(restored, known)
    assert_nothing_else_is_there(past["seq"], known)
    again = Acknowledged(past["seq"] + 1, {"kind": "item", "labels": ["money"]})
    assert_acknowledged_are_there(restored, [*known, again])
    assert assert_sound(restored, "race", tmp_path / "restored again") == past["hash"]
    assert_acknowledged_are_there(folder, acknowledged)
    assert assert_sound(folder, "race", tmp_path / "again") == present["hash"]
