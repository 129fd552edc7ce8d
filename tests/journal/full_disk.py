"""A process that uses a workspace while its disk is full, and when there is room again.

python -m tests.journal.full_disk FOLDER [--mount]

By default the disk is full as far as this process can tell: tests/faults/inject.c is preloaded, and
all calls that need space fail. With --mount, a small file system is mounted on the folder, which
takes a user with that right (`unshare --map-root-user --mount`).
"""

import argparse
import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from tagalong.journal import JournalError, StorageError, Workspace, WorkspaceView, keeper
from tests.faults.injection import fill_disk, free_disk
from tests.faults.journal_steps import FIRST, send
from tests.journal.soundness import Sound, check_sound

MOUNTED_BYTES = 2_000_000
ITEMS = 40
SECONDS = 60


class SimulatedDisk:
    """A disk that is full for the calls of this process."""

    def __init__(self, folder: Path):
        self.folder = folder

    def fill(self, part: str = "") -> None:
        """Leave no room in the folder, or in a part of it."""
        fill_disk(self.folder / part if part else self.folder)

    def free(self) -> None:
        free_disk()


class MountedDisk:
    """A small file system in memory, mounted for this process."""

    def __init__(self, folder: Path):
        options = ["-t", "tmpfs", "-o", f"size={MOUNTED_BYTES}", "tmpfs"]
        subprocess.run(["mount", *options, folder], check=True)
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        with open(self._ballast, "ab", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)


AnyDisk = SimulatedDisk | MountedDisk


def opened(disk: AnyDisk) -> Workspace:
    return Workspace(disk.folder / "team")


def sound(disk: AnyDisk) -> Sound:
    """Return what the workspace holds, after it was closed."""
    copy = disk.folder.with_name("copy")
    shutil.copytree(disk.folder / "team", copy)
    return check_sound(copy)


def refuse(workspace: Workspace, disk: AnyDisk) -> None:
    """Check that every request is refused, that nothing changes, and that reading goes on."""
    tip, facts, counts = workspace.tip, workspace.model(), workspace.item_counts()
    requests: list[Callable[[], object]] = [
        lambda: workspace.answer("e", ["money"]),
        lambda: workspace.answer("e", ["money"], key="once"),
        lambda: workspace.add("one more", ["new label"]),
        lambda: workspace.add_many([f"item {i}" for i in range(ITEMS)]),
        lambda: workspace.undo(2),
        lambda: workspace.rename_label("money", "cash"),
        lambda: workspace.change_settings(min_precision=0.8),
        lambda: workspace.forget("b"),
        lambda: workspace.set_document("name", "value"),
    ]
    for request in requests:
        disk.fill()  # whoever else writes to the disk takes what was freed
        with pytest.raises(StorageError, match=r"team/journal\.sqlite: the disk is full"):
            request()
        assert workspace.tip == tip
        assert workspace.model() == facts
        assert workspace.item_counts() == counts
        assert workspace.suggest("the invoice")[0].label == "money"
        assert workspace.item("e").state == "open"
        assert len(workspace.items()) == len(workspace.items("open")) + len(
            workspace.items("answered")
        )
        assert workspace.settings.min_precision == 0.95
        assert "new label" not in workspace.labels
    assert not workspace.problems


def answers(disk: AnyDisk) -> None:
    """Answers are refused while the disk is full, and stored when there is room again."""
    with opened(disk) as workspace:
        for step in FIRST:
            send(workspace, step)
        before = workspace.events()
        for _ in range(2):
            disk.fill()
            refuse(workspace, disk)
            disk.free()
            assert workspace.events() == before
            workspace.set_document("room", "again")
        answer = workspace.answer("e", ["money"], key="once")
        assert answer == workspace.answer("e", ["money"], key="once") == len(before) + 1
        workspace.add("one more", ["new label"])
        workspace.forget("b")
        events, hash = workspace.events(), workspace.model().hash
    found = sound(disk)
    assert (found.events, found.hash) == (events, hash)


def closing(disk: AnyDisk) -> None:
    """Everything acknowledged before the disk was full is there, however the process ends then."""
    with opened(disk) as workspace:
        for step in FIRST:
            send(workspace, step)
        events, hash = workspace.events(), workspace.model().hash
        disk.fill()
    disk.fill()
    try:
        with opened(disk) as workspace:  # possible if the files have their space already
            refuse_one(workspace)
    except StorageError as error:
        if "team/journal.sqlite" not in str(error):
            raise
    disk.free()
    with opened(disk) as workspace:
        assert workspace.events() == events
        workspace.answer("e", ["money"])
        workspace.undo(len(events) + 1)
        assert workspace.model().hash == hash
    assert len(sound(disk).events) == len(events) + 2


def undo(disk: AnyDisk) -> None:
    """An undo that was acknowledged is computed although the disk is full by then."""
    with opened(disk) as workspace:
        for step in FIRST:
            send(workspace, step)
        workspace.undo(workspace.tip - 1, cascade=True)
        disk.fill()
        hash = workspace.model(SECONDS).hash
        refuse_one(workspace)
        disk.free()
        workspace.answer("e", ["money"])
        assert workspace.model(SECONDS).hash != hash
        hash = workspace.model().hash
    assert sound(disk).hash == hash


def writer_alone(disk: AnyDisk) -> None:
    """The same if the only connection to the database is the one that fails."""
    with opened(disk) as workspace:
        workspace.add("the invoice", ["money"], id="e")
        workspace.add("a flight", ["travel"])
        for _ in range(2):
            disk.fill()
            refuse_one(workspace)
            disk.fill()
            assert workspace.item("e").state == "answered"
            refuse_one(workspace)
            disk.free()
            workspace.answer("e", ["money"])
        assert not workspace.problems
    sound(disk)


def refuse_one(workspace: Workspace) -> None:
    with pytest.raises(StorageError, match="the disk is full"):
        workspace.answer("e", ["money"])


def readers(disk: AnyDisk) -> None:
    """Another connection reads while the disk is full, if it was open or can be opened."""
    with opened(disk) as workspace:
        for step in FIRST:
            send(workspace, step)
        disk.fill()
        refuse_one(workspace)
        with WorkspaceView(disk.folder / "team") as view:
            assert view.events() == workspace.events()
            assert view.suggest("the invoice")[0].label == "money"
        disk.free()
        workspace.answer("e", ["money"])
    sound(disk)


def snapshots(disk: AnyDisk) -> None:
    """A snapshot that cannot be written is named; nothing of it stays, and work goes on."""
    assert isinstance(disk, SimulatedDisk)
    folder = disk.folder / "team" / "snapshots"
    with opened(disk) as workspace:
        for step in FIRST:
            send(workspace, step)
        names = sorted(os.listdir(folder))
        disk.fill("team/snapshots")
        with pytest.raises(JournalError, match=r"No space left on device: .*team/snapshots/"):
            workspace.snapshot()
        workspace._keeper._saving_takes = 0
        with patch.object(keeper, "WORK_BETWEEN_SNAPSHOTS", 0):
            workspace.answer("e", ["money"])
            workspace.answer("e", ["travel"])
            for _ in range(SECONDS * 100):
                if workspace.problems:
                    break
                workspace._keeper._changed.acquire()
                workspace._keeper._changed.wait(0.01)
                workspace._keeper._changed.release()
            assert "No space left on device" in str(workspace.problems[0])
            assert "snapshots" in str(workspace.problems[0])
        workspace.answer("e", ["money"])
        assert sorted(os.listdir(folder)) == names
        disk.free()
        workspace.snapshot()
        assert len(os.listdir(folder)) == len(names) + 1
        hash = workspace.model().hash
    assert sound(disk).hash == hash


SCENARIOS: tuple[Callable[[AnyDisk], None], ...] = (answers, closing, undo, writer_alone, readers)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mount", action="store_true")
    args = parser.parse_args()
    for scenario in SCENARIOS if args.mount else (*SCENARIOS, snapshots):
        folder = args.folder.resolve() / scenario.__name__ / "disk"
        folder.mkdir(parents=True)
        scenario(MountedDisk(folder) if args.mount else SimulatedDisk(folder))
        print(scenario.__name__, flush=True)


if __name__ == "__main__":
    main()
