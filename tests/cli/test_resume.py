"""Tests of ``learn --resume``: the result has the same bits as without the interruption."""

import array
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open

import tagalong
from tests.cli.conftest import Finished, Run, interrupt_at, items
from tests.timeouts import TIMEOUT

FLAGS = ("--passes", "2", "--window", "20")


def contents(path: str) -> dict[str, str]:
    """The metadata of a model file: its header and the checksum of its arrays."""
    with safe_open(path, framework="numpy") as file:
        found: dict[str, str] = file.metadata()
    return found


def straight(run: Run) -> tuple[Finished, dict[str, str]]:
    done = run("learn", "items.jsonl", "--model", "straight.tagalong", *FLAGS, "--report", "s.json")
    assert done.code == 0
    return done, contents("straight.tagalong")


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(places=st.lists(st.integers(1, 40), min_size=1, max_size=3))
def test_file_and_report_are_the_same_to_the_bit(run: Run, stream: Path, places: list[int]) -> None:
    for name in ("straight.tagalong", "m.tagalong"):  # left by an earlier example
        Path(name).unlink(missing_ok=True)
    expected, file = straight(run)
    argv: tuple[str, ...] = ("items.jsonl", *FLAGS)
    for count in places:
        with pytest.MonkeyPatch.context() as monkeypatch:
            interrupt_at(monkeypatch, count)
            stopped = run("learn", "--model", "m.tagalong", *argv)
        if stopped.code == 0:  # the run ended before the interruption
            break
        assert stopped.code == 130
        assert "tagalong learn --model m.tagalong --resume" in stopped.err
        argv = ("--resume",)
    done = run("learn", "--model", "m.tagalong", "--resume", "--report", "r.json")
    assert (done.code, done.out) == (0, expected.out)
    assert contents("m.tagalong") == file
    assert Path("r.json").read_bytes() == Path("s.json").read_bytes()


def test_json_output_of_an_interrupted_run(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at(monkeypatch, 10)
    done = run("learn", "items.jsonl", "--json")
    assert done.code == 130
    assert (done.json["interrupted"], done.json["report"]["items"]) == (True, 10)
    assert "nothing is saved, as there is no --model" in done.err


def test_second_signal_while_saving_is_harmless(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at(monkeypatch, 10)
    replace = os.replace

    def replacing(source: str, target: str) -> None:
        signal.raise_signal(signal.SIGINT)
        replace(source, target)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", replacing)
    assert run("learn", "items.jsonl", "--model", "m.tagalong", *FLAGS).code == 130
    monkeypatch.undo()
    monkeypatch.chdir(stream.parent)
    assert run("learn", "--model", "m.tagalong", "--resume").code == 0
    assert contents("m.tagalong") == straight(run)[1]


def await_empty(pipe: IO[str]) -> None:
    """Wait until the other end has read everything in a pipe."""
    deadline = time.monotonic() + TIMEOUT
    left = array.array("i", [1])
    while left[0]:
        assert time.monotonic() < deadline, "the pipe is not read"
        time.sleep(0.01)
        fcntl.ioctl(pipe.fileno(), termios.FIONREAD, left)


def test_signal_while_waiting_for_input(run: Run, stream: Path) -> None:
    """The pipe with the items stays open, so the process waits when the signal comes."""
    lines = stream.read_text().splitlines(keepends=True)
    argv = [sys.executable, "-m", "tagalong", "learn", "-", "--model", "m.tagalong"]
    process = subprocess.Popen(
        [*argv, "--format", "jsonl", "--every", "0.1", "--window", "20"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write("".join(lines[:20]))
    process.stdin.flush()
    # Once the pipe is empty the process is running; its display is due 0.1 s later.
    await_empty(process.stdin)
    time.sleep(0.1)
    process.stdin.write(lines[20])
    process.stdin.flush()
    assert select.select([process.stderr], [], [], TIMEOUT)[0], "no progress is shown"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)
    assert err.startswith("items ")
    assert "first suggestion right: " in out
    assert process.returncode == 130
    assert "To resume: tagalong learn --model m.tagalong --resume" in err
    assert "Traceback" not in err
    done = run("learn", "--model", "m.tagalong", "--resume", stdin="".join(lines))
    assert done.code == 0
    whole = run("learn", "-", "--format", "jsonl", "--window", "20", "--model", "s.tagalong",
                stdin="".join(lines))  # fmt: skip
    assert done.out == whole.out
    assert contents("m.tagalong") == contents("s.tagalong")


def test_resume_of_a_finished_run_changes_nothing(run: Run, stream: Path, model: str) -> None:
    before = contents(model)
    assert run("learn", "--model", model, "--resume").code == 0
    assert contents(model) == before


def test_resume_with_more_passes_or_a_higher_limit(run: Run, stream: Path) -> None:
    straight(run)
    first = ("items.jsonl", "--model", "m.tagalong", "--window", "20")
    assert run("learn", *first, "--limit", "25").code == 0
    assert run("learn", "--model", "m.tagalong", "--resume", "--limit", "1000").code == 0
    assert run("learn", "--model", "m.tagalong", "--resume", "--passes", "2").code == 0
    notes = tagalong.load("m.tagalong").notes["learn"]
    notes["reading"]["limit"] = None
    assert notes == tagalong.load("straight.tagalong").notes["learn"]


def test_resume_learns_appended_items(run: Run, stream: Path) -> None:
    whole = stream.read_text()
    stream.write_text("".join(whole.splitlines(keepends=True)[:40]))
    assert run("learn", "items.jsonl", "--model", "m.tagalong").code == 0
    stream.write_text(whole)
    assert run("learn", "--model", "m.tagalong", "--resume").code == 0
    assert run("learn", "items.jsonl", "--model", "s.tagalong").code == 0
    assert contents("m.tagalong") == contents("s.tagalong")


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda found: found[:50], "the sources now have only 50"),
        (
            lambda found: [*found[:59], {**found[59], "id": "other"}],
            "item 60 has changed since the run stopped",
        ),
    ],
)
def test_changed_sources_are_detected(
    run: Run, stream: Path, model: str, change: Any, message: str
) -> None:
    before = contents(model)
    stream.write_text("".join(json.dumps(item) + "\n" for item in change(items())))
    done = run("learn", "--model", model, "--resume")
    assert done.code == 1
    assert message in done.err
    assert "--continue" in done.err
    assert contents(model) == before


@pytest.mark.parametrize(
    "flags, message",
    [
        (("other.jsonl",), "reads items.jsonl, not other.jsonl"),
        (("--format", "csv"), "reads without --format, not with --format csv"),
        (("--text", "body"), "reads without format options, not with --text body"),
        (("--limit", "5"), "--limit 5 contradicts the run of m.tagalong, which has no limit"),
        (("--update", "single"), "was made with --update smooth"),
    ],
)
def test_contradicting_arguments_are_refused(
    run: Run, stream: Path, model: str, flags: tuple[str, ...], message: str
) -> None:
    done = run("learn", "--model", model, "--resume", *flags)
    assert done.code == 2
    assert message in done.err
    assert run("learn", "items.jsonl", "--model", model, "--resume", "--passes", "1").code == 0


def test_changed_model_is_detected(run: Run, stream: Path, model: str) -> None:
    tagger = tagalong.load(model)
    tagger.learn("the invoice", ["money"]).save(model)
    done = run("learn", "--model", model, "--resume")
    assert done.code == 1
    assert "has changed since its run stopped" in done.err
    assert run("labels", "rename", model, "money", "cash").code == 0
    done = run("learn", "--model", model, "--resume")
    assert done.code == 1
    assert "has no run to resume" in done.err


@pytest.mark.parametrize(
    "damage", [{"progress": {}}, {"reading": {"x": 1}}, {"last": 3, "pass": 1}]
)
def test_damaged_notes_are_detected(run: Run, model: str, damage: dict[str, Any]) -> None:
    tagger = tagalong.load(model)
    tagger.notes["learn"] = damage
    tagger.save(model)
    done = run("learn", "--model", model, "--resume")
    assert done.code == 1
    assert "the saved run is damaged" in done.err


def test_missing_model(run: Run) -> None:
    done = run("learn", "--model", "m.tagalong", "--resume")
    assert (done.code, done.err) == (1, "tagalong: --resume: there is no model file m.tagalong\n")
