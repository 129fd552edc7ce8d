"""Exports: the items of a workspace with their present labels, and its events."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from tagalong.journal.connection import Database
from tagalong.journal.errors import DamagedError
from tagalong.journal.exported_items import exported_items
from tagalong.journal.reader import ItemState, JournalReader
from tagalong.journal.storage import Place, existing_storage
from tagalong.learning.items import Item

__all__ = ["export_events", "export_items"]


def export_items(
    folder: Place,
    state: ItemState | None = None,
    *,
    filed: bool = False,
    on_damage: Callable[[DamagedError], None] | None = None,
) -> Iterator[Item]:
    """Return the items of a workspace as they are at this moment, in the order of their arrival.

    Labels are those that people have given, by their present names. Learning the exported items in
    a new model gives about the model of the workspace; corrections, and which labels were shown,
    are not part of an item.

    Parameters
    ----------
    folder : str, path or Storage
        The workspace; NotFoundError if there is none. It may be written meanwhile.
    state : str, optional
        Only items in this state: "open", "asked", "filed" or "answered".
    filed : bool, default False
        Whether items that were filed without asking have the labels under which they were filed. No
        model should learn from those. By default their labels are not known.
    on_damage : callable, optional
        Called for each damaged item, which is left out. Without it, a DamagedError is raised.

    Examples
    --------
    >>> import tempfile
    >>> from tagalong.journal import Workspace, export_items
    >>> with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
    ...     added = workspace.add("Your invoice is due", ["money"], id="a")
    ...     renamed = workspace.rename_label("money", "bills")
    ...     [(item.id, item.labels) for item in export_items(folder)]
    [('a', ('bills',))]
    """
    return _items(existing_storage(folder).database, state, filed, on_damage)


def _items(
    database: Database,
    state: ItemState | None,
    filed: bool,
    on_damage: Callable[[DamagedError], None] | None,
) -> Iterator[Item]:
    with JournalReader(database) as reader, reader.view():
        for each in exported_items(reader, state, filed=filed, on_damage=on_damage):
            yield each.item


def export_events(folder: Place) -> Iterator[dict[str, Any]]:
    """Return the events of a workspace as they are at this moment, as JSON values.

    Every event is there, also those that were undone, which have ``"undone": true``. An event that
    adds an item has its ``content``, unless the item was forgotten.

    Parameters
    ----------
    folder : str, path or Storage
        The workspace; NotFoundError if there is none. It may be written meanwhile.
    """
    return _events(existing_storage(folder).database)


def _events(database: Database) -> Iterator[dict[str, Any]]:
    with JournalReader(database) as reader, reader.view():
        for record in reader.records():
            event = record.event
            found = event.to_json()
            if record.is_taken_back:
                found["undone"] = True
            if event.kind == "item" and record.content is not None:
                content = record.content.decode("utf-8", "surrogatepass")
                found["content"] = json.loads(content)
            yield found
