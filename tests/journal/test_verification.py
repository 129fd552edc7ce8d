"""Tests of ``verify``: every kind of planted problem is found and named, and nothing else is."""

import json
import re
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tagalong import Tagger
from tagalong.evaluate import Progress
from tagalong.journal import NotFoundError, Verification, Workspace, verify
from tagalong.journal.builds import current_build
from tagalong.journal.reader import FIRST_LINK, JournalReader, next_link
from tagalong.journal.snapshots import packed
from tagalong.journal.store import JournalStore
from tagalong.journal.view import snapshots_of

TEXTS = ["invoice of the bank", "flight to Lisbon", "dinner on Sunday"]
LABELS = ["money", "travel", "family"]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which everything has happened."""
    folder = tmp_path_factory.mktemp("original") / "workspace"
    with Workspace(folder) as workspace:
        for i in range(30):
            workspace.add(f"{TEXTS[i % 3]} {i}", [LABELS[i % 3]], id=f"item-{i}")
        workspace.add("without an answer", id="open")
        workspace.add("sure", id="sure")
        workspace.file("sure", ["money"])
        undone = workspace.add("a mistake", ["mistake"], id="undone").seq
        workspace.undo(undone)
        workspace.forget("item-5")
        workspace.settle()
        workspace.snapshot()
        workspace.rename_label("family", "home")
        workspace.answer("item-3", ["travel"])
        workspace.add_label("later")
        workspace.snapshot()
        workspace.add("the last one", ["money"], id="last")
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of the workspace, to be damaged."""
    return Path(shutil.copytree(original, tmp_path / "workspace"))


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / "journal.sqlite", isolation_level=None)) as connection:
        yield connection


def write(folder: Path, query: str, *values: Any) -> None:
    with database(folder) as connection:
        assert connection.execute(query, values).rowcount > 0


def seq_of(folder: Path, id: str) -> int:
    with JournalReader(folder / "journal.sqlite") as reader:
        found = reader.find_item(id)
    assert found is not None
    return found


def newest_snapshot(folder: Path) -> Path:
    return max((folder / "snapshots").iterdir())


def chain_again(folder: Path) -> None:
    """Give every event the link that fits, as a forger would."""
    with database(folder) as connection:
        before = FIRST_LINK
        for *row, digest in connection.execute(
            "SELECT seq, time, kind, item, batch, actor, body, content_digest FROM events "
            "ORDER BY seq"
        ).fetchall():
            before = next_link(before, row, digest)
            connection.execute("UPDATE events SET chain = ? WHERE seq = ?", (before, row[0]))
        connection.execute("DELETE FROM snapshots")


def the_problem(found: Verification) -> str:
    assert not found.is_sound
    (problem,) = found.problems
    return problem


def test_a_sound_workspace(folder: Path) -> None:
    with Workspace(folder) as workspace:
        facts = workspace.model()
    found = verify(folder)
    assert found.problems == []
    assert found.is_sound
    assert (found.events, found.snapshots, found.compared) == (facts.seq, 2, 2)
    assert (found.hash, found.seq) == (facts.hash, facts.seq)
    # 34 items were added, of which one is forgotten, and the first event has a model.
    assert found.contents == 34
    assert found.to_json()["sound"] is True
    json.dumps(found.to_json())


def test_nothing_is_changed(folder: Path) -> None:
    def contents() -> dict[str, bytes]:
        paths = [folder / "journal.sqlite", *(folder / "snapshots").iterdir()]
        return {path.name: path.read_bytes() for path in paths}

    before = contents()
    verify(folder)
    after = contents()
    assert before == after
    assert len(before) == 3


def test_progress_grows_to_the_end(folder: Path) -> None:
    calls: list[tuple[int, int]] = []
    verify(folder, lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    assert len({total for _, total in calls}) == 1
    assert calls[-1][0] == calls[-1][1]


def test_no_workspace(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no workspace here"):
        verify(tmp_path)


def test_a_changed_event_is_named(folder: Path) -> None:
    write(folder, "UPDATE events SET actor = 'forger' WHERE seq = 7")
    found = verify(folder)
    assert the_problem(found) == "journal.sqlite: event 7 is not what was written"
    assert found.seq == 6  # as far as everything is sound
    assert any("were not compared, as events are damaged" in note for note in found.notes)
    assert sum("events before it are damaged" in note for note in found.notes) == 2


def test_a_changed_link_is_not_taken_for_a_changed_event(folder: Path) -> None:
    write(folder, "UPDATE events SET chain = zeroblob(16) WHERE seq = 7")
    expected = "journal.sqlite: the link of event 7 is not what was written"
    assert the_problem(verify(folder)) == expected


def test_a_missing_event_is_named(folder: Path) -> None:
    write(folder, "DELETE FROM events WHERE seq = 36")  # an undo, which has no content
    assert "journal.sqlite: event 36 is missing" in verify(folder).problems


def test_a_missing_last_event_is_noticed_by_its_content(folder: Path) -> None:
    last = seq_of(folder, "last")
    write(folder, "DELETE FROM events WHERE seq = ?", last)
    assert f"journal.sqlite: event {last} is missing" in verify(folder).problems


def test_a_missing_last_event_is_noticed_by_a_snapshot(folder: Path) -> None:
    with database(folder) as connection:
        last = seq_of(folder, "last")
        for table in ("contents", "items"):
            connection.execute(f"DELETE FROM {table} WHERE seq = ?", (last,))
        connection.execute("DELETE FROM events WHERE seq >= ?", (last - 1,))
        connection.execute("DELETE FROM label_changes WHERE seq >= ?", (last - 1,))
    problem = the_problem(verify(folder))
    assert problem.startswith("snapshots/")
    expected = f"it has learnt event {last - 1}, but the journal ends with event {last - 2}"
    assert problem.endswith(expected)


def test_checking_goes_on_after_a_problem(folder: Path) -> None:
    write(folder, "UPDATE events SET actor = 'forger' WHERE seq IN (4, 9, 10)")
    write(folder, "DELETE FROM events WHERE seq = 6")
    write(folder, "UPDATE contents SET data = x'7b7d' WHERE seq = 12")
    newest_snapshot(folder).write_bytes(b"damaged")
    problems = verify(folder).problems
    for seq in (4, 9, 10):
        assert f"journal.sqlite: event {seq} is not what was written" in problems
    assert "journal.sqlite: event 6 is missing" in problems
    assert "journal.sqlite: there is content of event 6, but no such event" in problems
    assert "journal.sqlite: the content of event 12 is not what was written" in problems
    assert any(re.match(r"snapshots/\d+-\w+\.tagalong: damaged snapshot", p) for p in problems)
    assert len(problems) == 7


def test_text_that_is_not_unicode_is_named(folder: Path) -> None:
    write(folder, "UPDATE events SET body = CAST(x'7b22ff227d' AS TEXT) WHERE seq = 8")
    problem = the_problem(verify(folder))
    assert problem.startswith("journal.sqlite: event 8 cannot be read: Could not decode")


def test_many_problems_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagalong.journal.integrity.MOST_PROBLEMS", 5)
    write(folder, "UPDATE events SET actor = 'forger'")
    problems = verify(folder).problems
    assert len(problems) == 6
    assert re.fullmatch(r"journal\.sqlite: \d+ further problems", problems[-1])


def test_changed_content(folder: Path) -> None:
    write(folder, "UPDATE contents SET data = x'7b7d' WHERE seq = 3")
    expected = "journal.sqlite: the content of event 3 is not what was written"
    assert the_problem(verify(folder)) == expected


def test_missing_content(folder: Path) -> None:
    write(folder, "DELETE FROM contents WHERE seq = 3")
    assert the_problem(verify(folder)) == "journal.sqlite: the content of event 3 is missing"


def test_content_of_an_undone_item_must_be_there(folder: Path) -> None:
    with JournalReader(folder / "journal.sqlite") as reader:
        (seq,) = reader.undone_items("undone")
    write(folder, "DELETE FROM contents WHERE seq = ?", seq)
    assert the_problem(verify(folder)) == f"journal.sqlite: the content of event {seq} is missing"


def test_content_of_an_event_without_content(folder: Path) -> None:
    write(folder, "INSERT INTO contents SELECT 36, salt, data FROM contents WHERE seq = 3")
    problem = the_problem(verify(folder))
    assert problem == "journal.sqlite: there is content of event 36, which has none"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "INSERT INTO taken_back VALUES (4)",
            "event 4 is listed as taken back, but no event does that",
        ),
        (
            "DELETE FROM taken_back WHERE seq = 35",
            "event 35 was taken back, but is not listed as such",
        ),
        (
            "UPDATE items SET state = 'open' WHERE seq = 4",
            "item 'item-2' of event 4 is answered, not open",
        ),
        (
            "UPDATE items SET id = 'other' WHERE seq = 4",
            "the item of event 4 has the id 'item-2', not 'other'",
        ),
        (
            "UPDATE items SET source = 'other' WHERE seq = 4",
            "item 'item-2' of event 4 has the source '', not 'other'",
        ),
        ("DELETE FROM items WHERE seq = 4", "the item of event 4 is not listed"),
        (
            "INSERT INTO items VALUES (7, 'ghost', 'open', '', 0)",
            "item 'ghost' of event 7 is listed, but has no content",
        ),
        (
            "INSERT INTO items VALUES (77, 'ghost', 'open', '', 0)",
            "item 'ghost' is listed, but event 77 adds no item",
        ),
        (
            "INSERT INTO label_changes VALUES (5, 'ghost', 1)",
            "event 5 changes labels by nothing, but by +'ghost' in the list",
        ),
        (
            "UPDATE label_changes SET present = 0 WHERE label = 'later'",
            "changes labels by +'later', but by -'later' in the list",
        ),
        (
            "DELETE FROM label_changes WHERE label = 'home'",
            "changes labels by +'home', -'family', but by -'family' in the list",
        ),
    ],
)
def test_differences_of_derived_tables_are_named(folder: Path, query: str, expected: str) -> None:
    write(folder, query)
    assert any(problem.endswith(expected) for problem in verify(folder).problems)


def test_an_impossible_event_is_named(folder: Path) -> None:
    query = (
        "UPDATE events SET body = replace(body, 'family', 'nobody') WHERE kind = 'label-renamed'"
    )
    write(folder, query)
    chain_again(folder)
    problems = verify(folder).problems
    expected = r"journal\.sqlite: event \d+ counts, but is impossible: there is no label 'nobody'"
    assert any(re.fullmatch(expected, problem) for problem in problems)


def test_a_forged_history_is_noticed_by_the_snapshots(folder: Path) -> None:
    """Who changes an event and all links after it has not changed the models."""
    snapshots = snapshots_of(folder)
    with JournalReader(folder / "journal.sqlite") as reader:
        states = [(each, snapshots.load(each)) for each in reader.snapshots()]
    write(folder, "UPDATE events SET body = replace(body, 'money', 'travel') WHERE seq = 5")
    chain_again(folder)
    with closing(JournalStore(folder / "journal.sqlite")) as store, store.transaction():
        for snapshot, state in states:
            link = store.link(snapshot.seq)
            assert link is not None
            forged = snapshots.write(replace(snapshot, link=link), packed(state))
            store.list_snapshot(forged)
    problems = verify(folder).problems
    assert sum("but replaying gives" in problem for problem in problems) == 2


def test_a_damaged_snapshot(folder: Path) -> None:
    path = newest_snapshot(folder)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    found = verify(folder)
    assert the_problem(found).startswith(f"snapshots/{path.name}: damaged snapshot: ")
    assert found.compared == 1


def test_a_missing_snapshot(folder: Path) -> None:
    path = newest_snapshot(folder)
    path.unlink()
    assert the_problem(verify(folder)) == f"snapshots/{path.name}: the snapshot is missing"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("tagger", Tagger().learn("another", ["model"]), "its model has the hash [0-9a-f]+…, but "),
        ("progress", Progress(), "its figures are not those of a replay"),
        ("refused", 7, "its figures are not those of a replay"),
    ],
)
def test_a_snapshot_with_another_state(
    folder: Path, name: str, value: object, expected: str
) -> None:
    snapshots = snapshots_of(folder)
    with JournalReader(folder / "journal.sqlite") as reader:
        newest = reader.snapshots()[-1]
    state = snapshots.load(newest)
    setattr(state, name, value)
    snapshots.write(newest, packed(state))
    assert re.match(f"snapshots/{newest.name}: {expected}", the_problem(verify(folder)))


def test_a_snapshot_in_place_of_another(folder: Path) -> None:
    older, newest = sorted((folder / "snapshots").iterdir())
    shutil.copy(older, newest)
    problem = the_problem(verify(folder))
    assert problem == f"snapshots/{newest.name}: damaged snapshot: it belongs to another history"


def test_a_snapshot_of_another_build_is_not_compared(folder: Path) -> None:
    name = newest_snapshot(folder).name
    write(folder, "UPDATE snapshots SET build = 'another' WHERE name = ?", name)
    found = verify(folder)
    assert found.is_sound
    assert found.compared == 1
    assert found.notes == [f"snapshots/{name}: not compared, as another build has computed it"]
    assert current_build() != "another"


def test_a_snapshot_of_another_history_is_not_compared(folder: Path) -> None:
    name = newest_snapshot(folder).name
    with Workspace(folder) as workspace:
        workspace.undo(workspace.tip - 2)
        workspace.settle()
    found = verify(folder)
    assert found.is_sound
    note = f"snapshots/{name}: not compared, as events before it were undone since"
    assert note in found.notes


def test_a_snapshot_that_the_writer_removes_meanwhile(folder: Path) -> None:
    path = newest_snapshot(folder)

    def remove(done: int, total: int) -> None:
        if path.exists():
            path.unlink()
            write(folder, "DELETE FROM snapshots WHERE name = ?", path.name)

    found = verify(folder, remove)
    assert found.is_sound
    assert (found.snapshots, found.compared) == (2, 1)


def test_settings_that_contradict_the_journal(folder: Path) -> None:
    (folder / "settings.toml").write_text("audit = 0.5\n")
    assert the_problem(verify(folder)).startswith("settings.toml: audit differs")


def test_damaged_pages_are_found_and_the_rest_is_checked(folder: Path) -> None:
    with Workspace(folder) as workspace:
        workspace.add_many([f"{TEXTS[i % 3]} and so on {i}" for i in range(600)])
    write(folder, "UPDATE events SET actor = 'forger' WHERE seq = 4")
    with database(folder) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        try:
            pages = connection.execute(
                "SELECT pageno, pgsize FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' "
                "ORDER BY pageno"
            ).fetchall()
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no table of pages")
    number, size = pages[len(pages) // 2]
    with (folder / "journal.sqlite").open("r+b") as file:
        file.seek((number - 1) * size)
        file.write(b"\xff" * size)
    found = verify(folder)
    assert any("journal.sqlite: SQLite " in problem for problem in found.problems)
    assert any("cannot be read: database disk image is malformed" in p for p in found.problems)
    assert "journal.sqlite: event 4 is not what was written" in found.problems
    assert 0 < found.events < 640


@pytest.mark.parametrize("damage", [b"", b"SQLite format 3\0 but then nonsense " * 500])
def test_a_file_that_is_no_journal(folder: Path, damage: bytes) -> None:
    for end in ("-wal", "-shm"):
        (folder / f"journal.sqlite{end}").unlink(missing_ok=True)
    (folder / "journal.sqlite").write_bytes(damage)
    problem = the_problem(verify(folder))
    assert "journal.sqlite" in problem


def test_while_another_thread_writes(folder: Path) -> None:
    wanted = threading.Semaphore(0)
    written = threading.Semaphore(0)
    with Workspace(folder) as workspace:

        def add() -> None:
            for i in range(60):
                wanted.acquire()
                workspace.add(f"{TEXTS[i % 3]} again {i}", [LABELS[i % 2]])
                if i == 30:
                    workspace.undo(workspace.tip)
                written.release()

        thread = threading.Thread(target=add)
        thread.start()

        def one_more(done: int, total: int) -> None:
            """Let an item be added between two steps of the verification."""
            wanted.release()
            written.acquire()

        before = workspace.tip
        first = verify(folder, one_more)
        for _ in range(60):
            wanted.release()
        thread.join()
        assert first.problems == []
        assert first.events == before < workspace.tip
    assert verify(folder).problems == []
