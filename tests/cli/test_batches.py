"""Tests of batches of items in ``learn``: same files and measures as one by one."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tagalong.cli.sources import is_live_stream
from tagalong.learning.items import Item
from tagalong.tagger import Tagger
from tests.cli.conftest import Run, items
from tests.cli.test_resume import contents


def test_file_and_report_do_not_depend_on_the_batch_size(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = items(700)
    found[333]["features"] = {"size": 3}  # not a plain text: learnt one by one
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in found))
    calls: list[int] = []
    watch = Tagger.watch_together

    def counting(self: Tagger, batch: list[Item], **options: Any) -> object:
        calls.append(len(batch))
        return watch(self, batch, **options)

    monkeypatch.setattr(Tagger, "watch_together", counting)
    outputs = []
    for most in (1, 256, 3):
        monkeypatch.setattr("tagalong.cli.learn.batches.MAX_BATCH", most)
        calls.clear()
        done = run("learn", "items.jsonl", "--model", "m.tagalong", "--json", "-q", "--passes", "2")
        assert done.code == 0
        assert max(calls, default=1) <= most
        assert bool(calls) == (most > 1)
        outputs.append((done.out, contents("m.tagalong")))
        Path("m.tagalong").unlink()
    assert outputs[0] == outputs[1] == outputs[2]


def test_signal_within_a_batch(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items(700)))
    straight = run("learn", "items.jsonl", "--model", "s.tagalong", "--json", "-q")
    watch = Tagger.watch_together
    calls: list[int] = []

    def interrupted(self: Tagger, batch: list[Item], **options: Any) -> object:
        calls.append(len(batch))
        if len(calls) == 150:
            signal.raise_signal(signal.SIGINT)
        return watch(self, batch, **options)

    monkeypatch.setattr(Tagger, "watch_together", interrupted)
    stopped = run("learn", "items.jsonl", "--model", "m.tagalong", "-q")
    assert stopped.code == 130
    assert calls[-1] > 1
    done = run("learn", "--model", "m.tagalong", "--resume", "--json", "-q")
    assert done.json["report"] == straight.json["report"]
    assert contents("m.tagalong") == contents("s.tagalong")


def test_refused_item_within_a_batch_is_named(run: Run, tmp_path: Path) -> None:
    found = items(60)
    found[57]["features"] = {"size": 1e200}
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in found))
    done = run("learn", "items.jsonl", "--model", "m.tagalong", "-q")
    assert done.code == 1
    assert "items.jsonl:58" in done.err
    assert "57 items are learnt and saved" in done.err
    done = run("learn", "items.jsonl", "--json", "-q", "--on-error", "skip")
    assert done.json["skipped"] == 1
    assert done.json["read"] == 60


def test_items_before_an_error_are_learnt(run: Run, tmp_path: Path) -> None:
    lines = [json.dumps(item) for item in items(300)]
    lines[290] = "{"
    (tmp_path / "items.jsonl").write_text("\n".join(lines))
    done = run("learn", "items.jsonl", "--model", "m.tagalong", "-q")
    assert done.code == 1
    assert "290 items are learnt and saved" in done.err


def test_pipes_are_live_streams(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    file.touch()
    assert is_live_stream(str(pipe))
    assert not any(
        map(is_live_stream, [str(file), str(tmp_path), "pydocs:", str(tmp_path / "*.jsonl")])
    )
