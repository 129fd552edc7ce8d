"""A workspace to damage, and what opening and verifying say about it afterwards."""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagalong.journal import DamagedError, Event, Workspace, verify
from tagalong.journal.reader import JournalReader
from tests.faults.journal_steps import (
    ANSWERS,
    FIRST,
    SNAPSHOT,
    add,
    answer,
    forget,
    send,
    settings,
    undo,
)

DATABASE = "journal.sqlite"
LOG = "journal.sqlite-wal"
PAGE = 4096
TABLES = ("events", "contents", "taken_back", "items", "label_changes")
STEPS = (
    *FIRST,
    forget("d"),
    SNAPSHOT,
    *ANSWERS,
    SNAPSHOT,
    add("late", "a late mail about an invoice", ["money"]),
    answer("answer late", "late", ["bank"]),
    undo("undo late", "answer late"),
    settings(min_precision=0.9),
    answer("answer h", "h", ["trips"]),
    answer("correct c", "c", ["money"]),
    add("last", "the last one"),
)
AFTER_SNAPSHOT = "add late"
"""The first request after the last snapshot."""

Damage = Callable[[Path], object]
"""Changes the files of a workspace that nobody has open."""


@dataclass(frozen=True)
class Example:
    """A sound workspace.

    Parameters
    ----------
    folder : path
        A folder with ``closed``, the workspace after it was closed, and ``crashed``, as the process
        would have left it if it had been killed: the last events are in the log.
    events : list of Event
        Its events.
    hashes : dict of int to str
        The hash of the model by the number of the last event.
    """

    folder: Path
    events: list[Event]
    hashes: dict[int, str]

    @property
    def hash(self) -> str:
        return self.hashes[len(self.events)]

    def seq(self, name: str) -> int:
        """Return the first event of a request."""
        return next(event.seq for event in self.events if event.actor == name)

    def copy(self, kind: str = "closed", damage: Damage | None = None) -> Path:
        """Return a copy of the workspace, damaged."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / kind, copy)
        (copy / f"{DATABASE}.lock").unlink(missing_ok=True)
        if damage is not None:
            damage(copy)
        return copy


def made_example(folder: Path) -> Example:
    """Make a workspace in an empty folder."""
    hashes: dict[int, str] = {}
    with Workspace(folder / "closed") as workspace:
        hashes[1] = workspace.model().hash
        for step in STEPS:
            send(workspace, step)
            hashes[workspace.tip] = workspace.model().hash
        events = workspace.events()
        shutil.copytree(folder / "closed", folder / "crashed")
    return Example(folder, events, hashes)


@dataclass(frozen=True)
class Outcome:
    """The fate of a damaged workspace.

    Parameters
    ----------
    refused : str or None
        The message, if it could not be opened.
    hash : str or None
        The hash of its model.
    tip : int
        Its last event.
    problems : list of str
        What opening has reported.
    found : list of str
        What verifying reports.
    """

    refused: str | None
    hash: str | None
    tip: int
    problems: list[str]
    found: list[str]

    @property
    def text(self) -> str:
        """Everything that was reported."""
        return "\n".join([self.refused or "", *self.problems, *self.found])


def outcome(example: Example, damage: Damage, kind: str = "closed") -> Outcome:
    """Verify and open a damaged copy; errors other than DamagedError are not caught."""
    found = verify(example.copy(kind, damage)).problems
    folder = example.copy(kind, damage)
    try:
        with Workspace(folder, create=False) as workspace:
            facts = workspace.model()
            problems = [str(problem) for problem in workspace.problems]
            return Outcome(None, facts.hash, workspace.tip, problems, found)
    except DamagedError as error:
        return Outcome(str(error), None, 0, [], found)


def rows(folder: Path) -> dict[str, list[Any]]:
    """Return everything in the tables that matter."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        return {
            table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
            for table in TABLES
        }


def replay_all(folder: Path) -> None:
    """Read every event from the first on; DamagedError at the first that is not sound."""
    with JournalReader(folder / DATABASE) as reader:
        for _ in reader.records():
            pass


def statement(query: str, *values: Any) -> Damage:
    """Change rows of the database as anybody can who has the file."""

    def change(folder: Path) -> None:
        with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
            done = connection.execute(query, values)
            assert done.rowcount != 0, "nothing was changed"

    return change


def flip_bit(name: str, at: int, bit: int) -> Damage:
    """Flip one bit of a file."""

    def change(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[at] ^= 1 << bit
        (folder / name).write_bytes(data)

    return change


def overwrite(name: str, at: int, new: bytes) -> Damage:
    """Overwrite a part of a file; it keeps its size."""

    def change(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        end = min(at + len(new), len(data))
        data[at:end] = new[: end - at]
        (folder / name).write_bytes(data)

    return change


def truncate(name: str, size: int) -> Damage:
    """Cut a file off."""
    return lambda folder: os.truncate(folder / name, size)


def remove(name: str) -> Damage:
    """Remove a file."""
    return lambda folder: (folder / name).unlink()


def random_damage(name: str, size: int, rng: random.Random) -> tuple[str, Damage]:
    """Return a random damage of a file, and its description."""
    at = rng.randrange(size)
    page = at - at % PAGE
    match rng.choice(["bit", "bit", "bit", "sector", "page", "shift", "truncate"]):
        case "bit":
            bit = rng.randrange(8)
            return f"bit {bit} of byte {at} flipped", flip_bit(name, at, bit)
        case "sector":
            sector = at - at % 512
            return f"random sector at {sector}", overwrite(name, sector, rng.randbytes(512))
        case "page":
            return f"zeros at {page}", overwrite(name, page, bytes(PAGE))
        case "shift":
            return f"4 bytes at {at} replaced", overwrite(name, at, rng.randbytes(4))
    return f"truncated to {at}", truncate(name, at)
