"""Comparing a workspace with the naive one."""

import json
import shutil
from pathlib import Path
from typing import Any

from tagalong import model_hash
from tagalong.journal import Workspace, WorkspaceView
from tagalong.journal.reader import JournalReader
from tagalong.journal.storage import Place, storage_of
from tests.journal.examples import naive_workspace
from tests.journal.naive import NaiveEvent, NaiveWorkspace
from tests.timeouts import TIMEOUT


def hash_of(workspace: WorkspaceView) -> str:
    """The hash of the model, when it has followed every event."""
    if isinstance(workspace, Workspace):
        facts = workspace.model(TIMEOUT)
        assert facts.seq == workspace.tip
        return facts.hash
    return model_hash(workspace.tagger)


def assert_equal(workspace: WorkspaceView, naive: NaiveWorkspace) -> None:
    """A workspace has the model, figures, items, labels and settings of the naive one."""
    hash = hash_of(workspace)
    state = naive.state(with_model=True)
    assert state.tagger is not None
    assert workspace.tip == naive.tip
    assert [event.kind for event in workspace.events()] == [event.kind for event in naive.events]
    assert workspace.settings == state.settings
    assert workspace.labels == state.tagger.labels
    assert set(workspace.labels) == state.labels
    assert [
        (item.seq, item.id, item.state, item.labels, item.content.item)
        for item in workspace.items(limit=10**9)
    ] == [
        (item.seq, item.id, item.state, item.labels, item.content)
        for _, item in sorted(state.items.items())
    ]
    assert hash == state.hash
    assert as_json(workspace.report().to_dict()) == as_json(state.report)


def assert_lists_agree(workspace: WorkspaceView, naive: NaiveWorkspace) -> None:
    """Pages have the items of the naive lists, and labels have the same numbers of items."""
    for state in (None, "open", "answered", "asked", "filed"):
        expected = naive.newest(state)
        limit = max(1, len(expected) // 2)
        found: list[int] = []
        after = None
        while True:
            page = workspace.page(state=state, limit=limit, after=after)
            found += [record.seq for record in page.records]
            if (after := page.next) is None:
                break
        assert found == expected
    for label in naive.state().labels:
        assert workspace.items_with_label(label) == naive.items_with_label(label)


def assert_tables_agree(folder: Place, naive: NaiveWorkspace) -> None:
    """The tables of the database agree with the events."""
    state = naive.state()
    counting = {event.seq for event in naive.counting()}
    with JournalReader(storage_of(folder).database) as reader, reader.view():
        assert reader.taken_back() == set(range(1, naive.tip + 1)) - counting
        assert reader.items() == [
            (seq, item.id, item.state) for seq, item in sorted(state.items.items())
        ]
        ledger = reader.ledger()
        assert (ledger.labels, ledger.settings) == (state.labels, state.settings)


def naive_of(
    folder: Place, start: str = "small", settings: dict[str, Any] | None = None
) -> NaiveWorkspace:
    """The naive workspace with the events of a journal, in their order.

    Parameters
    ----------
    folder : path or Storage
        A workspace that began with `START[start]` and some settings.
    """
    naive = naive_workspace(start, settings)
    with JournalReader(storage_of(folder).database) as reader, reader.view():
        for event in list(reader.events(after=1)):
            is_stored = event.kind == "item" and reader.content(event.seq) is not None
            content = reader.item_content(event.seq).item if is_stored else None
            naive.events.append(
                NaiveEvent(event.seq, event.kind, event.body, event.item, event.batch, content)
            )
    return naive


def as_json(value: Any) -> str:
    """A report as text, with all digits of the numbers."""
    return json.dumps(value, sort_keys=True, default=repr)


def copy_of_files(folder: Path, to: Path) -> None:
    """Copy the files of a workspace as a crash would leave them, while nothing is written."""
    to.mkdir()
    for name in ("journal.sqlite", "journal.sqlite-wal"):
        if (folder / name).exists():
            shutil.copy(folder / name, to / name)
    if (folder / "snapshots").exists():
        shutil.copytree(folder / "snapshots", to / "snapshots")
