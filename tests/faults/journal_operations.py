"""Operations on a workspace that are attacked: nothing that was acknowledged may be lost."""

import shutil
import sqlite3
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from tagalong.journal import JournalError, Workspace, WorkspaceView, back_up, restore
from tests.faults.journal_steps import (
    ANSWERS,
    FIRST,
    PRIVACY,
    SNAPSHOT,
    Acknowledgements,
    Step,
    add,
    answer,
    checkpoints_often,
    send,
)
from tests.faults.operations import Operation
from tests.journal.soundness import Sound, check_sound, summary

T = TypeVar("T")
FOLDER = "team"
THREADS = 4
NAMES = (FOLDER, "backup", "restored")


class JournalOperation(Operation):
    """Sends requests to a workspace. What fails is tried once more, in the same process."""

    names: tuple[str, ...] = (FOLDER,)
    keeps: tuple[str, ...] = (f"{FOLDER}/journal.sqlite-wal", f"{FOLDER}/journal.sqlite-shm")
    has_threads = True
    tries_again = True
    prepared: Sequence[Step] = FIRST
    steps: Sequence[Step]

    def __init__(self) -> None:
        self._undisturbed: Sound | None = None

    @property
    def _log(self) -> Acknowledgements:
        return Acknowledgements(Path.cwd().with_name("acknowledged"))

    def prepare(self) -> None:
        with checkpoints_often(), Workspace(FOLDER) as workspace:
            for step in self.prepared:
                send(workspace, step)

    def begin(self) -> None:
        self._log.clear()

    def run(self) -> int:
        self.begin()
        return self._work(self.steps)

    def run_again(self) -> int:
        """Complete the work. A snapshot that was interrupted is not made, nor does it remain."""
        return self._work([step for step in self.steps if step != SNAPSHOT])

    def _work(self, steps: Sequence[Step]) -> int:
        log = self._log
        try:
            with checkpoints_often(), _tried(lambda: Workspace(FOLDER)) as workspace:
                for step in steps:
                    seqs = _tried(lambda step=step: send(workspace, step))  # type: ignore[misc]
                    log.add("acknowledged", step.name, seqs)
                log.add("model", *_tried(lambda: (workspace.tip, workspace.model().hash)))
        except JournalError:
            return 1
        return 0

    def check(self, before: Path, complete: Path) -> None:
        found = self._sound(Path.cwd())
        if found is None:
            assert not (before / FOLDER).exists(), "the workspace is gone"
            assert not self._log.read("acknowledged"), "acknowledged, but there is no workspace"
            return
        for name, seqs in self._log.read("acknowledged"):
            for seq in seqs:
                assert seq <= len(found.events), f"event {seq} is lost ({name})"
                assert found.events[seq - 1].actor == name, f"event {seq} is not that of {name!r}"
        self._check_order(found, self._complete(complete))
        for tip, hash in self._log.read("model"):
            assert tip != len(found.events) or hash == found.hash, "the process had another model"

    def _check_order(self, found: Sound, expected: Sound) -> None:
        """Check that the events are the first ones of an undisturbed run, by whole requests."""
        every = [summary(event) for event in expected.events]
        events = [summary(event) for event in found.events]
        assert events == every[: len(events)], "there are other events"
        last, following = events[-1], every[len(events) : len(events) + 1]
        assert not following or following[0][3] != last[3], f"a part of {last[3]!r} is there"

    def check_complete(self, complete: Path) -> None:
        found, expected = self._sound(Path.cwd()), self._complete(complete)
        assert found is not None, "there is no workspace"
        assert len(found.events) == len(expected.events), "events are missing"
        assert found.hash == expected.hash, "the model differs"

    def _complete(self, complete: Path) -> Sound:
        if self._undisturbed is None:
            self._undisturbed = self._sound(complete)
        assert self._undisturbed is not None
        return self._undisturbed

    def _sound(self, folder: Path, name: str = FOLDER) -> Sound | None:
        """Return what a workspace holds, from a copy of it; None if it was not created."""
        copy = folder.with_name("opened")
        shutil.rmtree(copy, ignore_errors=True)
        if not (folder / name / "journal.sqlite").exists():
            return None
        shutil.copytree(folder / name, copy)
        if self._is_empty(copy):
            return None
        return check_sound(copy)

    def _is_empty(self, folder: Path) -> bool:
        return False


def _tried(work: Callable[[], T]) -> T:
    """Do work, twice if it fails, and print the errors."""
    try:
        return work()
    except JournalError as error:
        _report(error)
    try:
        return work()
    except JournalError as error:
        _report(error)
        raise


def _report(error: JournalError) -> None:
    print(f"tagalong: {type(error).__name__}: {error}", file=sys.stderr)
    assert any(name in str(error) for name in NAMES), f"the message does not name the file: {error}"


class JournalAnswer(JournalOperation):
    """Items, answers, corrections, undo and its undo, and a renamed label."""

    name = "journal-answer"
    steps = ANSWERS


class JournalPrivacy(JournalOperation):
    """Filing, forgetting, a snapshot, settings, and compaction."""

    name = "journal-forget"
    steps = PRIVACY


class JournalCreate(JournalOperation):
    """The first opening of a workspace, and its first items."""

    name = "journal-create"
    keeps = (*JournalOperation.keeps, f"{FOLDER}/journal.sqlite-journal")
    steps = FIRST

    def prepare(self) -> None:
        pass

    def _is_empty(self, folder: Path) -> bool:
        with sqlite3.connect(folder / "journal.sqlite") as connection:
            query = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'events'"
            if connection.execute(query).fetchone() == (0,):
                return True
            return connection.execute("SELECT COUNT(*) FROM events").fetchone() == (0,)


class JournalTogether(JournalOperation):
    """Answers from several threads, whose commits are shared."""

    name = "journal-together"
    steps = tuple(
        step
        for number in range(8)
        for step in (
            add(f"item {number}", f"words {number} about an invoice", ["money"]),
            answer(f"answer {number}", f"item {number}", ["bank"]),
        )
    )

    def _work(self, steps: Sequence[Step]) -> int:
        try:
            with (
                checkpoints_often(),
                _tried(lambda: Workspace(FOLDER)) as workspace,
                ThreadPoolExecutor(THREADS) as pool,
            ):
                # An item and its answer are sent by the same thread.
                pairs = [steps[at : at + 2] for at in range(0, len(steps), 2)]
                done = [pool.submit(self._send, workspace, pair) for pair in pairs]
                for each in done:
                    each.result()
        except JournalError:
            return 1
        return 0

    def _send(self, workspace: Workspace, steps: Sequence[Step]) -> None:
        for step in steps:
            seqs = _tried(lambda step=step: send(workspace, step))  # type: ignore[misc]
            self._log.add("acknowledged", step.name, seqs)

    def _check_order(self, found: Sound, expected: Sound) -> None:
        """Check that no request is there twice; their order is another one in each run."""
        names = [event.actor for event in found.events if event.actor]
        assert len(names) == len(set(names)), "an event is there twice"

    def check_complete(self, complete: Path) -> None:
        found, expected = self._sound(Path.cwd()), self._complete(complete)
        assert found is not None
        assert {event.actor for event in found.events} == {e.actor for e in expected.events}


class JournalView(JournalOperation):
    """Reading a workspace that nobody has open."""

    name = "journal-view"
    steps = ()

    def _work(self, steps: Sequence[Step]) -> int:
        try:
            with _tried(lambda: WorkspaceView(FOLDER)) as view:
                _tried(view.events)
                _tried(view.items)
                assert _tried(lambda: view.suggest("invoice"))[0].label == "money"
        except JournalError:
            return 1
        return 0


class JournalBackup(JournalOperation):
    """A backup, and a workspace that is restored from it."""

    name = "journal-backup"
    names = NAMES
    steps = ()

    def run_again(self) -> int:
        for name in ("backup", "restored"):
            shutil.rmtree(name, ignore_errors=True)
        return self.run()

    def _work(self, steps: Sequence[Step]) -> int:
        try:
            _tried(lambda: Path("backup").exists() or back_up(FOLDER, "backup"))
            _tried(lambda: Path("restored").exists() or restore("backup", "restored"))
        except JournalError:
            return 1
        return 0

    def check(self, before: Path, complete: Path) -> None:
        super().check(before, complete)
        for name in ("backup", "restored"):
            if Path(name).exists():
                assert self._sound(Path.cwd(), name) == self._complete(complete), f"{name} differs"

    def check_complete(self, complete: Path) -> None:
        super().check_complete(complete)
        assert Path("restored").exists(), "the copies are not made"


JOURNAL_OPERATIONS: dict[str, type[Operation]] = {
    kind.name: kind
    for kind in (
        JournalAnswer,
        JournalPrivacy,
        JournalCreate,
        JournalTogether,
        JournalView,
        JournalBackup,
    )
}
