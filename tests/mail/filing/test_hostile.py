"""Unusual names, unreadable files, and messages that disappear during a run."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tagalong.learning.items import ReadError
from tagalong.mail.filing import maildir
from tagalong.mail.filing.maildir import Maildir
from tagalong.mail.formats.maildir import read_message
from tests.mail.filing.maildirs import EACH, Mail, file_mail, text_about
from tests.mail.filing.test_crashes import MOVE

ALL = 3 * EACH
NAMES = [
    b"17",
    b"a b\tc",
    b"1700000000.\xff\xfe.host",
    b"1700000000.\xff\xfd.host",
    "ünï\u202e.日本".encode(),
    b"-rf",
    b"x" * 255,
    b"9" * 250,
    b"new\nline:2,S",
    b"a:2,b:2,S",
    b"b;2,FRS",
    b"$(touch x)",
]


def put(folder: Path, state: str, name: bytes, text: str) -> bytes:
    path = os.path.join(os.fsencode(folder), state.encode(), name)
    with open(path, "xb") as file:
        file.write(text.encode())
    return path


@pytest.mark.parametrize("state", ["new", "cur"])
def test_file_names_are_kept_byte_for_byte(one: Mail, state: str) -> None:
    for number, name in enumerate(NAMES):
        put(one.root, state, name, text_about("Bank", 1000 + number))
    result = file_mail(one.root, apply=True)
    assert result.moved == len(NAMES)
    folder = os.fsencode(one.path("Bank") / state)
    assert set(NAMES) <= set(os.listdir(folder))
    json.dumps(result.to_dict()).encode()
    again = file_mail(one.root, apply=True)
    assert (again.learnt, again.corrected, again.rejected, again.failed) == (0, 0, 0, 0)


def test_uids_of_mbsync_are_removed(one: Mail) -> None:
    """A UID is valid in one folder; mbsync refuses a folder where a UID occurs twice."""
    put(one.path("Bank"), "cur", b"1.a.host,U=7:2,S", text_about("Bank", 1000))
    put(one.root, "cur", b"2.b.host,U=7:2,FS", text_about("Bank", 1001))
    put(one.root, "new", b"3.c.host,U=8,FMD5=12ab", text_about("Travel", 1002))
    assert file_mail(one.root, apply=True).moved == 2
    bank, travel = one.path("Bank") / "cur", one.path("Travel") / "new"
    assert (bank / "2.b.host:2,FS").exists()
    assert (travel / "3.c.host,FMD5=12ab").exists()
    # mbsync assigns new UIDs at its next run; the messages are still recognised.
    (bank / "2.b.host:2,FS").rename(bank / "2.b.host,U=8:2,FS")
    (travel / "3.c.host,FMD5=12ab").rename(one.root / "cur" / "3.c.host,U=9,FMD5=12ab:2,")
    result = file_mail(one.root, apply=True)
    assert (result.learnt, result.corrected, result.rejected, result.moved) == (0, 0, 1, 0)


def test_unusual_folder_names(one: Mail) -> None:
    names = [b".\xff\xfe", ".Entw&APw-rfe.日本".encode(), b".a b.c'd$(x)", b".Bank.-rf"]
    for name in names:
        folder = os.path.join(os.fsencode(one.root), name)
        for state in (b"cur", b"new", b"tmp"):
            os.makedirs(os.path.join(folder, state))
        for number in range(10):
            text = f"Subject: {name.hex()} q{name.hex()}\n\nw{name.hex()} {number}"
            put(Path(os.fsdecode(folder)), "cur", b"%d.%d:2,S" % (number, len(name)), text)
    new_messages = [f"Subject: {n.hex()} q{n.hex()}\n\nw{n.hex()} 7" for n in names]
    for text in new_messages:
        one.deliver("", text)
    result = file_mail(one.root, apply=True, min_precision=0.5, exclude=())
    assert result.learnt == ALL + 10 * len(names)
    assert result.moved == len(names)
    assert {os.fsencode(move.target.parent.parent.name) for move in result.moves} == set(names)
    json.dumps(result.to_dict()).encode()
    assert file_mail(one.root, apply=True, exclude=()).learnt == 0


def test_a_message_that_cannot_be_read_is_counted(
    one: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt = min(one.contents()["Bank"])
    waiting = one.deliver("", text_about("Bank", 1000))

    def read(path: Path, *args: Any, **kwargs: Any) -> Any:
        if path.name.startswith((learnt, waiting)):
            path = path / "not a folder"  # raises an OSError that is not FileNotFoundError
        return read_message(path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr("tagalong.mail.filing.maildir.read_message", read)
        result = file_mail(one.root, apply=True)
    assert (result.learnt, result.failed, result.moves) == (ALL - 1, 2, [])
    assert all("cannot be read" in error for error in result.errors)
    assert learnt in result.errors[0]
    result = file_mail(one.root, apply=True)
    assert (result.learnt, result.moved, result.failed) == (1, 1, 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_missing_permissions_are_counted(one: Mail) -> None:
    learnt = one.file("Bank", min(one.contents()["Bank"]))
    learnt.chmod(0)
    one.deliver("", text_about("Travel", 1000))
    (one.path("Travel") / "new").chmod(0o500)
    result = file_mail(one.root, apply=True)
    (one.path("Travel") / "new").chmod(0o700)
    assert (result.learnt, result.moved, result.failed) == (ALL - 1, 0, 2)


def test_messages_of_an_unreadable_folder_stay_in_the_journal(
    one: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.mail.filing.journal.MAX_GONE", 0)
    file_mail(one.root, apply=True)
    real = os.scandir

    def scandir(path: Any) -> Any:
        if os.fspath(path).endswith(".Bank/cur"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        result = file_mail(one.root, apply=True)
    assert result.failed == 1
    assert ".Bank/cur: cannot be read: Permission denied" in result.errors[0]
    result = file_mail(one.root, apply=True)
    assert (result.learnt, result.failed) == (0, 0)


class Barrier:
    """Folders that cannot be listed, as if permissions were missing; root may list all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.closed: tuple[str, ...] = ()
        real_scandir, real_is_dir = os.scandir, Path.is_dir

        def scandir(path: Any) -> Any:
            self.check(os.fspath(path))
            return real_scandir(path)

        def is_dir(path: Path) -> bool:
            self.check(os.fspath(path.parent))
            return real_is_dir(path)

        monkeypatch.setattr(os, "scandir", scandir)
        monkeypatch.setattr(Path, "is_dir", is_dir)

    def check(self, path: str) -> None:
        if path.endswith(self.closed):
            raise PermissionError(13, "Permission denied")


@pytest.fixture
def barrier(monkeypatch: pytest.MonkeyPatch) -> Barrier:
    return Barrier(monkeypatch)


def test_an_unreadable_folder_does_not_stop_the_run(
    mail: Mail, barrier: Barrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.mail.filing.journal.MAX_GONE", 0)
    put_back, check = (mail.deliver("", text_about("Bank", 1000 + i)) for i in range(2))
    assert file_mail(mail.root, apply=True).moved == 2
    mail.move(put_back, "")
    assert file_mail(mail.root, apply=True).rejected == 1
    keys = [mail.deliver("", text_about(topic, 2000)) for topic in ("Bank", "Travel")]
    barrier.closed = (str(mail.path("Bank")),)
    result = file_mail(mail.root, apply=True)
    assert (result.learnt, result.moved, result.failed) == (0, 1, 1)
    assert str(mail.path("Bank")) in result.errors[0]
    assert "Permission denied" in result.errors[0]
    assert result.left_by_reason == {"put back": 1, "no such folder": 1}
    assert result.renamed == {}
    barrier.closed = ()
    result = file_mail(mail.root, apply=True)
    assert (result.learnt, result.corrected, result.moved, result.failed) == (0, 0, 1, 0)
    assert [mail.where(key) for key in (check, *keys)] == ["Bank", "Bank", "Travel"]


def test_folders_inside_an_unreadable_folder_stay_in_the_journal(
    tmp_path: Path, barrier: Barrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.mail.filing.journal.MAX_GONE", 0)
    mail = Mail(tmp_path / "Mail", nested=True)
    mail.fill(EACH)
    file_mail(mail.root, apply=True)
    barrier.closed = ("Mail/Work",)
    result = file_mail(mail.root, apply=True)
    assert (result.failed, result.learnt) == (1, 0)
    barrier.closed = ()
    assert file_mail(mail.root, apply=True).learnt == 0


def test_messages_that_may_be_in_an_unreadable_folder_are_not_forgotten(
    one: Mail, barrier: Barrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that was put back is in the inbox, and must not be filed once it is readable."""
    monkeypatch.setattr("tagalong.mail.filing.journal.MAX_GONE", 0)
    key = one.deliver("", text_about("Bank", 1000), "S")
    assert file_mail(one.root, apply=True).moved == 1
    one.move(key, "")
    assert file_mail(one.root, apply=True).rejected == 1
    barrier.closed = ("Mail/cur",)
    result = file_mail(one.root, apply=True)
    assert (result.failed, result.left) == (1, [])
    barrier.closed = ()
    assert file_mail(one.root, apply=True).left_by_reason == {"put back": 1}


def test_an_unreadable_maildir_raises(one: Mail, barrier: Barrier) -> None:
    barrier.closed = (str(one.root),)
    with pytest.raises(ReadError, match="Mail: cannot be read: Permission denied"):
        file_mail(one.root, apply=True)


def test_a_failed_move_is_counted(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [one.deliver("", text_about("Bank", 1000 + number)) for number in range(2)]
    real = getattr(maildir, MOVE)

    def rename(source: Path, target: Path) -> None:
        if source.name == keys[0]:
            raise PermissionError(13, "Permission denied")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(maildir, MOVE, rename)
        result = file_mail(one.root, apply=True)
    assert [move.done for move in result.moves] == [False, True]
    assert result.failed == 1
    assert keys[0] in result.errors[0]
    assert "Permission denied" in result.errors[0]
    assert [one.where(key) for key in keys] == ["", "Bank"]
    assert file_mail(one.root, apply=True).moved == 1


def test_nothing_is_overwritten(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    real = Maildir.move

    def move(*args: Any) -> None:
        put(one.path("Bank"), "new", key.encode(), "something else")
        real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(Maildir, "move", move)
        result = file_mail(one.root, apply=True)
    assert (result.moved, result.failed) == (0, 1)
    assert "a file with this name already exists" in result.errors[0]
    assert one.file("Bank", key).read_text() == "something else"
    assert one.file("", key).read_text().endswith("body of Bank 1000\n")
    again = file_mail(one.root, apply=True)
    assert (again.left_by_reason, again.moved) == ({"copy": 1}, 0)


@pytest.mark.parametrize("flags", ["", ":2,S"])
def test_a_copy_of_a_filed_message_stays(one: Mail, flags: str) -> None:
    key = min(one.contents()["Bank"])
    put(one.root, "cur", (key + flags).encode(), one.file("Bank", key).read_text())
    result = file_mail(one.root, apply=True)
    assert (result.learnt, result.moved, result.left_by_reason) == (ALL, 0, {"copy": 1})


def test_messages_that_disappear_are_counted(one: Mail) -> None:
    keys = [one.deliver("", text_about("Bank", 1000 + number)) for number in range(3)]
    last = max(one.contents()["Work/Code"])

    def vanish(step: str, done: int, total: int) -> None:
        if (step, done) == ("learn", 1):
            one.delete(last)
        elif (step, done) == ("suggest", 1):
            one.delete(keys[1])
        elif (step, done) == ("move", 1):
            one.file("", keys[2]).rename(one.root / "cur" / f"{keys[2]}:2,S")

    result = file_mail(one.root, apply=True, progress=vanish)
    assert (result.learnt, result.moved, result.vanished) == (ALL - 1, 1, 3)
    assert one.where(keys[0]) == "Bank"
    assert file_mail(one.root, apply=True).moved == 1, "a message that was only read is filed later"
    assert one.file("Bank", keys[2]).name == f"{keys[2]}:2,S"


def test_a_folder_that_disappears_is_reported(one: Mail) -> None:
    key = one.deliver("", text_about("Bank", 1000))

    def vanish(step: str, done: int, total: int) -> None:
        if step == "suggest":
            one.path("Bank").rename(one.path("Elsewhere"))

    result = file_mail(one.root, apply=True, progress=vanish)
    assert (result.moved, result.failed) == (0, 1)
    assert result.errors[0].endswith("the folder does not exist")
    assert one.where(key) == ""


@pytest.mark.parametrize("part", ["cur", "new", "tmp"])
def test_no_message_is_moved_through_a_symbolic_link(one: Mail, tmp_path: Path, part: str) -> None:
    file_mail(one.root, apply=True)
    outside = tmp_path / "outside"
    (one.path("Bank") / part).rename(outside)
    (one.path("Bank") / part).symlink_to(outside)
    before = sorted(outside.iterdir())
    key = one.deliver("", text_about("Bank", 1000))
    result = file_mail(one.root, apply=True)
    assert result.left_by_reason == {"no such folder": 1}
    assert one.where(key) == ""
    assert sorted(outside.iterdir()) == before


def test_a_folder_with_only_a_new_subfolder_is_not_an_inbox(one: Mail) -> None:
    """A folder that contains "new" may be any folder, such as a home folder."""
    (one.root / "tmp").rmdir()
    key = one.deliver("Bank", text_about("Bank", 1000))
    put(one.root, "new", b"thesis.tex", "invoice account balance")
    result = file_mail(one.root, apply=True, min_precision=0.01)
    assert (result.moves, result.left, result.failed) == ([], [], 1)
    assert "cur, new or tmp" in result.errors[0]
    assert one.where(key) == "Bank"


def test_all_failures_are_counted_and_the_first_messages_kept(tmp_path: Path) -> None:
    from tagalong.filing import FilingResult

    result = FilingResult(tmp_path, applied=False)
    for number in range(250):
        result.fail(str(number))
    assert (result.failed, result.errors) == (250, [str(number) for number in range(100)])
