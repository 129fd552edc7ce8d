"""Random owner actions: every message is kept exactly once, and the journal matches."""

import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagalong import load
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


def copy(mail: Mail, key: str, label: str) -> None:
    """Copy a message under a new file name, as mail programs do."""
    at = mail.where(key)
    assert at is not None
    mail.deliver(label, mail.file(at, key).read_text(), "S")


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(actions=ACTIONS, nested=st.booleans())
def test_no_message_is_lost_or_duplicated(
    filled: dict[bool, Path], actions: list[tuple[object, ...]], nested: bool
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(filled[nested], Path(scratch) / "Mail")
        mail = Mail(Path(scratch) / "Mail", nested, first=1000)
        expected = mail.messages()
        refused: set[str] = set()
        filed_by_tagalong: set[str] = set()
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
                case "delete", [int(which)]:
                    key = keys[which % len(keys)]
                    mail.delete(key)
                    refused.discard(key)
                    filed_by_tagalong.discard(key)
                case "copy", [int(which), str(label)]:
                    copy(mail, keys[which % len(keys)], label)
                case "run", [bool(applied)]:
                    expected = mail.messages()
                    filed_by_tagalong |= check_run(mail, applied, expected)
                    assert all(mail.where(key) == "" for key in refused), (
                        "a refused message was filed again"
                    )
            if action != "run":
                expected = mail.messages()
        assert mail.messages() == expected


def check_run(mail: Mail, applied: bool, expected: Counter[bytes]) -> set[str]:
    """Run, check the invariants of every run, and return the keys of moved messages."""
    before = mail.contents()
    result = file_mail(mail.root, apply=applied)
    after = mail.contents()
    assert mail.messages() == expected
    assert not result.errors
    if not applied:
        assert after == before
        return set()
    moved = {move.source.name.partition(":")[0]: move for move in result.moves}
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
    return set(moved)
