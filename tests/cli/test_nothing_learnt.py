"""Nothing learnt is an error that says what the sources hold; --force replaces a model."""

from pathlib import Path

import pytest

import tagalong
from tests.cli.conftest import Run

MODEL = ("--model", "m.tagalong")


@pytest.mark.parametrize(
    "name, text, problem",
    [
        ("a.csv", "id,text,team\n1,x,bank\n2,y,mail\n", "--labels, for example --labels team"),
        ("a.csv", "id,text,team\n1,x,bank\n", "there are 'id', 'text', 'team'"),
        ("a.csv", "id,text,n,queue name\n1,x,1,bank\n", "for example --labels 'queue name'"),
        ("a.jsonl", '{"text": "x", "meta": {"folder": "y"}}\n', "--labels meta.folder"),
        ("a.json", '[{"text": "x", "team": "y"}]', "--labels team"),
        ("a.csv", "id,text\n1,x\n", "the only item has no labels"),
        ("a.csv", "id,text\n", "a.csv: nothing to learn: there are no items"),
        ("a.jsonl", "", "a.jsonl: nothing to learn: there are no items"),
        ("a.ft", "just text\nmore\n", "none of the 2 items has labels\n"),
        ("inbox.mbox", "From ann\nSubject: x\n\ny\n", "--inbox LABEL"),
    ],
)
@pytest.mark.parametrize("command", ["learn", "fit"])
def test_no_labels(run: Run, command: str, name: str, text: str, problem: str) -> None:
    Path(name).write_text(text)
    done = run(command, name, *MODEL, "-q")
    assert done.code == 1
    assert problem in done.err
    assert done.out == ""
    assert not Path("m.tagalong").exists()


def test_a_wrong_key(run: Run, stream: Path) -> None:
    done = run("learn", "items.jsonl", "--labels", "tags", *MODEL)
    assert done.code == 1
    assert "none of the 60 items has labels" in done.err
    assert "for example --labels labels; there are 'id', 'text', 'labels', 'weight'" in done.err
    Path("t.csv").write_text("id,text,team\n1,x,bank\n")
    done = run("learn", "t.csv", "--labels", "group")
    assert done.code == 1
    assert "t.csv:1: there is no column 'group'; the columns are 'id', 'text', 'team'" in done.err


def test_only_empty_sets_of_labels(run: Run) -> None:
    Path("a.jsonl").write_text('{"text": "x", "labels": []}\n' * 3)
    done = run("learn", "a.jsonl", *MODEL)
    assert done.code == 1
    assert "none of the 3 items has labels" in done.err


def test_all_items_skipped(run: Run) -> None:
    Path("a.jsonl").write_text("bad\nworse\n")
    done = run("learn", "a.jsonl", "--on-error", "skip")
    assert done.code == 1
    assert "nothing to learn: all 2 items were skipped" in done.err


def test_continue_without_new_items_leaves_the_model_alone(run: Run, model: str) -> None:
    before = Path(model).read_bytes()
    Path("new.jsonl").write_text('{"text": "x"}\n')
    assert run("learn", "new.jsonl", "--model", model, "--continue").code == 1
    assert Path(model).read_bytes() == before


def test_force_replaces_a_model(run: Run, model: str) -> None:
    Path("new.jsonl").write_text('{"text": "x", "labels": ["only"]}\n')
    done = run("learn", "new.jsonl", "--model", model)
    assert done.code == 2
    assert "--force to replace it" in done.err
    assert run("learn", "new.jsonl", "--model", model, "--force").code == 0
    assert tagalong.load(model).labels == ["only"]
    assert run("learn", "new.jsonl", "--model", model, "--force", "--continue").code == 2
    Path("new.jsonl").write_text("")
    assert run("learn", "new.jsonl", "--model", model, "--force").code == 1
    assert tagalong.load(model).labels == ["only"]
