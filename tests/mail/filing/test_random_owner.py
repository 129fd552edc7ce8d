"""Random owner actions: every message is kept exactly once, and the journal matches.

Messages that Tagalong has filed never become evidence, and spot checks stay where they are.
"""

import os
import shutil
import tempfile
from collections import Counter
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagalong import Tagger, load
from tagalong.filing import read_log
from tagalong.mail.filing.journal import Journal
from tests.mail.filing.maildirs import TOPICS, Mail, file_mail, text_about

PLACES = ["", "Bank", "Travel", "Work/Code", "New", "Trash"]

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("deliver"), st.sampled_from(list(TOPICS)), st.booleans()),
        st.tuples(st.just("move"), st.integers(0), st.sampled_from(PLACES), st.booleans()),
        st.tuples(st.just("delete"), st.integers(0)),
        st.tuples(st.just("copy"), st.integers(0), st.sampled_from(PLACES)),
        st.tuples(st.just("run"), st.booleans()),
    ),
    max_size=12,
)


def copy(mail: Mail, key: str, label: str) -> str:
    """Copy a message under a new file name, as mail programs do, and return its Message-ID."""
    at = mail.where(key)
    assert at is not None
    text = mail.file(at, key).read_text()
    mail.deliver(label, text, "S")
    return message_id(text)


def message_id(text: str) -> str:
    return text.partition("Message-ID: <")[2].partition(">")[0]


class Evidence:
    """Message-IDs that `Tagger.watch` has taken as evidence of how often suggestions are right."""

    def __init__(self, patch: pytest.MonkeyPatch):
        self.ids: set[str] = set()
        real: Any = Tagger.watch

        def watch(*args: Any, **options: Any) -> Any:
            given = signature(real).bind(*args, **options).arguments
            if given.get("judged", True) and not given.get("filed", False):
                self.ids.add(given["item"].id)
            return real(*args, **options)

        patch.setattr(Tagger, "watch", watch)


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(actions=ACTIONS, nested=st.booleans(), audit=st.sampled_from([0, 0.4, 1]))
def test_no_message_is_lost_or_duplicated(
    filled: dict[bool, Path], actions: list[tuple[object, ...]], nested: bool, audit: float
) -> None:
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        evidence = Evidence(patch)
        shutil.copytree(filled[nested], Path(scratch) / "Mail")
        mail = Mail(Path(scratch) / "Mail", nested, first=1000)
        expected = mail.messages()
        refused: set[str] = set()
        filed_by_tagalong: set[str] = set()
        asked: set[str] = set()
        filed_ids: set[str] = set()
        copied_ids: set[str] = set()
        for number, (action, *details) in enumerate([*actions, ("run", True)]):
            keys = sorted(key for keys in mail.contents().values() for key in keys)
            match action, details:
                case "deliver", [str(topic), bool(seen)]:
                    text = text_about(topic, 5000 + number)
                    mail.deliver("", text, "S" if seen else None)
                case "move", [int(which), str(label), bool(new_name)]:
                    key = keys[which % len(keys)]
                    if key in filed_by_tagalong and label == "":
                        refused.add(mail.move(key, label, new_name))
                    else:
                        refused.discard(key)
                        mail.move(key, label, new_name)
                    filed_by_tagalong.discard(key)
                    asked.discard(key)
                case "delete", [int(which)]:
                    key = keys[which % len(keys)]
                    mail.delete(key)
                    refused.discard(key)
                    filed_by_tagalong.discard(key)
                    asked.discard(key)
                case "copy", [int(which), str(label)]:
                    copied_ids.add(copy(mail, keys[which % len(keys)], label))
                case "run", [bool(applied)]:
                    expected = mail.messages()
                    evidence.ids.clear()
                    moved, new_checks = check_run(mail, applied, expected, audit)
                    assert not evidence.ids & (filed_ids - copied_ids), "evidence of own moves"
                    filed_by_tagalong |= moved
                    asked |= new_checks
                    filed_ids |= {
                        message_id(mail.file(mail.where(key) or "", key).read_text())
                        for key in moved
                    }
                    assert all(mail.where(key) == "" for key in refused | asked), (
                        "a refused message or a spot check was filed"
                    )
            if action != "run":
                expected = mail.messages()
        assert mail.messages() == expected


def check_run(
    mail: Mail, applied: bool, expected: Counter[bytes], audit: float
) -> tuple[set[str], set[str]]:
    """Run, check the invariants of every run, and return the keys of moves and spot checks."""
    before = mail.contents()
    result = file_mail(mail.root, apply=applied, audit=audit)
    after = mail.contents()
    assert mail.messages() == expected
    assert not result.errors
    if not applied:
        assert after == before
        return set(), set()
    moved = {move.source.name.partition(":")[0]: move for move in result.moves}
    assert audit < 1 or not moved
    for key, move in moved.items():
        assert key in before[move.from_folder]
        assert key in after[move.to_folder]
        assert move.to_folder not in ("", "Trash")
    for label, keys in before.items():
        assert keys - after[label] == {k for k, move in moved.items() if move.from_folder == label}
    journal = Journal.from_json(load(result.model).notes["filing"])
    filed = Counter(e.folder for e in journal.present.values() if e.state in ("learnt", "filed"))
    for label, keys in after.items():
        if label not in ("", "Trash"):
            assert filed[label] >= len(keys), "a message of this folder has no journal entry"
    assert len(journal.present) <= sum(map(len, after.values())), "a gone message counts as present"
    assert sorted(os.listdir(mail.root / "tmp")) == []
    check_log(mail)
    checks = [left for left in result.left if left.reason == "spot check"]
    return set(moved), {left.source.name.partition(":")[0] for left in checks}


def check_log(mail: Mail) -> None:
    """Check that what the log says of each message agrees with where it is."""
    for message in read_log(mail.root):
        match message.outcome:
            case "stayed" | "filed by you":
                assert message.folder == message.record.folder
            case "moved by you":
                assert message.folder not in (None, "", message.record.folder)
            case "waiting":
                assert (message.record.act, message.folder) == ("asked", "")
            case "put back":
                assert (message.record.act, message.folder) == ("moved", "")
            case "gone":
                assert message.folder is None
            case _:
                raise AssertionError(f"no run ended early: {message}")
