"""The journal: present and gone messages, size, round trip through JSON."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.mail.filing import journal as module
from tagalong.mail.filing.journal import Entry, Journal, State, digest

ENTRIES = st.dictionaries(
    st.text(max_size=4),
    st.builds(Entry, st.text(max_size=3), st.sampled_from(get_args(State)), st.text(max_size=3)),
    max_size=8,
)


@given(st.integers(0, 10**9), ENTRIES, ENTRIES)
def test_round_trip_through_json(
    learnt: int, present: dict[str, Entry], gone: dict[str, Entry]
) -> None:
    journal = Journal(learnt, present, gone)
    assert Journal.from_json(json.loads(json.dumps(journal.to_json()))) == journal


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
    journal.update_presence(set(), {"Work"})
    assert list(journal.present) == ["1"]
    assert list(journal.gone) == ["2"]


def test_trim_keeps_the_messages_gone_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_GONE", 2)
    journal = Journal(present={key: Entry("Work", "learnt", key) for key in "abcd"})
    for seen in ("abd", "ad", "d"):
        journal.update_presence(set(seen))
        journal.trim()
    assert list(journal.gone) == ["b", "a"]
    assert journal.gone_by_identity() == {"b": "b", "a": "a"}


def test_size_per_message() -> None:
    entries = {digest(b"%d" % i): Entry("Work", "learnt", digest(b"x%d" % i)) for i in range(1000)}
    assert len(json.dumps(Journal(present=entries).to_json(), separators=(",", ":"))) < 45 * 1000


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"version": 2}, "version 2"),
        ({"folders": []}, "damaged"),
        ({"here": {"k": [0, "lost", "i"]}}, "no such state: 'lost'"),
        ({"here": {"k": [0, "learnt"]}}, "damaged: .*not enough values"),
        ({"here": []}, "damaged"),
        ({"learnt": None}, "damaged"),
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
