"""Snapshots: which are kept, which are used, and that they change nothing."""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.files.replacement import Replacement
from tagalong.journal import Workspace, WorkspaceView, builds, recovery, snapshots, state
from tagalong.journal.reader import Snapshot
from tagalong.journal.snapshots import thinned
from tests.journal.comparison import as_json, assert_equal, copy_of_files, hash_of, naive_of
from tests.journal.examples import new_workspace, texts

MANY = 10**12


def saved(seq: int, size: int = 1) -> Snapshot:
    return Snapshot(f"{seq:012d}", seq, b"", b"", "", size)


def kept_of(seqs: list[int], tip: int, budget: int = MANY) -> list[int]:
    all = [saved(seq) for seq in seqs]
    dropped = thinned(all, tip, budget)
    assert set(dropped) <= set(all)
    return [each.seq for each in all if each not in dropped]


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[int], int]:
    seqs = sorted(draw(st.sets(st.integers(1, 10_000), min_size=1, max_size=80)))
    return seqs, seqs[-1] + draw(st.integers(0, 100))


@given(histories())
def test_distances_from_the_end_grow_exponentially(history: tuple[list[int], int]) -> None:
    seqs, tip = history
    kept = kept_of(seqs, tip)
    assert kept[-2:] == seqs[-2:]
    others = [tip - seq for seq in kept[:-2]]
    assert len({distance.bit_length() for distance in others}) == len(others)
    assert len(kept) <= 2 + tip.bit_length()
    # Undoing an event replays at most about twice as much as with all snapshots.
    for seq in seqs[:-2]:
        before = [each for each in kept if each <= seq]
        assert before or (tip - seq).bit_length() in {(tip - each).bit_length() for each in kept}
        if before:
            assert tip - before[-1] < 2 * max(tip - seq, 1)


@given(histories(), st.integers(0, 40), st.lists(st.integers(1, 5), min_size=80, max_size=80))
def test_the_budget_is_kept(history: tuple[list[int], int], budget: int, sizes: list[int]) -> None:
    seqs, tip = history
    all = [saved(seq, size) for seq, size in zip(seqs, sizes, strict=False)]
    dropped = thinned(all, tip, budget)
    kept = [each for each in all if each not in dropped]
    assert kept[-1] == all[-1]
    assert len(kept) == 1 or sum(each.size for each in kept) <= budget
    # No more is dropped than the budget asks for.
    free = [each for each in all if each not in thinned(all, tip, MANY)]
    if sum(each.size for each in free) <= budget:
        assert kept == free


@given(histories())
def test_what_is_kept_once_is_kept_again(history: tuple[list[int], int]) -> None:
    seqs, tip = history
    kept = kept_of(seqs, tip)
    assert kept_of(kept, tip) == kept


def test_few_snapshots_remain_of_many() -> None:
    """As a workspace does it: a snapshot now and then, and thinning after each."""
    kept: list[int] = []
    for tip in range(10, 100_000, 10):
        kept = kept_of([*kept, tip], tip)
        assert len(kept) <= 18
    distances = [tip - seq for seq in kept[:-2]]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 30_000
    assert all(far <= 4 * near for far, near in pairwise(distances))


def test_no_snapshots_at_all() -> None:
    assert thinned([], 10, 0) == []


def teach(workspace: Workspace, count: int = 40, every: int = 10) -> None:
    for number, (text, topic) in enumerate(texts(count)):
        workspace.add(text, [topic], id=f"{number}")
        if number % every == every - 1:
            workspace.snapshot()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "snapshots").iterdir())


def seq_of(name: str) -> int:
    return int(name.split("-")[0])


@pytest.fixture
def taught(folder: Path) -> Path:
    """A closed workspace with some snapshots."""
    with new_workspace(folder) as workspace:
        teach(workspace)
    assert len(names(folder)) >= 3
    return folder


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The events of the snapshots that are loaded."""
    found: list[int] = []
    load = snapshots.Snapshots.load

    def recorded(self: snapshots.Snapshots, snapshot: Snapshot) -> state.ModelState:
        result = load(self, snapshot)
        found.append(snapshot.seq)
        return result

    monkeypatch.setattr(snapshots.Snapshots, "load", recorded)
    return found


def test_starting_loads_the_newest_snapshot(taught: Path, loaded: list[int]) -> None:
    with Workspace(taught) as workspace:
        assert loaded == [seq_of(names(taught)[-1])]
        assert_equal(workspace, naive_of(taught))
        assert workspace.problems == []


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "changed":
        place = len(data) * 3 // 4
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    else:
        path.write_bytes(bytes(len(data)))


@pytest.mark.parametrize("how", ["missing", "empty", "cut", "changed", "zeros"])
def test_a_damaged_snapshot_is_passed_over_and_named(
    taught: Path, loaded: list[int], how: str
) -> None:
    *_, older, newest = names(taught)
    damage(taught / "snapshots" / newest, how)
    with WorkspaceView(taught) as view:
        assert [newest in str(problem) for problem in view.problems] == [True]
        assert_equal(view, naive_of(taught))
    problems: list[Exception] = []
    with Workspace(taught, on_problem=problems.append) as workspace:
        assert [newest in str(problem) for problem in workspace.problems] == [True]
        assert problems == workspace.problems
        assert_equal(workspace, naive_of(taught))
    assert loaded == [seq_of(older)] * 2


def test_without_any_snapshot_everything_is_replayed(taught: Path, loaded: list[int]) -> None:
    for name in names(taught):
        damage(taught / "snapshots" / name, "cut")
    with Workspace(taught) as workspace:
        assert len(workspace.problems) >= 3
        assert loaded == []
        assert_equal(workspace, naive_of(taught))


def test_a_snapshot_of_another_workspace_is_not_used(taught: Path, tmp_path: Path) -> None:
    """Its name fits, but the journal knows what was saved under this name."""
    other = tmp_path / "other"
    with new_workspace(other) as workspace:
        for text, topic in texts(40, seed=1):
            workspace.add(text, [topic])
        workspace.snapshot()
    newest = names(taught)[-1]
    shutil.copy(other / "snapshots" / names(other)[-1], taught / "snapshots" / newest)
    with Workspace(taught) as workspace:
        assert_equal(workspace, naive_of(taught))
        assert [newest in str(problem) for problem in workspace.problems] == [True]


def test_files_that_are_not_listed_are_removed(taught: Path) -> None:
    """They may have been left by a crash, and may know forgotten items."""
    folder = taught / "snapshots"
    listed = names(taught)
    orphan = f"{7:012d}-{0:08x}.tagalong"
    shutil.copy(folder / listed[0], folder / orphan)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    with Workspace(taught) as workspace:
        assert workspace.problems == []
        assert names(taught) == [*listed, "notes.txt"]


def test_half_written_files_are_removed(taught: Path) -> None:
    """A process that is killed while it writes a snapshot leaves its temporary file."""
    listed = names(taught)
    Replacement(taught / "snapshots" / f"{99:012d}-{0:08x}.tagalong").file.write(b"part")
    assert len(names(taught)) == len(listed) + 1
    with Workspace(taught):
        assert names(taught) == listed


@pytest.fixture
def of_another_build(taught: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose newest snapshot was made by another build."""
    for module in (snapshots, recovery):
        monkeypatch.setattr(module, "current_build", lambda: "another build")
    return taught


def test_snapshots_of_another_build_are_used_but_not_exact(
    of_another_build: Path, loaded: list[int]
) -> None:
    with Workspace(of_another_build) as workspace:
        assert len(loaded) == 1
        assert not workspace.model().exact
        workspace.undo(workspace.tip)
        assert not workspace.model().exact
        workspace.snapshot()
    with Workspace(of_another_build) as workspace:
        assert not workspace.model().exact  # neither is what follows from it


def test_an_exact_replay_uses_no_snapshot_of_another_build(
    of_another_build: Path, loaded: list[int]
) -> None:
    with Workspace(of_another_build, exact=True) as workspace:
        assert loaded == []
        assert workspace.model().exact
        workspace.undo(workspace.tip)
        assert workspace.model().exact
        assert loaded == []
        assert_equal(workspace, naive_of(of_another_build))


def test_the_build_names_version_core_and_vectors() -> None:
    build = builds.current_build()
    assert len(build.split()) == 3
    assert build != builds.MIXED


def test_a_snapshot_after_a_mixed_one_is_mixed(
    taught: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for module in (snapshots, recovery):
            patch.setattr(module, "current_build", lambda: "another build")
        with Workspace(taught) as workspace:
            workspace.add("the invoice", ["money"])
            workspace.snapshot()
    with Workspace(taught) as workspace:
        assert not workspace.model().exact
    with Workspace(taught, exact=True) as workspace:
        assert workspace.model().exact
        assert_equal(workspace, naive_of(taught))


@pytest.mark.parametrize("start", ["small", "race"])
def test_batches_of_any_size_are_replayed_alike(
    folder: Path, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_workspace(folder, start) as workspace:
        for number, (text, topic) in enumerate(texts(150)):
            workspace.add(text, [topic, "all"] if number % 7 == 0 else [topic], id=f"{number}")
            if number % 20 == 19:
                workspace.add({"amount": 2.0}, ["money"])
                workspace.answer(f"{number - 3}", ["money"])
                workspace.add("the gate", id=f"open-{number}")
            if number % 60 == 39:
                workspace.rename_label("all", f"all-{number}")
                workspace.answer(f"open-{number}", ["travel"], shown=["travel", "money"])
        expected = hash_of(workspace), as_json(workspace.report().to_dict())
    shutil.rmtree(folder / "snapshots", ignore_errors=True)
    for size in (1, 2, 7, 256):
        monkeypatch.setattr(state, "ITEMS_IN_ONE_CALL", size)
        with WorkspaceView(folder) as view:
            assert (hash_of(view), as_json(view.report().to_dict())) == expected
    assert_equal(view, naive_of(folder, start))


def test_snapshots_and_compacting_change_nothing(folder: Path, tmp_path: Path) -> None:
    with new_workspace(folder) as workspace:
        teach(workspace, 20, every=100)
        before = hash_of(workspace), as_json(workspace.report().to_dict()), workspace.events()
        act: Any
        for act in (workspace.snapshot, workspace.compact, workspace.snapshot):
            act()
            after = hash_of(workspace), as_json(workspace.report().to_dict()), workspace.events()
            assert after == before
            crashed = tmp_path / f"crashed-{len(list(tmp_path.iterdir()))}"
            copy_of_files(folder, crashed)
            with Workspace(crashed) as other:
                assert (hash_of(other), other.events()) == (before[0], before[2])


def test_compacting_gives_space_back(folder: Path) -> None:
    path = folder / "journal.sqlite"
    with new_workspace(folder) as workspace:
        for number in range(30):
            workspace.add("word " * 10_000, id=f"{number}")
        workspace.compact()
        full = path.stat().st_size
        for number in range(30):
            workspace.forget(f"{number}")
        workspace.compact()
        assert path.stat().st_size < full / 5
        assert (folder / "journal.sqlite-wal").stat().st_size == 0


def test_an_undo_while_a_snapshot_is_written_again(
    taught: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of a listed snapshot stays, as the undo may be undone."""
    with Workspace(taught) as workspace:
        workspace.snapshot()
        write = snapshots.Snapshots.write

        def held_back(*args: Any) -> Snapshot:
            result = write(*args)
            workspace.undo(5)
            return result

        with monkeypatch.context() as patch:
            patch.setattr(snapshots.Snapshots, "write", held_back)
            workspace.snapshot()
        workspace.undo(workspace.tip)
        assert_equal(workspace, naive_of(taught))
        assert workspace.problems == []


def test_a_snapshot_that_an_undo_overtook_is_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_workspace(folder) as workspace:
        teach(workspace, 10, every=100)
        write = snapshots.Snapshots.write

        def held_back(*args: Any) -> Snapshot:
            result = write(*args)
            workspace.forget("5")
            return result

        with monkeypatch.context() as patch:
            patch.setattr(snapshots.Snapshots, "write", held_back)
            workspace.snapshot()
        assert names(folder) == []


def test_a_snapshot_is_kept_if_only_later_events_were_undone_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise there would be none at all while people undo again and again."""
    with new_workspace(folder) as workspace:
        teach(workspace, 10, every=100)
        write = snapshots.Snapshots.write

        def held_back(*args: Any) -> Snapshot:
            result = write(*args)
            workspace.undo(workspace.add("later", ["money"]).seq)
            return result

        with monkeypatch.context() as patch:
            patch.setattr(snapshots.Snapshots, "write", held_back)
            workspace.snapshot()
        assert len(names(folder)) == 1
        assert_equal(workspace, naive_of(folder))
    with Workspace(folder) as workspace:  # loads it
        assert_equal(workspace, naive_of(folder))
        assert workspace.problems == []


def test_the_budget_of_the_settings_file_is_kept(folder: Path) -> None:
    folder.mkdir()
    (folder / "settings.toml").write_text("snapshot_bytes = 0\n", encoding="utf-8")
    with new_workspace(folder) as workspace:
        teach(workspace, 20, every=5)
        assert len(names(folder)) == 1
        workspace.undo(10)
        workspace.snapshot()
        assert len(names(folder)) == 1
