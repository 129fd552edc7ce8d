"""Zip archives as sources: their members, their limits, and what is refused."""

import gzip
import io
import stat
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.cli.main import main
from tagalong.readers import ReadError, archives, read

LINES = b'{"text": "pay", "labels": ["money"]}\n{"text": "fly", "labels": ["travel"]}\n'
CSV = b"text,labels\nbook,travel\n"


def mbox(day: int, subject: str) -> bytes:
    return (
        f"From ann@example.org Thu Jan  {day} 00:00:00 2026\nFrom: ann@example.org\n"
        f"Date: {day} Jan 2026 10:00:00 +0000\nSubject: {subject}\n\ntext\n\n"
    ).encode()


def archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as file:
        warnings.simplefilter("ignore")  # duplicate names
        for name, content in members.items():
            file.writestr(name, content)
    return path


def test_the_members_are_read_one_after_the_other(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "all.zip",
        {"b.jsonl": LINES, "sub/": b"", "sub/a.csv": CSV, "c.jsonl.gz": gzip.compress(LINES)},
    )
    with read(path) as stream:
        items = list(stream)
    assert [item.text for item in items] == ["pay", "fly", "book", "pay", "fly"]
    assert [item.place for item in items[:3]] == [
        f"{path}/b.jsonl:1",
        f"{path}/b.jsonl:2",
        f"{path}/sub/a.csv:2",
    ]


def test_an_archive_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    path = archive(tmp_path / "download", {"b.jsonl": LINES})
    assert len(list(read(path))) == 2


def test_mail_has_the_labels_of_its_folders_and_the_order_of_its_dates(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "mail.zip",
        {
            "Mail/Work.mbox": mbox(3, "third") + mbox(1, "first"),
            "Mail/Home.sbd/Garden": mbox(2, "second"),
            "Mail/Inbox": mbox(4, "fourth"),
            "Mail/Inbox.msf": b"// an index of another program",
        },
    )
    with read(path, order="auto", on_error="skip") as stream:
        items = list(stream)
    assert [dict(item.text)["subject"] for item in items] == ["first", "second", "third", "fourth"]  # type: ignore[arg-type]
    assert [item.labels for item in items] == [("Work",), ("Home/Garden",), ("Work",), None]
    assert stream.skipped == 1
    assert stream.errors[0].startswith(f"{path}/Mail/Inbox.msf: the format cannot be detected")


def test_errors_name_the_member_and_the_line(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"x/bad.jsonl": LINES + b"not json\n"})
    with pytest.raises(ReadError, match=r"a\.zip/x/bad\.jsonl:3: not JSON"):
        list(read(path))


def test_hidden_files_are_left_out(tmp_path: Path) -> None:
    members = {"__MACOSX/b.jsonl": b"x", ".git/a.csv": b"x", "x/.DS_Store": b"x", "b.jsonl": LINES}
    with read(archive(tmp_path / "a.zip", members)) as stream:
        assert len(list(stream)) == 2


def test_links_and_nested_archives_are_not_opened(tmp_path: Path) -> None:
    inner = archive(tmp_path / "inner.zip", {"b.jsonl": LINES}).read_bytes()
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        link = zipfile.ZipInfo("link.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("inner.zip", inner)
        file.writestr("b.jsonl", LINES)
    with read(path, on_error="skip") as stream:
        assert len(list(stream)) == 2
    assert stream.links == [f"{path}/link.csv"]
    assert stream.errors == [f"{path}/inner.zip: an archive within an archive, which is not opened"]


@pytest.mark.parametrize(
    "name", ["../../up.jsonl", "/absolute.jsonl", "..\\..\\up.jsonl", "./a//b.jsonl"]
)
def test_names_stay_within_the_archive(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / "a.zip", {name: LINES})
    [place, _] = [item.place for item in read(path)]
    assert place.startswith(f"{path}/")
    assert ".." not in place
    assert "//" not in place


def test_encrypted_members_are_named(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"secret.csv": CSV, "b.jsonl": LINES}, zipfile.ZIP_STORED)
    content = path.read_bytes()
    central = content.index(b"PK\x01\x02")
    path.write_bytes(content[: central + 8] + b"\x01" + content[central + 9 :])
    with read(path, on_error="skip") as stream:
        assert len(list(stream)) == 2
    assert stream.errors == [f"{path}/secret.csv: encrypted: make the archive without a password"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_whose_memory_has_no_bound_are_refused(tmp_path: Path, method: int) -> None:
    path = archive(tmp_path / "a.zip", {"a.csv": CSV}, method)
    with pytest.raises(ReadError, match=r"a\.csv: compressed with method 1[24]"):
        read(path)


def test_damaged_members_are_named(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"a.jsonl": LINES * 50, "b.jsonl": LINES}, 0)
    content = path.read_bytes().replace(b'"fly"', b'"flu"', 1)
    path.write_bytes(content)
    with read(path, on_error="skip") as stream:
        items = list(stream)
    assert [item.text for item in items[-2:]] == ["pay", "fly"]
    assert len(stream.errors) == 1
    assert stream.errors[0].startswith(f"{path}/a.jsonl:")
    assert "damaged in the archive: Bad CRC-32" in stream.errors[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", "not a zip archive, or damaged"),
        (b"", "not a zip archive, or damaged"),
        (b"PK\x03\x04 and nothing else", "not a zip archive, or damaged"),
    ],
)
def test_files_that_are_no_archives(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=message):
        read(path)


def test_archives_without_items(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"no file that can be read$"):
        read(archive(tmp_path / "a.zip", {}))
    with pytest.raises(ReadError, match=r"no file that can be read: .*a\.png: the format cannot"):
        read(archive(tmp_path / "b.zip", {"a.png": b"\x89PNG"}))
    with pytest.raises(ReadError, match=r"an office document.*save its table as CSV"):
        read(archive(tmp_path / "c.xlsx", {"[Content_Types].xml": b"<x/>"}))


def test_the_number_of_members_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "a.zip", {f"{number}.jsonl": b"" for number in range(20)})
    monkeypatch.setattr(archives, "MAX_MEMBERS", 19)
    with pytest.raises(ReadError, match="the archive has 20 files, and at most 19 are read"):
        read(path)
    monkeypatch.setattr(archives, "_MAX_READ", 1000)
    with pytest.raises(ReadError, match="its list of files has more than 1,000 bytes"):
        read(path)


def test_the_size_is_known_before_anything_is_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"a.jsonl": b" " * 1_000_000, "b.jsonl": LINES})
    assert path.stat().st_size < 10_000
    found = archives.Archive(str(path))
    try:
        assert found.expanded_size() == 1_000_000 + len(LINES)
    finally:
        found.close()


def test_the_columns_of_the_first_table(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"a.csv": b"title,team\nx,y\n"})
    with read(path, labels=("team",)) as stream:
        first = next(stream)
        assert stream.list_names() == ["title", "team"]
        assert list(stream) == []
    assert first.labels == ("y",)
    assert stream.list_names() == ["title", "team"]


def test_the_command_line_learns_an_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = archive(tmp_path / "a.zip", {"a.jsonl": LINES, "b.csv": CSV})
    assert main(["learn", str(path), "--model", str(tmp_path / "m.tagalong")]) == 0
    assert "3 items" in "".join(capsys.readouterr())


@given(st.data())
def test_damaged_archives_give_errors_only(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.jsonl", LINES * 20)
        file.writestr("b.mbox", mbox(1, "one"))
    content = bytearray(memory.getvalue())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "a.zip"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with suppress(ReadError), read(path, on_error="skip") as stream:
        count = sum(1 for _ in stream)
        assert count <= 41
        assert all(error.startswith(str(path)) for error in stream.errors)
