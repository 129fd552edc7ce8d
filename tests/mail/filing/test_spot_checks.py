"""Spot checks: sure messages that are left to the owner, and what counts as evidence."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from tagalong import Tagger, load
from tagalong.filing import default_model
from tagalong.mail.filing.journal import Journal
from tests.mail.filing.maildirs import Mail, file_mail, fingerprint, text_about
from tests.mail.filing.test_crashes import PowerCut, crashing

ALL = 1.0  # the share of spot checks that asks for every sure message


@pytest.fixture
def learnt_flags(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, bool]]]:
    """Labels and flags of each lesson: "not" before a label that was rejected."""
    calls: list[tuple[list[str], dict[str, bool]]] = []
    real_watch: Callable[..., Any] = Tagger.watch
    real_feedback: Callable[..., Any] = Tagger.feedback
    defaults = {"judged": True, "filed": False, "audited": False}

    def watch(*args: Any, **options: Any) -> Any:
        given = signature(real_watch).bind(*args, **options).arguments
        flags = {name: given.get(name, usual) for name, usual in defaults.items()}
        changed = {name: flag for name, flag in flags.items() if flag is not defaults[name]}
        calls.append((list(given["labels"]), changed))
        return real_watch(*args, **options)

    def feedback(self: Tagger, item: Any, shown: Any, accepted: Any, **flags: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(Tagger, "watch", real_watch)
            real_feedback(self, item, shown, accepted, **flags)
        calls.append(([f"not {label}" for label in shown], flags))
        return self

    monkeypatch.setattr(Tagger, "watch", watch)
    monkeypatch.setattr(Tagger, "feedback", feedback)
    return calls


def state_of(mail: Mail, folder: str) -> list[str]:
    """Return the states of the journal entries of a folder that are not "learnt"."""
    journal = Journal.from_json(load(default_model(mail.root)).notes["filing"])
    entries = journal.present.values()
    return [e.state for e in entries if e.folder == folder and e.state != "learnt"]


def test_a_spot_check_stays_in_the_inbox_until_the_owner_files_it(mail: Mail) -> None:
    key = mail.deliver("", text_about("Bank", 1000))
    first = file_mail(mail.root, apply=True, audit=ALL)
    assert (first.moved, first.left_by_reason) == (0, {"spot check": 1})
    assert (first.left[0].folder, first.left[0].subject != "") == ("Bank", True)
    assert first.left[0].probability >= 0.9
    assert state_of(mail, "Bank") == ["asked"]
    before = fingerprint(mail.root)
    again = file_mail(mail.root, apply=True, audit=ALL)
    assert again.left_by_reason == {"spot check": 1}
    assert again.left[0].folder == "Bank"
    assert fingerprint(mail.root) == before, "asked once"
    mail.move(key, "Travel")
    answered = file_mail(mail.root, apply=True, audit=ALL)
    assert (answered.learnt, answered.answered, answered.corrected) == (1, 1, 0)
    assert file_mail(mail.root, apply=True, audit=ALL).learnt == 0


def test_the_share_is_remembered(one: Mail) -> None:
    file_mail(one.root, apply=True, audit=ALL)
    one.deliver("", text_about("Bank", 1000))
    assert file_mail(one.root, apply=True, audit=None).left_by_reason == {"spot check": 1}
    # A new share is saved even if nothing else has changed.
    file_mail(one.root, apply=True, audit=0.5)
    assert load(default_model(one.root)).audit == 0.5


def test_without_spot_checks_waiting_messages_are_filed(one: Mail) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    assert file_mail(one.root, apply=True, audit=ALL).moved == 0
    assert file_mail(one.root, apply=True, audit=0).moved == 1
    assert state_of(one, "Bank") == ["filed"]
    one.move(key, "")
    assert file_mail(one.root, apply=True, audit=0).rejected == 1


@pytest.mark.parametrize("folder", ["Bank", "Travel"])
@pytest.mark.parametrize("new_name", [False, True])
def test_an_answer_stands_for_many(
    one: Mail, learnt_flags: list[Any], folder: str, new_name: bool
) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    file_mail(one.root, apply=True, audit=ALL)
    assert {tuple(flags) for _, flags in learnt_flags} == {()}, "folders are learnt as they are"
    learnt_flags.clear()
    one.move(key, folder, new_name)
    file_mail(one.root, apply=True, audit=ALL)
    assert learnt_flags == [([folder], {"audited": True})]


def test_a_message_filed_by_the_owner_first_is_no_spot_check(
    one: Mail, learnt_flags: list[Any]
) -> None:
    """Every message that the owner files before a run sees it is asked, so it stands for itself."""
    file_mail(one.root, apply=True, audit=ALL)
    learnt_flags.clear()
    one.deliver("Bank", text_about("Bank", 1000), "S")
    file_mail(one.root, apply=True, audit=ALL)
    assert learnt_flags == [(["Bank"], {})]


def test_filed_messages_are_no_evidence(one: Mail, learnt_flags: list[Any]) -> None:
    stays, moved, put_back = (one.deliver("", text_about("Bank", 1000 + i)) for i in range(3))
    assert file_mail(one.root, apply=True).moved == 3
    learnt_flags.clear()
    one.move(moved, "Travel")
    one.move(put_back, "")
    result = file_mail(one.root, apply=True)
    assert (result.corrected, result.rejected) == (1, 1)
    assert (["Travel"], {"filed": True}) in learnt_flags
    assert (["not Bank"], {"filed": True}) in learnt_flags
    assert all("filed" in flags for _, flags in learnt_flags)
    assert one.where(stays) == "Bank"
    # The owner files the message after all: the answer came after Tagalong's own.
    learnt_flags.clear()
    one.move(put_back, "Bank")
    assert file_mail(one.root, apply=True).learnt == 1
    assert learnt_flags == [(["Bank"], {"judged": False})]


def test_a_second_answer_is_no_evidence(one: Mail, learnt_flags: list[Any]) -> None:
    key = min(one.contents()["Bank"])
    file_mail(one.root, apply=True)
    learnt_flags.clear()
    one.move(key, "Travel")
    file_mail(one.root, apply=True)
    assert learnt_flags == [(["Travel"], {"judged": False})]
    # Even if the tagger no longer knows the first answer.
    model = default_model(one.root)
    tagger = load(model)
    tagger.rename_label("Travel", "Journeys")
    tagger.save(model)
    learnt_flags.clear()
    one.move(key, "Bank")
    file_mail(one.root, apply=True)
    assert learnt_flags == [(["Bank"], {"judged": False})]


def test_a_renamed_spot_check_is_recognised(one: Mail) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    file_mail(one.root, apply=True, audit=ALL)
    one.move(key, "", new_name=True)
    result = file_mail(one.root, apply=True, audit=ALL)
    assert (result.left_by_reason, result.rejected) == ({"spot check": 1}, 0)
    assert state_of(one, "Bank") == ["asked"]


def test_a_spot_check_follows_a_renamed_folder(one: Mail) -> None:
    one.deliver("", text_about("Bank", 1000))
    file_mail(one.root, apply=True, audit=ALL)
    one.path("Bank").rename(one.path("Money"))
    result = file_mail(one.root, apply=True, audit=ALL)
    assert result.renamed == {"Bank": "Money"}
    assert [left.folder for left in result.left] == ["Money"]


def test_a_spot_check_in_the_trash_is_no_answer(one: Mail, learnt_flags: list[Any]) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    file_mail(one.root, apply=True, audit=ALL)
    learnt_flags.clear()
    one.move(key, "Trash")
    file_mail(one.root, apply=True, audit=ALL)
    assert learnt_flags == []
    one.move(key, "Bank")
    file_mail(one.root, apply=True, audit=ALL)
    assert learnt_flags == [(["Bank"], {"audited": True})]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_while_a_spot_check_is_saved(
    one: Mail, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """Either the message is a spot check afterwards, or the next run makes it one."""
    file_mail(one.root, apply=True, audit=ALL)
    one.deliver("", text_about("Bank", 1000))
    everything = one.messages()
    with monkeypatch.context() as patch:
        patch.setattr(Tagger, "save", crashing(Tagger.save, 1, after))
        with pytest.raises(PowerCut):
            file_mail(one.root, apply=True, audit=ALL)
    assert state_of(one, "Bank") == (["asked"] if after else [])
    assert file_mail(one.root, apply=True, audit=ALL).left_by_reason == {"spot check": 1}
    assert state_of(one, "Bank") == ["asked"]
    assert one.messages() == everything


def test_a_dry_run_asks_nothing(one: Mail) -> None:
    file_mail(one.root, apply=True)
    one.deliver("", text_about("Bank", 1000))
    before = fingerprint(one.root)
    assert file_mail(one.root, audit=ALL).left_by_reason == {"spot check": 1}
    assert fingerprint(one.root) == before
    assert file_mail(one.root, apply=True).moved == 1


def test_only_messages_that_could_be_moved_are_asked(one: Mail, tmp_path: Path) -> None:
    """A spot check of a folder that does not exist would ask for what cannot be done."""
    file_mail(one.root, apply=True, audit=ALL)
    tagger = load(default_model(one.root))
    tagger.set_min_precision("Travel", "never")
    tagger.save(default_model(one.root))
    (one.path("Bank") / "tmp").rmdir()
    one.deliver("", text_about("Bank", 1000))
    one.deliver("", text_about("Travel", 1001))
    result = file_mail(one.root, apply=True, audit=ALL)
    assert result.left_by_reason == {"no such folder": 1, "never": 1}


def test_a_label_of_its_own_target(one: Mail) -> None:
    file_mail(one.root, apply=True)
    for number in range(3):
        one.deliver("", text_about("Bank", 1000 + number))
    tagger = load(default_model(one.root))
    tagger.set_min_precision("Bank", "never")
    tagger.save(default_model(one.root))
    result = file_mail(one.root, apply=True)
    assert (result.moved, result.left_by_reason) == (0, {"never": 3})
    assert [left.folder for left in result.left] == ["Bank"] * 3
    tagger = load(default_model(one.root))
    tagger.set_min_precision("Bank", None)
    tagger.save(default_model(one.root))
    assert file_mail(one.root, apply=True).moved == 3


def test_spot_checks_are_drawn_up_to_the_limit_only(one: Mail) -> None:
    """A run does not ask about messages beyond its limit; checks that wait do not count."""
    keys = [one.deliver("", text_about("Bank", 1000 + number)) for number in range(5)]
    first = file_mail(one.root, apply=True, audit=ALL, limit=2)
    assert first.left_by_reason == {"spot check": 2, "limit": 3}
    asked = [left.source.name for left in first.left if left.reason == "spot check"]
    assert [name.partition(":")[0] for name in asked] == keys[:2], "the oldest"
    again = file_mail(one.root, apply=True, audit=ALL, limit=2)
    assert again.left_by_reason == {"spot check": 4, "limit": 1}
    mixed = file_mail(one.root, audit=0, limit=3)
    assert (len(mixed.moves), mixed.left_by_reason) == (3, {"limit": 2})
