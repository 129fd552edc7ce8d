"""Crashes at any step: no message is lost or duplicated, and the next run completes the work."""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tagalong import Tagger, load
from tagalong.filing import FilingResult, default_model, read_log
from tagalong.mail.filing import maildir
from tests.mail.filing.maildirs import EACH, TOPICS, Mail, file_mail, text_about

MOVE = "move_without_overwriting"


class PowerCut(BaseException):
    """Exception that no error handler catches."""


def crashing(real: Callable[..., Any], at: int, after: bool) -> Callable[..., Any]:
    """Return a function that raises in its n-th call, before or after calling `real`."""
    calls = 0

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at and not after:
            raise PowerCut
        found = real(*args, **kwargs)
        if calls == at:
            raise PowerCut
        return found

    return call


@pytest.fixture
def busy(one: Mail) -> tuple[Mail, list[str]]:
    """A Maildir with owner actions since its first run, and the keys of messages to file."""
    rejected = one.deliver("", text_about("Travel", 900))
    file_mail(one.root, apply=True)
    one.move(rejected, "")
    one.move(min(one.contents()["Bank"]), "Travel")
    one.deliver("Bank", text_about("Bank", 901), "S")
    return one, [one.deliver("", text_about("Bank", 1000 + i)) for i in range(3)]


EXPECTED = {"learnt": 1, "corrected": 1, "rejected": 1}


def lessons(result: FilingResult) -> Counter[str]:
    return Counter({name: getattr(result, name) for name in EXPECTED})


def check_next_run(mail: Mail, keys: list[str], everything: Counter[bytes]) -> None:
    """Check that the run after a crash completes the work, and that another run has none."""
    assert mail.messages() == everything
    result = file_mail(mail.root, apply=True)
    assert not result.errors
    assert mail.messages() == everything
    assert {mail.where(key) for key in keys} == {"Bank"}
    # One round per message of the first run, and three since: each lesson is learnt once.
    tagger = load(default_model(mail.root))
    assert tagger.certificate_.rounds == EACH * len(TOPICS) + 3
    idle = file_mail(mail.root, apply=True)
    assert lessons(idle).total() == idle.moved == 0
    # The journal knows Tagalong's moves: if the owner reverts one, it is a rejection.
    mail.move(keys[0], "")
    assert file_mail(mail.root).rejected == 1


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_crash_before_or_after_each_move(
    busy: tuple[Mail, list[str]], monkeypatch: pytest.MonkeyPatch, at: int, after: bool
) -> None:
    mail, keys = busy
    everything = mail.messages()
    with monkeypatch.context() as patch:
        patch.setattr(maildir, MOVE, crashing(getattr(maildir, MOVE), at, after))
        with pytest.raises(PowerCut):
            file_mail(mail.root, apply=True)
    assert sum(mail.where(key) == "Bank" for key in keys) == at - 1 + after
    check_next_run(mail, keys, everything)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("what", ["save", "replace"])
def test_crash_while_the_model_is_saved(
    busy: tuple[Mail, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    at: int,
    after: bool,
    what: str,
) -> None:
    mail, keys = busy
    everything = mail.messages()
    place: Any = Tagger if what == "save" else os
    with monkeypatch.context() as patch:
        patch.setattr(place, what, crashing(getattr(place, what), at, after))
        with pytest.raises(PowerCut):
            file_mail(mail.root, apply=True)
    check_next_run(mail, keys, everything)


def test_no_other_call_changes_the_disk(
    busy: tuple[Mail, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests above crash in every call that changes the disk: three moves and two saves."""
    mail, _ = busy
    calls: list[str] = []

    def recording(place: Any, name: str) -> Callable[..., Any]:
        real = getattr(place, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            return real(*args, **kwargs)

        return call

    for name in ("rename", "replace", "link", "unlink", "remove", "rmdir", "mkdir", "truncate"):
        monkeypatch.setattr(os, name, recording(os, name))
    monkeypatch.setattr(maildir, MOVE, recording(maildir, MOVE))
    file_mail(mail.root, apply=True)
    # At the end the lock file is removed.
    assert calls == ["replace", MOVE, MOVE, MOVE, "replace", "unlink"]


def test_crash_during_learning(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagalong.mail.filing.steps.CHECKPOINT", 20)
    whole = one.root.with_name("whole")
    shutil.copytree(one.root, whole)
    file_mail(whole, apply=True)
    for at in (5, 50, 35):
        with monkeypatch.context() as patch:
            patch.setattr(Tagger, "learn", crashing(Tagger.learn, at, after=True))
            with pytest.raises(PowerCut):
                file_mail(one.root, apply=True)
    file_mail(one.root, apply=True)
    probe = text_about("Bank", 5)
    expected, found = load(default_model(whole)), load(default_model(one.root))
    assert found.certificate_ == expected.certificate_, "learnt twice, or not at all"
    assert found.suggest(probe) == expected.suggest(probe)


def test_a_full_disk_stops_the_run_before_the_first_move(
    busy: tuple[Mail, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    mail, keys = busy
    everything = mail.messages()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            file_mail(mail.root, apply=True)
    assert {mail.where(key) for key in keys} == {""}
    assert not list(mail.root.glob(".model*")), "an incomplete model file is left"
    check_next_run(mail, keys, everything)


def test_the_owner_moves_messages_after_a_crash(
    busy: tuple[Mail, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    mail, keys = busy
    with monkeypatch.context() as patch:
        patch.setattr(maildir, MOVE, crashing(getattr(maildir, MOVE), 2, after=True))
        with pytest.raises(PowerCut):
            file_mail(mail.root, apply=True)
    mail.move(keys[0], "Travel")
    mail.move(keys[2], "Travel")
    result = file_mail(mail.root, apply=True)
    assert (lessons(result), result.moved) == (Counter(corrected=2), 0)
    assert mail.where(keys[1]) == "Bank"


def test_a_deleted_model_is_learnt_again(busy: tuple[Mail, list[str]]) -> None:
    mail, keys = busy
    file_mail(mail.root, apply=True)
    everything = mail.messages()
    Path(default_model(mail.root)).unlink()
    result = file_mail(mail.root, apply=True)
    assert result.learnt == len(list(mail.messages().elements())) - 1
    assert mail.messages() == everything
    assert {mail.where(key) for key in keys} == {"Bank"}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("what", ["save", MOVE])
def test_crash_between_spot_checks_and_moves(
    one: Mail, monkeypatch: pytest.MonkeyPatch, at: int, after: bool, what: str
) -> None:
    """Spot checks are saved with the planned moves; a crash makes neither a move nor an answer."""
    file_mail(one.root, apply=True)
    keys = [one.deliver("", text_about("Bank", 1000 + i)) for i in range(16)]
    everything = one.messages()
    share = {"audit": 0.4}
    plan = file_mail(one.root, **share)
    checks = {left.source.name for left in plan.left if left.reason == "spot check"}
    moves = {move.source.name for move in plan.moves}
    assert (len(moves) >= 2, checks | moves) == (True, set(keys))
    place: Any = Tagger if what == "save" else maildir
    with monkeypatch.context() as patch:
        patch.setattr(place, what, crashing(getattr(place, what), at, after))
        with pytest.raises(PowerCut):
            file_mail(one.root, apply=True, **share)
    result = file_mail(one.root, apply=True, **share)
    assert (result.learnt, result.corrected, result.rejected) == (0, 0, 0)
    assert {one.where(key) for key in checks} <= {""}
    assert {one.where(key) for key in moves} == {"Bank"}
    assert one.messages() == everything
    outcomes = {message.outcome for message in read_log(one.root)}
    assert outcomes <= {"waiting", "stayed"}
