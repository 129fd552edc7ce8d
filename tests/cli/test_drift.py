"""Commands say since which item the answers have changed."""

import json
from pathlib import Path

import pytest

from tagalong import LabelRanker, Tagger
from tests.changing_answers import SWAPPED, SWAPPED_AT, changing_items
from tests.cli.conftest import Finished, Run

ROWS = 900
FIRST = 300  # learnt in Python, by a tagger whose learner is a race


def write_items(path: Path, start: int, stop: int, names: dict[str, str] | None = None) -> None:
    lines = []
    for words, label in changing_items(ROWS)[start:stop]:
        text = " ".join(words)
        lines.append(json.dumps({"text": text, "labels": [(names or {}).get(label, label)]}))
    path.write_text("\n".join(lines) + "\n")


def make_model(path: Path, names: dict[str, str] | None = None) -> None:
    tagger = Tagger(LabelRanker(race="auto"))
    for words, label in changing_items(ROWS)[:FIRST]:
        tagger.learn(" ".join(words), [(names or {}).get(label, label)])
    tagger.save(path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_model(tmp_path / "model")
    return tmp_path


def continued(run: Run, *argv: str) -> Finished:
    done = run("learn", "items.jsonl", "--model", "model", "--continue", *argv)
    assert done.code == 0
    return done


def test_learn_warns_once_and_the_report_says_it(run: Run, folder: Path) -> None:
    write_items(folder / "items.jsonl", FIRST, ROWS)
    done = continued(run, "--report", "report.json")
    assert done.err.count("the answers have changed") == 1
    assert "warning: since item" in done.err
    found = json.loads((folder / "report.json").read_text())["drift"]
    assert abs(found["since"] - SWAPPED_AT) <= 40
    assert set(found["labels"]) == set(SWAPPED)
    changed = [line for line in done.out.splitlines() if "the answers" in line]
    assert len(changed) == 1
    assert f"item {found['since']:,} " in changed[0]
    assert all(label in changed[0] for label in SWAPPED)


def test_inspect_says_it(run: Run, folder: Path) -> None:
    assert run("inspect", "model", "--json").json["drift"] is None
    assert "the answers" not in run("inspect", "model").out
    write_items(folder / "items.jsonl", FIRST, ROWS)
    continued(run)
    found = run("inspect", "model", "--json").json["drift"]
    assert set(found["labels"]) == set(SWAPPED)
    assert f"item {found['since']:,} the answers" in run("inspect", "model").out


def test_a_change_of_an_earlier_run_is_not_warned_of_again(run: Run, folder: Path) -> None:
    write_items(folder / "items.jsonl", FIRST, ROWS - 50)
    assert "the answers" in continued(run).err
    write_items(folder / "items.jsonl", ROWS - 50, ROWS)
    assert "the answers" not in continued(run).err


def test_no_warning_without_a_change(run: Run, folder: Path) -> None:
    write_items(folder / "items.jsonl", FIRST, SWAPPED_AT - 1)
    done = continued(run)
    assert "the answers" not in done.err + done.out


def test_labels_in_the_warning_cannot_act_on_a_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {SWAPPED[0]: "\x1b[31mred\nline"}
    make_model(tmp_path / "model", names)
    write_items(tmp_path / "items.jsonl", FIRST, ROWS, names)
    done = continued(run)
    warning = [line for line in done.err.splitlines() if "the answers have changed" in line]
    assert len(warning) == 1
    assert "red line" in warning[0]
    assert "\x1b" not in done.err + done.out
