"""Tests of ``tagalong file``, with and without ``--apply``."""

import mailbox
import os
from pathlib import Path
from typing import Any

import pytest

from tagalong.files.lock import exclusive_lock
from tests.cli.conftest import Run
from tests.model_files import decoded

PLACES = {"Bank": "Your invoice is due", "Travel": "Your flight is booked"}
NO_CHECKS = ("--audit", "0")


@pytest.fixture
def maildir(tmp_path: Path) -> Path:
    inbox = mailbox.Maildir(tmp_path / "Mail")
    folders = {name: inbox.add_folder(name) for name in PLACES}
    for number in range(60):
        for name, text in PLACES.items():
            folders[name].add(f"Subject: {text}, no. {number}\n\nHello")
    inbox.add("Subject: Your flight is late\n\nHello")
    inbox.add("Subject: Something else\n\nNothing known")
    return tmp_path / "Mail"


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_dry_run_changes_nothing(run: Run, maildir: Path) -> None:
    before = files(maildir)
    done = run("file", "Mail", *NO_CHECKS)
    assert done.code == 0
    lines = done.out.splitlines()
    assert "Travel  Your flight is late  (flight" in lines[0]
    assert lines[1:-1] == [
        "120 messages learnt",
        "1 message would be moved",
        "1 stays in the inbox: 1 unsure",
    ]
    assert lines[-1].startswith("at 0.90 I would move 1, at 0.95 1, at 0.99 ")
    assert "--apply moves the messages" in done.err
    assert files(maildir) == before
    found = run("file", "Mail", "--dry-run", "--json", *NO_CHECKS).json
    assert found["applied"] is False
    assert found["moves_at"][:2] == [
        {"min_precision": 0.9, "moves": 1},
        {"min_precision": 0.95, "moves": 1},
    ]


def test_apply_moves_and_learns_once(run: Run, maildir: Path) -> None:
    done = run("file", "Mail", "--apply", "--json", *NO_CHECKS)
    assert (done.code, done.json["moved"], done.json["learnt"]) == (0, 1, 120)
    assert done.json["moves"][0]["to"] == "Travel"
    assert len(mailbox.Maildir(maildir).get_folder("Travel")) == 61
    assert (maildir / "model.tagalong").exists()
    again = run("file", "Mail", "--apply", "--json")
    assert (again.json["moved"], again.json["learnt"]) == (0, 0)
    assert run("inspect", "Mail/model.tagalong", "--json").json["size"]["labels"] == 2


def test_spot_checks_are_shown(run: Run, maildir: Path) -> None:
    done = run("file", "Mail", "--apply", "--audit", "1")
    assert "Travel?  Your flight is late  (spot check: please file it yourself)" in done.out
    assert "2 stay in the inbox: " in done.out
    again = run("file", "Mail", "--apply")
    assert "please file it" not in again.out, "asked once"
    assert "1 spot check" in again.out
    inbox = mailbox.Maildir(maildir)
    key = next(key for key, mail in inbox.items() if "flight" in mail["Subject"])
    inbox.get_folder("Travel").add(inbox[key])
    inbox.remove(key)
    assert "1 new message learnt" in run("file", "Mail", "--apply").out
    assert "0 new messages learnt" in run("file", "Mail", "--apply").out


def test_a_young_model_says_how_many_messages_it_has_learnt(run: Run, maildir: Path) -> None:
    flags = ("file", "Mail", "--apply", "--min-learnt", "500")
    expected = "2 stay in the inbox: 2 too young: 120 of 500 messages learnt (--min-learnt)"
    assert run(*flags).out.splitlines() == ["120 messages learnt", "0 messages moved", expected]
    assert run(*flags).out.splitlines()[::2] == ["0 new messages learnt", expected]


def test_the_limit(run: Run, maildir: Path) -> None:
    inbox = mailbox.Maildir(maildir)
    for number in range(3):
        inbox.add(f"Subject: Your flight is booked, no. {number}\n\nHello")
    done = run("file", "Mail", "--limit", "1", *NO_CHECKS)
    assert "1 message would be moved" in done.out
    assert done.out.splitlines()[-1].endswith("(without --limit)")
    assert run("file", "Mail", "--apply", "--json", "--limit", "1", *NO_CHECKS).json["moved"] == 1


def test_the_log(run: Run, maildir: Path) -> None:
    missing = run("file", "Mail", "--log")
    assert (missing.code, missing.out) == (1, "")
    assert "Mail/model.tagalong: there is no model yet" in missing.err
    run("file", "Mail", "--apply", "--min-learnt", "500", *NO_CHECKS)
    assert run("file", "Mail", "--log").out.startswith("nothing has been moved yet")
    run("file", "Mail", "--apply")
    before = files(maildir)
    done = run("file", "Mail", "--log")
    assert (done.code, done.err) == (0, "")
    heading, line, summary, kept = done.out.splitlines()
    assert "  ".join(heading.split()) == (
        "when  probability  to  what  became  of  it  subject  why"
    )
    assert " Travel  stayed " in line
    assert "Your flight is late" in line
    assert "flight" in line.partition("Your flight is late")[2]
    assert summary == "1 moved: 1 stayed"
    assert kept == "the last 1,000 moves and spot checks are kept"
    inbox = mailbox.Maildir(maildir)
    travel, bank = inbox.get_folder("Travel"), maildir / ".Bank" / "cur"
    key = next(key for key, mail in travel.items() if mail["Subject"] == "Your flight is late")
    (maildir / ".Travel" / "new" / key).rename(bank / key)
    (found,) = run("file", "Mail", "--log", "--json").json["log"]
    assert (found["to"], found["outcome"], found["now_in"]) == ("Travel", "moved by you", "Bank")
    assert "moved by you to Bank" in run("file", "Mail", "--log").out
    assert len(files(maildir)) == len(before)


def test_the_log_shows_the_last_entries(run: Run, maildir: Path) -> None:
    inbox = mailbox.Maildir(maildir)
    for subject in ("Your flight is booked", "Your invoice is due"):
        run("file", "Mail", "--apply", "--limit", "1", *NO_CHECKS)
        inbox.add(f"Subject: {subject}\n\nHello")
    run("file", "Mail", "--apply", *NO_CHECKS)
    found = run("file", "Mail", "--log", "--json").json["log"]
    assert len(found) == 3
    assert run("file", "Mail", "--log", "--json", "--limit", "2").json["log"] == found[-2:]
    done = run("file", "Mail", "--log", "--limit", "2")
    assert "2 moved: 2 stayed" in done.out.splitlines()
    assert run("file", "Mail", "--log", "--limit", "9", "--json").json["log"] == found


def test_text_from_outside_cannot_act_on_a_terminal(run: Run, maildir: Path) -> None:
    inbox = mailbox.Maildir(maildir)
    inbox.add("Subject: =?utf-8?q?Your_flight_=1B[31m_is_=E2=80=AEbooked?=\n\nHello")
    done = run("file", "Mail", "--apply", *NO_CHECKS)
    log = run("file", "Mail", "--log")
    for out in (done.out, log.out):
        assert "Your flight" in out
        assert "\x1b" not in out
        assert "\u202e" not in out


CRON = ("file", "Mail", "--apply", "--cron")


def test_cron_writes_only_what_was_moved(run: Run, maildir: Path) -> None:
    done = run(*CRON, *NO_CHECKS)
    assert (done.code, done.err) == (0, "")
    (line,) = done.out.splitlines()
    assert "Travel  Your flight is late" in line
    again = run(*CRON)
    assert (again.code, again.out, again.err) == (0, "", "")
    assert run(*CRON, "--json").out == ""
    mailbox.Maildir(maildir).add("Subject: Your flight is booked\n\nHello")
    assert run(*CRON, "--json").json["moved"] == 1


def test_cron_reports_failures(run: Run, maildir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(*CRON, *NO_CHECKS)
    real = os.scandir

    def scandir(path: Any) -> Any:
        if os.fspath(path).endswith(".Bank"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    for flags in ((), ("--quiet",)):
        done = run(*CRON, *flags)
        assert (done.code, done.out) == (3, "")
        assert "1 item was skipped" in done.err
        assert ".Bank: cannot be read: Permission denied" in done.err
    Path(maildir, "model.tagalong").write_bytes(b"damaged")
    done = run(*CRON)
    assert done.code == 1
    assert "model.tagalong" in done.err


def test_another_run_is_a_failure_unless_cron_asks(run: Run, maildir: Path) -> None:
    run(*CRON)
    with exclusive_lock(maildir / "model.tagalong", command="the other run"):
        done = run(*CRON)
        assert (done.code, done.out, done.err) == (0, "", "")
        done = run("file", "Mail", "--apply", "--quiet", "--wait", "0.1")
        assert (done.code, done.out) == (1, "")
        assert f"this model is in use by process {os.getpid()} (the other run)" in done.err


def test_a_foreign_model_is_refused(run: Run, maildir: Path) -> None:
    Path("old.jsonl").write_text(
        "".join(
            f'{{"text": "{text} {number}", "labels": ["{name}"]}}\n'
            for number in range(60)
            for name, text in PLACES.items()
        )
    )
    assert run("learn", "old.jsonl", "--model", "old.tagalong", "--quiet").code == 0
    done = run("file", "Mail", "--model", "old.tagalong")
    assert (done.code, done.out) == (1, "")
    assert "old.tagalong: this model was not made by 'tagalong file'" in done.err
    assert "--model" in done.err
    assert "--start-from old.tagalong" in done.err
    done = run("file", "Mail", "--start-from", "old.tagalong", "--apply", "--json")
    assert (done.code, done.json["learnt"]) == (0, 120)
    done = run("file", "Mail", "--start-from", "old.tagalong", "--apply")
    assert done.code == 1
    assert "--start-from is for the first run only" in done.err


def test_options_are_passed_on(run: Run, maildir: Path) -> None:
    assert run("file", "Mail", "--json", "--min-learnt", "500").json["moves"] == []
    found = run("file", "Mail", "--json", "--exclude", "Travel,Sent").json
    assert (found["learnt"], found["moves"]) == (60, [])
    flags = ("--apply", "--model", "m.tagalong", "--no-names", "--only-new", "--json")
    assert run("file", "Mail", *flags).json["model"] == "m.tagalong"
    assert b"flight" not in decoded(Path("m.tagalong"))


def test_a_folder_without_an_inbox_is_refused(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "Accounts"
    for name in ("Bank", "Travel"):
        root.mkdir(exist_ok=True)
        mailbox.Maildir(root / name).add("Subject: Hello\n\nHello")
    done = run("file", "Accounts", "--apply")
    assert (done.code, done.out) == (2, "")
    assert "Accounts: there is no inbox here, so nothing can be filed" in done.err
    assert "tagalong file Accounts/NAME" in done.err
    assert "model.tagalong" not in files(root)
    (root / "work").mkdir()
    mailbox.Maildir(root / "work" / "INBOX")
    assert "tagalong file Accounts/work." in run("file", "Accounts").err
    assert run("file", "Accounts/work").code == 0


@pytest.mark.parametrize(
    "flags, code, message",
    [
        (("Mail", "--apply", "--dry-run"), 2, "not allowed with"),
        (("Mail", "--apply", "--log"), 2, "not allowed with"),
        (("Mail", "--min-precision", "0"), 2, "--min-precision must be above 0"),
        (("Mail", "--audit", "1.5"), 2, "--audit must be 0 or from 0.001 to 1, got 1.5"),
        (("Mail", "--limit", "-1"), 2, "--limit: must not be negative"),
        (("Mail", "--log", "--limit", "0"), 2, "--limit must be at least 1 with --log"),
        (("Mail", "--cron"), 2, "--cron needs --apply"),
        (("nope",), 1, "nope"),
        (("Mail", "--apply", "--model", "no/m"), 1, "the folder of the model file does not exist"),
    ],
)
def test_errors(run: Run, maildir: Path, flags: tuple[str, ...], code: int, message: str) -> None:
    done = run("file", *flags)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert "Traceback" not in done.err
