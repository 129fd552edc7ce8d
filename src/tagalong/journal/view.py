"""`WorkspaceView`: what a workspace says without changing: suggestions, items, figures."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias, get_args

from tagalong.evaluate import Progress, Report
from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.contents import Content
from tagalong.journal.errors import NotFoundError, RefusedError
from tagalong.journal.events import Event
from tagalong.journal.reader import ItemState, JournalReader
from tagalong.journal.reader_pool import ReaderPool
from tagalong.journal.recovery import recovered_state
from tagalong.journal.settings import Settings
from tagalong.journal.snapshots import Snapshots
from tagalong.journal.state import ModelState
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.tagger import Explanation, Suggestions, Tagger

__all__ = ["AnyContent", "ItemRecord", "WorkspaceView", "journal_path", "snapshots_of"]

AnyContent: TypeAlias = Item | FeatureItem | str | Mapping[str, Any]


def journal_path(folder: str | os.PathLike[str]) -> Path:
    """Return the database of a workspace."""
    return Path(folder) / "journal.sqlite"


def snapshots_of(folder: str | os.PathLike[str]) -> Snapshots:
    """Return the snapshots of a workspace."""
    return Snapshots(Path(folder) / "snapshots")


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """An item of a workspace.

    Parameters
    ----------
    id : str
        Its id.
    seq : int
        The event that added it.
    state : str
        "open"; "asked": left to a person as a spot check; "filed" without asking; "answered".
    labels : list of str or None
        Its labels by their present names; None while it is open.
    content : Content
        The item itself.
    """

    id: str
    seq: int
    state: ItemState
    labels: list[str] | None
    content: Content


class WorkspaceView:
    """A workspace as it is at the moment, for reading only, also while another process writes it.

    Parameters
    ----------
    folder : str or path
        The workspace; NotFoundError if there is none.

    Attributes
    ----------
    problems : list of DamagedError
        Damaged snapshots, which were passed over.
    """

    problems: list[Any]

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        self.problems = []
        if not journal_path(folder).exists():
            raise NotFoundError(f"{unicode_path(self.folder)}: there is no workspace here")
        self._readers = ReaderPool(journal_path(folder))
        with self._readers.lend() as reader:
            self._settings = reader.ledger().settings
            self._state_at_start = recovered_state(
                reader, snapshots_of(folder), on_damage=self.problems.append
            )

    def close(self) -> None:
        """Close all connections."""
        self._readers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def _state(self) -> ModelState:
        return self._state_at_start

    def items(
        self, state: ItemState | None = None, *, after: int = 0, limit: int = 100
    ) -> list[ItemRecord]:
        """Return items in the order in which they came.

        Parameters
        ----------
        state : str, optional
            Only items in this state: "open", "asked", "filed" or "answered".
        after : int
            The number of the item before the first one.
        limit : int
            Maximum number of items.
        """
        if state not in (None, *get_args(ItemState)):
            raise RefusedError(f"state must be one of {get_args(ItemState)}, got {state!r}")
        with self._readers.lend() as reader:
            return [
                _item_record(reader, seq, id) for seq, id, _ in reader.items(state, after, limit)
            ]

    def item(self, id: str) -> ItemRecord:
        """Return an item; NotFoundError if there is none with this id."""
        with self._readers.lend() as reader:
            seq = reader.find_item(id)
            if seq is None:
                raise NotFoundError(f"there is no item {id!r}")
            return _item_record(reader, seq, id)

    def item_counts(self) -> dict[str, int]:
        """Return the number of items in each state."""
        with self._readers.lend() as reader:
            return reader.item_counts()

    def events(self, after: int = 0) -> list[Event]:
        """Return the events after one, whether or not they were undone."""
        with self._readers.lend() as reader:
            return list(reader.events(after))

    @property
    def tip(self) -> int:
        """The number of the last event."""
        with self._readers.lend() as reader:
            return reader.tip

    @property
    def settings(self) -> Settings:
        """The settings that decide learning and filing."""
        return self._settings

    @property
    def labels(self) -> list[str]:
        """The labels of the model, in order of appearance."""
        return list(self._state.tagger.labels)

    @property
    def tagger(self) -> Tagger:
        """The model. Use it to read; only the methods of the workspace may change it."""
        return self._state.tagger

    @property
    def progress(self) -> Progress:
        """The figures so far. Only the methods of the workspace may change them."""
        return self._state.progress

    def suggest(
        self, item: AnyContent, k: int | None = 5, min_precision: float | None = None
    ) -> Suggestions:
        """Return labels for an item, best first; nothing is stored.

        Parameters
        ----------
        item : Item, str or mapping
            The item.
        k : int or None, default 5
            Maximum number of labels; None means all.
        min_precision : float, optional
            The share of the sure suggestions that has to be right; by default the setting.
        """
        required = self.settings.min_precision if min_precision is None else min_precision
        return self.tagger.suggest(item, k, required)

    def suggest_many(
        self,
        items: Sequence[AnyContent],
        k: int | None = 5,
        min_precision: float | None = None,
    ) -> list[Suggestions]:
        """Return labels for many items, the same as ``suggest`` for each.

        Parameters
        ----------
        items : sequence of Item, str or mapping
            The items.
        k, min_precision
            As for ``suggest``.
        """
        required = self.settings.min_precision if min_precision is None else min_precision
        return self.tagger.suggest_many(items, k, required)

    def explain(self, item: AnyContent, label: str | None = None) -> Explanation:
        """Return how much each word of an item adds to the score of a label.

        Parameters
        ----------
        item : Item, str or mapping
            The item.
        label : str, optional
            The label; by default the one with the highest score.
        """
        return self.tagger.explain(item, label)

    def report(self) -> Report:
        """Return the figures: how good the predictions were before each answer was learnt."""
        return self._state.report()

    def document(self, name: str) -> Any:
        """Return a document that belongs to the workspace; None if there is none."""
        with self._readers.lend() as reader:
            return reader.document(name)


def _item_record(reader: JournalReader, seq: int, id: str) -> ItemRecord:
    status = reader.status(seq)
    labels = status.labels
    if labels:
        labels = reader.current_names(labels, status.seq)
    return ItemRecord(id, seq, status.state, labels, reader.item_content(seq))
