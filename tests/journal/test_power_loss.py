"""Whatever a disk has written when the power fails, all that was acknowledged is there."""

import json
import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tagalong.journal import JournalError, Workspace
from tagalong.journal.reader import JournalReader
from tests.journal.power_loss import Change, Loss, losses, record_run, write_files
from tests.journal.recorded_run import NAME
from tests.journal.soundness import check_sound, summary

MEMORY = "/dev/shm"
SECRET = b"secret words"
SHARE = 0.1
"""The share of all moments that the quick tests look at; the long ones look at every moment."""


@dataclass(frozen=True)
class Recording:
    """A run of requests: all changes of files, and the events at the end."""

    changes: list[Change]
    events: list[Any]

    @property
    def models(self) -> dict[int, str]:
        """The hash of the model by the number of the last event, whenever a request was done."""
        marks = [json.loads(each.data) for each in self.changes if each.kind == "mark"]
        return {mark["tip"]: mark["hash"] for mark in marks}


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    """A folder in memory, where syncing takes no time."""
    base = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="power", dir=base) as folder:
        yield Path(folder).resolve()


def recorded(folder: Path, *options: str) -> Recording:
    changes = record_run(folder, *options)
    with Workspace(folder / "disk" / NAME, create=False) as workspace:
        return Recording(changes, [summary(event) for event in workspace.events()])


@pytest.fixture(scope="module")
def recording(memory: Path) -> Recording:
    (memory / "full").mkdir()
    return recorded(memory / "full")


def problem(
    loss: Loss, recording: Recording, folder: Path, *, thorough: bool = False
) -> str | None:
    """Return what is wrong with the workspace after a power loss; None if all is well."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_files(loss.files, folder)
    acknowledged = loss.acknowledged[-1]["tip"] if loss.acknowledged else 0
    workspace = folder / NAME
    if not workspace.exists():
        return f"{acknowledged} events are lost with the folder" if acknowledged else None
    try:
        with Workspace(workspace) as opened:  # made anew if the first event was not stored
            events, hash = [summary(event) for event in opened.events()], opened.model().hash
        with JournalReader(workspace / "journal.sqlite") as reader:
            assert len(list(reader.records())) == len(events)
        if thorough:
            assert check_sound(workspace).hash == hash, "a replay gives another model"
    except (JournalError, AssertionError, OSError, sqlite3.Error) as error:
        return f"{type(error).__name__}: {error}"
    if len(events) < acknowledged:
        return f"{acknowledged - len(events)} of {acknowledged} events are lost"
    if events != recording.events[: len(events)]:
        return "there are other events"
    if recording.models.get(len(events)) != hash:
        return f"there is another model at event {len(events)}"
    if any(mark["name"] == "forget d" for mark in loss.acknowledged) and has_secret(workspace):
        return "what was forgotten is still in the files"
    return None


def has_secret(folder: Path) -> bool:
    return any(SECRET in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def problems(
    recording: Recording,
    folder: Path,
    seed: int,
    *,
    tries: int = 1,
    share: float = 1.0,
    thorough: bool = False,
) -> Iterator[str | None]:
    """Return for each power loss what is wrong afterwards; None if all is well."""
    for loss in losses(recording.changes, random.Random(seed), tries=tries, share=share):
        found = problem(loss, recording, folder, thorough=thorough)
        where = f"after change {loss.cut}, if the disk has {loss.name}"
        yield None if found is None else f"{where}: {found}"


def check(found: list[str | None], at_least: int) -> None:
    wrong = [each for each in found if each is not None]
    assert not wrong, f"{len(wrong)} of {len(found)}:\n" + "\n".join(wrong[:20])
    assert len(found) >= at_least


def test_nothing_acknowledged_is_lost(recording: Recording, memory: Path) -> None:
    check(list(problems(recording, memory / "opened", 1, share=SHARE)), 150)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
def test_at_every_moment(recording: Recording, memory: Path, seed: int) -> None:
    found = problems(recording, memory / "opened", seed, thorough=True)
    check(list(found), 2000)


@pytest.mark.parametrize("synchronous", ["NORMAL", pytest.param("OFF", marks=pytest.mark.long)])
def test_lost_events_are_noticed(memory: Path, synchronous: str) -> None:
    (memory / synchronous).mkdir()
    careless = recorded(memory / synchronous, "--synchronous", synchronous)
    found = problems(careless, memory / "opened", 1, share=SHARE)
    assert any("events are lost" in each for each in found if each is not None)
