"""``--workspace``: learning into a workspace, and asking its model."""

import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import tagalong
from tagalong.journal import JournalError, StorageError, Workspace, WorkspaceView
from tests.cli.conftest import Run


def write(path: Path, found: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")


def workspace_hash(folder: str = "w") -> str:
    with Workspace(folder, create=False) as workspace:
        return workspace.model().hash


def test_the_model_is_that_of_a_model_file(run: Run, stream: Path) -> None:
    by_file = run("learn", "items.jsonl", "--model", "m.tagalong", "--json")
    into = run("learn", "items.jsonl", "--workspace", "w", "--json")
    assert (by_file.code, into.code) == (0, 0)
    assert workspace_hash() == tagalong.model_hash(tagalong.load("m.tagalong"))
    assert (into.json["workspace"], into.json["new"], into.json["model"]) == ("w", 60, None)
    for figures in ("overall", "recent", "coverage", "calibration"):
        assert into.json["report"][figures] == by_file.json["report"][figures]


def test_items_without_labels_are_open(run: Run, stream: Path) -> None:
    done = run("learn", "items.jsonl", "--workspace", "w")
    assert "6 of the items have no labels: they are open" in done.err
    with WorkspaceView("w") as view:
        assert view.item_counts() == {"answered": 54, "open": 6}


def test_only_items_without_labels(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "open.jsonl", [{"id": "a", "text": "some text"}])
    done = run("learn", "open.jsonl", "--workspace", "w")
    assert done.code == 0, done.err
    with WorkspaceView("w") as view:
        assert view.item("a").state == "open"


def test_the_same_command_again_learns_nothing_twice(run: Run, stream: Path) -> None:
    run("learn", "items.jsonl", "--workspace", "w")
    before = workspace_hash()
    again = run("learn", "items.jsonl", "--workspace", "w", "--json")
    assert (again.json["new"], again.json["known"], again.json["answered"]) == (0, 60, 0)
    assert workspace_hash() == before


def test_changed_labels_are_corrected(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [{"id": "a", "text": "rent", "labels": ["home"]}])
    run("learn", "a.jsonl", "--workspace", "w")
    write(tmp_path / "a.jsonl", [{"id": "a", "text": "rent", "labels": ["money"]}])
    done = run("learn", "a.jsonl", "--workspace", "w", "--json")
    assert (done.json["new"], done.json["known"], done.json["answered"]) == (0, 0, 1)
    with WorkspaceView("w") as view:
        assert view.item("a").labels == ["money"]


def test_items_without_ids_are_recognised(run: Run, tmp_path: Path) -> None:
    twice = {"text": "the same text", "labels": ["a"]}
    write(tmp_path / "a.jsonl", [twice, twice, {"text": "another", "labels": ["b"]}])
    first = run("learn", "a.jsonl", "--workspace", "w", "--json")
    again = run("learn", "a.jsonl", "--workspace", "w", "--json")
    assert (first.json["new"], again.json["new"], again.json["known"]) == (3, 0, 3)


def test_changed_content_is_refused(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [{"id": "a", "text": "rent", "labels": ["home"]}])
    run("learn", "a.jsonl", "--workspace", "w")
    write(tmp_path / "a.jsonl", [{"id": "a", "text": "tax", "labels": ["home"]}])
    stopped = run("learn", "a.jsonl", "--workspace", "w")
    assert stopped.code == 1
    assert "a.jsonl:1: there is an item 'a' already, with other content" in stopped.err
    skipped = run("learn", "a.jsonl", "--workspace", "w", "--on-error", "skip")
    assert skipped.code == 3


def test_a_run_that_fails_goes_on_where_it_stopped(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("learn", "items.jsonl", "--workspace", "whole")
    add_many = Workspace.add_many
    calls = 0

    def failing(self: Workspace, *args: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 3:
            signal.raise_signal(signal.SIGINT)
        return add_many(self, *args, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "add_many", failing)
        stopped = run("learn", "items.jsonl", "--workspace", "w")
    assert stopped.code == 130
    assert "The same command goes on" in stopped.err
    assert run("learn", "items.jsonl", "--workspace", "w").code == 0
    assert workspace_hash() == workspace_hash("whole")


def test_reading_options_are_remembered(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("title,team\n" + "printer broken,it\nsalary wrong,hr\n" * 5)
    assert (
        run("learn", "t.csv", "--text", "title", "--labels", "team", "--workspace", "w").code == 0
    )
    (tmp_path / "new.csv").write_text("title\nprinter broken\n")
    assert run("suggest", "--workspace", "w", "new.csv").lines[0]["suggestions"][0]["label"] == "it"
    (tmp_path / "more.csv").write_text("title,team\nvacation,hr\n")
    assert run("learn", "more.csv", "--workspace", "w", "--json").json["new"] == 1


@pytest.mark.parametrize("command", ["suggest", "explain", "evaluate"])
def test_commands_that_read_use_the_present_model(run: Run, stream: Path, command: str) -> None:
    run("learn", "items.jsonl", "--model", "m.tagalong")
    run("learn", "items.jsonl", "--workspace", "w")
    argv = (command, "items.jsonl", "--json")
    by_file, into = run(*argv, "--model", "m.tagalong"), run(*argv, "--workspace", "w")
    assert into.code == by_file.code == 0, into.err
    assert into.out.replace('"w"', '"m.tagalong"') == by_file.out


def test_suggesting_while_the_workspace_is_open(run: Run, stream: Path) -> None:
    run("learn", "items.jsonl", "--workspace", "w")
    with Workspace("w") as workspace:
        workspace.add("a new topic", ["news"])
        done = run("suggest", "--workspace", "w", "--text", "a new topic", "-k", "1", "--json")
    assert done.lines[0]["suggestions"][0]["label"] == "news"


def test_the_required_precision_is_a_setting(run: Run, stream: Path) -> None:
    run("learn", "items.jsonl", "--workspace", "w")
    with Workspace("w") as workspace:
        item = "invoice payment"
        workspace.change_settings(min_precision=0.001)
        expected = [each.sure for each in workspace.suggest(item)]
    shown = run("suggest", "--workspace", "w", "--text", item, "--json").lines[0]
    assert [each["sure"] for each in shown["suggestions"]] == expected


def test_settings_of_an_existing_workspace(run: Run, stream: Path) -> None:
    run("learn", "items.jsonl", "--workspace", "w", "--race", "none")
    same = run("learn", "items.jsonl", "--workspace", "w", "--race", "none")
    assert same.code == 0
    other = run("learn", "items.jsonl", "--workspace", "w", "-C", "3")
    assert other.code == 2
    assert "w was made without -C, not with -C 3" in other.err


def test_no_names_stores_no_text(run: Run, stream: Path, tmp_path: Path) -> None:
    run("learn", "items.jsonl", "--workspace", "w", "--no-names")
    stored = b"".join(path.read_bytes() for path in (tmp_path / "w").glob("journal.sqlite*"))
    assert b"invoice" not in stored
    with WorkspaceView("w") as view:
        assert view.settings.content == "features"


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--model", "m.tagalong"], "--workspace w cannot be used with --model"),
        (["--resume"], "cannot be used with --resume: the same command goes on"),
        (["--continue"], "cannot be used with --continue"),
        (["--force"], "cannot be used with --force"),
        (["--passes", "2"], "cannot be used with --passes: a workspace learns each item once"),
        (["--predictions", "p.csv"], "cannot be used with --predictions"),
    ],
)
def test_options_without_meaning(run: Run, stream: Path, flags: list[str], message: str) -> None:
    done = run("learn", "items.jsonl", "--workspace", "w", *flags)
    assert done.code == 2
    assert message in done.err
    assert not Path("w").exists()


def test_a_file_is_no_workspace(run: Run, stream: Path) -> None:
    assert "is a file" in run("learn", "items.jsonl", "--workspace", "items.jsonl").err


@pytest.mark.parametrize("command", ["suggest", "explain", "evaluate"])
def test_no_workspace(run: Run, stream: Path, command: str) -> None:
    done = run(command, "items.jsonl", "--workspace", "nowhere")
    assert done.code == 1
    assert "nowhere: there is no workspace here" in done.err
    assert not Path("nowhere").exists()


def test_learners_that_rank_documents_need_a_model_file(run: Run, stream: Path) -> None:
    argv = ("--learner", "predtron", "--problem", "subset-ranking")
    done = run("learn", "items.jsonl", "--workspace", "w", *argv)
    assert done.code == 1
    assert "a workspace needs a model that learns labels item by item" in done.err
    assert not Path("w", "journal.sqlite").exists()


def test_a_full_disk_stops_the_run_with_a_hint(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Workspace, *args: object, **options: object) -> list[JournalError]:
        raise StorageError("w/journal.sqlite: the disk is full")

    monkeypatch.setattr(Workspace, "add_many", full)
    done = run("learn", "items.jsonl", "--workspace", "w")
    assert done.code == 1
    assert "the disk is full" in done.err


def test_items_of_the_stream_are_numbered_by_occurrence(run: Run, tmp_path: Path) -> None:
    same_id = [{"id": "x", "text": text, "labels": ["a"]} for text in ("one", "two")]
    write(tmp_path / "a.jsonl", same_id)
    assert run("learn", "a.jsonl", "--workspace", "w", "--json").json["new"] == 2
    with WorkspaceView("w") as view:
        assert [record.id for record in view.items()] == ["x", "x#2"]


def test_labels_of_a_workspace(run: Run, stream: Path) -> None:
    run("learn", "items.jsonl", "--workspace", "w")
    assert [row["label"] for row in run("labels", "list", "w", "--json").json["labels"]] != []
    assert run("labels", "rename", "w", "money", "cash").code == 0
    assert run("labels", "set", "w", "cash", "--never").code == 0
    assert run("labels", "merge", "w", "travel", "family", "--into", "private").code == 0
    assert run("labels", "forget", "w", "cash").code == 0
    with WorkspaceView("w") as view:
        assert view.labels == ["private"]
        kinds = [event.kind for event in view.events()][-5:]
    assert kinds == [
        "label-renamed",
        "label-target",
        "label-renamed",
        "label-merged",
        "label-forgotten",
    ]
    missing = run("labels", "rename", "w", "cash", "money")
    assert missing.code == 1
    assert "no label 'cash'" in missing.err


def test_a_refused_merge_leaves_no_trace(run: Run, stream: Path) -> None:
    run("learn", "items.jsonl", "--workspace", "w")
    with Workspace("w") as workspace:
        before = workspace.model().hash
        with pytest.raises(JournalError, match="there is no label 'nothing'"):
            workspace.merge_labels(["money", "nothing"], "both")
        assert workspace.model().hash == before
        # The label of the refused request must not be known.
        with pytest.raises(JournalError, match="there is no label 'both'"):
            workspace.forget_label("both")
        workspace.rename_label("money", "both")


def test_repeating_a_run_takes_nothing_back(run: Run, tmp_path: Path) -> None:
    found = [
        {"id": str(i), "text": f"word {i}", "labels": ["a", "b"][i % 2 :][:1]} for i in range(6)
    ]
    write(tmp_path / "a.jsonl", found)
    run("learn", "a.jsonl", "--workspace", "w")
    with Workspace("w") as workspace:
        workspace.rename_label("a", "A")
        workspace.answer("1", ["A"])
        workspace.undo(workspace.item("2").seq)
        workspace.change_settings(content="features")
        before = workspace.model().hash
    again = run("learn", "a.jsonl", "--workspace", "w", "--json")
    assert again.code == 0, again.err
    assert (again.json["new"], again.json["known"], again.json["answered"]) == (0, 6, 0)
    assert workspace_hash() == before


def test_the_order_of_fields_is_no_content(run: Run, tmp_path: Path) -> None:
    with Workspace("w") as workspace:
        workspace.add({"a": 1, "b": 2}, ["x"], id="1")
        assert workspace.add({"b": 2, "a": 1}, ["x"], id="1", source="another").outcome == "known"
