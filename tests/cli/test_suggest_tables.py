"""Tests of ``suggest --to`` and ``--out``: tables that other programs import."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tagalong
from tagalong.readers import Item, read
from tagalong.tables import suggested
from tagalong.tables.columns import Column
from tagalong.tables.formulas import as_plain_text
from tagalong.tables.writers import CsvTable
from tests.cli.conftest import Run, items
from tests.timeouts import TIMEOUT

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1"]
HARMLESS = ["", "money", "a=b", "-12", "+3.5", "'=1", "käse", "e-mail", "1-2"]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def expected_rows(model: str, k: int) -> list[dict[str, Any]]:
    """The rows by hand, from one call of the tagger per item."""
    tagger = tagalong.load(model)
    rows = []
    for item in read("items.jsonl"):
        (found,) = tagger.suggest_many([item], k, None)
        row: dict[str, Any] = {"id": item.id}
        for place in range(1, k + 1):
            one = found[place - 1] if place <= len(found) else None
            row[f"label_{place}"] = one and one.label
            row[f"probability_{place}"] = one and one.probability
            row[f"sure_{place}"] = one and one.sure
        row["chosen"] = sum(one.chosen for one in found)
        row |= {"whole": found.whole, "known": found.known, "audited": found.audited}
        rows.append(row)
    return rows


def as_csv_cell(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_csv_has_one_row_per_item(run: Run, stream: Path, model: str) -> None:
    done = run("suggest", "-m", model, "items.jsonl", "-k", "4", "--to", "csv")
    assert done.code == 0
    # The model has three labels: the columns of the fourth are there and empty.
    assert done.out.splitlines()[0] == (
        "id,label_1,probability_1,sure_1,label_2,probability_2,sure_2,label_3,probability_3,sure_3,"
        "label_4,probability_4,sure_4,chosen,whole,known,audited"
    )
    assert "\r" not in done.out
    expected = expected_rows(model, 4)
    assert rows_of(done.out) == [
        {name: as_csv_cell(value) for name, value in row.items()} for row in expected
    ]
    assert {row["label_4"] for row in expected} == {None}


def test_json_lines_have_the_same_keys_in_every_line(run: Run, stream: Path, model: str) -> None:
    done = run("suggest", "-m", model, "items.jsonl", "-k", "4", "--to", "jsonl")
    assert done.lines == expected_rows(model, 4)


def test_parquet_has_typed_columns(run: Run, stream: Path, model: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    done = run("suggest", "-m", model, "items.jsonl", "-k", "4", "--out", "s.parquet", "--json")
    assert done.code == 0
    assert (done.json["out"], done.json["written"]) == ("s.parquet", 60)
    table = parquet.read_table("s.parquet")
    assert table.to_pylist() == expected_rows(model, 4)
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["id"], types["label_1"], types["probability_1"], types["sure_4"]) == (
        "string",
        "string",
        "double",
        "bool",
    )


def test_parquet_to_a_pipe(run: Run, stream: Path, model: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    command = [sys.executable, "-m", "tagalong", "suggest", "-m", model, "items.jsonl"]
    done = subprocess.run([*command, "--to", "parquet"], capture_output=True, timeout=TIMEOUT)
    assert parquet.read_table(io.BytesIO(done.stdout)).num_rows == 60


def test_missing_pyarrow_is_reported_before_the_model_is_read(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.tables.formats.find_spec", lambda name: None)
    for flags in (["--to", "parquet"], ["--out", "x.parquet"]):
        done = run("suggest", "-m", "nope", "items.jsonl", *flags)
        assert done.code == 2
        assert "pip install 'tagalong[parquet]'" in done.err
        assert " ".join(flags) in done.err


def test_nested_lines_stay_without_to(run: Run, stream: Path, model: str) -> None:
    printed = run("suggest", "-m", model, "items.jsonl")
    assert list(printed.lines[0]) == ["id", "suggestions", "whole", "known", "audited"]
    for name in ("s.jsonl", "s"):
        done = run("suggest", "-m", model, "items.jsonl", "--out", name)
        assert (done.code, done.out) == (0, "")
        assert "60 items written" in done.err
        assert Path(name).read_text(encoding="utf-8") == printed.out


def test_the_ending_of_out_selects_format_and_compression(
    run: Run, stream: Path, model: str
) -> None:
    printed = run("suggest", "-m", model, "items.jsonl", "--to", "csv").out
    assert run("suggest", "-m", model, "items.jsonl", "--out", "s.csv").code == 0
    assert Path("s.csv").read_bytes() == printed.encode()
    assert run("suggest", "-m", model, "items.jsonl", "--out", "s.csv.gz").code == 0
    assert gzip.decompress(Path("s.csv.gz").read_bytes()) == printed.encode()
    # --to has priority
    assert run("suggest", "-m", model, "items.jsonl", "--to", "csv", "--out", "s.txt").code == 0
    assert Path("s.txt").read_text(encoding="utf-8") == printed


def test_existing_file_is_replaced_only_when_complete(run: Run, stream: Path, model: str) -> None:
    Path("s.csv").write_text("old")
    Path("link.csv").symlink_to("s.csv")
    broken = stream.read_text() + "[]\n"
    Path("broken.jsonl").write_text(broken)
    done = run("suggest", "-m", model, "broken.jsonl", "--out", "link.csv")
    assert done.code == 1
    assert "broken.jsonl:61" in done.err
    assert Path("s.csv").read_text() == "old"
    assert run("suggest", "-m", model, "items.jsonl", "--out", "link.csv").code == 0
    assert Path("link.csv").is_symlink()
    assert len(rows_of(Path("s.csv").read_text())) == 60
    assert not list(Path().glob(".*"))


def test_items_before_an_unreadable_one_are_answered(run: Run, stream: Path, model: str) -> None:
    stream.write_text(stream.read_text() + "[]\n")
    done = run("suggest", "-m", model, "items.jsonl", "--to", "csv")
    assert (done.code, len(rows_of(done.out))) == (1, 60)


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--out", "items.jsonl"], "--out items.jsonl would replace SOURCE items.jsonl"),
        (["--out", "m.tagalong"], "--out m.tagalong would replace --model m.tagalong"),
        (["--out", "no/such/s.csv"], "there is no folder no/such"),
        (["--out", "."], "is a folder"),
        (["--out", "x.txt"], "use one of .csv, .jsonl, .ndjson, .parquet, .pq, or give --to"),
        (["-k", "0"], "-k: must be at least 1, got 0"),
        (["--to", "csv", "--json"], "--json contradicts --to csv"),
        (["--to", "parquet", "--json"], "--json contradicts --to parquet"),
        (["--to", "jsonl", "--exact"], "--exact is for CSV only"),
        (["--bom"], "--bom is for CSV only"),
        (["--to", "xlsx"], "invalid choice: 'xlsx'"),
        (["--min-precision", "0"], "--min-precision: must be above 0 and at most 1, got 0"),
        (["--min-precision", "nan"], "at most 1, got nan"),
    ],
)
def test_contradictions(run: Run, stream: Path, model: str, flags: list[str], message: str) -> None:
    before = stream.read_bytes(), Path(model).read_bytes()
    done = run("suggest", "-m", model, "items.jsonl", *flags)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert (stream.read_bytes(), Path(model).read_bytes()) == before


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_become_text(text: str) -> None:
    assert as_plain_text(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay(text: str) -> None:
    assert as_plain_text(text) == text


def awkward_model(path: str, labels: list[str]) -> None:
    tagger = tagalong.Tagger()
    for number, label in [*enumerate(labels)] * 3:
        tagger.learn(f"word{number}", [label])
    tagger.save(path)


def test_awkward_labels_and_ids(run: Run, tmp_path: Path) -> None:
    labels = ["a,b", 'say "hi"', "two\nlines", "cr\rhere", "käse 🧀", " padded ", "=A1", "日本"]
    awkward_model("a.tagalong", labels)
    lines = [{"id": f"={n},\n", "text": f"word{n}"} for n in range(len(labels))]
    Path("a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    flags = ("suggest", "-m", "a.tagalong", "a.jsonl", "-k", "1", "--out", "a.csv")
    done = run(*flags)
    assert done.code == 0
    assert "9 cells have an apostrophe in front" in done.err
    with open("a.csv", newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert [row["label_1"] for row in found] == [as_plain_text(label) for label in labels]
    assert [row["id"] for row in found] == [f"'{line['id']}" for line in lines]
    done = run(*flags, "--exact", "--bom")
    assert "apostrophe" not in done.err
    raw = Path("a.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfid,")
    found = rows_of(raw.decode("utf-8-sig"))
    assert [(row["id"], row["label_1"]) for row in found] == [
        (line["id"], label) for line, label in zip(lines, labels, strict=True)
    ]


def test_items_without_ids_are_named_by_their_place(run: Run, model: str) -> None:
    Path("t.csv").write_text("text\nthe invoice\nthe hotel\n")
    done = run("suggest", "-m", model, "t.csv", "-k", "1", "--to", "csv")
    assert [row["id"] for row in rows_of(done.out)] == ["t.csv:2", "t.csv:3"]


def test_only_sure_keeps_the_rows(run: Run, stream: Path, model: str) -> None:
    flags = ("suggest", "-m", model, "items.jsonl", "--min-precision", ".8", "--to", "jsonl")
    everything, sure = run(*flags).lines, run(*flags, "--only-sure").lines
    assert [line["id"] for line in sure] == [line["id"] for line in everything]
    for full, some in zip(everything, sure, strict=True):
        marked = [full[f"label_{i}"] for i in range(1, 6) if full[f"sure_{i}"]]
        assert [some[f"label_{i}"] for i in range(1, 6)] == marked + [None] * (5 - len(marked))


def test_batches_of_any_size_give_the_same_rows(
    run: Run, stream: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("suggest", "-m", model, "items.jsonl", "--to", "csv")
    expected = run(*flags).out
    for size in (1, 7, 60):
        monkeypatch.setattr(suggested, "MAX_BATCH", size)
        assert run(*flags).out == expected


def test_memory_is_bounded_by_the_batch(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than one batch of items is read ahead of the answers."""
    monkeypatch.setattr(suggested, "MAX_BATCH", 8)
    tagger = tagalong.load(model)
    read_items: list[None] = []

    def endless():
        while True:
            read_items.append(None)
            yield Item(text="the invoice")

    answers = iter(suggested.Suggested(tagger, endless(), 5))
    for count in range(1, 30):
        next(answers)
        assert len(read_items) < count + 8
    read_items.clear()
    next(iter(suggested.Suggested(tagger, endless(), 1 << 20)))
    assert len(read_items) == 1  # so many suggestions per item need small batches


def test_live_items_are_answered_one_by_one(run: Run, stream: Path, model: str) -> None:
    """Each row is there before the next line is sent, on standard output and in a file."""
    lines = stream.read_text().splitlines(keepends=True)[:3]
    for flags in (["--to", "csv"], ["--to", "jsonl"], []):
        process = subprocess.Popen(
            [sys.executable, "-m", "tagalong", "suggest", "-m", model, "-", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        for number, line in enumerate(lines):
            process.stdin.write(line)
            process.stdin.flush()
            if number == 0 and "csv" in flags:
                assert process.stdout.readline().startswith("id,")
            assert f"item-{number}" in process.stdout.readline()
        process.stdin.close()
        assert process.wait(timeout=TIMEOUT) == 0


def test_unknown_items_are_counted_once(run: Run, stream: Path, model: str) -> None:
    extra = [{"id": "x", "text": "zzz yyy"}, {"id": "y", "text": ""}]
    stream.write_text("".join(json.dumps(one) + "\n" for one in [*items(3), *extra]))
    done = run("suggest", "-m", model, "items.jsonl", "--to", "csv")
    assert done.err.count("no word or value that the model knows") == 1
    assert "2 of 5 items have no word" in done.err
    for name in tagalong.load(model).features.fields:
        assert (repr(name) if name else "text without a field") in done.err
    assert [row["known"] for row in rows_of(done.out)][3:] == ["0", "0"]
    assert "the item has no word" in run("suggest", "-m", model, "--text", "zzz").err
    assert "the item has no word" in run("explain", "-m", model, "--text", "zzz").err
    assert run("suggest", "-m", model, "--text", "the invoice").err == ""
    assert run("suggest", "-m", model, "--text", "zzz", "-q").err == ""


def test_sorted_learning_is_reported(
    run: Run, stream: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggest_many = tagalong.Tagger.suggest_many

    def in_runs(self: tagalong.Tagger, *args: Any) -> Any:
        found = suggest_many(self, *args)
        for one in found:
            one.in_runs = True
        return found

    monkeypatch.setattr(tagalong.Tagger, "suggest_many", in_runs)
    done = run("suggest", "-m", model, "items.jsonl")
    assert done.err.count("nothing is marked sure") == 1
    assert "--shuffle" in done.err


def test_refused_items_are_named_or_skipped(
    run: Run, stream: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggest_many = tagalong.Tagger.suggest_many

    def refusing(self: tagalong.Tagger, found: list[Item], *args: Any) -> Any:
        if any(item.id == "item-5" for item in found):
            raise ValueError("a value is infinite")
        return suggest_many(self, found, *args)

    monkeypatch.setattr(tagalong.Tagger, "suggest_many", refusing)
    done = run("suggest", "-m", model, "items.jsonl", "--to", "csv")
    assert (done.code, len(rows_of(done.out))) == (1, 5)
    assert "items.jsonl:6: a value is infinite" in done.err
    done = run("suggest", "-m", model, "items.jsonl", "--to", "csv", "--on-error", "skip")
    assert (done.code, len(rows_of(done.out))) == (3, 59)
    assert "1 item was skipped" in done.err


def test_labels_of_an_item_in_one_csv_cell() -> None:
    cells = {
        ("a", "b"): "a,b",
        ("a,b",): '["a,b"]',
        ("a ", "b"): '["a ", "b"]',
        (): "",
        ("=1",): "'=1",
    }
    stream = io.BytesIO()
    table = CsvTable(stream, [Column("labels", "labels"), Column("x", "integer")])
    for labels in cells:
        table.write([list(labels), 1])
    found = rows_of(stream.getvalue().decode())
    assert [row["labels"] for row in found] == list(cells.values())


def test_unusual_characters_cannot_reach_a_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = "\x1b[31mred \u202egnp"
    awkward_model("a.tagalong", [label])
    done = run("suggest", "-m", "a.tagalong", "--text", "word0", "--json")
    assert done.json["suggestions"][0]["label"] == label
    assert done.out.isascii()
    assert "\x1b" not in run("labels", "list", "a.tagalong").out
    flags = ("suggest", "-m", "a.tagalong", "--text", "word0", "--to", "csv")
    assert rows_of(run(*flags).out)[0]["label_1"] == label
    monkeypatch.setattr("tagalong.cli.screen.Screen.isatty", lambda stream: True)
    assert rows_of(run(*flags).out)[0]["label_1"] == "\\x1b[31mred \\u202egnp"


def test_a_device_is_written_directly(run: Run, stream: Path, model: str) -> None:
    assert run("suggest", "-m", model, "items.jsonl", "--out", os.devnull).code == 0
    assert not Path(os.devnull).is_file()
