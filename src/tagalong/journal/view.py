"""`WorkspaceView`: what a workspace says without changing: suggestions, items, figures."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeAlias, get_args

from tagalong.evaluate import Progress, Report
from tagalong.journal.errors import NotFoundError, RefusedError
from tagalong.journal.events import Event, Kind, ListedEvent
from tagalong.journal.exported_items import ExportedItem, exported_items
from tagalong.journal.history_rows import HistoryRow, WantedEvents, history_rows
from tagalong.journal.item_records import ItemRecord, item_record
from tagalong.journal.label_facts import (
    LabelFacts,
    LabelUse,
    items_with_label,
    label_facts,
    label_use,
)
from tagalong.journal.labelled_items import (
    FirstAnswer,
    LabelledItem,
    first_answers,
    labelled_items,
)
from tagalong.journal.pages import (
    ItemOrder,
    ItemPage,
    PageOrders,
    PageRequest,
    newest_page,
    unsure_page,
)
from tagalong.journal.reader import ItemState
from tagalong.journal.reader_pool import ReaderPool
from tagalong.journal.recovery import recovered_state
from tagalong.journal.settings import Settings
from tagalong.journal.spot_checks import SpotCheck, spot_checks
from tagalong.journal.state import ModelState
from tagalong.journal.storage import (
    FolderStorage,
    Place,
    Storage,
    existing_storage,
    journal_path,
    snapshots_of,
)
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.learning.places import PLACES_JUDGED
from tagalong.tagger import Explanation, Suggestions, Tagger

__all__ = ["AnyContent", "WorkspaceStats", "WorkspaceView", "journal_path", "snapshots_of"]

ALL_EVENTS = WantedEvents()
AnyContent: TypeAlias = Item | FeatureItem | str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkspaceStats:
    """Numbers about a workspace, for monitoring.

    Parameters
    ----------
    events : int
        Number of events.
    items : dict of str to int
        Number of items in each state that occurs.
    lag : int
        Number of events that the model has not followed; at least 1 while it is computed anew.
    labels : int
        Number of labels.
    model_bytes : int
        Memory of the model.
    refused : int
        Number of answers that the learner could not learn.
    """

    events: int
    items: dict[str, int]
    lag: int
    labels: int
    model_bytes: int
    refused: int


class WorkspaceView:
    """A workspace as it is at the moment, for reading only, also while another process writes it.

    Parameters
    ----------
    folder : str, path or Storage
        The workspace; NotFoundError if there is none.

    Attributes
    ----------
    storage : Storage
        Where the workspace is stored.
    problems : list of DamagedError
        Damaged snapshots, which were passed over.
    """

    storage: Storage
    problems: list[Any]

    def __init__(self, folder: Place):
        self.storage = existing_storage(folder)
        self.problems = []
        self._orders = PageOrders()
        self._readers = ReaderPool(self.storage.database)
        with self._readers.lend() as reader:
            self._settings = reader.ledger().settings
            self._state_at_start = recovered_state(
                reader, self.storage.snapshots, on_damage=self.problems.append
            )

    @property
    def folder(self) -> Path:
        """The folder of the workspace; RefusedError if it is stored elsewhere."""
        if not isinstance(self.storage, FolderStorage):
            raise RefusedError(f"{self.storage.name}: this workspace is not in a folder")
        return self.storage.folder

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
            names = reader.label_names()
            return [
                item_record(reader, seq, reader.item_content(seq), names)
                for seq, _, _ in reader.items(state, after, limit)
            ]

    def item(self, id: str) -> ItemRecord:
        """Return an item; NotFoundError if there is none with this id."""
        with self._readers.lend() as reader:
            seq = reader.find_item(id)
            if seq is None:
                raise NotFoundError(f"there is no item {id!r}")
            return item_record(reader, seq, reader.item_content(seq))

    def page(
        self,
        *,
        state: str | None = None,
        order: ItemOrder = "newest",
        after: str | None = None,
        limit: int = 100,
        source: str | None = None,
        q: str | None = None,
    ) -> ItemPage:
        """Return a page of a list of items. An item may move meanwhile, but never comes twice.

        A page ends early after 8 MB of items, or 2000 items that were searched.

        Parameters
        ----------
        state : str, optional
            "open": all that wait for an answer, spot checks included; "answered": all that have
            labels, those filed without asking included; only the spot checks, "asked", or only
            those "filed". By default all items.
        order : str
            "newest": the last that came first. "unsure", for open items: the one with the least
            certain first suggestion first; only the newest 20,000 are in this list, and their order
            is that of the first page. In lists of open items, those that were put off come last.
        after : str, optional
            The cursor ``next`` of the page before, of the same list. RefusedError if it is not, or
            if the list is unsure and its order is no longer in memory: then start again.
        limit : int
            Maximum number of items.
        source : str, optional
            Only items from there; the first 500 characters are compared.
        q : str, optional
            Only items with all these words, or parts of words, in id, title, source, text or
            values, whatever the case.
        """
        request = PageRequest(state, order, source, q, limit)
        if order == "unsure":
            return unsure_page(self._readers, request, after, self._orders, self._certainties)
        with self._readers.lend() as reader:
            return newest_page(reader, request, after)

    def _certainties(self, items: Sequence[AnyContent]) -> list[float]:
        """Return how certain the first suggestion for each item is."""
        if not items:
            return []
        tagger = self.tagger
        one = tagger.has_one_label
        return [
            (found[0].probability if one else found.whole) if found else 0.0
            for found in tagger.suggest_many(items, PLACES_JUDGED)
        ]

    def items_with_label(self, name: str) -> int:
        """Return the number of items that are answered or filed with a label at present.

        Parameters
        ----------
        name : str
            The label.
        """
        with self._readers.lend() as reader:
            return items_with_label(reader, name)

    def label_counts(self) -> dict[str, int]:
        """Return the number of learnt items with each label, in order of appearance."""
        tagger = self._state.tagger
        with self._state.lock:
            return dict(zip(map(str, tagger.labels), tagger.history.count.tolist(), strict=True))

    def label_use(self, name: str) -> LabelUse:
        """Return how many items are answered or filed with a label, and with no other one.

        Parameters
        ----------
        name : str
            The label.
        """
        with self._readers.lend() as reader:
            return label_use(reader, name)

    def label_facts(self) -> list[LabelFacts]:
        """Return facts about each label, in order of appearance."""
        state = self._state
        with state.lock:
            return label_facts(state.tagger)

    def labelled_items(
        self, labels: Collection[str], each: int = 4
    ) -> dict[str, list[LabelledItem]]:
        """Return the last items that people have answered with each label, the newest first.

        Only the last 20,000 answered items are searched, and very large ones are left out.

        Parameters
        ----------
        labels : collection of str
            The labels.
        each : int, default 4
            Maximum number of items per label.
        """
        with self._readers.lend() as reader:
            return labelled_items(reader, labels, each)

    def first_answers(self, limit: int = 1000) -> list[FirstAnswer]:
        """Return the last answers to items that had no labels before, the newest first.

        Parameters
        ----------
        limit : int, default 1000
            Maximum number of answers.
        """
        with self._readers.lend() as reader:
            return first_answers(reader, limit)

    def spot_checks(self, limit: int = 1000) -> list[SpotCheck]:
        """Return the last sure items that were left to a person, the newest first.

        Parameters
        ----------
        limit : int, default 1000
            Maximum number of spot checks.
        """
        with self._readers.lend() as reader:
            return spot_checks(reader, limit)

    def filed_since(self, time: datetime) -> int:
        """Return how many items were filed without asking since a time; undone ones do not count.

        Parameters
        ----------
        time : datetime
            The time, with its time zone.
        """
        if time.tzinfo is None:
            raise RefusedError(f"the time needs a time zone, got {time!r}")
        with self._readers.lend() as reader:
            return reader.filed_since(time)

    def listed_events(
        self, after: int = 0, limit: int = 100, kinds: Sequence[str] | None = None
    ) -> list[ListedEvent]:
        """Return the events after one, with the ids of their items, and whether they count.

        Parameters
        ----------
        after : int
            The event before the first one.
        limit : int
            Maximum number of events.
        kinds : sequence of str, optional
            Only events of these kinds.
        """
        unknown = next((kind for kind in kinds or () if kind not in get_args(Kind)), None)
        if unknown is not None:
            raise RefusedError(
                f"there are no events of kind {unknown!r}; the kinds are {list(get_args(Kind))}"
            )
        with self._readers.lend() as reader:
            return reader.listed_events(after, limit, kinds)

    def history(
        self, before: int | None = None, limit: int = 100, wanted: WantedEvents = ALL_EVENTS
    ) -> list[HistoryRow]:
        """Return the last events, the newest first; the events of a batch are one row.

        Parameters
        ----------
        before : int, optional
            The event after the first one; by default the end.
        limit : int
            Maximum number of rows.
        wanted : WantedEvents
            Which events.
        """
        with self._readers.lend() as reader:
            return history_rows(reader, before, limit, wanted)

    def events_of_batch(self, batch: str) -> list[int]:
        """Return the numbers of the events of a batch, which can be undone together.

        Parameters
        ----------
        batch : str
            The batch.
        """
        with self._readers.lend() as reader:
            return reader.events_of_batch(batch)

    def sources(self, limit: int = 100) -> list[str]:
        """Return where items come from, by name.

        Parameters
        ----------
        limit : int
            Maximum number of sources.
        """
        with self._readers.lend() as reader:
            return reader.sources(limit)

    def stats(self) -> WorkspaceStats:
        """Return a few numbers, at little cost."""
        state = self._state
        with self._readers.lend() as reader:
            tip, counts = reader.tip, reader.item_counts()
        labels = len(state.tagger.learner.labels)
        lag = max(tip - state.seq, 0 if self.is_settled else 1)
        return WorkspaceStats(tip, counts, lag, labels, self.model_bytes, state.refused)

    @property
    def model_bytes(self) -> int:
        """Memory of the model, without counting anything."""
        tagger = self.tagger
        return tagger.learner.bytes_of_weights + tagger.features.size_in_bytes

    @property
    def is_settled(self) -> bool:
        """Whether the model has followed every event."""
        return True

    def export_items(
        self, state: ItemState | None = None, *, filed: bool = False
    ) -> Iterator[Item]:
        """Return all items as they are at this moment, one after the other.

        Parameters
        ----------
        state, filed
            As for `tagalong.journal.export_items`.
        """
        with self._readers.lend() as reader:
            for each in exported_items(reader, state, filed=filed):
                yield each.item

    def export_records(self) -> Iterator[ExportedItem]:
        """Return all items with what has become of them, as they are at this moment."""
        with self._readers.lend() as reader:
            yield from exported_items(reader)

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

    def suggest_at_once(
        self, item: AnyContent, k: int | None = 5, min_precision: float | None = None
    ) -> Suggestions | None:
        """Return the same as ``suggest``, or None if that would have to wait for another thread.

        Parameters
        ----------
        item : Item, str or mapping
            The item.
        k, min_precision
            As for ``suggest``.
        """
        required = self.settings.min_precision if min_precision is None else min_precision
        return self.tagger.suggest_at_once(item, k, required)

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
