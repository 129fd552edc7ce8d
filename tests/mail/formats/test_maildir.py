"""The Maildir reader: folders as labels, and messages of all folders in delivery order."""

import mailbox
import os
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from tagalong.learning.items import Item, ReadError
from tagalong.mail.formats import maildir as maildir_module
from tagalong.mail.formats.maildir import (
    maildir_folders,
    maildir_messages,
    read_maildir,
    read_message,
)
from tagalong.streams.format import LeftOutError
from tests.item_fields import fields


def make(folder: Path) -> Path:
    for state in ("cur", "new", "tmp"):
        (folder / state).mkdir(parents=True)
    return folder


def put(folder: Path, name: str, subject: str = "x", state: str = "cur") -> Path:
    path = folder / state / name
    path.write_bytes(f"Subject: {subject}\n\nbody of {subject}\n".encode())
    return path


def subjects(folder: Path, **options: object) -> list[str]:
    return [fields(item)["subject"] for item in read(folder, **options)]


def read(folder: Path, **options: object) -> list[Item]:
    found = list(read_maildir(folder, **options))  # type: ignore[arg-type]
    assert all(isinstance(item, Item) for item in found), found
    return found  # type: ignore[return-value]


def test_reads_a_maildir_written_by_the_standard_library(tmp_path: Path) -> None:
    box = mailbox.Maildir(str(tmp_path / "Mail"))
    work = box.add_folder("Work")
    deep = box.add_folder("Work.Tagalong")
    sent: dict[str, tuple[str, ...] | None] = {}
    for number, (where, labels) in enumerate(
        [(box, None), (work, ("Work",)), (deep, ("Work/Tagalong",)), (box, None)]
    ):
        made = EmailMessage()
        made["Subject"] = f"Größe {number}"
        made.set_content(f"Body {number} €\n")
        kept = mailbox.MaildirMessage(made)
        kept.set_subdir("cur")
        kept.set_flags("RS")
        where.add(kept)
        sent[f"Größe {number}"] = labels
    found = read(tmp_path / "Mail")
    assert {fields(item)["subject"]: item.labels for item in found} == sent
    assert {fields(item)[""] for item in found} == {f"Body {n} €" for n in range(4)}
    for item in found:
        assert Path(item.place).is_file()
        assert item.id == Path(item.place).name.partition(":")[0]
    keys = {key for key, _ in maildir_messages(tmp_path / "Mail")}
    assert keys == set(box.keys())


def test_both_nesting_styles_give_the_same_labels(tmp_path: Path) -> None:
    put(make(tmp_path), "1.a")
    put(make(tmp_path / ".Work.Tagalong"), "2.a")
    put(make(tmp_path / "Home" / "Garden"), "3.a")
    make(tmp_path / "Home" / "Garden" / "Roses")
    (tmp_path / ".notmuch" / "xapian").mkdir(parents=True)
    labels = ["", "Home/Garden", "Home/Garden/Roses", "Work/Tagalong"]
    folders = maildir_folders(tmp_path)
    assert list(folders) == labels
    assert folders["Work/Tagalong"] == tmp_path / ".Work.Tagalong"
    assert [item.labels for item in read(tmp_path)] == [None, ("Work/Tagalong",), ("Home/Garden",)]


def test_two_folders_with_the_same_label_are_both_read(tmp_path: Path) -> None:
    put(make(tmp_path / "Work"), "2.a", "plain")
    put(make(tmp_path / ".Work"), "1.a", "dotted")
    assert maildir_folders(tmp_path) == {"Work": tmp_path / ".Work"}
    assert subjects(tmp_path) == ["dotted", "plain"]


@pytest.mark.parametrize(
    "name, label",
    [
        (".Entw&APw-rfe 2024", "Entwürfe 2024"),
        (".&ZeVnLIqe-.&U,BTFw-", "日本語/台北"),
        (".R&-D", "R&D"),
        (".bad&AAA.x", "bad&AAA/x"),
        (".lone&2AA-", "lone&2AA-"),
        ("a.b", "a.b"),
        ("Größe", "Größe"),
    ],
)
def test_folder_names_are_decoded(tmp_path: Path, name: str, label: str) -> None:
    make(tmp_path / name)
    assert list(maildir_folders(tmp_path)) == [label]


def test_invalid_unicode_in_names_is_replaced(tmp_path: Path) -> None:
    put(make(tmp_path / os.fsdecode(b"caf\xe9")), os.fsdecode(b"1.\xff"))
    (item,) = read(tmp_path)
    assert item.labels == ("caf\ufffd",)
    (item.place + item.id).encode()


def test_inbox_is_unlabelled_unless_the_option_names_a_label(tmp_path: Path) -> None:
    put(make(tmp_path), "1.a")
    put(make(tmp_path / "INBOX"), "2.a")
    assert [item.labels for item in read(tmp_path)] == [None, None]
    assert [item.labels for item in read(tmp_path, inbox="in")] == [("in",), ("in",)]


def test_special_folders_are_left_out(tmp_path: Path) -> None:
    names = [".Sent", ".Trash.Old", "drafts", ".INBOX.Trash", "[Gmail]/All Mail", "Work/Templates"]
    names += [".Papierkorb", ".Entw&APw-rfe", "Work", "Important", "[Gmail]/Important"]
    for name in names:
        make(tmp_path / name)
    assert list(maildir_folders(tmp_path)) == ["Important", "Work", "Work/Templates"]
    assert len(maildir_folders(tmp_path, exclude=())) == len(names)
    assert "Work/Templates" not in maildir_folders(tmp_path, exclude=["work/templates"])
    put(tmp_path / ".Sent", "1.a")
    assert read(tmp_path) == []
    assert [item.labels for item in read(tmp_path, exclude=())] == [("Sent",)]


def test_a_tree_with_only_excluded_folders_is_empty(tmp_path: Path) -> None:
    put(make(tmp_path / "Sent"), "1.a")
    assert read(tmp_path) == []


def test_messages_of_all_folders_are_sorted_by_delivery_time(tmp_path: Path) -> None:
    first, second = make(tmp_path / "A"), make(tmp_path / "B")
    put(first, "1700000010.M1.host:2,S", "4")
    put(second, "1700000009.M2.host,U=1:2,", "3")
    put(first, "999999999.x", "1", state="new")
    put(second, "1700000009.M1.host;2,FRS", "2")
    old = put(first, "unnumbered", "0")
    os.utime(old, (5, 5))
    assert subjects(tmp_path) == ["0", "1", "2", "3", "4"]


def test_key_does_not_contain_flags(tmp_path: Path) -> None:
    folder = make(tmp_path)
    put(folder, "2.b:2,FS")
    put(folder, "1.a", state="new")
    put(folder, "3.c;2,")
    put(folder, "4.deleted:2,ST")
    put(folder, ".hidden")
    put(folder, "5.half", state="tmp")
    assert [key for key, _ in maildir_messages(folder)] == ["1.a", "2.b", "3.c"]
    assert len(read(folder)) == 3


def test_a_message_in_both_new_and_cur_is_listed_once(tmp_path: Path) -> None:
    folder = make(tmp_path)
    put(folder, "1.a", state="new")
    put(folder, "1.a:2,S")
    assert list(maildir_messages(folder)) == [("1.a", folder / "cur" / "1.a:2,S")]


def test_a_message_that_disappears_is_skipped(tmp_path: Path) -> None:
    folder = make(tmp_path)
    paths = [put(folder, f"{n}.a", str(n)) for n in range(1, 5)]
    stream = read_maildir(folder)
    assert fields(next(stream))["subject"] == "1"
    paths[1].unlink()
    paths[2].rename(folder / "cur" / "3.a:2,S")
    assert [fields(item)["subject"] for item in stream] == ["4"]
    with pytest.raises(FileNotFoundError):
        read_message(paths[1])


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside")
    secret = put(outside, "1.secret", "secret")
    root = make(tmp_path / "Mail")
    (root / "linked").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "cur" / "2.link").symlink_to(secret)
    os.mkfifo(root / "cur" / "3.fifo")
    (root / "cur" / "4.folder").mkdir()
    put(root, "5.a", "mine")
    found = list(read_maildir(root))
    left_out = [str(error) for error in found if isinstance(error, LeftOutError)]
    assert sorted(left_out) == [
        f"{root / place}: a symbolic link, which is not followed"
        for place in ("cur/2.link", "linked", "loop")
    ]
    assert [fields(item)["subject"] for item in found if isinstance(item, Item)] == ["mine"]
    assert list(maildir_folders(root)) == [""]


def test_links_that_lead_nowhere_are_left_out_like_others(tmp_path: Path) -> None:
    root = make(tmp_path / "Mail")
    put(root, "1.a", "mine")
    (root / "circle").symlink_to("circle")
    (root / "nothing").symlink_to(tmp_path / "missing")
    (root / "below a file").symlink_to(root / "cur" / "1.a" / "below")
    (root / "to a file").symlink_to(root / "cur" / "1.a")
    found = list(read_maildir(root))
    assert sorted(error.place for error in found if isinstance(error, LeftOutError)) == [
        str(root / name) for name in ("below a file", "circle", "nothing")
    ]
    assert [fields(item)["subject"] for item in found if isinstance(item, Item)] == ["mine"]


def test_a_link_into_a_folder_without_permission_is_left_out(tmp_path: Path) -> None:
    root = make(tmp_path / "Mail")
    hidden = tmp_path / "closed" / "Mail"
    hidden.mkdir(parents=True)
    (root / "link").symlink_to(hidden)
    (tmp_path / "closed").chmod(0)
    try:
        (error,) = read_maildir(root)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert isinstance(error, LeftOutError)
    assert error.place == str(root / "link")


def test_an_unreadable_message_yields_an_error_and_reading_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path)
    bad = put(folder, "1.a")
    put(folder, "2.a", "good")
    real = maildir_module._first_bytes

    def refuse(path: Path, most: int) -> bytes:
        if path == bad:
            raise PermissionError(13, "Permission denied")
        return real(path, most)

    monkeypatch.setattr(maildir_module, "_first_bytes", refuse)
    error, item = read_maildir(folder)
    assert isinstance(error, ReadError)
    assert str(error) == f"{bad}: cannot be read: Permission denied"
    assert isinstance(item, Item)
    with pytest.raises(ReadError, match=r"1\.a: cannot be read"):
        read_message(bad)


def test_a_source_that_is_not_a_maildir_raises(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="not a Maildir"):
        read(tmp_path)
    with pytest.raises(ReadError, match="the folder does not exist"):
        read(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(ReadError, match="not a folder"):
        read(tmp_path / "file")


def test_a_single_message_is_read(tmp_path: Path) -> None:
    path = put(make(tmp_path), "1704450600.a:2,S", "one")
    item = read_message(path, ("Work",))
    text = {"": "body of one", "subject": "one"}
    date = datetime(2024, 1, 5, 10, 30, tzinfo=UTC)
    assert item == Item("1704450600.a", text, labels=("Work",), date=date)
    assert item.place == str(path)
    assert read_message(path, max_message=14).text == {"subject": "one"}


@pytest.mark.parametrize("part", ["cur", "new"])
def test_a_linked_part_of_a_folder_is_left_out(tmp_path: Path, part: str) -> None:
    outside = make(tmp_path / "outside")
    put(outside, "1.secret", "secret")
    root = make(tmp_path / "Mail")
    put(root, "2.a", "mine", state="new" if part == "cur" else "cur")
    (root / part).rmdir()
    (root / part).symlink_to(outside / "cur")
    error, item = read_maildir(root)
    assert isinstance(error, LeftOutError)
    assert error.place == str(root / part)
    assert isinstance(item, Item)
    assert fields(item)["subject"] == "mine"


def test_a_maildir_behind_links_is_named_in_the_error(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside")
    root = tmp_path / "Mail"
    root.mkdir()
    for part in ("cur", "new"):
        (root / part).symlink_to(outside / part)
    with pytest.raises(ReadError, match=r"not a Maildir: .*; .*/cur is a symbolic link|/new is a"):
        list(read_maildir(root))
    (tmp_path / "link").symlink_to(outside)
    put(outside, "1.a", "followed, as the owner has named it")
    assert len(read(tmp_path / "link")) == 1


def test_a_message_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = make(tmp_path / "Mail")
    secret = tmp_path / "secret"
    secret.write_text("Subject: secret\n\nsecret\n")
    for number in range(1, 4):
        put(folder, f"{number}.a", str(number))
    stream = read_maildir(folder)
    next(stream)
    (folder / "cur" / "2.a").unlink()
    (folder / "cur" / "2.a").symlink_to(secret)
    assert isinstance(next(stream), ReadError)
    (folder / "cur").rename(folder / "moved")
    (folder / "cur").symlink_to("moved")
    assert isinstance(next(stream), ReadError)
