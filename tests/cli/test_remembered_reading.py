"""Reading options are remembered in the model and used for new items."""

import json
from pathlib import Path
from typing import Any

import pytest

import tagalong
from tests.cli.conftest import Run

TABLE = "key,subject,body,team\n" + "".join(
    f"{n},{'flight' if n % 2 else 'invoice'} {n},please,{'travel' if n % 2 else 'money'}\n"
    for n in range(20)
)
FLAGS = ("--text", "subject,body", "--labels", "team", "--id", "key")


@pytest.fixture(params=["learn", "fit"])
def taught(run: Run, request: pytest.FixtureRequest) -> str:
    Path("old.csv").write_text(TABLE)
    assert run(request.param, "old.csv", *FLAGS, "-m", "m.tagalong", "-q").code == 0
    return "m.tagalong"


def first_labels(lines: list[Any]) -> list[tuple[str, str]]:
    return [(line["id"], line["suggestions"][0]["label"]) for line in lines]


def test_suggest_uses_the_columns(run: Run, taught: str) -> None:
    Path("new.csv").write_text("subject,key,body\nflight 7,A,x\ninvoice 4,B,please\n")
    done = run("suggest", "new.csv", "-m", taught)
    assert done.code == 0, done.err
    assert first_labels(done.lines) == [("A", "travel"), ("B", "money")]
    explicit = run("suggest", "new.csv", "-m", taught, "--text", "subject,body", "--id", "key")
    assert explicit.out == done.out


def test_given_options_win(run: Run, taught: str) -> None:
    Path("new.csv").write_text("subject,key,other\nnothing,A,flight\n")
    plain, given = (
        run("suggest", "new.csv", "-m", taught, *flags)
        for flags in ((), ("--text", "other", "--id", "other"))
    )
    assert plain.lines[0]["id"] == "A"
    assert given.lines[0]["id"] == "flight"
    done = run("suggest", "new.csv", "-m", taught, "--id", "typo")
    assert done.code == 1
    assert "there is no column 'typo'" in done.err


def test_other_formats_ignore_what_they_do_not_have(run: Run, taught: str) -> None:
    Path("new.jsonl").write_text(json.dumps({"key": 5, "subject": "flight", "body": ""}) + "\n")
    done = run("suggest", "new.jsonl", "-m", taught)
    assert first_labels(done.lines) == [("5", "travel")]
    Path("new.ft").write_text("flight\n")
    assert run("suggest", "new.ft", "-m", taught).code == 0
    attributes = "@attribute travel {0,1}\n@attribute s string\n"
    Path("new.arff").write_text(f"@relation 'r: -C 1'\n{attributes}@data\n1,'flight'\n")
    assert run("suggest", "new.arff", "-m", taught).code == 0
    Path("new.mbox").write_text("From ann\nSubject: flight\n\nx\n")
    assert run("suggest", "new.mbox", "-m", taught).code == 0


def test_default_names_replace_missing_columns(run: Run, taught: str) -> None:
    Path("new.csv").write_text("id,text\nA,flight\n")
    assert run("suggest", "new.csv", "-m", taught).lines[0]["id"] == "A"


def test_evaluate_and_explain_use_the_columns(run: Run, taught: str) -> None:
    Path("new.csv").write_text(TABLE)
    done = run("evaluate", "new.csv", "-m", taught, "--json")
    assert done.code == 0, done.err
    assert done.json["report"]["items"] == 20
    done = run("explain", "new.csv", "-m", taught, "--id", "3")
    assert done.code == 0, done.err
    assert "flight" in done.out
    Path("new.csv").write_text("subject,body\nflight,x\n")
    assert run("explain", "new.csv", "-m", taught).code == 0
    done = run("evaluate", "new.csv", "-m", taught)
    assert done.code == 1
    assert "there is no column 'team'; the columns are 'subject', 'body'" in done.err


def test_the_format_is_remembered_for_unknown_files(run: Run) -> None:
    Path("old.txt").write_text(TABLE)
    assert run("learn", "old.txt", "--format", "csv", *FLAGS, "-m", "m.tagalong").code == 0
    Path("new.txt").write_text("key,subject,body\nA,flight,x\n")
    assert first_labels(run("suggest", "new.txt", "-m", "m.tagalong").lines) == [("A", "travel")]
    text = Path("new.txt").read_text()
    done = run("suggest", "-", "-m", "m.tagalong", stdin=text)
    assert first_labels(done.lines) == [("A", "travel")]
    Path("new.jsonl").write_text('{"subject": "flight", "key": "B"}\n')
    assert first_labels(run("suggest", "new.jsonl", "-m", "m.tagalong").lines) == [("B", "travel")]


def test_continue_uses_and_keeps_them(run: Run) -> None:
    Path("old.csv").write_text(TABLE)
    assert run("learn", "old.csv", *FLAGS, "-m", "m.tagalong").code == 0
    done = run("learn", "old.csv", "-m", "m.tagalong", "--continue", "--json")
    assert done.code == 0, done.err
    assert done.json["report"]["items"] == 20
    note = tagalong.load("m.tagalong").notes["reading"]
    assert note["options"] == {"text": "subject,body", "labels": "team", "id": "key"}
    Path("more.csv").write_text("key,subject,body,group\n1,flight,x,travel\n")
    done = run("learn", "more.csv", "-m", "m.tagalong", "--continue", "--labels", "group")
    assert done.code == 0, done.err
    assert tagalong.load("m.tagalong").notes["reading"]["options"]["labels"] == "group"


@pytest.mark.parametrize("note", [5, {}, {"options": 3}, {"options": {"text": 1, "x": 2}}])
def test_a_damaged_note_is_ignored(run: Run, model: str, note: Any) -> None:
    tagger = tagalong.load(model)
    tagger.notes["reading"] = note
    tagger.save(model)
    Path("new.csv").write_text("text\nflight\n")
    assert run("suggest", "new.csv", "-m", model).code == 0
