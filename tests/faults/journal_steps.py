"""Requests to a workspace, in an order that is always the same, and a log of those acknowledged.

Every request has a name, which is the actor of its events: so one sees afterwards which requests
are in the journal, and a run that was interrupted can be continued.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tagalong.journal import Added, Workspace, database, keeper
from tagalong.learning.items import Item

Request = Callable[[Workspace, str], Any]
PAGES_BETWEEN_CHECKPOINTS = 8


@contextmanager
def checkpoints_often() -> Iterator[None]:
    """Let SQLite move pages from its log to the database within a short run.

    Snapshots are made only where a step says so: the others depend on the clock.
    """
    make_durable = database._make_durable

    def and_often(connection: sqlite3.Connection) -> None:
        make_durable(connection)
        connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BETWEEN_CHECKPOINTS}")

    with (
        patch.object(database, "_make_durable", and_often),
        patch.object(keeper, "WORK_WORTH_A_SNAPSHOT", inf),
        patch.object(keeper, "WORK_BETWEEN_SNAPSHOTS", inf),
    ):
        yield


@dataclass(frozen=True)
class Step:
    """A request.

    Parameters
    ----------
    name : str
        The actor of its events.
    request : callable
        Sends it; returns the numbers of its events, or None.
    has_key : bool
        Whether it has an idempotency key, so that it can be sent again at any time.
    """

    name: str
    request: Request
    has_key: bool = False


def seq_of(workspace: Workspace, name: str) -> int:
    """Return the first event of a request."""
    return next(event.seq for event in workspace.events() if event.actor == name)


def seqs_of(workspace: Workspace, name: str) -> list[int]:
    """Return the events of a request."""
    return [event.seq for event in workspace.events() if event.actor == name]


def add(id: str, text: str, labels: list[str] | None = None) -> Step:
    return Step(
        f"add {id}",
        lambda w, name: [w.add(text, labels, id=id, key=name, actor=name).seq],
        has_key=True,
    )


def add_many(name: str, items: Sequence[Item]) -> Step:
    def request(workspace: Workspace, name: str) -> list[int]:
        added = workspace.add_many(items, actor=name)
        return [each.seq for each in added if isinstance(each, Added)]

    return Step(name, request)


def answer(name: str, id: str, labels: list[str], **more: Any) -> Step:
    return Step(
        name, lambda w, name: [w.answer(id, labels, key=name, actor=name, **more)], has_key=True
    )


def undo(name: str, of: str) -> Step:
    return Step(name, lambda w, name: [w.undo(seq_of(w, of), key=name, actor=name)], has_key=True)


def forget(id: str) -> Step:
    return Step(f"forget {id}", lambda w, name: [w.forget(id, actor=name)])


def file(id: str, labels: list[str]) -> Step:
    return Step(f"file {id}", lambda w, name: [w.file(id, labels, actor=name)])


def rename(label: str, to: str) -> Step:
    return Step(f"rename {label}", lambda w, name: [w.rename_label(label, to, actor=name)])


def settings(**changes: Any) -> Step:
    return Step(f"set {changes}", lambda w, name: [w.change_settings(actor=name, **changes)])


SNAPSHOT = Step("snapshot", lambda w, name: w.snapshot())
COMPACT = Step("compact", lambda w, name: w.compact())

FIRST = (
    add("a", "the invoice is due", ["money"]),
    add("b", "a flight and a hotel", ["travel"]),
    add("c", "the bank pays the invoice"),
    add("d", "secret words about a flight", ["travel"]),
    answer("answer c", "c", ["money"]),
    SNAPSHOT,
    add("e", "a hotel by the sea"),
)
"""The things that a workspace holds before it is attacked."""

ANSWERS = (
    add("f", "one more invoice of the bank"),
    answer("answer e", "e", ["travel"], shown=["travel", "money"]),
    answer("answer c again", "c", ["bank"]),
    add_many(
        "add many", [Item("g", "a ticket", labels=("travel",)), Item("h", "an offer of the bank")]
    ),
    undo("undo answer c again", "answer c again"),
    rename("travel", "trips"),
    undo("undo of undo", "undo answer c again"),
    answer("answer f", "f", []),
)

PRIVACY = (
    file("e", ["travel"]),
    forget("d"),
    SNAPSHOT,
    settings(min_precision=0.9),
    answer("answer e", "e", ["money"]),
    COMPACT,
)


class Acknowledgements:
    """A log, outside of the workspace, of the requests that were acknowledged.

    Parameters
    ----------
    path : path
        The file.
    """

    def __init__(self, path: Path):
        self._path = path

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)

    def add(self, kind: str, *values: Any) -> None:
        """Add a line with one call of the system, so that a killed process leaves whole lines."""
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(handle, (json.dumps([kind, *values]) + "\n").encode())
        os.close(handle)

    def read(self, kind: str) -> list[Any]:
        if not self._path.exists():
            return []
        lines = map(json.loads, self._path.read_text().splitlines())
        return [values for found, *values in lines if found == kind]


def send(workspace: Workspace, step: Step) -> list[int]:
    """Send a request unless it is in the journal; return the numbers of its events."""
    found = seqs_of(workspace, step.name)
    if found and not step.has_key:
        return found
    seqs: list[int] = step.request(workspace, step.name) or []
    assert not found or seqs == found, f"{step.name}: event {found} became {seqs}"
    workspace.settle()
    return seqs
