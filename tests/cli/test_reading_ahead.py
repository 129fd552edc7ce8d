"""Tests of the thread that reads ahead: same files, errors and counts as without it."""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tagalong.cli.learn import loop, reading_ahead
from tagalong.cli.learn.batches import BatchSize
from tagalong.cli.learn.pass_learner import PassLearner
from tagalong.cli.learn.reading_ahead import BLOCK, BLOCKS_AHEAD, ReadingAhead
from tagalong.learning.items import Item, ReadError
from tagalong.readers import read
from tagalong.readers.stream import Stream
from tagalong.text import TextFeatures
from tagalong.text.rows_ahead import RowsAheadPart
from tests.cli.conftest import Run, items
from tests.cli.test_resume import contents


def write(path: Path, count: int = 700) -> None:
    """Write items: most are texts, some have fields, values or no labels."""
    found = items(count)
    for number, item in enumerate(found):
        if number % 11 == 3:
            item["text"] = {"subject": item["text"], "body": f"word{number} Straße"}
        if number % 29 == 5:
            item.pop("labels", None)
    if count > 400:
        found[333]["features"] = {"size": 3}
        found[401]["weight"] = 0.5
    path.write_text("".join(json.dumps(item) + "\n" for item in found))


def open_ahead(path: Path, **options: object) -> Stream:
    return read(str(path), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--passes", "2"],
        ["--limit", "517"],
        ["--shuffle", "3"],
        ["--buckets", "grow"],
        ["--weighting", "tfidf"],
        ["--no-names"],
        ["--buckets", "50"],
        ["--backoff", "yes"],
    ],
    ids=" ".join,
)
def test_model_and_report_are_those_of_items_one_by_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    write(tmp_path / "items.jsonl")
    ahead = run("learn", "items.jsonl", "--model", "a.tagalong", "--json", "-q", *options)
    assert ahead.code == 0
    monkeypatch.setattr(BatchSize, "one_by_one", property(lambda self: True), raising=False)
    monkeypatch.setattr(BatchSize, "__init__", only_one)
    monkeypatch.setattr(loop, "ReadingAhead", None)
    single = run("learn", "items.jsonl", "--model", "b.tagalong", "--json", "-q", *options)
    assert single.code == 0
    assert ahead.out.replace("a.tagalong", "b.tagalong") == single.out
    assert contents("a.tagalong") == contents("b.tagalong")


def only_one(self: BatchSize, tagger: object, run: object) -> None:
    """A BatchSize of 1."""


def test_features_learnt_ahead_are_those_of_reading_in_order() -> None:
    texts = [f"a{i % 7} b{i % 3} shared words" for i in range(50)]
    straight, ahead = TextFeatures(buckets=64), TextFeatures(buckets=64)
    rows = straight.read_texts(texts)
    first, second = ahead.read_ahead(texts[:30]), ahead.read_ahead(texts[30:])
    assert rows is not None
    assert first is not None
    assert second is not None
    assert ahead.fields == ()  # nothing is learnt yet
    assert ahead.name(int(rows.indices[0])) == ""
    parts = [
        RowsAheadPart(first, 0, 10),
        RowsAheadPart(first, 10, 30),
        RowsAheadPart(second, 0, 20),
    ]
    for found, expected in zip(ahead.learn_ahead(parts), rows, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert str(ahead.to_parts()) == str(straight.to_parts())


@pytest.mark.parametrize("settings", [{"buckets": None}, {"weighting": "tfidf"}])
def test_features_that_depend_on_learnt_items_are_not_read_ahead(
    settings: dict[str, str | None],
) -> None:
    features = TextFeatures(**settings)  # type: ignore[arg-type]
    assert not features.can_read_ahead
    with pytest.raises(ValueError, match="depend on the items learnt before"):
        features.read_ahead(["a"])


@pytest.mark.parametrize("wrong", [(2, 1), (0, 3)])
def test_notes_that_do_not_exist_are_refused(wrong: tuple[int, int]) -> None:
    features = TextFeatures()
    ahead = features.read_ahead(["a", "b"])
    assert ahead is not None
    with pytest.raises(ValueError, match="no such notes"):
        features.learn_ahead([RowsAheadPart(ahead, *wrong)])


def test_error_comes_after_the_items_before_it(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"a{i}", "labels": ["x"]}) for i in range(BLOCK + 20)]
    lines[BLOCK + 7] = "{"
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(lines))
    with open_ahead(path) as stream, ReadingAhead(stream, TextFeatures()) as ahead:
        batch = ahead.take(BLOCK + 20)
        assert len(batch.items) == BLOCK + 7
        assert batch.rows is not None
        assert sum(part.stop - part.start for part in batch.rows) == BLOCK + 7
        for _ in range(2):
            with pytest.raises(ReadError, match=f"items.jsonl:{BLOCK + 8}: not JSON"):
                ahead.take(1)


def test_errors_are_counted_when_the_next_item_is_taken(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"a{i}", "labels": ["x"]}) for i in range(30)]
    lines[3] = lines[8] = lines[9] = lines[29] = "{"
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(lines))
    with (
        open_ahead(path, on_error="skip") as stream,
        ReadingAhead(stream, TextFeatures()) as ahead,
    ):
        found = [(ahead.skipped, len(ahead.errors))]
        while ahead.take(1).items:
            found.append((ahead.skipped, len(ahead.errors)))
    assert found[:4] == [(0, 0)] * 4
    assert found[4:8] == [(1, 1)] * 4
    assert found[8:] == [(3, 3)] * 19
    assert (ahead.skipped, len(ahead.errors)) == (4, 4)


def test_reads_a_bounded_number_of_items_ahead(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    most = BLOCK * (BLOCKS_AHEAD + 1)
    path.write_text('{"text": "a", "labels": ["x"]}\n' * (most + 1000))
    is_full = threading.Event()
    count = 0

    class Counting(Stream):
        def __next__(self) -> Item:
            nonlocal count
            count += 1
            if count == most:
                is_full.set()
            return super().__next__()

    with open_ahead(path) as stream:
        stream.__class__ = Counting
        with ReadingAhead(stream, TextFeatures()) as ahead:
            assert is_full.wait(60)
            ahead.take(1)  # takes one block out of the queue
        assert most <= count <= most + 2 * BLOCK
    assert not ahead._thread.is_alive()


def test_long_items_are_read_in_small_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_ahead, "BLOCK_CHARACTERS", 100)
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps({"text": {"a": "b" * 60}, "labels": ["x"]} | {}) + "\n")
    path.write_text(path.read_text() * 9)
    with open_ahead(path) as stream, ReadingAhead(stream, TextFeatures()) as ahead:
        assert [len(ahead.take(3).items) for _ in range(4)] == [3, 3, 3, 0]
        assert len(ahead._block.items) <= 2


def test_limit_is_not_exceeded(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"text": "a", "labels": ["x"]}\n' * 5 + "{\n")
    with open_ahead(path) as stream, ReadingAhead(stream, TextFeatures(), limit=5) as ahead:
        assert len(ahead.take(10).items) == 5
        assert ahead.take(10).items == []


def test_signal_while_waiting_ends_the_run_and_the_thread(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The learnt items are saved; those that were read ahead are learnt by the resumed run."""
    write(tmp_path / "items.jsonl", 900)
    straight = run("learn", "items.jsonl", "--model", "s.tagalong", "--json", "-q")
    take, count = ReadingAhead.take, 0

    def interrupted(self: ReadingAhead, size: int) -> reading_ahead.AheadBatch:
        nonlocal count
        count += 1
        if count == 230:
            os.kill(os.getpid(), signal.SIGINT)
            self._stopped.wait(60)  # the signal ends the waiting
        return take(self, size)

    monkeypatch.setattr(ReadingAhead, "take", interrupted)
    interval = sys.getswitchinterval()
    stopped = run("learn", "items.jsonl", "--model", "m.tagalong", "-q")
    assert stopped.code == 130
    assert count == 230
    assert sys.getswitchinterval() == interval
    assert not any(thread.name == "reading ahead" for thread in threading.enumerate())
    monkeypatch.setattr(ReadingAhead, "take", take)
    done = run("learn", "--model", "m.tagalong", "--resume", "--json", "-q")
    assert done.json["report"] == straight.json["report"]
    assert contents("m.tagalong") == contents("s.tagalong")


def test_thread_that_sorts_items_stops(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"text": "a", "labels": ["x"]}\n' * 1000)
    has_begun, go_on = threading.Event(), threading.Event()
    read_items = []

    def wait(count: int) -> None:
        read_items.append(count)
        has_begun.set()
        assert go_on.wait(60)

    with open_ahead(path, order="shuffle") as stream:
        stream.on_read = wait
        with ReadingAhead(stream, TextFeatures()) as ahead:
            assert has_begun.wait(60)
            ahead._stopped.set()
            go_on.set()
    assert read_items == [1]


def test_failure_of_the_thread_reaches_the_reader_of_the_items(tmp_path: Path) -> None:
    class Broken(Stream):
        def __next__(self) -> Item:
            raise MemoryError("too much")

    path = tmp_path / "items.jsonl"
    path.write_text('{"text": "a", "labels": ["x"]}\n')
    with open_ahead(path) as stream:
        stream.__class__ = Broken
        with (
            ReadingAhead(stream, TextFeatures()) as ahead,
            pytest.raises(MemoryError, match="too much"),
        ):
            ahead.take(1)


def test_items_of_a_pipe_are_learnt_before_the_next_is_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer waits for each item to be learnt; a thread that reads ahead would wait forever."""
    monkeypatch.setattr(loop, "ReadingAhead", None)
    os.mkfifo(tmp_path / "pipe.jsonl")
    is_learnt = threading.Semaphore(0)
    learn = PassLearner.learn

    def noted(self: PassLearner, *args: object) -> None:
        learn(self, *args)  # type: ignore[arg-type]
        is_learnt.release()

    monkeypatch.setattr(PassLearner, "learn", noted)

    def lines() -> Iterator[str]:
        for item in items(5):
            yield json.dumps(item) + "\n"

    def feed() -> None:
        with open(tmp_path / "pipe.jsonl", "w") as pipe:
            for line in lines():
                pipe.write(line)
                pipe.flush()
                assert is_learnt.acquire(timeout=60)

    writer = threading.Thread(target=feed)
    writer.start()
    done = run("learn", str(tmp_path / "pipe.jsonl"), "--json", "-q")
    writer.join()
    assert done.json["read"] == 5
