"""A server opens the journal of an earlier version, and goes on with it."""

import json
import zipfile
from pathlib import Path

from tagalong.client import Client
from tests.services.server_process import run, serving

DATA = Path(__file__).parents[1] / "data"
RECORDED = json.loads((DATA / "journal-version1.json").read_text())


def test_a_journal_of_version_1_is_served(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    with zipfile.ZipFile(DATA / "journal-version1.zip") as files:
        files.extractall(folder)
    with serving(folder) as server:
        with Client(server.url, server.token) as client:
            model = client.model()
            assert (model["hash"], model["seq"]) == (RECORDED["hash"], RECORDED["tip"])
            found = [(each.seq, each.id, each.state, each.labels) for each in client.items(page=3)]
            assert found == [tuple(each[:4]) for each in reversed(RECORDED["items"])]
            answer = client.answer("o1", ["bills"], was=None)
            assert answer == RECORDED["tip"] + 1
            taught = client.model()["hash"]
            assert taught != RECORDED["hash"]
            client.undo(answer)
            assert client.model()["hash"] == RECORDED["hash"]
            client.answer("o1", ["bills"])
        server.kill()
        server.start()
        with Client(server.url, server.token) as client:
            assert client.model()["hash"] == taught
            client.learn("a new bill", ["bills"])
        assert server.stop() == 0
        assert server.messages == ""
    run("journal", "verify", folder)
