"""Orders of items: by date over several sources, random, with bounded memory."""

import errno
import gzip
import json
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagalong.readers import (
    Item,
    OptionError,
    ReadError,
    external_sort,
    read,
    temporary_files,
    write,
)
from tagalong.readers.external_sort import sort_items
from tagalong.readers.ordering import by_date, shuffled

DAY = datetime(2024, 1, 1, tzinfo=UTC)
files = settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)


def item(number: int, days: int | None = None, **parts: Any) -> Item:
    date = None if days is None else DAY + timedelta(days=days)
    return Item(f"{number}", f"text {number}", labels=("a",), date=date, **parts)


def numbers(items: Iterator[Item]) -> list[int]:
    return [int(each.id) for each in items]


def write_mbox(path: Path, items: list[Item]) -> None:
    messages = []
    for each in items:
        date = f"Date: {each.date:%d %b %Y %H:%M:%S +0000}\n" if each.date else ""
        messages.append(f"From ann\nMessage-ID: <{each.id}>\n{date}\n{each.text}\n\n")
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt") as file:
        file.write("".join(messages))


def write_maildir(path: Path, items: list[Item]) -> None:
    (path / "cur").mkdir(parents=True)
    for place, each in enumerate(items):  # the names say nothing about the dates
        text = f"Message-ID: <{each.id}>\nDate: {each.date:%d %b %Y %H:%M:%S +0000}\n\n{each.text}"
        (path / "cur" / f"{1_700_000_000 - place}.x").write_text(text)


# The sort.


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 100))), st.integers(0, 3000))
def test_sort_is_that_of_python_for_any_memory(keys: list[tuple[int, int]], memory: int) -> None:
    given = [item(number, weight=float(key)) for number, (key, _) in enumerate(keys)]
    found = list(sort_items(given, lambda each: each.weight, memory=memory))
    assert found == sorted(given, key=lambda each: each.weight)


def test_runs_are_merged_in_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_sort, "FAN_IN", 3)
    opened: list[IO[bytes]] = []
    real = temporary_files.temporary_file

    def counting() -> IO[bytes]:
        opened.append(real())
        return opened[-1]

    monkeypatch.setattr(external_sort, "temporary_file", counting)
    given = [item(number) for number in range(100)]
    found = sort_items(given, lambda each: -int(each.id), memory=0)  # one item per run
    assert next(found).id == "99"
    assert sum(not file.closed for file in opened) <= 2 * 5
    assert numbers(found) == list(range(98, -1, -1))
    assert all(file.closed for file in opened)


def test_sort_closes_its_files_early(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[IO[bytes]] = []
    real = temporary_files.temporary_file

    def recording() -> IO[bytes]:
        opened.append(real())
        return opened[-1]

    monkeypatch.setattr(external_sort, "temporary_file", recording)
    found = sort_items([item(1), item(2)], lambda each: 0.0, memory=0)
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert opened
    assert all(file.closed for file in opened)


def test_every_part_of_an_item_survives_the_sort() -> None:
    given = Item("ü", {"": "a\ud800", "s": "b"}, {"x": 0.1, "c": "d"}, (), 0.25, "f:7", "q", DAY)
    (found,) = sort_items([given], lambda each: 0.0, memory=0)
    assert found == given
    assert found.place == "f:7"
    assert list(sort_items([Item(text={})], lambda each: 0.0)) == [Item(text={})]


def test_a_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**options: object) -> IO[bytes]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match=r"No space left on device: items are stored in .*TMPDIR"):
        list(sort_items([item(1)], lambda each: 0.0, memory=0))


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x" * 5000

    def many() -> Iterator[Item]:
        return (Item(str(number), text) for number in range(4000))  # 20 MB

    tracemalloc.start()
    count = sum(1 for _ in shuffled(many(), 1, memory=1 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 4000
    assert peak < 6 << 20


# By date.


@given(st.lists(st.integers(0, 30), max_size=20), st.data())
def test_any_partition_gives_the_same_order(days: list[int], data: st.DataObject) -> None:
    """Items are spread over sources at random; within a source they keep their order."""
    given = [item(number, days=day) for number, day in enumerate(days)]
    sources: list[list[Item]] = [[], [], []]
    for each in given:
        sources[data.draw(st.integers(0, 2))].append(each)
    found = list(by_date(sources))
    assert [each.date for each in found] == sorted(each.date for each in given if each.date)
    position = {each.id: place for place, each in enumerate(chain(*sources))}
    assert found == sorted(given, key=lambda each: (each.date, position[each.id]))


@files
@given(days=st.lists(st.integers(0, 10**4), unique=True, min_size=1, max_size=12), data=st.data())
def test_folders_and_files_of_mail_give_one_order(days: list[int], data: st.DataObject) -> None:
    given = [item(number, days=day) for number, day in enumerate(days)]
    parts: dict[str, list[Item]] = {"Work.mbox": [], "Old.mbox.gz": [], "Mail": []}
    for each in given:
        parts[data.draw(st.sampled_from(sorted(parts)))].append(each)
    with tempfile.TemporaryDirectory() as folder:
        for name, part in parts.items():
            make = write_maildir if name == "Mail" else write_mbox
            make(Path(folder, name), part)
        sources = data.draw(st.permutations([str(Path(folder, name)) for name in parts]))
        for order in ("date", "auto"):
            with read(sources, order=order) as stream:
                assert numbers(stream) == sorted(range(len(days)), key=days.__getitem__)


def test_items_without_a_date_stay_behind_the_item_before_them() -> None:
    first = [item(0), item(1, 5), item(2), item(3, 1)]
    second = [item(4, 3), item(5), item(6)]
    assert numbers(by_date([first, second])) == [0, 3, 4, 5, 6, 1, 2]


def test_equal_dates_keep_the_order_of_the_sources() -> None:
    sources = [[item(0, 1), item(1, 0)], [item(2, 1), item(3, 0)]]
    assert numbers(by_date(sources)) == [1, 3, 0, 2]


def test_dates_in_two_time_zones_and_of_all_years(tmp_path: Path) -> None:
    dates = ["2024-01-05T10:00+02:00", "2024-01-05T09:00Z", "9999-12-31T23:00-12:00", "0001-01-01"]
    dates += ["2024-01-05T09:00:00.000001Z"]
    lines = [{"id": str(n), "text": "x", "date": date} for n, date in enumerate(dates)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert numbers(read(path, order="date")) == [3, 0, 1, 4, 2]


def test_auto_orders_tables_with_a_named_date(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text,date\n0,x,2024-01-02\n1,x,2024-01-01\n")
    assert numbers(read(path, order="auto")) == [0, 1]
    assert numbers(read(path, order="auto", date="date")) == [1, 0]
    assert numbers(read(path)) == [0, 1]


def test_files_stay_in_file_order_unless_asked(tmp_path: Path) -> None:
    write_mbox(tmp_path / "a.mbox", [item(0, 2), item(1, 1)])
    assert numbers(read(tmp_path / "a.mbox")) == [0, 1]
    write([item(2, 0)], tmp_path / "b.jsonl")
    both = [tmp_path / "a.mbox", tmp_path / "b.jsonl"]
    assert numbers(read(both, order="auto")) == [0, 1, 2]  # not all of them are mail
    assert numbers(read(both, order="date")) == [2, 1, 0]


def test_order_by_date_needs_a_date(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,when\nx,2024-01-02\n")
    with pytest.raises(OptionError, match=r"none of them has a date.*option date"):
        list(read(path, order="date"))
    path.write_text("text,when\n")
    assert list(read(path, order="date")) == []
    mbox = tmp_path / "a.mbox"
    write_mbox(mbox, [item(0), item(1)])
    assert numbers(read(mbox, order="auto")) == [0, 1]
    with pytest.raises(OptionError, match=r"order must be one of 'file', .* not 'size'"):
        read(path, order="size")  # type: ignore[arg-type]


def test_errors_are_counted_or_raised_before_the_first_item(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 0, "text": "x"}\nbad\n{"id": 1, "text": "x"}\n')
    with pytest.raises(ReadError, match=r"a\.jsonl:2: not JSON"):
        next(read(path, order="shuffle"))
    stream = read(path, order="shuffle", on_error="skip")
    assert sorted(numbers(stream)) == [0, 1]
    assert stream.skipped == 1


# Random order.


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 2**70), st.integers(0, 9999))
def test_shuffle_is_a_permutation(parts: list[int], seed: int, memory: int) -> None:
    given = [item(number, weight=float(part)) for number, part in enumerate(parts)]
    found = list(shuffled(given, seed, memory=memory))
    assert Counter(each.id for each in found) == Counter(each.id for each in given)
    assert found == list(shuffled(given, seed))


def test_all_permutations_are_equally_likely() -> None:
    given = [item(number) for number in range(3)]
    counts = Counter(tuple(numbers(shuffled(given, seed))) for seed in range(3000))
    assert len(counts) == 6
    assert min(counts.values()) > 400


def test_seeds_give_different_orders(tmp_path: Path) -> None:
    for part in range(2):
        write([item(50 * part + number) for number in range(50)], tmp_path / f"{part}.jsonl.gz")
    pattern = str(tmp_path / "*.jsonl.gz")
    orders = [numbers(read(pattern, order="shuffle", seed=seed)) for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(100))
    assert any(number >= 50 for number in orders[0][:10])  # both files are mixed
    assert orders[0] == numbers(read(pattern, order="shuffle"))


def test_the_order_of_a_seed_never_changes() -> None:
    """A resumed run relies on it, also with another version of Python."""
    given = [item(number) for number in range(10)]
    assert numbers(shuffled(given, 7)) == [8, 6, 3, 1, 0, 5, 9, 7, 4, 2]


def test_documents_of_a_query_stay_together() -> None:
    given = [item(3 * query + place, query=f"q{query}") for query in range(9) for place in range(3)]
    found = numbers(shuffled(given, 3))
    assert [number // 3 for number in found[::3]] != list(range(9))
    for start in range(0, 27, 3):
        assert found[start : start + 3] == list(range(found[start], found[start] + 3))
