"""The commands with ``--scheduler`` and ``--workers``, on a live cluster."""

import json
from pathlib import Path

import pytest

from tagalong.cli.main import main
from tagalong.distributed import dask_workers, environments
from tests.cli.conftest import items
from tests.distributed.archive_files import joined, make_tagger, one_machine, write_items


@pytest.fixture(params=["--scheduler", "--workers"])
def workers(request, dask_client):
    """The options that name workers of each kind."""
    cluster = request.param == "--scheduler"
    return [request.param, dask_client.scheduler.address if cluster else "2"]


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A model, and what one machine writes for three files."""
    monkeypatch.chdir(tmp_path)
    make_tagger().save("m.tagalong")
    for number in range(3):
        write_items(Path(f"part{number}.jsonl"), 40, 40 * number)
    return one_machine(Path("m.tagalong"), Path("one.jsonl"), "part*.jsonl")


def test_suggest_takes_a_pattern(workers, archive, capsys):
    flags = ["--out", "out", "--shard-size", "1k", "--json", "-q", *workers]
    assert main(["suggest", "part*.jsonl", "-m", "m.tagalong", *flags]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["written"], done["repeated"]) == (120, 0)
    assert done["shards"] == done["finished"] > 3
    assert joined(Path("out")) == archive


def test_compare_gives_the_rows_of_one_process(workers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        lines = [json.dumps(item) + "\n" for item in items()[number::2]]
        Path(f"part{number}.jsonl").write_text("".join(lines))
    command = ["compare", "part*.jsonl", "--updates", "single,optimal", "--json", "-q"]
    found = []
    for flags in (command, [*command, *workers]):
        assert main(flags) == 0
        found.append(json.loads(capsys.readouterr().out))
        for learner in found[-1]["learners"]:
            del learner["items_per_second"]
    assert found[0] == found[1]
    assert len(found[0]["learners"]) >= 2


@pytest.mark.parametrize("command", ["suggest", "compare"])
def test_another_version_on_the_cluster_is_no_bug(
    command, dask_client, archive, monkeypatch, capsys
):
    monkeypatch.setattr(environments, "__version__", "0.0.1")
    more = ["-m", "m.tagalong", "--out", "out"] if command == "suggest" else []
    address = dask_client.scheduler.address
    assert main([command, "part0.jsonl", *more, "--scheduler", address]) == 1
    error = capsys.readouterr().err
    assert f"--scheduler {address}: the scheduler {address} on " in error
    assert "and this is Tagalong 0.0.1: install the same version on all machines" in error
    assert "bug" not in error
    monkeypatch.setattr(dask_workers, "FACTS", "__import__('no_such_package')")
    assert main([command, "part0.jsonl", *more, "--scheduler", address]) == 1
    error = capsys.readouterr().err
    assert "cannot load Tagalong (No module named 'no_such_package'): install version" in error
    assert "bug" not in error
