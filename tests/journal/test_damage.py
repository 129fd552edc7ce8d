"""Damage is named, or does not matter: no damaged workspace silently gives another model.

Where the damage lies before the newest sound snapshot, a workspace opens and works. Verifying finds
it, and so does a replay from the start.
"""

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tagalong.journal import (
    DamagedError,
    NotFoundError,
    RefusedError,
    Workspace,
    WorkspaceView,
    store,
    verify,
)
from tagalong.journal.database import database_errors
from tests.journal.damage import (
    AFTER_SNAPSHOT,
    DATABASE,
    LOG,
    PAGE,
    Damage,
    Example,
    flip_bit,
    made_example,
    outcome,
    overwrite,
    random_damage,
    remove,
    replay_all,
    rows,
    statement,
    truncate,
)

MEMORY = "/dev/shm"
FEW, MANY = 150, 4000


@pytest.fixture(scope="module")
def example() -> Iterator[Example]:
    base = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="damage", dir=base) as folder:
        yield made_example(Path(folder))


def snapshot_names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder / "snapshots"))


def size(example: Example, name: str, kind: str = "closed") -> int:
    return (example.folder / kind / name).stat().st_size


def check_not_silent(example: Example, description: str, damage: Damage) -> str:
    """Check that a damaged workspace is refused, or has the same model; return what happened."""
    found = outcome(example, damage)
    if found.refused is not None:
        assert DATABASE in found.refused, f"{description}: {found.refused}"
        assert found.found, f"{description}: refused, but verifying finds nothing"
        return "refused"
    assert found.hash == example.hash, f"{description}: another model at event {found.tip}"
    if found.found:
        return "opened, and verifying finds it"
    expected = rows(example.folder / "closed")
    assert rows(example.copy("closed", damage)) == expected, f"{description}: not noticed"
    return "does not matter"


def test_the_example_is_sound(example: Example) -> None:
    for kind in ("closed", "crashed"):
        found = outcome(example, lambda folder: None, kind)
        assert (found.refused, found.problems, found.found) == (None, [], [])
        assert (found.hash, found.tip) == (example.hash, len(example.events))
    assert len(snapshot_names(example.folder / "closed")) == 2


# Changes of rows by hand. {first} is the number of the first event after the last snapshot.
CHANGED_EVENTS = {
    "labels": "UPDATE events SET body = replace(body, 'money', 'honey') WHERE seq = {seq}",
    "JSON": "UPDATE events SET body = substr(body, 2) WHERE seq = {seq}",
    "kind": "UPDATE events SET kind = 'filed' WHERE seq = {seq}",
    "time": "UPDATE events SET time = '2020-01-01T00:00:00.000Z' WHERE seq = {seq}",
    "actor": "UPDATE events SET actor = 'somebody else' WHERE seq = {seq}",
    "digest of the content": "UPDATE events SET content_digest = zeroblob(32) WHERE seq = {seq}",
    "link": "UPDATE events SET chain = zeroblob(16) WHERE seq = {seq}",
}
CHANGED_CONTENTS = {
    "text": "UPDATE contents SET data = CAST(replace(CAST(data AS TEXT), 'invoice', 'envoice') "
    "AS BLOB) WHERE seq = {seq}",
    "salt": "UPDATE contents SET salt = zeroblob(16) WHERE seq = {seq}",
    "nothing": "UPDATE contents SET data = zeroblob(0) WHERE seq = {seq}",
}


@pytest.mark.parametrize("change", CHANGED_EVENTS)
def test_a_changed_event_after_the_snapshot(example: Example, change: str) -> None:
    seq = example.seq(AFTER_SNAPSHOT)
    found = outcome(example, statement(CHANGED_EVENTS[change].format(seq=seq)))
    expected = f"event {seq} is not what was written"
    assert found.refused is not None
    assert DATABASE in found.refused
    assert expected in found.refused
    assert any(expected in each for each in found.found)


@pytest.mark.parametrize("change", CHANGED_EVENTS)
def test_a_changed_event_before_the_snapshot(example: Example, change: str) -> None:
    """The workspace opens and works; the event is named by whoever reads it."""
    seq = example.seq("add a")
    damage = statement(CHANGED_EVENTS[change].format(seq=seq))
    found = outcome(example, damage)
    expected = f"event {seq} is not what was written"
    assert (found.refused, found.hash) == (None, example.hash)
    assert any(expected in each for each in found.found)
    folder = example.copy("closed", damage)
    with Workspace(folder) as workspace:
        workspace.answer("last", ["money"])
        with pytest.raises(DamagedError, match=expected):
            workspace.events()
    with pytest.raises(DamagedError, match=expected):
        replay_all(folder)
    shutil.rmtree(folder / "snapshots")
    for opened in (Workspace, WorkspaceView):
        with pytest.raises(DamagedError, match=expected):
            opened(folder)


@pytest.mark.parametrize("change", CHANGED_CONTENTS)
@pytest.mark.parametrize("name", ["add a", AFTER_SNAPSHOT])
def test_changed_content(example: Example, change: str, name: str) -> None:
    seq = example.seq(name)
    damage = statement(CHANGED_CONTENTS[change].format(seq=seq))
    found = outcome(example, damage)
    expected = f"the content of event {seq} is not what was written"
    assert any(expected in each for each in found.found)
    if name == AFTER_SNAPSHOT:
        assert found.refused is not None
        assert expected in found.refused
    else:
        assert (found.refused, found.hash) == (None, example.hash)
        with pytest.raises(DamagedError, match=expected):
            replay_all(example.copy("closed", damage))


@pytest.mark.parametrize(
    "query, expected",
    [
        ("UPDATE contents SET data = x'7b7d' WHERE seq = {h}", "content of event {h} is not what"),
        ("DELETE FROM contents WHERE seq = {h}", "content of event {h} is missing"),
        ("UPDATE events SET body = replace(body, 'b', 'd') WHERE seq = {c}", "event {c} is not"),
        (
            "UPDATE events SET body = replace(body, 'travel', 'x') WHERE seq = {rename}",
            "event {rename}",
        ),
        ("UPDATE events SET body = replace(body, '0.95', '0.15') WHERE seq = 1", "event 1 is not"),
    ],
)
def test_an_old_event_that_a_new_one_needs(example: Example, query: str, expected: str) -> None:
    """Events after the snapshot are about items, answers and labels from before it."""
    numbers = {
        "h": example.seq("add many") + 1,
        "c": example.seq("answer c again"),
        "rename": example.seq("rename travel"),
    }
    found = outcome(example, statement(query.format(**numbers)))
    assert found.refused is not None
    assert expected.format(**numbers) in found.refused


@pytest.mark.parametrize("name", ["add b", "answer c", "add late", "undo late", "add last"])
def test_a_deleted_event(example: Example, name: str) -> None:
    seq = example.seq(name)
    found = outcome(example, statement("DELETE FROM events WHERE seq = ?", seq))
    assert any(f"event {seq} is missing" in each for each in found.found)
    if seq < example.seq(AFTER_SNAPSHOT):
        assert (found.refused, found.hash) == (None, example.hash)
    else:
        # If it is the undo, what it has taken back is noticed first.
        about = example.seq("answer late") if name == "undo late" else seq
        assert found.refused is not None
        assert f"event {about} is" in found.refused


def test_deleted_events_at_the_end(example: Example) -> None:
    for last in range(1, len(example.events)):
        found = outcome(example, statement("DELETE FROM events WHERE seq > ?", last))
        assert found.refused is not None
        assert f"event {last + 1} is missing" in found.refused


@pytest.mark.parametrize(
    "query, expected",
    [
        ("DELETE FROM taken_back WHERE seq = {late}", "event {late} was taken back, but"),
        ("INSERT INTO taken_back VALUES (2)", "event 2 is listed as taken back, but"),
        ("INSERT INTO taken_back VALUES ({last})", "event {last} is listed as taken back, but"),
        ("DELETE FROM taken_back", "was taken back, but is not listed"),
    ],
)
def test_a_wrong_list_of_events_taken_back(example: Example, query: str, expected: str) -> None:
    numbers = {"late": example.seq("answer late"), "last": example.seq("add last")}
    found = outcome(example, statement(query.format(**numbers)))
    assert found.refused is not None
    assert expected.format(**numbers) in found.refused
    assert any(expected.format(**numbers) in each for each in found.found)


@pytest.mark.parametrize(
    "query",
    [
        "UPDATE items SET state = 'open' WHERE id = 'a'",
        "UPDATE items SET id = 'another' WHERE id = 'a'",
        "DELETE FROM items WHERE id = 'a'",
        "DELETE FROM label_changes WHERE label = 'money'",
        "UPDATE label_changes SET label = 'other' WHERE label = 'money'",
        "INSERT INTO label_changes VALUES (4, 'other', 1)",
        "UPDATE snapshots SET chain = zeroblob(16)",
    ],
)
def test_tables_that_only_verifying_compares(example: Example, query: str) -> None:
    """Items and labels are listed wrongly, but the model is the same."""
    found = outcome(example, statement(query))
    assert (found.refused, found.hash) == (None, example.hash)
    assert found.found


@pytest.mark.parametrize(
    "query",
    [
        "UPDATE snapshots SET build = 'another'",
        "DELETE FROM snapshots",
        "INSERT INTO documents VALUES ('name', '1')",
        "DELETE FROM idempotency_keys",
    ],
)
def test_tables_that_nothing_compares(example: Example, query: str) -> None:
    """They follow from no event, and do not decide the model."""
    found = outcome(example, statement(query))
    assert (found.refused, found.hash) == (None, example.hash)


@pytest.mark.parametrize(
    "query, expected",
    [
        ("DROP TABLE items", "no such table: items"),
        ("DROP TABLE events", "no such table: events"),
        ("ALTER TABLE events RENAME COLUMN body TO text", "no such column: e.body"),
        ("PRAGMA user_version = 7", "the journal has version 7"),
        ("PRAGMA application_id = 7", "not a journal of Tagalong"),
    ],
)
def test_another_schema(example: Example, query: str, expected: str) -> None:
    found = outcome(example, statement(query))
    assert found.refused is not None
    assert DATABASE in found.refused
    assert expected in found.refused
    assert found.found


def entries(example: Example, name: str) -> range:
    """Where the entries of a small table or index lie in the file."""
    query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
    with closing(sqlite3.connect(example.folder / "closed" / DATABASE)) as connection:
        (page,) = connection.execute(query, (name,)).fetchone()
    end = page * PAGE
    content = (example.folder / "closed" / DATABASE).read_bytes()[end - PAGE : end]
    return range(end - PAGE + int.from_bytes(content[5:7]), end)


@pytest.mark.parametrize("index", ["events_of_item", "rare_events"])
def test_a_damaged_index_of_events(example: Example, index: str) -> None:
    """An event that is not found is missed, as the model would be another one without it."""
    refused = []
    for at in entries(example, index)[::3]:
        found = outcome(example, flip_bit(DATABASE, at, at % 8))
        assert found.refused is not None or found.hash == example.hash, f"byte {at}"
        assert found.found, f"byte {at}"
        refused.append(found.refused or "")
    assert any(f"damaged: the index {index} does not list event" in text for text in refused)


def test_a_damaged_list_of_snapshots(example: Example) -> None:
    """SQLite returns NULL where the head of a row says so, also if the column has none."""
    refused = []
    for at in entries(example, "snapshots")[:40]:
        found = outcome(example, overwrite(DATABASE, at, bytes(1)))
        assert found.refused is not None or found.hash == example.hash, f"byte {at}"
        refused.append(found.refused or "")
    assert any("damaged: the list of snapshots is not what was written" in text for text in refused)


def test_an_unknown_format_of_the_schema(example: Example) -> None:
    found = outcome(example, overwrite(DATABASE, 47, b"\x77"))
    assert found.refused is not None
    assert "unsupported file format" in found.refused
    assert found.found


def test_a_row_that_is_too_big_to_be_read_is_damaged() -> None:
    """Damaged lengths can be longer than any row, which SQLite calls too big."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE texts AS SELECT printf('%.5000c', 'x') AS text")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)
        with pytest.raises(DamagedError, match="too big"), database_errors(Path(DATABASE)):
            connection.execute("SELECT text FROM texts").fetchall()


def test_a_value_that_would_be_too_big_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_CHARACTERS", 100_000)
    with Workspace(tmp_path / "w") as workspace:
        with pytest.raises(RefusedError, match="cannot be stored: at most 100,000 can"):
            workspace.add("x", actor="y" * 100_001)
        workspace.add("x", actor="y" * 100_000)


@pytest.mark.parametrize("damaged", ["newest", "all"])
@pytest.mark.parametrize("how", ["bit", "zeros", "truncated", "empty", "removed", "another"])
def test_damaged_snapshots(example: Example, how: str, damaged: str) -> None:
    """They are passed over, and named; the model is the same."""
    every = snapshot_names(example.folder / "closed")
    names = every[-1:] if damaged == "newest" else every

    def damage(folder: Path) -> None:
        for name in names:
            path = f"snapshots/{name}"
            length = (folder / path).stat().st_size
            changes: dict[str, Damage] = {
                "bit": flip_bit(path, length // 2, 3),
                "zeros": overwrite(path, length // 3, bytes(64)),
                "truncated": truncate(path, length - 1),
                "empty": truncate(path, 0),
                "removed": remove(path),
                "another": lambda folder, path=path: (folder / path).write_text("text"),  # type: ignore[misc]
            }
            changes[how](folder)

    found = outcome(example, damage)
    assert (found.refused, found.hash) == (None, example.hash)
    for name in names:
        assert any(name in each for each in found.problems)
        assert any(name in each for each in found.found)
    with Workspace(example.copy("closed", damage)) as workspace:
        workspace.answer("last", ["money"])
        workspace.snapshot()
    assert verify(workspace.folder).is_sound or how != "removed"
    with Workspace(workspace.folder) as workspace:
        assert workspace.tip == len(example.events) + 1


def test_every_byte_of_a_snapshot_is_checked(example: Example) -> None:
    name = f"snapshots/{snapshot_names(example.folder / 'closed')[-1]}"
    rng = random.Random(1)
    for _ in range(FEW // 5):
        at = rng.randrange(size(example, name))
        found = outcome(example, flip_bit(name, at, rng.randrange(8)))
        assert (found.refused, found.hash) == (None, example.hash)
        assert any(Path(name).name in each for each in found.problems), at


def test_snapshots_in_each_others_place(example: Example) -> None:
    def swap(folder: Path) -> None:
        first, second = (folder / "snapshots" / name for name in snapshot_names(folder))
        data = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(data)

    found = outcome(example, swap)
    assert (found.refused, found.hash) == (None, example.hash)
    for name in snapshot_names(example.folder / "closed"):
        assert any(name in each and "another history" in each for each in found.problems)
        assert any(name in each and "another history" in each for each in found.found)


def test_the_snapshot_of_another_workspace(example: Example, tmp_path: Path) -> None:
    """It has the same name, and is sound by itself."""
    other = made_example(tmp_path)
    names = snapshot_names(other.folder / "closed")
    assert names == snapshot_names(example.folder / "closed")

    def swap(folder: Path) -> None:
        for name in names:
            shutil.copy(other.folder / "closed" / "snapshots" / name, folder / "snapshots" / name)

    found = outcome(example, swap)
    assert (found.refused, found.hash) == (None, example.hash)
    assert len(found.problems) == len(names)


def test_an_older_copy_of_the_database_beside_newer_snapshots(example: Example) -> None:
    """The journal lacks events that a snapshot has: they are missed, and the snapshot is kept."""
    folder = example.copy()
    with Workspace(folder) as workspace:
        workspace.answer("last", ["money"])
        workspace.snapshot()
    newer = snapshot_names(folder)[-1]
    shutil.copy(example.folder / "closed" / DATABASE, folder / DATABASE)
    with Workspace(folder) as workspace:
        assert workspace.model().hash == example.hash
        (problem,) = workspace.problems
        assert newer in str(problem)
        assert f"the journal ends with event {len(example.events)}" in str(problem)
    assert newer in snapshot_names(folder)


@pytest.mark.parametrize("damage", [remove(DATABASE), truncate(DATABASE, 0)])
def test_a_lost_database_beside_snapshots_is_no_new_workspace(
    example: Example, damage: Damage
) -> None:
    folder = example.copy("closed", damage)
    names = snapshot_names(folder)
    for _ in range(2):
        with pytest.raises(DamagedError, match=r"snapshots/.* the journal ends with event 0"):
            Workspace(folder)
        assert snapshot_names(folder) == names


def test_a_missing_database(example: Example) -> None:
    folder = example.copy("closed", remove(DATABASE))
    for opened in (WorkspaceView, lambda folder: Workspace(folder, create=False), verify):
        with pytest.raises(NotFoundError, match="there is no workspace here"):
            opened(folder)


def test_another_file_in_place_of_the_database(example: Example) -> None:
    found = outcome(example, lambda folder: (folder / DATABASE).write_text("a text\n" * 1000))
    assert found.refused is not None
    assert "file is not a database" in found.refused


def test_pages_of_zeros(example: Example) -> None:
    happened = {
        check_not_silent(example, f"page {at}", overwrite(DATABASE, at, bytes(PAGE)))
        for at in range(0, size(example, DATABASE), PAGE)
    }
    assert happened >= {"refused", "opened, and verifying finds it"}


def test_a_truncated_database(example: Example) -> None:
    pages = size(example, DATABASE) // PAGE
    for page in range(1, pages):
        for length in (page * PAGE, page * PAGE + 100):
            check_not_silent(example, f"{length} bytes", truncate(DATABASE, length))


def damage_randomly(example: Example, seed: int, times: int) -> None:
    rng = random.Random(seed)
    for _ in range(times):
        check_not_silent(example, *random_damage(DATABASE, size(example, DATABASE), rng))


def test_random_damage(example: Example) -> None:
    damage_randomly(example, 1, FEW)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
def test_much_random_damage(example: Example, seed: int) -> None:
    damage_randomly(example, seed, MANY)


def check_log(example: Example, description: str, damage: Damage) -> int:
    """Check that a workspace with a damaged log has the events up to some point, and their model.

    SQLite takes a log for complete up to the first page that is not sound: a process that was
    killed leaves it like that. So the last events can be lost without a word, but not others.
    """
    found = outcome(example, damage, "crashed")
    assert found.refused is None, f"{description}: {found.refused}"
    assert found.hash == example.hashes[found.tip], f"{description}: another model"
    return found.tip


def test_a_damaged_log(example: Example) -> None:
    length, rng = size(example, LOG, "crashed"), random.Random(1)
    tips = {check_log(example, *random_damage(LOG, length, rng)) for _ in range(FEW // 2)}
    assert min(tips) < len(example.events)


def test_a_missing_log(example: Example) -> None:
    check_log(example, "no log", remove(LOG))


def test_a_missing_log_beside_newer_snapshots(example: Example, tmp_path: Path) -> None:
    """Events that were in the log only are missed, if a snapshot has learnt it."""
    with Workspace(example.copy()) as workspace:
        workspace.answer("last", ["money"])
        workspace.snapshot()
        shutil.copytree(workspace.folder, tmp_path / "crashed")
        tip = workspace.tip
    folder = tmp_path / "crashed"
    remove(LOG)(folder)
    with Workspace(folder) as workspace:
        assert workspace.tip < tip
        (problem,) = workspace.problems
    assert f"it has learnt event {tip}, but the journal ends with" in str(problem)


@pytest.mark.long
def test_a_log_damaged_everywhere(example: Example) -> None:
    length = size(example, LOG, "crashed")
    for at in range(0, length, 61):
        check_log(example, f"byte {at}", flip_bit(LOG, at, at % 8))
    for at in range(0, length, 509):
        check_log(example, f"{at} bytes", truncate(LOG, at))
