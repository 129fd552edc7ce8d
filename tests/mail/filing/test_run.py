"""Filing runs over a Maildir whose owner moves mail between the runs."""

import json
import mailbox
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from tagalong import LabelRanker, ModelFileError, Tagger, load
from tagalong.files.lock import exclusive_lock
from tagalong.filing import BusyError, FilingResult, default_model
from tagalong.learning.items import ReadError
from tagalong.mail.filing import steps as module
from tests.mail.filing.maildirs import (
    EACH,
    TOPICS,
    Mail,
    file_mail,
    fingerprint,
    item_about,
    text_about,
)
from tests.model_files import decoded


def nonzero_counts(result: FilingResult) -> dict[str, Any]:
    """Return the nonzero counts of a result."""
    found = result.to_dict()
    counts = {key: found[key] for key in ("learnt", "corrected", "rejected", "moved", "failed")}
    counts |= {"vanished": found["vanished"], **result.left_by_reason}
    return {name: count for name, count in counts.items() if count}


def test_owner_actions_over_several_runs(mail: Mail) -> None:
    everything = mail.messages()

    def run() -> dict[str, Any]:
        nonlocal everything
        result = file_mail(mail.root, apply=True)
        assert mail.messages() == everything
        assert not result.errors
        return nonzero_counts(result)

    def deliver(topic: str, number: int, flags: str | None = None) -> str:
        nonlocal everything
        key = mail.deliver("", text_about(topic, number), flags)
        everything = mail.messages()
        return key

    # The folders are learnt and the inbox is filed: unseen mail stays unseen, flags stay.
    bank, travel = deliver("Bank", 1000), deliver("Travel", 1001, "FS")
    assert run() == {"learnt": 3 * EACH, "moved": 2}
    assert mail.file("Bank", bank).parent.name == "new"
    assert mail.file("Travel", travel).name == f"{travel}:2,FS"
    assert run() == {}

    # The owner moves a wrongly filed message, moves a learnt one, and adds one in a new folder.
    learnt = min(mail.contents()["Work/Code"])
    mail.move(bank, "Travel")
    mail.move(learnt, "Bank")
    mail.deliver("New", text_about("Bank", 2000), "S")
    everything = mail.messages()
    assert run() == {"learnt": 1, "corrected": 2}
    assert run() == {}

    # A message put back into the inbox is not filed again, until its owner files it.
    mail.move(travel, "")
    assert run() == {"rejected": 1, "put back": 1}
    assert run() == {"put back": 1}
    mail.move(travel, "Travel")
    assert run() == {"learnt": 1}
    assert run() == {}

    # A message that the owner filed and put back is not filed either, and teaches nothing.
    mail.move(learnt, "")
    assert run() == {"put back": 1}
    mail.move(learnt, "Bank")
    assert run() == {}

    # Moving to the trash and back teaches nothing.
    gone = deliver("Travel", 1002)
    assert run() == {"moved": 1}
    mail.move(gone, "Trash")
    assert run() == {}
    mail.move(gone, "Travel")
    assert run() == {}
    mail.delete(gone)
    everything = mail.messages()
    assert run() == {}


def test_a_renamed_message_is_recognised(mail: Mail) -> None:
    filed = [mail.deliver("", text_about("Bank", number)) for number in (1000, 1001, 1002, 1003)]
    assert file_mail(mail.root, apply=True).moved == 4
    back = mail.move(filed[0], "", new_name=True)
    mail.move(filed[1], "Travel", new_name=True)
    mail.move(filed[2], "Bank", new_name=True)
    learnt = mail.move(min(mail.contents()["Bank"]), "Bank", new_name=True)
    mail.deliver("", text_about("Bank", 1003))  # a copy of a message in Bank
    result = file_mail(mail.root, apply=True)
    assert nonzero_counts(result) == {"corrected": 1, "rejected": 1, "put back": 1, "moved": 1}
    assert nonzero_counts(file_mail(mail.root, apply=True)) == {"put back": 1}
    assert mail.where(back) == ""
    assert mail.where(learnt) == "Bank"


def test_a_renamed_message_is_recognised_some_runs_later(one: Mail) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    assert file_mail(one.root, apply=True).moved == 1
    one.delete(key)
    assert nonzero_counts(file_mail(one.root, apply=True)) == {}
    one.deliver("", text_about("Bank", 1000), "S")
    assert nonzero_counts(file_mail(one.root, apply=True)) == {"rejected": 1, "put back": 1}


def test_a_renamed_folder_keeps_its_label_weights(mail: Mail) -> None:
    mail.deliver("", text_about("Bank", 1000))
    file_mail(mail.root, apply=True)
    mail.path("Bank").rename(mail.path("Money"))
    mail.deliver("", text_about("Bank", 1001))
    result = file_mail(mail.root, apply=True)
    assert result.renamed == {"Bank": "Money"}
    assert nonzero_counts(result) == {"moved": 1}
    assert set(load(result.model).labels) == {"Money", "Travel", "Work/Code"}
    assert nonzero_counts(file_mail(mail.root, apply=True)) == {}


def test_the_model_equals_a_tagger_trained_directly(one: Mail) -> None:
    from tagalong.mail.formats.maildir import read_message

    tagger = Tagger()
    order = sorted((key, label) for label, keys in one.contents().items() for key in keys)
    for key, label in order:
        tagger.learn(read_message(one.file(label, key)), [label])
    file_mail(one.root, apply=True)
    key = min(one.contents()["Bank"])
    one.move(key, "Travel")
    tagger.correct(read_message(one.file("Travel", key)), ["Travel"], was=["Bank"])
    found = load(file_mail(one.root, apply=True).model)
    probe = text_about("Bank", 5)
    assert found.suggest(probe) == tagger.suggest(probe)
    assert found.certificate_ == tagger.certificate_
    assert found.history.to_json() == tagger.history.to_json()


def test_a_dry_run_changes_nothing(mail: Mail) -> None:
    mail.deliver("", text_about("Bank", 1000))
    before = fingerprint(mail.root)
    first = file_mail(mail.root)
    assert fingerprint(mail.root) == before
    assert (first.learnt, len(first.moves), first.moved) == (3 * EACH, 1, 0)
    applied = file_mail(mail.root, apply=True)
    assert [move.target for move in applied.moves] == [move.target for move in first.moves]
    assert [move.probability for move in applied.moves] == [first.moves[0].probability]
    mail.deliver("", text_about("Travel", 1000))
    mail.move(min(mail.contents()["Bank"]), "")
    before = fingerprint(mail.root)
    second = file_mail(mail.root)
    assert fingerprint(mail.root) == before
    assert len(second.moves) == 1


def test_a_run_without_changes_does_not_write_the_model(one: Mail) -> None:
    file_mail(one.root, apply=True)
    before = fingerprint(one.root)
    file_mail(one.root, apply=True)
    assert fingerprint(one.root) == before


def test_moves_and_left_messages_have_reasons(one: Mail) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    unsure = one.deliver("", "Subject: Hello\n\nNothing of note")
    result = file_mail(one.root)
    move = result.moves[0]
    assert (move.from_folder, move.to_folder, move.source.name) == ("", "Bank", key)
    assert move.subject == text_about("Bank", 1000).split("Subject: ")[1].split("\n")[0]
    assert 0.95 <= move.probability <= 1
    assert set(move.why) & {*TOPICS["Bank"], *(f"subject:{word}" for word in TOPICS["Bank"])}
    left = result.left[0]
    assert (left.source.name, left.reason, left.subject) == (unsure, "unsure", "Hello")
    assert left.probability < 0.95
    found = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert found["moves"][0]["to"] == "Bank"
    assert found["left"][0]["reason"] == "unsure"
    assert found["left_by_reason"] == {"unsure": 1}


def test_a_model_below_min_learnt_files_nothing(one: Mail) -> None:
    one.deliver("", text_about("Bank", 1000))
    result = file_mail(one.root, apply=True, min_learnt=3 * EACH + 1)
    assert nonzero_counts(result) == {"learnt": 3 * EACH, "too young": 1}
    one.deliver("Bank", text_about("Bank", 1001), "S")
    assert file_mail(one.root, apply=True, min_learnt=3 * EACH + 1).moved == 1


def test_items_learnt_outside_of_filing_count(tmp_path: Path) -> None:
    tagger = Tagger()
    for number in range(EACH):
        for topic in TOPICS:
            tagger.learn(item_about(topic, number), [topic])
    tagger.learn("nowhere", ["Elsewhere"])
    tagger.notes["other"] = "kept"
    mail = Mail(tmp_path / "Mail")
    mail.folder("Bank")
    tagger.save(tmp_path / "own.tagalong")
    mail.deliver("", text_about("Bank", 1000))
    mail.deliver("", text_about("Travel", 1000))
    path = tmp_path / "own.tagalong"
    result = file_mail(mail.root, apply=True, model=path, start_from=path, min_precision=0.5)
    assert nonzero_counts(result) == {"moved": 1, "no such folder": 1}
    assert result.left[0].folder == "Travel"
    assert load(tmp_path / "own.tagalong").notes["other"] == "kept"
    assert not default_model(mail.root).exists()


def test_special_folders_are_neither_learnt_nor_filed_into(mail: Mail) -> None:
    for name in ("Sent", "Trash", "Bank/Drafts", "Archive"):
        for number in range(5):
            mail.deliver(name, text_about("Travel", 3000 + number), "S")
    mail.deliver("", text_about("Travel", 1000))
    result = file_mail(mail.root, exclude=["Sent", "Trash", "Bank", "archive"])
    assert nonzero_counts(result) == {"learnt": 2 * EACH}
    assert [move.to_folder for move in result.moves] == ["Travel"]
    everything = file_mail(mail.root, exclude=())
    assert everything.learnt == 3 * EACH + 20


def test_a_run_moves_at_most_as_many_messages_as_its_limit(one: Mail) -> None:
    keys = [one.deliver("", text_about("Bank", 1000 + number)) for number in range(5)]
    plan = file_mail(one.root, limit=2)
    assert [move.source.name for move in plan.moves] == keys[:2]
    for expected in ({"limit": 3}, {"limit": 1}, {}):
        result = file_mail(one.root, apply=True, limit=2)
        assert result.left_by_reason == expected
        assert all(left.folder == "Bank" and left.subject for left in result.left)
    assert [one.where(key) for key in keys] == ["Bank"] * 5
    one.deliver("", text_about("Bank", 2000))
    assert nonzero_counts(file_mail(one.root, apply=True, limit=0)) == {"limit": 1}


def test_a_dry_run_counts_the_moves_of_other_targets(one: Mail) -> None:
    for number in range(20):
        one.deliver("", text_about(list(TOPICS)[number % 3], 1000 + number))
    one.deliver("", "Subject: Hello\n\nNothing of note")
    found = file_mail(one.root).moves_at
    assert list(found) == [0.9, 0.95, 0.99]
    for target, count in found.items():
        assert len(file_mail(one.root, min_precision=target).moves) == count
    assert found[0.9] >= found[0.95] >= found[0.99]
    assert 0 < found[0.9] <= 20
    assert file_mail(one.root, limit=1).moves_at == found, "without a limit"
    assert file_mail(one.root, audit=1).moves_at == {0.9: 0, 0.95: 0, 0.99: 0}
    listed = file_mail(one.root).to_dict()["moves_at"]
    assert listed[0] == {"min_precision": 0.9, "moves": found[0.9]}
    assert file_mail(one.root, apply=True).moves_at == {}, "only a dry run compares targets"


def test_only_new_files_unseen_mail_only(one: Mail) -> None:
    new, seen = (one.deliver("", text_about("Bank", 1000 + i), f) for i, f in enumerate([None, ""]))
    assert nonzero_counts(file_mail(one.root, only_new=True)) == {"learnt": 3 * EACH}
    assert file_mail(one.root, apply=True, only_new=True).moved == 1
    assert (one.where(new), one.where(seen)) == ("Bank", "")
    assert file_mail(one.root, apply=True).moved == 1


def test_the_inbox_can_be_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "Mail"
    root.mkdir()
    for number in range(EACH):
        for topic in ("Bank", "Travel"):
            mailbox.Maildir(root / topic).add(text_about(topic, number))
    inbox = mailbox.Maildir(root / "INBOX")
    inbox.add(text_about("Bank", 1000))
    result = file_mail(root, apply=True)
    assert nonzero_counts(result) == {"learnt": 2 * EACH, "moved": 1}
    assert (len(inbox), len(mailbox.Maildir(root / "Bank"))) == (0, EACH + 1)
    assert result.moves[0].from_folder == "INBOX"


def test_a_model_without_names_stores_no_words(one: Mail) -> None:
    one.deliver("", text_about("Bank", 1000))
    result = file_mail(one.root, apply=True, names=False)
    assert result.moves[0].why
    contents = decoded(result.model)
    words = [word for topic in TOPICS.values() for word in topic]
    assert not [word for word in (*words, "example", "M1.host") if word.encode() in contents]
    assert file_mail(one.root, apply=True, names=False).learnt == 0
    assert file_mail(one.root, apply=True).learnt == 0, "a model without words stays without words"


def test_a_model_with_words_raises_if_names_is_false(one: Mail) -> None:
    file_mail(one.root, apply=True)
    assert b"invoice" in decoded(default_model(one.root))
    with pytest.raises(ValueError, match=r"model\.tagalong: this model stores words"):
        file_mail(one.root, apply=True, names=False)


def test_concurrent_runs_raise(one: Mail) -> None:
    with exclusive_lock(default_model(one.root), command="the other run"):
        with pytest.raises(BusyError, match=rf"in use by process {os.getpid()} \(the other run\)"):
            file_mail(one.root, apply=True)
        assert file_mail(one.root).learnt == 3 * EACH, "a dry run needs no lock"
    assert file_mail(one.root, apply=True).learnt == 3 * EACH


@pytest.mark.parametrize("stop_at", [1, 7, 3 * EACH])
def test_ctrl_c_saves_and_the_next_run_continues(one: Mail, tmp_path: Path, stop_at: int) -> None:
    def interrupt(step: str, done: int, total: int) -> None:
        if (step, done) == ("learn", stop_at):
            signal.raise_signal(signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    one.deliver("", text_about("Bank", 1000))
    whole = file_mail(one.root, model=tmp_path / "whole.tagalong")
    first = file_mail(one.root, apply=True, progress=interrupt)
    assert signal.getsignal(signal.SIGINT) is handler
    assert first.interrupted
    assert nonzero_counts(first) == {"learnt": stop_at}
    second = file_mail(one.root, apply=True)
    assert not second.interrupted
    assert second.learnt == 3 * EACH - stop_at
    assert second.moves[0].probability == whole.moves[0].probability, "probabilities differ"


@pytest.mark.parametrize("step, moved", [("suggest", 0), ("move", 1)])
def test_ctrl_c_ends_filing_between_two_messages(one: Mail, step: str, moved: int) -> None:
    def interrupt(at: str, done: int, total: int) -> None:
        if at == step:
            signal.raise_signal(signal.SIGINT)

    for number in range(3):
        one.deliver("", text_about("Bank", 1000 + number))
    first = file_mail(one.root, apply=True, progress=interrupt)
    assert (first.interrupted, first.moved) == (True, moved)
    assert nonzero_counts(file_mail(one.root, apply=True)) == {"moved": 3 - moved}


def test_a_second_ctrl_c_raises_at_once(one: Mail) -> None:
    def interrupt(step: str, done: int, total: int) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        file_mail(one.root, apply=True, progress=interrupt)
    assert file_mail(one.root, apply=True).learnt == 3 * EACH


def test_runs_in_a_thread_other_than_the_main_one(one: Mail) -> None:
    found: list[FilingResult] = []
    thread = threading.Thread(target=lambda: found.append(file_mail(one.root)))
    thread.start()
    thread.join()
    assert found[0].learnt == 3 * EACH


def test_progress_is_reported(one: Mail) -> None:
    reported: list[tuple[str, int, int]] = []
    one.deliver("", text_about("Bank", 1000))
    file_mail(one.root, apply=True, progress=lambda *step: reported.append(step))
    count = 3 * EACH
    learning = [("learn", done, count) for done in range(1, count + 1)]
    sorting = [("sort", done, count) for done in range(1, count + 1)]
    assert reported == [*sorting, *learning, ("suggest", 1, 1), ("move", 1, 1)]


def test_the_model_is_saved_at_checkpoints(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECKPOINT", 10)

    def power_cut(step: str, done: int, total: int) -> None:
        if (step, done) == ("learn", 35):
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        file_mail(one.root, apply=True, progress=power_cut)
    assert file_mail(one.root, apply=True).learnt == 3 * EACH - 30


def test_a_missing_maildir_raises(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="nowhere: the folder does not exist"):
        file_mail(tmp_path / "nowhere", apply=True)
    with pytest.raises(ReadError, match="not a Maildir"):
        file_mail(tmp_path, apply=True)
    assert list(tmp_path.iterdir()) == [], "a failed run left a file"


def test_a_maildir_without_folders_files_nothing(tmp_path: Path) -> None:
    mailbox.Maildir(tmp_path / "Mail").add("Subject: one\n\n")
    result = file_mail(tmp_path / "Mail", apply=True, min_learnt=0)
    assert nonzero_counts(result) == {"unsure": 1}


def test_an_unusable_model_raises(one: Mail, tmp_path: Path) -> None:
    path = tmp_path / "m.tagalong"
    path.write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match=r"m\.tagalong"):
        file_mail(one.root, model=path)
    LabelRanker().add_labels(["a"]).save(path)
    with pytest.raises(ModelFileError, match=r"m\.tagalong: the file contains a LabelRanker"):
        file_mail(one.root, model=path)
    tagger = Tagger()
    tagger.notes["filing"] = {"version": 99}
    tagger.save(path)
    with pytest.raises(ModelFileError, match=r"m\.tagalong: the journal has version 99"):
        file_mail(one.root, model=path)
    with pytest.raises(FileNotFoundError, match="the folder of the model file does not exist"):
        file_mail(one.root, apply=True, model=tmp_path / "a" / "m.tagalong")


@pytest.mark.parametrize(
    "wrong",
    [
        *({"min_precision": 0}, {"min_precision": 1.5}, {"min_learnt": -1}, {"only_new": 1}),
        *({"apply": "yes"}, {"names": None}, {"exclude": "Sent"}, {"limit": -1}, {"limit": 1.5}),
        *({"audit": -0.1}, {"audit": 1.1}, {"audit": 1e-9}, {"audit": "all"}),
    ],
)
def test_invalid_parameters_are_named(one: Mail, wrong: dict[str, Any]) -> None:
    before = fingerprint(one.root)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        file_mail(one.root, **{"apply": True, **wrong})
    assert fingerprint(one.root) == before
