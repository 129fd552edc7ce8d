"""Tests of ``tagalong journal``."""

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from tagalong.cli.options import journal as options
from tagalong.files.lock import exclusive_lock
from tagalong.journal import DamagedError, Workspace, WorkspaceView, back_up
from tagalong.journal.listing import KINDS
from tagalong.journal.reader import ItemState
from tests.cli.conftest import Run

TEXTS = {"money": "invoice of the bank", "travel": "flight to Lisbon", "family": "dinner on Sunday"}


@pytest.fixture
def workspace(run: Run, tmp_path: Path) -> str:
    """A small workspace in the present folder."""
    with Workspace("mail") as made:
        for i in range(12):
            label = list(TEXTS)[i % 3]
            made.add(f"{TEXTS[label]} {i}", [label], id=f"item-{i}", actor="ada")
        made.add("nobody knows", id="open")
        made.snapshot()
    return "mail"


def model_hash() -> str:
    with Workspace("mail") as opened:
        return opened.model().hash


def table(text: str) -> list[list[str]]:
    """Return the words of the rows below the headings."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("event "))
    return [line.split() for line in lines[start + 1 :]]


def test_names_are_those_of_the_library() -> None:
    assert KINDS == options.EVENT_KINDS
    assert get_args(ItemState) == options.ITEM_STATES


def test_show(run: Run, workspace: str) -> None:
    done = run("journal", "show", "mail", "--last", "3")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "mail: 13 items (1 open, 12 answered), 3 labels, 14 events"
    assert lines[1].startswith("on disk: ")
    assert lines[1].endswith(" of 1 snapshot")
    assert lines[2] == (
        "settings: labels=grow, one_label=auto, min_precision=0.95, audit=0.02, content=text, "
        "paused=no"
    )
    rows = table(done.out)
    assert [row[0] for row in rows] == ["12", "13", "14"]
    assert rows[0][3:] == ["item", "item-10", "travel", "ada"]
    assert rows[2][3:] == ["item", "open"]


def test_show_chooses_events(run: Run, workspace: str) -> None:
    with Workspace("mail") as opened:
        opened.answer("item-3", [])
        opened.answer("item-3", ["a label that is much too long for a table, and so on"])
        opened.undo(opened.tip)
        opened.rename_label("family", "home")
        opened.set_min_precision("home", 0.99)
        opened.change_settings(paused=True, audit=0.1)
        opened.forget("item-4")
    assert len(table(run("journal", "show", "mail").out)) == 20
    after = table(run("journal", "show", "mail", "--after", "14").out)
    assert [row[0] for row in after] == ["15", "16", "17", "18", "19", "20", "21"]
    assert after[0][3:] == ["answer", "item-3", "(none", "of", "the", "labels)"]
    assert after[1][-1] == "undone"
    assert after[1][-2].endswith("…")
    assert after[2][3:] == ["undo", "events", "16"]
    assert after[3][3:] == ["label-renamed", "family", "->", "home"]
    assert after[4][3:] == ["label-target", "home,", "sure", "at", "0.99"]
    assert after[5][3:] == ["settings", "paused=yes,", "audit=0.1"]
    assert after[6][3:] == ["forgotten", "events", "6"]
    about = table(run("journal", "show", "mail", "--item", "item-3").out)
    assert [row[0] for row in about] == ["5", "15", "16", "17"]
    answers = table(run("journal", "show", "mail", "--kind", "answer").out)
    assert [row[0] for row in answers] == ["15", "16"]
    gone = table(run("journal", "show", "mail", "--kind", "item", "--last", "9").out)[0]
    assert gone[3:] == ["item", "(forgotten)", "travel", "ada"]
    none = run("journal", "show", "mail", "--after", "1000")
    assert none.out.splitlines()[-1] == "there are no such events"
    missing = run("journal", "show", "mail", "--item", "item-4")
    assert (missing.code, missing.err) == (1, "tagalong: there is no item 'item-4'\n")


def test_show_as_json(run: Run, workspace: str) -> None:
    found = run("journal", "show", "mail", "--last", "1", "--json").json
    assert found["items"] == {"open": 1, "asked": 0, "filed": 0, "answered": 12}
    assert (found["events"], found["labels"]) == (14, 3)
    assert found["settings"]["paused"] is False
    assert found["bytes"]["journal"] > 0
    assert [each["seq"] for each in found["snapshots"]] == [14]
    (shown,) = found["shown"]
    assert (shown["seq"], shown["kind"], shown["id"]) == (14, "item", "open")
    assert (shown["undone"], shown["forgotten"]) == (False, False)


def test_show_names_batches(run: Run, workspace: str) -> None:
    with Workspace("mail") as opened:
        opened.add("another", id="another")
        for id in ("open", "another"):
            opened.file(id, ["money"], batch="batch-1")
    done = run("journal", "show", "mail")
    assert done.out.splitlines()[-1] == "batch batch-1: 2 events here"
    assert run("journal", "undo", "mail", "--batch", "batch-1").code == 0
    assert run("journal", "show", "mail", "--json").json["items"]["open"] == 2


@pytest.mark.parametrize(
    "argv",
    [
        ("show", "nowhere"),
        ("verify", "nowhere"),
        ("export", "nowhere", "--out", "x.jsonl"),
        ("export", "nowhere", "--out", "x.jsonl", "--events"),
        ("backup", "nowhere", "--out", "copy"),
        ("restore", "nowhere", "--to", "copy"),
        ("undo", "nowhere", "1"),
        ("forget", "nowhere", "a"),
        ("set", "nowhere", "audit=0.1"),
        ("compact", "nowhere"),
    ],
)
def test_no_workspace(run: Run, argv: tuple[str, ...]) -> None:
    done = run("journal", *argv)
    assert (done.code, done.err) == (1, "tagalong: nowhere: there is no workspace here\n")
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("undo", "mail"), "give either the number of the event to undo, or --batch"),
        (("undo", "mail", "3", "--batch", "b"), "give either the number of the event"),
        (("undo", "mail", "0"), "argument SEQ: must be at least 1, got 0"),
        (("show", "mail", "--kind", "nonsense"), "argument --kind: invalid choice"),
        (("show", "mail", "--last", "2", "--after", "3"), "not allowed with argument"),
        (("set", "mail", "audit"), "must look like name=value, got 'audit'"),
        (("set", "mail", "audit=often"), "audit=often: must be a number"),
        (("set", "mail", "audit=2"), "audit must be "),
        (("set", "mail", "colour=blue"), "there is no setting 'colour'; the settings are "),
        (("set", "mail", "paused=perhaps"), "paused must be "),
        (("export", "mail", "--out", "nowhere/x.csv"), "--out nowhere/x.csv: there is no folder"),
        (("export", "mail", "--out", "mail/x.csv"), "--out mail/x.csv is inside the workspace"),
        (("export", "mail", "--out", "x.unknown"), "--to"),
        (("export", "mail", "--out", "x", "--to", "word"), "--to"),
        (("export", "mail", "--out", "-", "--json"), "--json: standard output is used"),
        (("export", "mail", "--out", "x", "--events", "--state", "open"), "--state is for items"),
        (("export", "mail", "--out", "x", "--events", "--filed"), "--filed is for items"),
        (("backup", "mail", "--out", "no/where"), "--out no/where: there is no folder "),
        (("restore", "mail", "--to", "no/where"), "--to no/where: there is no folder "),
    ],
)
def test_wrong_usage(run: Run, workspace: str, argv: tuple[str, ...], expected: str) -> None:
    done = run("journal", *argv)
    assert done.code == 2
    assert expected in done.err
    assert done.out == ""


def test_verify(run: Run, workspace: str) -> None:
    done = run("journal", "verify", "mail")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "mail: checked 14 events, 14 contents and 1 snapshot; compared 1 snapshot with a replay",
        f"hash of the model after event 14: {model_hash()}",
        "no problems",
    ]
    found = run("journal", "verify", "mail", "--json").json
    assert (found["workspace"], found["sound"], found["problems"]) == ("mail", True, [])


def test_verify_names_every_problem(run: Run, workspace: str) -> None:
    next(Path("mail/snapshots").iterdir()).write_bytes(b"damaged")
    Path("mail/settings.toml").write_text("audit = 0.5\n")
    done = run("journal", "verify", "mail")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[2] == "2 problems:"
    assert sorted(line.split(":")[0] for line in lines[3:]) == [
        "  settings.toml",
        f"  snapshots/{next(Path('mail/snapshots').iterdir()).name}",
    ]
    found = run("journal", "verify", "mail", "--json")
    assert (found.code, found.json["sound"], len(found.json["problems"])) == (1, False, 2)


def test_answer(run: Run, workspace: str) -> None:
    with WorkspaceView(workspace) as view:
        record = next(each for each in view.items() if each.state == "answered")
    first = run("journal", "answer", workspace, record.id, "new", "newer")
    assert first.code == 0, first.err
    assert f"{record.id}: new, newer (was: {', '.join(record.labels or ())})" in first.out
    none = run("journal", "answer", workspace, record.id, "--none", "--json").json
    assert (none["labels"], none["was"]) == ([], ["new", "newer"])
    with WorkspaceView(workspace) as view:
        assert view.item(record.id).labels == []
        assert view.events()[-1].actor == "command line"
    for argv in ((record.id,), (record.id, "a", "--none")):
        done = run("journal", "answer", workspace, *argv)
        assert (done.code, "give either the labels" in done.err) == (2, True)
    missing = run("journal", "answer", workspace, "nothing", "a")
    assert (missing.code, "there is no item 'nothing'" in missing.err) == (1, True)


def test_undo_and_undo_of_it(run: Run, workspace: str) -> None:
    before = model_hash()
    done = run("journal", "undo", "mail", "5")
    assert done.code == 0, done.err
    line = "undone: event 5; 'tagalong journal undo mail 15' brings it back\n"
    assert done.out == line
    without = model_hash()
    assert without != before
    again = run("journal", "undo", "mail", "5")
    assert (again.code, again.err) == (1, "tagalong: event 5 is undone already\n")
    found = run("journal", "undo", "mail", "15", "--json").json
    assert found == {"workspace": "mail", "seq": 16, "undone": [15]}
    assert model_hash() == before
    with WorkspaceView("mail") as view:
        assert view.events(after=14)[0].actor == "command line"


def test_undo_says_how_to_cascade(run: Run, workspace: str) -> None:
    with Workspace("mail") as opened:
        opened.answer("item-3", ["travel"])
    done = run("journal", "undo", "mail", "5")
    assert done.code == 1
    assert "later events would become impossible: 15; undo them too, with --cascade" in done.err
    done = run("journal", "undo", "mail", "5", "--cascade", "--json")
    assert done.json["undone"] == [5, 15]


def test_forget(run: Run, workspace: str) -> None:
    done = run("journal", "forget", "mail", "item-1", "item-2")
    assert (done.code, done.out) == (0, "forgotten: item-1\nforgotten: item-2\n")
    assert done.err == "backups and exports made before still have what was forgotten\n"
    done = run("journal", "forget", "mail", "item-3", "item-1")
    assert done.code == 1
    assert done.err == "tagalong: there is no item 'item-1'; forgotten before: item-3\n"
    found = run("journal", "forget", "mail", "item-5", "-q", "--json").json
    assert found == {"workspace": "mail", "forgotten": {"item-5": 18}}
    assert run("journal", "verify", "mail").code == 0


def test_forgotten_words_are_nowhere(run: Run, workspace: str) -> None:
    with Workspace("mail") as opened:
        opened.add("a heliotrope", ["flowers"], id="heliotrope-1")
        opened.snapshot()
    assert run("journal", "forget", "mail", "heliotrope-1").code == 0
    assert run("journal", "export", "mail", "--out", "items.jsonl").code == 0
    assert run("journal", "export", "mail", "--out", "events.jsonl", "--events").code == 0
    assert run("journal", "backup", "mail", "--out", "copy").code == 0
    files = [path for path in Path().rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if b"heliotrope" in path.read_bytes()] == []
    assert "heliotrope" not in run("journal", "show", "mail").out


def test_set(run: Run, workspace: str) -> None:
    done = run("journal", "set", "mail", "min-precision=0.9", "one_label=yes", "labels=fixed")
    assert done.code == 0, done.err
    assert done.out == (
        "min-precision=0.9, one_label=yes, labels=fixed; 'tagalong journal undo mail 15' takes it "
        "back\n"
    )
    found = run("journal", "set", "mail", "paused=no", "content=features", "--json")
    assert found.json["settings"] == {
        "labels": "fixed",
        "one_label": True,
        "min_precision": 0.9,
        "audit": 0.02,
        "content": "features",
        "paused": False,
    }
    assert "texts that are in the workspace already stay there" in found.err
    assert run("journal", "undo", "mail", "15", "-q").code == 0
    assert run("journal", "show", "mail", "--json").json["settings"]["labels"] == "grow"


def test_compact(run: Run, workspace: str) -> None:
    with Workspace("mail") as opened:
        for i in range(60):
            opened.add("long text " * 500, id=f"long-{i}")
    run("journal", "forget", "mail", *(f"long-{i}" for i in range(60)), "-q")
    before = model_hash()
    found = run("journal", "compact", "mail", "--json").json
    assert found["bytes"]["after"]["journal"] < found["bytes"]["before"]["journal"] / 2
    assert model_hash() == before
    done = run("journal", "compact", "mail")
    assert done.code == 0
    assert done.out.startswith("mail: ")
    assert run("journal", "verify", "mail").code == 0


def test_backup_and_restore(run: Run, workspace: str) -> None:
    done = run("journal", "backup", "mail", "--out", "copy")
    assert done.code == 0, done.err
    assert done.out.startswith("backup of mail in copy: 14 events, ")
    assert done.out.endswith(", with the model after event 14\n")
    again = run("journal", "backup", "mail", "--out", "copy")
    assert again.code == 1
    assert again.err == (
        "tagalong: copy: there is something here already; the backup needs a new folder\n"
    )
    taken = run("journal", "restore", "copy", "--to", "mail")
    assert taken.err == "tagalong: mail: there is a workspace here; move it away first\n"
    found = run("journal", "restore", "copy", "--to", "restored", "--json").json
    assert (found["backup"], found["to"], found["events"]) == ("copy", "restored", 14)
    hashes = {
        run("journal", "verify", name, "--json").json["hash"]
        for name in ("mail", "copy", "restored")
    }
    assert hashes == {model_hash()}


def test_a_damaged_backup(run: Run, workspace: str) -> None:
    back_up("mail", "copy")
    data = Path("copy/journal.sqlite").read_bytes()
    Path("copy/journal.sqlite").write_bytes(data.replace(b"Lisbon 4", b"London 4"))
    done = run("journal", "restore", "copy", "--to", "restored")
    assert done.code == 1
    assert done.err == (
        "tagalong: copy: the backup is damaged, and was not restored: journal.sqlite: the content "
        "of event 6 is not what was written\n"
    )
    assert not Path("restored").exists()
    done = run("journal", "restore", "copy", "--to", "restored", "--force")
    assert done.code == 0
    assert "warning: the backup is damaged: journal.sqlite: the content of event 6" in done.err


def test_export_can_be_learnt(run: Run, workspace: str) -> None:
    with Workspace("mail") as opened:
        opened.rename_label("family", "home")
        opened.file("open", ["home"])
    done = run("journal", "export", "mail", "--out", "items.jsonl")
    assert (done.code, done.err) == (0, "13 items written to items.jsonl as jsonl\n")
    lines = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert lines[2] == {"id": "item-2", "text": "dinner on Sunday 2", "labels": ["home"]}
    assert lines[12] == {"id": "open", "text": "nobody knows"}
    assert run("learn", "items.jsonl", "--model", "m", "-q").code == 0
    assert run("labels", "list", "m", "--json").json["items"] == 12
    filed = run("journal", "export", "mail", "--out", "-", "--state", "filed", "--filed")
    assert filed.lines == [{"id": "open", "text": "nobody knows", "labels": ["home"]}]


@pytest.mark.parametrize("format", ["csv", "tsv", "fasttext", "jsonl"])
def test_export_in_other_formats(run: Run, workspace: str, format: str) -> None:
    found = run("journal", "export", "mail", "--out", "x", "--to", format, "--json").json
    assert (found["format"], found["written"]) == (format, 13)
    assert found["losses"] == (["ids are omitted"] if format == "fasttext" else [])
    texts = ["--text", "text", "--labels", "labels"] if format in ("csv", "tsv") else []
    read = run("convert", "x", "-", "--format", format, "--to", "jsonl", *texts, "--limit", "2")
    assert [line["labels"] for line in read.lines] == [["money"], ["travel"]]


def test_export_of_an_answer_that_a_format_cannot_hold(run: Run, workspace: str) -> None:
    with WorkspaceView(workspace) as view:
        id = view.items()[0].id
    run("journal", "answer", workspace, id, "--none")
    done = run("journal", "export", workspace, "--out", "x.csv")
    assert done.code == 1
    assert "unlabelled=" not in done.err
    assert "--to jsonl" in done.err
    assert run("journal", "export", workspace, "--out", "x.jsonl").code == 0


def test_export_of_what_is_left(run: Run, workspace: str) -> None:
    back_up("mail", "copy")
    data = Path("copy/journal.sqlite").read_bytes()
    Path("copy/journal.sqlite").write_bytes(data.replace(b"Lisbon 4", b"London 4"))
    done = run("journal", "export", "copy", "--out", "x.jsonl")
    assert done.code == 1
    assert "the content of event 6 is not what was written" in done.err
    assert not Path("x.jsonl").exists()
    done = run("journal", "export", "copy", "--out", "x.jsonl", "--on-error", "skip")
    assert done.code == 3
    assert "1 item was skipped:\n" in done.err
    assert len(Path("x.jsonl").read_text().splitlines()) == 12
    found = run(
        "journal", "export", "copy", "--out", "x", "--to", "csv", "--on-error", "skip", "--json"
    )
    assert (found.json["written"], found.json["skipped"], len(found.json["errors"])) == (12, 1, 1)


def test_export_of_events(run: Run, workspace: str) -> None:
    done = run("journal", "export", "mail", "--events", "--out", "-")
    assert done.err == "14 events written to standard output\n"
    assert [line["seq"] for line in done.lines] == list(range(1, 15))
    assert done.lines[13]["content"] == {"id": "open", "text": "nobody knows"}
    found = run("journal", "export", "mail", "--events", "--out", "e.jsonl", "--json").json
    assert found == {"workspace": "mail", "out": "e.jsonl", "events": 14}


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_exports_are_private(run: Run, open_umask: None, workspace: str) -> None:
    assert run("journal", "export", "mail", "--out", "items.csv").code == 0
    assert run("journal", "export", "mail", "--events", "--out", "events.jsonl").code == 0
    assert run("journal", "backup", "mail", "--out", "copy").code == 0
    modes = {
        name: stat.S_IMODE(os.stat(name).st_mode) for name in ("items.csv", "events.jsonl", "copy")
    }
    assert modes == {"items.csv": 0o600, "events.jsonl": 0o600, "copy": 0o700}


@pytest.mark.parametrize(
    "argv", [("undo", "3"), ("forget", "open"), ("set", "audit=0"), ("compact",)]
)
def test_a_workspace_in_use_is_not_changed(run: Run, workspace: str, argv: tuple[str, ...]) -> None:
    action, *rest = argv
    with exclusive_lock("mail/journal.sqlite", command="tagalong serve", what="workspace"):
        done = run("journal", action, "mail", *rest, "--wait", "0")
    assert done.code == 1
    assert "this workspace is in use by process " in done.err
    assert done.err.endswith("; --wait SECONDS waits longer\n")
    assert run("journal", "show", "mail", "--json").json["events"] == 14


def test_a_workspace_in_use_is_read(run: Run, workspace: str) -> None:
    with Workspace("mail") as opened:
        opened.add("meanwhile", ["money"], id="meanwhile")
        assert run("journal", "show", "mail", "--json").json["events"] == 15
        assert run("journal", "verify", "mail").code == 0
        assert run("journal", "export", "mail", "--out", "x.csv").code == 0
        assert run("journal", "backup", "mail", "--out", "copy").code == 0
    assert run("journal", "verify", "copy", "--json").json["events"] == 15


def test_an_interrupted_copy_leaves_nothing(
    run: Run, workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(os.listdir())
    monkeypatch.setattr("tagalong.journal.backup.check_integrity", _interrupt)
    for argv in (("backup", "mail", "--out", "copy"), ("restore", "mail", "--to", "copy")):
        done = run("journal", *argv)
        assert (done.code, done.err) == (130, "interrupted\n")
    assert sorted(os.listdir()) == before


def test_an_undo_is_stored_before_its_model_is_computed(
    run: Run, workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait for the model may be interrupted."""
    with monkeypatch.context() as patch:
        patch.setattr(Workspace, "is_settled", False)
        patch.setattr(Workspace, "settle", _interrupt)
        done = run("journal", "undo", "mail", "5")
    assert (done.code, done.err) == (130, "interrupted\n")
    assert done.out.startswith("undone: event 5; ")
    found = run("journal", "show", "mail", "--item", "item-3", "--json").json
    assert [event["undone"] for event in found["shown"]] == [True, False]
    assert run("journal", "verify", "mail").code == 0


def _interrupt(*args: object) -> None:
    signal.raise_signal(signal.SIGINT)


def test_a_model_that_cannot_be_computed(
    run: Run, workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same problem a second time means that waiting is of no use."""

    def settle(self: Workspace, seconds: float) -> None:
        self.problems.append(DamagedError("event 7 is damaged"))
        raise TimeoutError

    with monkeypatch.context() as patch:
        patch.setattr(Workspace, "is_settled", False)
        patch.setattr(Workspace, "settle", settle)
        done = run("journal", "undo", "mail", "5")
    assert done.code == 1
    assert done.err.endswith(
        "tagalong: the change is stored, but the model cannot be computed: event 7 is damaged\n"
    )
