"""`read`: sources, compression, format detection, options, skipped errors, closing."""

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tagalong.readers import FORMATS, Item, OptionError, ReadError, Stream, read

LINES = b"".join(b'{"text": "%d"}\n' % number for number in range(5))
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def texts(stream: Stream) -> list[Any]:
    return [item.text for item in stream]


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def replace(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return replace


@pytest.mark.parametrize("suffix", ["", *COMPRESS])
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files(tmp_path: Path, suffix: str, named: bool) -> None:
    path = tmp_path / ("a.jsonl" + (suffix if named else ""))
    path.write_bytes(COMPRESS.get(suffix, bytes)(LINES))
    stream = list(read(path))
    assert [item.text for item in stream] == list("01234")
    assert stream[2].place == f"{path}:3"


@pytest.mark.parametrize("suffix", COMPRESS)
def test_concatenated_compressed_streams(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(COMPRESS[suffix](LINES) + COMPRESS[suffix](LINES))
    assert texts(read(path)) == list("0123401234")


@pytest.mark.parametrize("suffix", COMPRESS)
def test_error_names_the_line_of_a_truncated_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(COMPRESS[suffix](LINES * 3_000)[:-20])
    stream = read(path)
    seen: list[Item] = []
    with pytest.raises(ReadError) as caught:
        seen.extend(stream)
    line = int(str(caught.value).removeprefix(f"{path}:").split(":")[0])
    assert len(seen) <= line <= len(seen) + 1


@pytest.mark.parametrize("suffix", COMPRESS)
def test_decompression_bombs_take_little_memory(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(COMPRESS[suffix](b" " * 30_000_000 + b"\n" + LINES))
    tracemalloc.start()
    try:
        stream = read(path, on_error="skip", max_line=1 << 20)
        assert texts(stream) == list("01234")
        assert stream.errors == [
            f"{path}:1: the line is longer than 1048576 bytes (option max_line)"
        ]
        assert tracemalloc.get_traced_memory()[1] < 25_000_000
    finally:
        tracemalloc.stop()


def test_a_wrong_suffix(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(LINES)
    with pytest.raises(ReadError, match=r"a\.jsonl\.gz:1"):
        next(read(path))
    path.write_bytes(b"")
    assert list(read(path)) == []


def test_standard_input(stdin: Callable[[bytes], None]) -> None:
    stdin(gzip.compress(LINES))
    found = list(read("-"))
    assert [item.place for item in found] == [f"<stdin>:{line}" for line in range(1, 6)]
    stdin(b"a,b | x\n")
    assert next(read("-", "vw")).labels == ("a", "b")
    stdin(b"a,b | x\n")
    with pytest.raises(
        ReadError, match=r"<stdin>: the format cannot be detected; give format= one of [a-z, ]*$"
    ):
        next(read("-"))


def test_several_sources_and_globs(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "b"}')
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}')
    (tmp_path / "c[1].csv").write_text("text\nc\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d.jsonl").write_bytes(b'{"text": "d"}')
    assert texts(read(f"{tmp_path}/*.jsonl")) == ["a", "b"]
    assert texts(read(f"{tmp_path}/**/*.jsonl")) == ["a", "b", "d"]
    assert texts(read([tmp_path / "c[1].csv", f"{tmp_path}/a*"])) == ["c", "a"]
    assert texts(read(iter([str(tmp_path / "b.jsonl")]))) == ["b"]


@pytest.mark.parametrize(
    "name, problem",
    [
        ("none.jsonl", "no such file or folder"),
        ("no/none.jsonl", "no such file; the folder"),
        ("*.none", "no file matches"),
        ("data.xyz", "a known extension: .jsonl, .ndjson"),
        ("nosuch:", "streams are pydocs:, debtags:"),
    ],
)
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_missing_sources_raise_at_once(
    tmp_path: Path, name: str, problem: str, on_error: Any
) -> None:
    (tmp_path / "data.xyz").write_text("hello")
    source = name if name.endswith(":") else f"{tmp_path}/{name}"
    with pytest.raises(ReadError) as caught:
        read(source, on_error=on_error)
    assert str(caught.value).startswith(f"{source}: ")
    assert problem in str(caught.value)


def test_folders_and_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINES)
    with pytest.raises(ReadError, match="this is a folder, but jsonl"):
        read(tmp_path, "jsonl")
    with pytest.raises(ReadError, match="this is a file, but maildir"):
        read(tmp_path / "a.jsonl", "maildir")


@pytest.mark.parametrize(
    "arguments, options, problem",
    [
        (["pydocs:", "jsonl"], {}, "omit the option format"),
        (["a.jsonl", "pydocs"], {}, "the source 'pydocs:'"),
        (["a.jsonl", "xml"], {}, "no format 'xml'; the formats are jsonl, csv"),
        (["a.jsonl"], {"on_error": "ignore"}, "'ignore'"),
        ([[]], {}, "nothing to read"),
        (
            ["a.jsonl"],
            {"separator": "|"},
            "jsonl has no option 'separator'; formats with this option: csv, tsv, parquet",
        ),
        (
            ["a.jsonl"],
            {"nonsense": 1},
            "formats with this option: none; options of jsonl: text, labels",
        ),
        (["a.jsonl"], {"text": 5}, "text must be a name, or a list of names, not 5"),
        (["a.jsonl"], {"max_line": 0}, "max_line must be positive"),
        (["a.jsonl"], {"max_line": "5"}, "max_line must be a number of bytes"),
        (["a.csv"], {"indicators": 1}, "indicators must be True or False"),
        (["a.csv"], {"unlabelled": "x"}, "one of 'unknown', 'empty', not 'x'"),
    ],
)
def test_options_are_checked_at_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[Any],
    options: dict[str, Any],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "a.csv").touch()
    with pytest.raises(OptionError) as caught:
        read(*arguments, **options)
    assert problem in str(caught.value)


def test_unknown_encodings_raise(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINES)
    for encoding in ("klingon", "rot13", "base64", "undefined", "a\0b"):
        with pytest.raises(OptionError, match="must be a text encoding"):
            next(read(tmp_path / "a.jsonl", encoding=encoding))


def test_stop_and_skip(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"[]\n".join(LINES.splitlines(keepends=True)))
    with pytest.raises(ReadError, match=f"{path}:2: an item must be an object"):
        texts(read(path))
    with read([path, path], on_error="skip") as stream:
        assert texts(stream) == list("0123401234")
    assert stream.skipped == 8
    assert stream.errors[0].startswith(f"{path}:2: ")
    path.write_bytes(b"5\n" * 30)
    stream = read(path, on_error="skip")
    assert texts(stream) == []
    assert (stream.skipped, len(stream.errors)) == (30, 20)


def test_skip_continues_with_the_next_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("text\nhello\n")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"text\n" + b"hello\n" * 9)[:-12])
    stream = read(f"{tmp_path}/*", on_error="skip")
    assert set(texts(stream)) == {"hello"}
    assert stream.skipped == 2


def open_files(monkeypatch: pytest.MonkeyPatch) -> list[io.BufferedReader]:
    opened: list[io.BufferedReader] = []

    def note(path: str, mode: str) -> io.BufferedReader:
        opened.append(io.BufferedReader(io.FileIO(path)))
        return opened[-1]

    monkeypatch.setattr("builtins.open", note)
    return opened


def test_files_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES + b"[]\n")
    opened = open_files(monkeypatch)
    list(read(path, on_error="skip"))
    with pytest.raises(ReadError):
        list(read(path))
    stream = read(path)
    next(stream)
    assert [file.closed for file in opened] == [True, True, False]
    stream.close()
    stream.close()
    assert list(stream) == []
    with read(path) as stream:
        next(stream)
    assert all(file.closed for file in opened)
    assert len(opened) == 4


def test_an_interrupt_is_raised_and_closes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tagalong.readers.jsonl.item_from_json", interrupt)
    opened = open_files(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        next(read(path, on_error="skip"))
    assert opened[0].closed


def test_every_format_is_described() -> None:
    extensions = [extension for found in FORMATS.values() for extension in found.extensions]
    assert len(extensions) == len(set(extensions))
    for name, found in FORMATS.items():
        assert name == found.name
        assert found.description
        assert all(extension.startswith(".") for extension in found.extensions)
        for option in (*found.options, *found.write_options):
            assert option.help.endswith("."), option
            assert option.name.isidentifier()
            assert option.check(option.default) == option.default
            assert bool(option.choices) == (option.kind == "choice")
        names = [option.name for option in found.options]
        assert len(names) == len(set(names))


def test_options_from_the_command_line() -> None:
    options = {option.name: option for option in FORMATS["csv"].options}
    assert options["text"].parse("a, b,") == ("a", "b")
    assert options["max_line"].parse("2k") == 2048
    assert options["indicators"].parse("Yes") is True
    assert options["quoting"].parse("no") is False
    assert options["separator"].parse("") == ""
    for name, text in [("indicators", "maybe"), ("max_line", "x"), ("max_line", "")]:
        with pytest.raises(OptionError, match=f"{name} must be"):
            options[name].parse(text)
    with pytest.raises(OptionError, match="one of"):
        options["unlabelled"].parse("never")


def test_equality_of_items_ignores_the_place(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b'{"text": "x"}')
    first, second = read(f"{tmp_path}/*")
    assert first == second == Item("", "x")
    assert first.place != second.place


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("rest", [b"not compressed", b"\n" * 20_000])
def test_bytes_after_compressed_data_are_an_error_in_words(
    tmp_path: Path, suffix: str, rest: bytes
) -> None:
    path = tmp_path / f"items.jsonl{suffix}"
    path.write_bytes(COMPRESS[suffix](LINES) + rest)
    stream = read(path)
    assert [next(stream).text for _ in range(5)] == list("01234")
    with pytest.raises(ReadError) as caught:
        next(stream)
    assert str(caught.value).endswith(
        "bytes after the end of the compressed data that are not a further part of it"
    )
