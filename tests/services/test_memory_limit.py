"""A limit on memory: workspaces that nobody uses are unloaded, and come back as they were."""

from pathlib import Path

from tagalong.client import Client
from tests.journal.examples import texts
from tests.services.calls import Calls
from tests.services.server_process import serving
from tests.services.waiting import wait_until

NAMES = [f"w{number}" for number in range(12)]
LOADED = 4
"""How many models of this test fit into the memory."""


def loaded(calls: Calls) -> set[str]:
    found = calls.get("/api/v1/workspaces").json["workspaces"]
    assert {each["name"] for each in found} == {"default", *NAMES}
    return {each["name"] for each in found if each["loaded"]}


def measured(calls: Calls) -> dict[str, float]:
    """The bytes of each model in memory, as operators see them."""
    lines = calls.get("/metrics").body.decode().splitlines()
    start = 'tagalong_model_bytes{workspace="'
    rows = [line.removeprefix(start).split('"} ') for line in lines if line.startswith(start)]
    return {name: float(value) for name, value in rows}


def teach(server_url: str, token: str, name: str, number: int) -> str:
    with Client(server_url, token, name) as client:
        for text, topic in texts(20, seed=number):
            client.learn(text, [topic])
        return str(client.model()["hash"])


def test_least_recently_used_workspaces_are_unloaded(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    hashes = {}
    with serving(folder) as server:
        calls = Calls(server.url, server.token)
        for number, name in enumerate(NAMES):
            assert calls.post("/api/v1/workspaces", {"name": name}).status == 201
            hashes[name] = teach(server.url, server.token, name, number)
        assert len(set(hashes.values())) == len(NAMES)
        assert loaded(calls) == {"default", *NAMES}
        one = max(measured(calls).values())
        assert server.stop() == 0

        limit = int(one * (LOADED + 0.5))
        (folder / "settings.toml").write_text(f"memory_bytes = {limit}\n")
        server.start()
        calls = Calls(server.url, server.token)
        for _ in range(2):
            for name in NAMES:
                assert calls.get(f"/api/v1/workspaces/{name}/model").json["hash"] == hashes[name]
                assert name in loaded(calls)
            wait_until(lambda: sum(measured(calls).values()) <= limit)  # in the background
            last = loaded(calls)
            assert set(measured(calls)) == last
            assert last - {"default"} == set(NAMES[-len(last - {"default"}) :])
            assert LOADED <= len(last) <= LOADED + 1
        # An unloaded workspace goes on learning.
        before = calls.get("/api/v1/workspaces/w0").json["seq"]
        teach(server.url, server.token, "w0", 99)
        assert calls.get("/api/v1/workspaces/w0").json["seq"] == before + 20
        assert server.stop() == 0
        assert server.messages == ""
