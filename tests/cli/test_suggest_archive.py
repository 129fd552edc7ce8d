"""Tests of ``suggest --workers`` and ``--scheduler``."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, items
from tests.timeouts import TIMEOUT


def joined(folder: str = "out") -> str:
    paths = sorted(Path(folder).glob("*.jsonl"))
    return "".join(path.read_text("utf-8") for path in paths)


def test_workers_write_what_one_process_writes(run: Run, stream: Path, model: str) -> None:
    Path("b.csv").write_text("body,labels\ninvoice,money\n")
    expected = run("suggest", "-m", model, "items.jsonl", "-k", "2").out
    flags = ("--workers", "2", "--shard-size", "1k", "-k", "2", "--out", "out")
    done = run("suggest", "-m", model, "items.jsonl", *flags, "--json")
    assert done.code == 0
    assert joined() == expected
    assert done.json | {"shards": 0, "finished": 0, "sure": 0} == {
        "interrupted": False,
        "out": "out",
        "shards": 0,
        "finished": 0,
        "resumed": 0,
        "repeated": 0,
        "written": 60,
        "sure": 0,
        "unknown": 0,
        "skipped": 0,
        "errors": [],
        "links": [],
    }
    assert (
        done.err.endswith(
            f"written to {done.json['shards']} files in out; 0 have a sure suggestion\n"
        )
        or "written to" in done.err
    )
    again = run("suggest", "-m", model, "items.jsonl", *flags, "--json")
    assert again.json["resumed"] == done.json["shards"] > 3


def test_errors_have_the_lines_of_the_file(run: Run, stream: Path, model: str) -> None:
    with stream.open("a") as file:
        file.write("nonsense\n")
    flags = ("--workers", "1", "--shard-size", "1k", "--out", "out")
    done = run("suggest", "-m", model, "items.jsonl", *flags)
    assert done.code == 1
    assert "tagalong: items.jsonl:61: not JSON: Expecting value at column 1\n" in done.err
    assert "shards are finished and stay; the same command continues" in done.err
    skipping = run("suggest", "-m", model, "items.jsonl", *flags, "--on-error", "skip", "--json")
    assert (skipping.code, skipping.json["written"], skipping.json["skipped"]) == (3, 60, 1)
    other = run("suggest", "-m", model, "items.jsonl", *flags, "-k", "3", "--on-error", "skip")
    assert other.code == 1
    assert "out belongs to another run: the option -k was 5, now 3; give another" in other.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--workers", "2"], "--workers: the workers write files: give a folder with --out DIR"),
        (["--workers", "0", "--out", "o"], "argument --workers: must be at least 1, got 0"),
        (["--workers", "1", "--out", "o.csv"], "--out o.csv: with --workers this is a folder"),
        (["--workers", "1", "--out", "o", "--limit", "1"], "--limit contradicts --workers"),
        (["--workers", "1", "--out", "o", "--bom"], "--bom is for CSV only"),
        (["--workers", "1", "--scheduler", "a:1"], "not allowed with argument --workers"),
        (["--workers", "1", "--out", "o", "--shard-size", "0k"], "must be at least 1, got 0"),
    ],
)
def test_contradictions(run: Run, stream: Path, model: str, flags: list[str], message: str) -> None:
    done = run("suggest", "-m", model, "items.jsonl", *flags)
    assert done.code == 2
    assert message in done.err
    assert not Path("o").exists()


def test_a_single_text_and_pipes_need_no_workers(run: Run, model: str) -> None:
    done = run("suggest", "-m", model, "--text", "invoice", "--workers", "1", "--out", "o")
    assert (done.code, "a single text needs no workers" in done.err) == (2, True)
    done = run("suggest", "-m", model, "-", "--workers", "1", "--out", "o")
    assert (done.code, "standard input: workers cannot share a pipe" in done.err) == (2, True)


def test_a_scheduler_that_is_not_there(
    run: Run, stream: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    arguments = ["suggest", "-m", model, "items.jsonl", "--out", "o", "--scheduler"]
    done = run(*arguments, "nonsense")
    assert done.code == 1
    assert "--scheduler nonsense: not the address of a scheduler, such as tcp://" in done.err
    monkeypatch.setattr("tagalong.distributed.connection.SECONDS", 0.2)
    done = run(*arguments, "tcp://127.0.0.1:1")
    assert done.code == 1
    assert "--scheduler tcp://127.0.0.1:1: no Dask scheduler answers there" in done.err
    assert "start one with 'dask scheduler', and workers with 'dask worker" in done.err
    monkeypatch.setattr("tagalong.distributed.connection.find_spec", lambda name: None)
    done = run(*arguments, "tcp://127.0.0.1:1")
    assert "need the package dask: pip install 'tagalong[dask]'" in done.err


def test_ctrl_c_leaves_a_folder_that_can_be_continued(run: Run, stream: Path, model: str) -> None:
    """Ctrl-C reaches the command and its processes; the command says what is left to do."""
    many = [json.dumps(item | {"id": f"{n}-{item['id']}"}) for n in range(400) for item in items()]
    Path("many.jsonl").write_text("".join(line + "\n" for line in many))
    command = [sys.executable, "-m", "tagalong", "suggest", "-m", model, "many.jsonl"]
    flags = ["--workers", "1", "--out", "out", "--shard-size", "64k", "--json"]
    process = subprocess.Popen(
        [*command, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not list(Path("out").glob("*.jsonl")):  # the first shard is finished
        assert process.poll() is None, process.communicate()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)
    result = json.loads(out)
    assert process.returncode == (130 if result["interrupted"] else 0)
    assert "Traceback" not in err
    if result["interrupted"]:
        assert f"interrupted: {result['finished']} of {result['shards']} shards are finished" in err
    done = run("suggest", "-m", model, "many.jsonl", *flags)
    assert done.json["resumed"] >= result["finished"] >= 0
    assert joined() == run("suggest", "-m", model, "many.jsonl").out
    assert not [path for path in Path("out").iterdir() if path.suffix == ".tmp"]
