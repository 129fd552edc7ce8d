"""The log of moves and spot checks, and what became of the messages."""

import json
from pathlib import Path

import pytest

from tagalong import ModelFileError, Tagger
from tagalong.filing import LoggedMessage, default_model, read_log
from tagalong.mail.filing import journal, maildir
from tests.mail.filing.maildirs import TOPICS, Mail, file_mail, fingerprint, text_about
from tests.mail.filing.test_crashes import MOVE, PowerCut, crashing


def outcomes(mail: Mail) -> list[tuple[str, str | None]]:
    return [(message.outcome, message.folder) for message in read_log(mail.root)]


def test_what_became_of_moved_messages(mail: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [mail.deliver("", text_about("Bank", 1000 + number)) for number in range(6)]
    monkeypatch.setattr("time.time", lambda: 1_750_000_000.5)
    assert file_mail(mail.root, apply=True).moved == 6
    assert outcomes(mail) == [("stayed", "Bank")] * 6
    mail.move(keys[1], "Travel")
    mail.move(keys[2], "")
    mail.move(keys[3], "Trash")
    mail.delete(keys[4])
    mail.move(keys[5], "Travel", new_name=True)
    expected = [
        *(("stayed", "Bank"), ("moved by you", "Travel"), ("put back", "")),
        *(("moved by you", "Trash"), ("gone", None)),
    ]
    assert outcomes(mail) == [*expected, ("gone", None)]
    monkeypatch.setattr("time.time", lambda: 1_760_000_000)
    file_mail(mail.root, apply=True)
    # The run has recognised the renamed message; the log says the same as before of all others.
    assert outcomes(mail) == [*expected, ("moved by you", "Travel")]
    mail.move(keys[2], "Bank")
    file_mail(mail.root, apply=True)
    assert outcomes(mail)[2] == ("filed by you", "Bank")
    first = read_log(mail.root)[0]
    assert (first.record.time, first.record.act, first.record.folder) == (
        *(1_750_000_000, "moved", "Bank"),
    )
    assert first.record.min_precision == 0.95
    assert 0.9 <= first.record.probability <= 1
    own = {"bank", *TOPICS["Bank"]}  # the text names its topic too
    assert {word.removeprefix("subject:") for word in first.record.why} <= own
    assert first.subject == text_about("Bank", 1000).split("Subject: ")[1].split("\n")[0]
    found = json.loads(json.dumps(first.to_dict(), allow_nan=False))
    assert found["time"] == "2025-06-15T15:06:40+00:00"
    assert (found["to"], found["outcome"], found["now_in"]) == ("Bank", "stayed", "Bank")


def test_what_became_of_spot_checks(one: Mail) -> None:
    keys = [one.deliver("", text_about("Bank", 1000 + number)) for number in range(3)]
    file_mail(one.root, apply=True, audit=1)
    one.move(keys[1], "Bank")
    one.move(keys[2], "Travel")
    expected = [("waiting", ""), ("filed by you", "Bank"), ("moved by you", "Travel")]
    assert outcomes(one) == expected
    file_mail(one.root, apply=True, audit=1)
    assert outcomes(one) == expected
    assert {message.record.act for message in read_log(one.root)} == {"asked"}


def test_reading_the_log_changes_nothing(one: Mail) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    file_mail(one.root, apply=True)
    one.move(key, "Travel")
    before = fingerprint(one.root)
    read_log(one.root)
    assert fingerprint(one.root) == before


def test_a_planned_move_that_was_never_made(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    file_mail(one.root, apply=True)
    for number in range(2):
        one.deliver("", text_about("Bank", 1000 + number))
    with monkeypatch.context() as patch:
        patch.setattr(maildir, MOVE, crashing(getattr(maildir, MOVE), 2, after=False))
        with pytest.raises(PowerCut):
            file_mail(one.root, apply=True)
    assert outcomes(one) == [("stayed", "Bank"), ("not moved", "")]
    assert file_mail(one.root, apply=True).moved == 1
    assert outcomes(one) == [("stayed", "Bank"), ("stayed", "Bank")]


def test_failed_moves_are_not_logged(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    one.deliver("", text_about("Bank", 1000))

    def refuse(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(maildir, MOVE, refuse)
        assert file_mail(one.root, apply=True).failed == 1
    assert read_log(one.root) == []


def test_the_log_is_bounded(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_LOG", 3)
    for number in range(5):
        one.deliver("", text_about("Bank", 1000 + number))
    file_mail(one.root, apply=True)
    subjects = [message.subject for message in read_log(one.root)]
    expected = [text_about("Bank", 1000 + number) for number in (2, 3, 4)]
    assert subjects == [text.split("Subject: ")[1].split("\n")[0] for text in expected]


def test_a_model_without_names_logs_no_words(one: Mail) -> None:
    one.deliver("", text_about("Bank", 1000))
    assert file_mail(one.root, apply=True, names=False).moves[0].why
    (message,) = read_log(one.root)
    assert (message.record.why, message.outcome) == ((), "stayed")
    assert message.subject, "read from the message itself"


def test_errors(one: Mail, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"model\.tagalong: there is no model yet"):
        read_log(one.root)
    Tagger().save(default_model(one.root))
    with pytest.raises(ModelFileError, match="not made by 'tagalong file'"):
        read_log(one.root)


def test_a_message_that_disappears_has_no_subject(
    one: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.deliver("", text_about("Bank", 1000))
    file_mail(one.root, apply=True)

    def gone(path: Path, **options: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("tagalong.mail.filing.maildir.read_message", gone)
    (message,) = read_log(one.root)
    assert isinstance(message, LoggedMessage)
    assert (message.outcome, message.subject) == ("stayed", "")
