"""Send requests to a new workspace while a preloaded library records all changes of files.

python -m tests.journal.recorded_run FOLDER LOG [--synchronous FULL]
"""

import argparse
import ctypes
import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from tagalong.journal import Workspace, database
from tests.faults.journal_steps import (
    ANSWERS,
    COMPACT,
    FIRST,
    SNAPSHOT,
    Step,
    answer,
    checkpoints_often,
    file,
    forget,
    send,
    settings,
)

NAME = "team"
OPEN = Step("open", lambda workspace, name: [])
SESSIONS: Sequence[Sequence[Step]] = (
    FIRST,
    (*ANSWERS, SNAPSHOT, forget("d")),
    (settings(min_precision=0.9), COMPACT, file("h", ["bank"]), answer("last", "h", ["money"])),
)
"""The workspace is closed and opened again between them."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("--synchronous", default="FULL")
    args = parser.parse_args()
    handle = os.open(args.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    library = ctypes.CDLL(None)
    library.trace_start(os.fsencode(args.folder.resolve()), handle)
    make_durable = database._make_durable

    def as_asked(connection: sqlite3.Connection) -> None:
        make_durable(connection)
        connection.execute(f"PRAGMA synchronous = {args.synchronous}")

    with patch.object(database, "_make_durable", as_asked), checkpoints_often():
        for steps in SESSIONS:
            with Workspace(args.folder / NAME) as workspace:
                for step in (OPEN, *steps):
                    send(workspace, step)
                    mark = {"tip": workspace.tip, "hash": workspace.model().hash}
                    library.trace_mark(json.dumps({"name": step.name, **mark}).encode())


if __name__ == "__main__":
    main()
