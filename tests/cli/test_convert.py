"""Tests of ``convert``, ``streams`` and ``completion``."""

import builtins
import json
from pathlib import Path
from typing import Any

import pytest

from tagalong.readers import read, streams, write
from tests.cli.conftest import Run


def test_round_trip(run: Run, stream: Path) -> None:
    assert run("convert", "items.jsonl", "items.csv.gz", "--out-unlabelled", "unknown").code == 1
    assert run("convert", "items.jsonl", "items.parquet").code == 0
    done = run("convert", "items.parquet", "back.jsonl", "--weight", "weight", "--json")
    assert done.json == {
        "out": "back.jsonl",
        "format": "jsonl",
        "written": 60,
        "losses": [],
        "skipped": 0,
        "errors": [],
        "links": [],
    }
    assert list(read("back.jsonl")) == list(read("items.jsonl"))


def test_output_equals_that_of_write(run: Run, stream: Path) -> None:
    flags = ("--out-separator", ";", "--out-unlabelled", "unknown", "--limit", "12")
    done = run("convert", "items.jsonl", "a.csv", *flags)
    assert done.code == 0
    assert done.err == "12 items written to a.csv as csv\n"
    options: dict[str, Any] = {"separator": ";", "unlabelled": "unknown"}
    write(list(read("items.jsonl"))[:12], "b.csv", **options)
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_standard_output(run: Run) -> None:
    table = "text,labels\na  b,x\n"
    done = run("convert", "-", "-", "--format", "csv", "--to", "fasttext", stdin=table)
    assert (done.code, done.out) == (0, "__label__x a b\n")
    assert "1 item written to standard output as fasttext" in done.err
    assert "repeated spaces become single spaces" in done.err
    assert run("convert", "-", "-", "--to", "jsonl", "--json").code == 2


@pytest.mark.parametrize(
    "item, out, losses",
    [
        ({"id": "1", "text": "a b", "labels": ["x"]}, "o.ft", ["ids are omitted"]),
        ({"text": "a b", "labels": ["x"]}, "o.ft", []),
        (
            {"text": {"subject": "a", "body": "b"}, "labels": ["x"]},
            "o.vw",
            ["fields of a text become namespaces", "texts are split into words"],
        ),
        ({"features": {"c": "red"}, "labels": ["x"]}, "o.svm", ["categories become features"]),
        ({"features": {"c": 0, "d": 1}, "labels": ["x"]}, "o.arff", ["with value 0 are omitted"]),
        ({"features": {"c": 2}, "labels": ["x"]}, "o.arff", []),
    ],
)
def test_losses_are_reported(
    run: Run, tmp_path: Path, item: dict[str, Any], out: str, losses: list[str]
) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps(item))
    found = run("convert", "one.jsonl", out, "--json").json["losses"]
    assert len(found) == len(losses)
    for message, part in zip(found, losses, strict=True):
        assert part in message


def test_error_message_names_the_flag_that_helps(run: Run, stream: Path) -> None:
    done = run("convert", "items.jsonl", "items.vw")
    assert done.code == 1
    assert "items.jsonl:13" in done.err
    assert "use --out-unlabelled empty" in done.err
    assert not Path("items.vw").exists()


@pytest.mark.parametrize(
    "argv, code, message",
    [
        (("items.jsonl", "x.what"), 2, "give --to one of"),
        (("items.jsonl", "x.mbox"), 2, "mbox is read-only"),
        (("items.jsonl", "x.vw", "--out-number-labels", "x"), 2, "--out-number-labels must be"),
        (("items.jsonl", "no/x.csv"), 2, "no folder no"),
        (("items.jsonl",), 2, "required: OUT"),
        (("nope.jsonl", "x.csv"), 1, "nope.jsonl: no such file"),
    ],
)
def test_errors(run: Run, stream: Path, argv: tuple[str, ...], code: int, message: str) -> None:
    done = run("convert", *argv)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_skipped_items_are_counted(run: Run, stream: Path) -> None:
    stream.write_text('{"text": "a"}\nnonsense\n')
    done = run("convert", "items.jsonl", "x.csv", "--on-error", "skip", "--json")
    assert (done.code, done.json["written"], done.json["skipped"]) == (3, 1, 1)


def test_streams(run: Run) -> None:
    found = run("streams", "--json").json
    assert [one["source"] for one in found] == [stream.source for stream in streams()]
    lines = run("streams").out.splitlines()
    assert lines[0].startswith("pydocs:   docstrings of the Python standard library")
    assert lines[0].endswith("ready")


def test_a_built_in_stream(run: Run) -> None:
    done = run("learn", "pydocs:", "--limit", "150", "--json")
    assert (done.code, done.json["report"]["items"]) == (0, 150)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion(run: Run, shell: str) -> None:
    done = run("completion", shell)
    assert done.code == 0
    for part in ("learn", "compare", "--min-precision", "--out-separator"):
        assert part.removeprefix("--") in done.out


def test_completion_without_shtab(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def importing(name: str, *args: Any) -> Any:
        if name == "shtab":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", importing)
    done = run("completion", "bash")
    assert (done.code, done.out) == (1, "")
    assert "pip install 'tagalong[completion]'" in done.err
