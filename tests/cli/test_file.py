"""Tests of ``tagalong file``, with and without ``--apply``."""

import mailbox
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def maildir(tmp_path: Path) -> Path:
    inbox = mailbox.Maildir(tmp_path / "Mail")
    places = {"Bank": "Your invoice is due", "Travel": "Your flight is booked"}
    folders = {name: inbox.add_folder(name) for name in places}
    for number in range(60):
        for name, text in places.items():
            folders[name].add(f"Subject: {text}, no. {number}\n\nHello")
    inbox.add("Subject: A flight for you\n\nHello")
    inbox.add("Subject: Something else\n\nNothing known")
    return tmp_path / "Mail"


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_dry_run_changes_nothing(run: Run, maildir: Path) -> None:
    before = files(maildir)
    done = run("file", "Mail")
    assert done.code == 0
    lines = done.out.splitlines()
    assert "Travel  A flight for you  (flight" in lines[0]
    assert lines[1:] == [
        "120 messages learnt",
        "1 messages would be moved",
        "1 stay in the inbox: 1 unsure",
    ]
    assert "--apply moves the messages" in done.err
    assert files(maildir) == before
    assert run("file", "Mail", "--dry-run", "--json").json["applied"] is False


def test_apply_moves_and_learns_once(run: Run, maildir: Path) -> None:
    done = run("file", "Mail", "--apply", "--json")
    assert (done.code, done.json["moved"], done.json["learnt"]) == (0, 1, 120)
    assert done.json["moves"][0]["to"] == "Travel"
    assert len(mailbox.Maildir(maildir).get_folder("Travel")) == 61
    assert (maildir / "model.tagalong").exists()
    again = run("file", "Mail", "--apply", "--json")
    assert (again.json["moved"], again.json["learnt"]) == (0, 0)
    assert run("inspect", "Mail/model.tagalong", "--json").json["size"]["labels"] == 2


def test_options_are_passed_on(run: Run, maildir: Path) -> None:
    assert run("file", "Mail", "--json", "--min-learnt", "500").json["moves"] == []
    found = run("file", "Mail", "--json", "--exclude", "Travel,Sent").json
    assert (found["learnt"], found["moves"]) == (60, [])
    flags = ("--apply", "--model", "m.tagalong", "--no-names", "--only-new", "--json")
    assert run("file", "Mail", *flags).json["model"] == "m.tagalong"
    assert b"flight" not in Path("m.tagalong").read_bytes()


@pytest.mark.parametrize(
    "flags, code, message",
    [
        (("Mail", "--apply", "--dry-run"), 2, "not allowed with"),
        (("Mail", "--min-precision", "0"), 2, "--min-precision must be above 0"),
        (("nope",), 1, "nope"),
        (("Mail", "--apply", "--model", "no/m"), 1, "the folder of the model file does not exist"),
    ],
)
def test_errors(run: Run, maildir: Path, flags: tuple[str, ...], code: int, message: str) -> None:
    done = run("file", *flags)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert "Traceback" not in done.err
