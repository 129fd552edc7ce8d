"""Tests of ``learn --predictions``: what was suggested for each item before it was learnt."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong.cli.learn import saving
from tagalong.cli.learn.prediction_rows import prediction_columns, prediction_rows, round_row
from tagalong.learning.labels import LabelRows
from tagalong.learning.places import Places
from tagalong.learning.rounds import Round, Rounds
from tagalong.readers import Item, read
from tests.cli.conftest import Run, interrupt_at, items

ENDINGS = ["csv", "jsonl", "parquet"]


def rows_in(path: str) -> list[dict[str, Any]]:
    if path.endswith(".csv"):
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    if path.endswith(".jsonl"):
        return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    parquet = pytest.importorskip("pyarrow.parquet")
    found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return found


def as_csv_row(row: dict[str, Any]) -> dict[str, str]:
    cells = {}
    for name, value in row.items():
        text = "" if value is None else str(value)
        text = text.lower() if isinstance(value, bool) else text
        cells[name] = ",".join(value) if isinstance(value, list) else text
    return cells


def test_rows_say_what_was_suggested_before(run: Run, stream: Path) -> None:
    flags = ("--predictions", "p.jsonl", "--passes", "2", "--at", "2")
    done = run("learn", "items.jsonl", *flags)
    assert done.code == 0
    assert "54 predictions written to p.jsonl" in done.err
    rows = rows_in("p.jsonl")
    assert list(rows[0]) == [
        *("id", "label_1", "probability_1", "sure_1", "label_2", "probability_2", "sure_2"),
        *("chosen", "whole", "known", "labels", "right"),
    ]
    learnt = [item for item in read("items.jsonl") if item.labels is not None]
    # One row per learnt item, although there were two passes.
    assert [row["id"] for row in rows] == [item.id for item in learnt]
    assert [row["labels"] for row in rows] == [list(item.labels or ()) for item in learnt]
    assert rows[0]["label_1"] is rows[0]["right"] is None
    tagger = tagalong.Tagger()
    for row, item in zip(rows, learnt, strict=True):
        (found,) = tagger.suggest_many([item], 2)
        tagger.learn(item)
        scores = [one.score for one in found]
        if len(set(scores)) < 2:  # ties
            continue
        assert [row["label_1"], row["label_2"]] == [one.label for one in found]
        assert row["right"] == (found[0].label in (item.labels or ()))
        if row["probability_1"] is not None:
            assert [row["probability_1"], row["probability_2"]] == [
                one.probability for one in found
            ]
            assert [row["sure_1"], row["sure_2"]] == [one.sure for one in found]
            assert (row["whole"], row["known"]) == (found.whole, found.known)


@pytest.mark.parametrize("ending", ENDINGS)
def test_all_formats_hold_the_same_rows(run: Run, stream: Path, ending: str) -> None:
    for name in ("p.jsonl", f"q.{ending}"):
        assert run("learn", "items.jsonl", "--predictions", name).code == 0
    expected = rows_in("p.jsonl")
    if ending == "csv":
        expected = [as_csv_row(row) for row in expected]
    assert rows_in(f"q.{ending}") == expected
    assert not list(Path().glob("*.partial"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_batches_and_single_items_give_the_same_rows(
    run: Run, stream: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("learn", "items.jsonl", "--predictions", f"a.{ending}").code == 0
    monkeypatch.setattr("tagalong.cli.learn.batches.MAX_BATCH", 1)
    assert run("learn", "items.jsonl", "--predictions", f"b.{ending}").code == 0
    assert rows_in(f"a.{ending}") == rows_in(f"b.{ending}")


@pytest.mark.parametrize("ending", ENDINGS)
def test_resumed_run_appends(run: Run, stream: Path, ending: str) -> None:
    assert run("learn", "items.jsonl", "--passes", "2", "--predictions", f"s.{ending}").code == 0
    name = f"p.{ending}"
    argv: tuple[str, ...] = ("items.jsonl", "--passes", "2", "--predictions", name)
    for count in (7, 20, 60):
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("tagalong.cli.learn.batches.MAX_BATCH", 1)
            interrupt_at(monkeypatch, count)
            stopped = run("learn", "--model", "m.tagalong", *argv)
        assert stopped.code == 130
        assert len(rows_in(name)) == {7: 7, 20: 27, 60: 54}[count]
        argv = ("--resume",)
    assert run("learn", "--model", "m.tagalong", "--resume").code == 0
    assert rows_in(name) == rows_in(f"s.{ending}")
    assert ending == "parquet" or Path(name).read_bytes() == Path(f"s.{ending}").read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_killed_run_leaves_no_rows_twice(
    run: Run, stream: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is saved at item 12; the process dies at item 30, with rows of 29 items written."""
    name = f"p.{ending}"
    assert run("learn", "items.jsonl", "--predictions", f"s.{ending}").code == 0

    class Killed(BaseException):
        pass

    def killed(*args: Any) -> None:
        raise Killed

    watch = tagalong.Tagger.watch
    seen = [0]

    def watching(self: tagalong.Tagger, *args: Any, **options: Any) -> Any:
        seen[0] += 1
        if seen[0] == 30:
            killed()
        return watch(self, *args, **options)

    save_if_due = saving.ModelFile.save_if_due

    def saving_once(self: saving.ModelFile) -> None:
        if seen[0] == 12:
            self.save()
        save_if_due(self)

    monkeypatch.setattr("tagalong.cli.learn.batches.MAX_BATCH", 1)
    monkeypatch.setattr(tagalong.Tagger, "watch", watching)
    monkeypatch.setattr(saving.ModelFile, "save_if_due", saving_once)
    if ending == "parquet":  # a killed process does not complete the file
        monkeypatch.setattr("tagalong.cli.learn.predictions._convert", killed)
    with pytest.raises(Killed):
        run("learn", "items.jsonl", "--model", "m.tagalong", "--predictions", name)
    monkeypatch.undo()
    monkeypatch.chdir(stream.parent)
    written = f"{name}.partial" if ending == "parquet" else name
    assert len(Path(written).read_text().splitlines()) >= 29
    assert run("learn", "--model", "m.tagalong", "--resume").code == 0
    assert rows_in(name) == rows_in(f"s.{ending}")
    assert not list(Path().glob("*.partial"))


def test_resume_with_a_higher_limit(run: Run, stream: Path) -> None:
    for ending in ENDINGS:
        name, model = f"p.{ending}", f"{ending}.tagalong"
        flags = ("--model", model, "--predictions", name, "--limit", "25")
        assert run("learn", "items.jsonl", *flags).code == 0
        assert len(rows_in(name)) == 23
        assert run("learn", "--model", model, "--resume", "--limit", "1000").code == 0
        assert len(rows_in(name)) == 54
        assert len({row["id"] for row in rows_in(name)}) == 54


@pytest.mark.parametrize("ending", ENDINGS)
def test_changed_or_missing_file(run: Run, stream: Path, ending: str) -> None:
    name = f"p.{ending}"
    flags = ("--model", "m.tagalong", "--predictions", name, "--limit", "25")
    assert run("learn", "items.jsonl", *flags).code == 0
    resume = ("learn", "--model", "m.tagalong", "--resume", "--limit", "60")
    if ending == "parquet":
        run("learn", "items.jsonl", "--predictions", "short.parquet", "--limit", "3")
        os.replace("short.parquet", name)
    else:
        Path(name).write_text(Path(name).read_text().replace("item-3", "item-X"))
    changed = Path(name).read_bytes()
    done = run(*resume)
    assert done.code == 1
    assert f"{name} has changed since the run stopped" in done.err
    assert Path(name).read_bytes() == changed
    Path(name).unlink()
    done = run(*resume)
    assert done.code == 0
    assert f"{name} with the first 23 predictions of the run is missing" in done.err
    assert next(row["id"] for row in rows_in(name)) == "item-25"


def test_new_runs_replace_and_continued_runs_do_not(run: Run, stream: Path, model: str) -> None:
    Path("p.csv").write_text("old\n")
    done = run("learn", "items.jsonl", "-m", model, "--continue", "--predictions", "p.csv")
    assert done.code == 2
    assert "--predictions p.csv already exists" in done.err
    assert Path("p.csv").read_text() == "old\n"
    # Nothing is written before the first item is learnt.
    assert run("learn", "nope.jsonl", "--predictions", "p.csv").code == 1
    assert Path("p.csv").read_text() == "old\n"
    assert run("learn", "items.jsonl", "--predictions", "p.csv").code == 0
    assert len(rows_in("p.csv")) == 54
    done = run("learn", "items.jsonl", "-m", model, "--continue", "--predictions", "c.csv")
    assert (done.code, len(rows_in("c.csv"))) == (0, 54)
    assert rows_in("c.csv")[0]["label_1"]


def test_rows_before_an_error_are_kept(run: Run, stream: Path) -> None:
    whole = stream.read_text()
    stream.write_text("".join(whole.splitlines(keepends=True)[:20]) + "[]\n")
    flags = ("--model", "m.tagalong", "--predictions", "p.csv")
    assert run("learn", "items.jsonl", *flags).code == 1
    assert len(rows_in("p.csv")) == 18
    stream.write_text(whole)
    assert run("learn", "--model", "m.tagalong", "--resume").code == 0
    assert len(rows_in("p.csv")) == 54


@pytest.mark.parametrize(
    "argv, message",
    [
        (("--predictions", "p.txt"), "p.txt: the name must end in .csv, .jsonl or .parquet"),
        (("--predictions", "p.csv.gz"), "p.csv.gz: the name must end in"),
        (("--predictions", "no/p.csv"), "there is no folder no"),
        (
            ("-m", "m.tagalong", "--resume", "--predictions", "p.csv"),
            "began without, and its first 60 items are already learnt",
        ),
    ],
)
def test_wrong_use(run: Run, model: str, argv: tuple[str, ...], message: str) -> None:
    done = run("learn", "items.jsonl", *argv)
    assert done.code == 2
    assert message in done.err


def test_resume_with_another_file(run: Run, stream: Path) -> None:
    flags = ("--model", "m.tagalong", "--predictions", "p.csv", "--limit", "5")
    assert run("learn", "items.jsonl", *flags).code == 0
    done = run("learn", "-m", "m.tagalong", "--resume", "--predictions", "q.csv")
    assert done.code == 2
    assert "writes its predictions to p.csv, not to q.csv" in done.err
    resumed = run(*("learn", "-m", "m.tagalong", "--resume"), "--predictions", "p.csv")
    assert resumed.code == 0


def test_learners_without_probabilities(run: Run, stream: Path) -> None:
    flags = ("--learner", "partial", "--slots", "2", "--predictions", "p.jsonl")
    assert run("learn", "items.jsonl", *flags).code == 0
    rows = rows_in("p.jsonl")
    assert len(rows) == 54
    assert {row["label_3"] for row in rows} == {None}
    assert rows[-1]["label_2"] is not None


def test_documents_have_no_suggestions(run: Run, tmp_path: Path) -> None:
    (tmp_path / "q.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    flags = ("--learner", "predtron", "--problem", "subset-ranking", "--predictions", "p.csv")
    done = run("learn", "q.svm", "--format", "svmlight", *flags)
    assert done.code == 2
    assert "ranks documents" in done.err
    assert not Path("p.csv").exists()


def places() -> Places:
    """Two rows of three places; the second has two labels only."""
    return Places(
        labels=np.array([[2, 0, 1], [0, 1, -1]], dtype=np.int32),
        scores=np.array([[3.0, 2.0, 1.0], [1.0, 0.5, 0.0]]),
        probabilities=np.array([[0.97, 0.9, 0.1], [0.99, 0.2, 0.0]]),
        assured=np.array([[0.95, 0.94, 0.0], [0.96, 0.99, 0.0]]),
        chosen=np.array([[True, True, False], [True, False, False]]),
        whole=np.array([0.8, 0.7]),
        known=np.array([4, 0], dtype=np.int32),
        in_runs=np.array([False, False]),
    )


def test_rows_from_places() -> None:
    """A label is sure if what it is assured for reaches its own target, or else .95."""
    tagger = tagalong.Tagger().add_labels(["a", "b", "c"])
    tagger.set_min_precision("a", 0.97)
    tagger.set_min_precision("b", "never")
    both = [Item("1", "x", labels=("c", "a")), Item("", "y", labels=(), place="f:2")]
    none = LabelRows(np.zeros(3, np.int64), np.zeros(0, np.int32))
    rounds = Rounds(np.zeros((2, 3)), np.zeros(2), none, none, places())
    expected = [
        ["1", "c", 0.97, True, "a", 0.9, False, "b", 0.1, False, 2, 0.8, 4, ["c", "a"], True],
        ["f:2", "a", 0.99, False, "b", 0.2, False, None, None, None, 1, 0.7, 0, [], False],
    ]
    assert [list(row) for row in prediction_rows(both, rounds, tagger, 3)] == expected
    assert len(prediction_columns(3)) == len(expected[0])
    tagger.set_min_precision("a", None)
    first = Round(np.zeros(3), 0.0, [0], [], places=places()[1:])
    row = list(round_row(both[1], first, tagger, 1))
    assert row == ["f:2", "a", 0.99, True, 1, 0.7, 0, [], False]


def test_many_places_are_limited_to_those_that_are_judged(run: Run, stream: Path) -> None:
    assert len(prediction_columns(1000)) == 1 + 3 * 10 + 3 + 2
    assert run("learn", "items.jsonl", "--at", "50", "--predictions", "p.csv").code == 0
    assert "label_10" in rows_in("p.csv")[0]
    assert "label_11" not in rows_in("p.csv")[0]


def test_formulas_in_csv(run: Run, stream: Path) -> None:
    lines = [{**item, "id": f"={item['id']}"} for item in items(10)]
    stream.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run("learn", "items.jsonl", "--predictions", "p.csv")
    assert "9 cells of p.csv have an apostrophe in front" in done.err
    assert rows_in("p.csv")[0]["id"] == "'=item-0"


def test_sources_are_not_replaced(run: Run, stream: Path) -> None:
    link = stream.with_name("link.jsonl")
    link.symlink_to(stream)
    before = stream.read_bytes()
    for name in (stream.name, link.name):
        done = run("learn", stream.name, "--model", "m.tagalong", "--predictions", name)
        assert done.code == 2
        assert f"--predictions {name} would replace SOURCE {stream.name}" in done.err
    assert stream.read_bytes() == before
