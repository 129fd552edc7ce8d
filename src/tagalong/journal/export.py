"""Exports: the items of a workspace with their present labels, and its events."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.contents import Content
from tagalong.journal.database import connect
from tagalong.journal.errors import DamagedError, NotFoundError
from tagalong.journal.label_names import LabelNames
from tagalong.journal.reader import ItemState, JournalReader
from tagalong.journal.view import journal_path
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item

__all__ = ["export_events", "export_items"]

_ITEMS_AT_ONCE = 1000


def export_items(
    folder: str | os.PathLike[str],
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
    folder : str or path
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
    path = journal_path(folder)
    if not path.exists():
        raise NotFoundError(f"{unicode_path(folder)}: there is no workspace here")
    return _items(path, state, filed, on_damage)


def _items(
    path: Path,
    state: ItemState | None,
    filed: bool,
    on_damage: Callable[[DamagedError], None] | None,
) -> Iterator[Item]:
    with closing(connect(path, read_only=True)) as connection:
        reader = JournalReader(path, connection)
        with reader.view():
            names = LabelNames(connection)
            after = 0
            while found := reader.items(state, after, _ITEMS_AT_ONCE):
                for seq, _, _ in found:
                    try:
                        item = _item(reader, names, seq, filed)
                    except DamagedError as error:
                        if on_damage is None:
                            raise
                        on_damage(error)
                    else:
                        yield item
                after = found[-1][0]


def _item(reader: JournalReader, names: LabelNames, seq: int, filed: bool) -> Item:
    status = reader.status(seq)
    labels = status.labels
    if labels is not None:
        labels = names.present(labels, status.seq)
    if status.state == "filed" and not filed:
        labels = None
    return _with_labels(reader.item_content(seq), labels)


def _with_labels(content: Content, labels: list[str] | None) -> Item:
    item = content.item
    if isinstance(item, FeatureItem):
        # The names say no more than the numbers, but they are the same in every item.
        pairs = zip(item.numbers.tolist(), item.values.tolist(), strict=True)
        item = Item(item.id, "", {str(name): value for name, value in pairs}, weight=item.weight)
    date = datetime.fromisoformat(content.date) if content.date else None
    return replace(item, labels=None if labels is None else tuple(labels), date=date)


def export_events(folder: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Return the events of a workspace as they are at this moment, as JSON values.

    Every event is there, also those that were undone, which have ``"undone": true``. An event that
    adds an item has its ``content``, unless the item was forgotten.

    Parameters
    ----------
    folder : str or path
        The workspace; NotFoundError if there is none. It may be written meanwhile.
    """
    path = journal_path(folder)
    if not path.exists():
        raise NotFoundError(f"{unicode_path(folder)}: there is no workspace here")
    return _events(path)


def _events(path: Path) -> Iterator[dict[str, Any]]:
    with closing(connect(path, read_only=True)) as connection:
        reader = JournalReader(path, connection)
        with reader.view():
            for record in reader.records():
                event = record.event
                found = event.to_json()
                if record.is_taken_back:
                    found["undone"] = True
                if event.kind == "item" and record.content is not None:
                    content = record.content.decode("utf-8", "surrogatepass")
                    found["content"] = json.loads(content)
                yield found
