"""The journal: present and gone messages, size, round trip through JSON."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.mail.filing import journal as module
from tagalong.mail.filing.journal import Entry, Journal, State, digest
from tagalong.mail.filing.log import Act, LogRecord

ENTRIES = st.dictionaries(
    st.text(max_size=4),
    st.builds(Entry, st.text(max_size=3), st.sampled_from(get_args(State)), st.text(max_size=3)),
    max_size=8,
)


RECORDS = st.dictionaries(
    st.text(max_size=4),
    st.builds(
        LogRecord,
        folder=st.text(max_size=3),
        time=st.integers(0, 2**40),
        act=st.sampled_from(get_args(Act)),
        probability=st.floats(0, 1),
        min_precision=st.floats(0, 1),
        why=st.lists(st.text(max_size=3), max_size=3).map(tuple),
    ),
    max_size=4,
)


@given(st.integers(0, 10**9), ENTRIES, ENTRIES, RECORDS, st.text(max_size=3))
def test_round_trip_through_json(
    learnt: int,
    present: dict[str, Entry],
    gone: dict[str, Entry],
    log: dict[str, LogRecord],
    home: str,
) -> None:
    journal = Journal(learnt, present, gone, log, home)
    found = Journal.from_json(json.loads(json.dumps(journal.to_json())))
    assert found == journal
    assert list(found.log) == list(log), "the order of the log"


def test_a_journal_of_version_1_is_read() -> None:
    saved = {
        "version": 1,
        "learnt": 7,
        "folders": ["Work"],
        "here": {"k": [0, "filed", "i"]},
        "gone": {},
    }
    assert Journal.from_json(saved) == Journal(7, {"k": Entry("Work", "filed", "i")})


def record(folder: str, time: int = 1) -> LogRecord:
    return LogRecord(folder, time, "moved", 0.97, 0.95, ("invoice",))


def test_the_log_follows_renamed_messages_and_folders() -> None:
    journal = Journal()
    for key in "abc":
        journal.note(key, Entry("Work", "filed", key), record("Work"))
    journal.update_presence({"a", "c"})
    journal.take_over("b", "new")
    journal.rename_folder("Work", "Job")
    assert list(journal.log) == ["a", "new", "c"]
    assert {each.folder for each in journal.log.values()} == {"Job"}
    assert journal.present["new"] == Entry("Job", "filed", "b")


def test_a_dropped_move_leaves_no_record() -> None:
    journal = Journal()
    journal.note("a", Entry("Work", "moving", "a"), record("Work"))
    journal.drop("a")
    assert (journal.present, journal.log) == ({}, {})


def test_the_log_keeps_the_last_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LOG", 2)
    journal = Journal()
    for time, key in enumerate("abca"):
        journal.note(key, Entry("Work", "filed", key), record("Work", time))
        journal.trim()
    assert {key: each.time for key, each in journal.log.items()} == {"c": 2, "a": 3}
    assert set(journal.present) == set("abc"), "entries are kept longer than the log"


@given(ENTRIES, st.sets(st.text(max_size=4)), st.sets(st.text(max_size=4)))
def test_every_message_is_present_or_gone(
    entries: dict[str, Entry], first: set[str], second: set[str]
) -> None:
    journal = Journal(present=dict(entries))
    for seen in (first, second, set(entries)):
        journal.update_presence(seen)
        assert set(journal.present) == set(entries) & seen
        assert set(journal.gone) == set(entries) - seen
    assert journal.present == entries


def test_messages_of_an_unreadable_folder_stay_present() -> None:
    journal = Journal(
        present={"1": Entry("Work", "learnt", "a"), "2": Entry("Home", "learnt", "b")}
    )
    journal.present["3"] = Entry("Work/Code", "learnt", "c")
    journal.present["4"] = Entry("Workshop", "learnt", "d")
    journal.update_presence(set(), {"Work"})
    assert list(journal.present) == ["1", "3"]
    assert list(journal.gone) == ["2", "4"]


def test_trim_keeps_the_messages_gone_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_GONE", 2)
    journal = Journal(present={key: Entry("Work", "learnt", key) for key in "abcd"})
    for seen in ("abd", "ad", "d"):
        journal.update_presence(set(seen))
        journal.trim()
    assert list(journal.gone) == ["b", "a"]
    assert journal.gone_by_identity() == {"b": "b", "a": "a"}
    journal.update_presence(set())
    journal.trim(gone=False)
    assert list(journal.gone) == ["b", "a", "d"], "they may be in an unreadable folder"


def test_size_per_message() -> None:
    entries = {digest(b"%d" % i): Entry("Work", "learnt", digest(b"x%d" % i)) for i in range(1000)}
    assert len(json.dumps(Journal(present=entries).to_json(), separators=(",", ":"))) < 45 * 1000


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"version": 3}, "version 3"),
        ({"folders": []}, "damaged"),
        ({"here": {"k": [0, "lost", "i"]}}, "no such state: 'lost'"),
        ({"here": {"k": [0, "learnt"]}}, "damaged: .*not enough values"),
        ({"here": []}, "damaged"),
        ({"learnt": None}, "damaged"),
        ({"log": {"k": [0, 1, "eaten", 0.9, 0.9]}}, "no such act: 'eaten'"),
        ({"log": {"k": [0, 1, "moved"]}}, "damaged: .*not enough values"),
        ({"log": {"k": [7, 1, "moved", 0.9, 0.9]}}, "damaged"),
    ],
)
def test_a_damaged_journal_raises(change: dict[str, Any], problem: str) -> None:
    saved = Journal(present={"k": Entry("Work", "learnt", "i")}).to_json()
    with pytest.raises(ValueError, match=problem):
        Journal.from_json(saved | change)


@pytest.mark.parametrize("saved", [None, 3, [], {}])
def test_values_that_are_not_a_journal_raise(saved: Any) -> None:
    with pytest.raises(ValueError, match="damaged"):
        Journal.from_json(saved)
