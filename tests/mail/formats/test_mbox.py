"""The mbox reader: messages, labels, places, and damaged files."""

import io
import mailbox
import re
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong.learning.items import Item, ReadError
from tagalong.mail.formats import mbox as mbox_module
from tagalong.mail.formats.mbox import read_mbox
from tests.item_fields import fields

FROM = b"From ann@example.org Mon Jan  1 10:00:00 2024\n"


def items(data: bytes, name: str = "Work.mbox", **options: object) -> list[Item]:
    found = list(read_mbox(io.BytesIO(data), name, **options))  # type: ignore[arg-type]
    assert all(isinstance(item, Item) for item in found)
    return found  # type: ignore[return-value]


def message(subject: str, body: str, **headers: str) -> EmailMessage:
    made = EmailMessage()
    made["Subject"] = subject
    made["From"] = "Ann Ünal <ann@example.org>"
    made["To"] = "Bob <bob@example.org>, carol@example.org"
    made["Cc"] = "BOB@example.org, Dan <dan@example.org>"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(body)
    return made


def test_reads_a_mailbox_written_by_the_standard_library(tmp_path: Path) -> None:
    path = tmp_path / "Projects.mbox"
    box = mailbox.mbox(str(path))
    bodies = ["One.\n", "From here on, quoted.\n\nFrom there too: at 10:30.\n", "Größe €\n", "\n"]
    for number, body in enumerate(bodies):
        box.add(message(f"Nº {number}", body, Message_ID=f"<{number}@example.org>"))
    box.close()
    with open(path, "rb") as file:
        found = [item for item in read_mbox(file, str(path)) if isinstance(item, Item)]
    assert [item.id for item in found] == [f"{n}@example.org" for n in range(4)]
    assert [fields(item)["subject"] for item in found] == [f"Nº {n}" for n in range(4)]
    assert [fields(item).get("", "") for item in found] == [body.strip() for body in bodies]
    assert {item.labels for item in found} == {("Projects",)}
    assert fields(found[0])["from"] == "Ann Ünal <ann@example.org>"
    assert fields(found[0])["to"] == "bob@example.org carol@example.org dan@example.org"
    lines = path.read_bytes().split(b"\n")
    for item in found:
        name, line = item.place.rsplit(":", 1)
        assert name == str(path)
        assert lines[int(line) - 1].startswith(b"From ")


def test_line_ends_may_be_crlf() -> None:
    data = FROM + b"Subject: a\n b\n\nx\n>From y\n>>From z\n\n" + FROM + b"Subject: c\n\nz\n"
    plain = items(data)
    assert plain[0].text == {"": "x\nFrom y", "subject": "a b", "quoted": "From z"}
    assert items(data.replace(b"\n", b"\r\n")) == plain
    assert len(plain) == 2


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\n"])
def test_an_empty_mailbox_has_no_items(data: bytes) -> None:
    assert items(data) == []


@pytest.mark.parametrize(
    "data, line",
    [(b"{}\n", 1), (b"\n\nSubject: x\n", 3), (b"\n" * 300_000 + b"x", 300_001)],
)
def test_error_names_the_line_if_the_file_is_not_an_mbox(data: bytes, line: int) -> None:
    with pytest.raises(ReadError, match=f"^Work.mbox:{line}: not an mbox file: it starts with"):
        items(data)


def test_error_names_the_line_if_reading_fails() -> None:
    class Breaking(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            raise EOFError("compressed data ended")

    with pytest.raises(
        ReadError, match=r"^a\.mbox:1: cannot be read further: compressed data ended"
    ):
        list(read_mbox(Breaking(FROM), "a.mbox"))


def test_only_the_start_of_a_huge_message_is_read() -> None:
    data = FROM + b"Subject: big\n\n" + b"word " * 100_000 + b"\n\n" + FROM + b"Subject: next\n\n"
    big, after = items(data, max_message=1_000)
    assert fields(big)["subject"] == "big"
    assert 800 < len(fields(big)[""]) < 1_000
    assert fields(after)["subject"] == "next"
    assert after.place == "Work.mbox:6"


def split_naively(data: bytes) -> list[tuple[int, bytes]]:
    """Naive reference: split line by line, with the whole file in memory."""
    found: list[tuple[int, list[bytes]]] = []
    after_blank = True
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data), 1):
        starts = line.startswith(b"From ") and after_blank
        dated = re.match(rb"From (.*\d:\d\d|\S+\s*$)", line.rstrip(b"\n"))
        if starts and (not found or dated):
            found.append((number, []))
        elif re.match(rb">+From ", line):
            line = line[1:]
        if found:
            found[-1][1].append(line)
        after_blank = line in (b"\n", b"\r\n")
    return [(number, b"".join(lines)) for number, lines in found]


PIECES = [b"\n", b"\r\n", b"x\n", b">From a\n", b">>From b 10:00\n", b"From here on\n", b"From z\n"]


@settings(max_examples=200)
@given(st.lists(st.sampled_from([*PIECES, FROM, b"Fro", b"\r", b"y" * 150])), st.integers(60, 99))
def test_splitter_agrees_with_the_naive_reference(pieces: list[bytes], block: int) -> None:
    data = FROM + b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mbox_module, "_BLOCK", block)
        found = list(mbox_module._mbox_messages(io.BytesIO(data), "x", 10_000))
    assert found == split_naively(data)


@pytest.mark.parametrize(
    "name, label",
    [
        ("Work.mbox", "Work"),
        ("a/b/Work.MBOX.xz", "Work"),
        ("Profile/Projects.sbd/Deep.sbd/Tagalong", "Projects/Deep/Tagalong"),
        ("Export/Rechnungen 2024.mbox/mbox", "Rechnungen 2024"),
        ("v1.2 notes", "v1.2 notes"),
    ],
)
def test_label_is_the_file_name(name: str, label: str) -> None:
    assert items(FROM + b"\nhi\n", name)[0].labels == (label,)


@pytest.mark.parametrize("name", ["Inbox", "INBOX.mbox", "-", "<stdin>"])
def test_inbox_is_unlabelled_unless_the_option_names_a_label(name: str) -> None:
    assert items(FROM + b"\nhi\n", name)[0].labels is None
    assert items(FROM + b"\nhi\n", name, inbox="later")[0].labels == ("later",)


@pytest.mark.parametrize(
    "header, labels",
    [
        ("Work", ("Work",)),
        ("Inbox,Unread,Work/Tagalong,Important", ("Work/Tagalong",)),
        ('Archived,"a, b",Opened,"say ""hi"""', ("a, b", 'say "hi"')),
        ("=?UTF-8?Q?Archived,B=C3=BCro,=E6=97=A5=E6=9C=AC?=", ("Büro", "日本")),
        ("=?UTF-8?Q?Archived,B=C3?=\n =?UTF-8?Q?=BCro?=", ("Büro",)),
        ("Category Updates,Inbox,Unread", None),
        ("Archived,Opened", ()),
        ("Work,work,Work", ("Work", "work")),
    ],
)
def test_takeout_labels_replace_the_file_name(header: str, labels: tuple[str, ...] | None) -> None:
    data = FROM + f"X-Gmail-Labels: {header}\nSubject: x\n\nhi\n".encode()
    assert items(data, "All mail.mbox")[0].labels == labels


def test_takeout_labels_can_be_excluded_and_ignored() -> None:
    data = b"".join(
        FROM + b"X-Gmail-Labels: %s\n\nhi\n\n" % header
        for header in (b"Spam,Inbox", b"Sent,Work", b"Inbox,Starred,Work")
    )
    assert [item.labels for item in items(data)] == [("Work",)]
    everything = items(data, exclude=(), ignore_labels=("Inbox",))
    assert [item.labels for item in everything] == [
        ("Spam",),
        ("Sent", "Work"),
        ("Starred", "Work"),
    ]
    assert [item.labels for item in items(data, exclude=("work",))] == [("Spam",)]


@pytest.mark.parametrize(
    "keys, labels",
    [
        ("", ("Friends",)),
        ("NonJunk", ("Friends",)),
        ("$label2 nonjunk $Forwarded b&APw-ro        ", ("Friends", "Work", "büro")),
        ("friends Friends", ("Friends", "friends")),
    ],
)
def test_thunderbird_tags_are_added(keys: str, labels: tuple[str, ...]) -> None:
    data = FROM + f"X-Mozilla-Status: 0001\nX-Mozilla-Keys: {keys}\nSubject: x\n\nhi\n".encode()
    assert items(data, "Local Folders/Friends")[0].labels == labels


def test_thunderbird_tags_label_mail_in_the_inbox() -> None:
    data = FROM + b"X-Mozilla-Keys: $label4\n\nhi\n"
    assert items(data, "Inbox")[0].labels == ("To Do",)


def test_messages_that_thunderbird_expunged_are_left_out() -> None:
    status = b"X-Mozilla-Status: %s\nSubject: %s\n\nhi\n\n"
    data = b"".join(FROM + status % (s, s) for s in (b"0001", b"0009", b"0008", b"zz", b"1000"))
    assert [fields(item)["subject"] for item in items(data)] == ["0001", "zz", "1000"]


def test_id_is_the_place_if_there_is_no_message_id() -> None:
    first, second = items(FROM + b"Subject: a\n\n\n" + FROM + b"Message-ID: <b@c>\n\n\n")
    assert (first.id, second.id) == ("Work.mbox:1", "b@c")


@settings(max_examples=100)
@given(st.binary(max_size=2_000))
def test_arbitrary_bytes_raise_only_read_errors(data: bytes) -> None:
    assert len(items(FROM + data)) >= 1
    if data.strip() and not data.lstrip().startswith(b"From "):
        with pytest.raises(ReadError, match=r"^Work\.mbox:\d+: "):
            items(data)


SAMPLE = (
    FROM
    + message("Größe", "a\n-- \nb", X_Gmail_Labels="Work", X_Mozilla_Keys="x").as_bytes()
    + b'\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n'
)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.binary(max_size=4)), max_size=8))
def test_mutated_mail_raises_only_read_errors(changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(SAMPLE)
    for at, change in changes:
        data[at : at + len(change)] = change
    try:
        found = items(bytes(data))
    except ReadError:
        assert not data.startswith(b"From ")
    else:
        for item in found:
            "".join([item.id, item.place, *fields(item), *fields(item).values()]).encode()
