"""Filing without asking: what is sure, as one batch, within the limit of a day."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tagalong.journal.errors import ConflictError
from tagalong.journal.item_records import ItemRecord
from tagalong.journal.ledger import checked_labels
from tagalong.journal.limits import Limits
from tagalong.journal.operations import OperatedWorkspace
from tagalong.journal.reader import JournalReader
from tagalong.journal.teaching import request_digest
from tagalong.learning.places import PLACES_JUDGED

__all__ = ["Filed", "FilingWorkspace"]

_ITEMS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Filed:
    """Items that were filed without asking, or would be.

    Parameters
    ----------
    batch : str
        The name of the batch, to undo all of it; "" if nothing was filed.
    items : list of (str, list of str)
        The ids with their labels.
    asked : list of str
        The ids that are left to a person as spot checks.
    limited : int
        Number of items that were sure too, but are more than may be filed on this day.
    """

    batch: str
    items: list[tuple[str, list[str]]]
    asked: list[str]
    limited: int = 0


@dataclass(frozen=True, slots=True)
class _Sure:
    """An open item that is sure."""

    id: str
    labels: list[str]
    is_asked: bool


class FilingWorkspace(OperatedWorkspace):
    """Base class of `Workspace`: filing without asking."""

    _limits: Limits

    def file(
        self,
        id: str,
        labels: object,
        *,
        asked: bool = False,
        batch: str = "",
        key: str | None = None,
        scope: str = "",
        actor: str = "",
    ) -> int:
        """Record that an item was filed without asking. It teaches nothing.

        Parameters
        ----------
        id : str
            The item.
        labels : label or collection of labels
            Where it was filed.
        asked : bool, default False
            Whether it was sure, but is left to a person as a spot check.
        batch : str
            Events with the same batch can be undone together.
        key, scope, actor
            As for ``add``.
        """
        given = checked_labels(labels)

        def work() -> int:
            return self._recorder.file(id, given, asked=asked, batch=batch, actor=actor)

        request = ["file", id, given, asked, batch]
        return self._commit(work, key, scope, request, lambda seq: self._store.event(seq).item)

    def file_sure(
        self,
        min_precision: float | None = None,
        *,
        preview: bool = False,
        limit: int | None = None,
        key: str | None = None,
        scope: str = "",
        actor: str = "",
    ) -> Filed:
        """File all open items that are sure, as one batch; some are left as spot checks.

        At most ``filed_per_day`` items are filed on one day (see `Limits`).

        Parameters
        ----------
        min_precision : float, optional
            The share that has to be right; by default the setting.
        preview : bool, default False
            Whether to change nothing.
        limit : int, optional
            Maximum number of items to file or to leave as spot checks.
        key, scope, actor
            As for ``add``. The same request again returns the same batch, with the items of it that
            still exist.
        """
        request = ["file sure", min_precision, limit]
        if key is not None and not preview:
            with self._readers.lend() as reader:
                for batch, limited in self._earlier(reader, scope, key, request_digest(request)):
                    return _filed_as(reader, batch, limited)
        if not preview:
            self._check_not_paused()
        sure = self._sure_items(min_precision, limit)
        if preview:
            with self._readers.lend() as reader:
                chosen, limited = self._within_the_day(reader, sure)
            filed = [(each.id, each.labels) for each in chosen if not each.is_asked]
            return Filed("", filed, [each.id for each in chosen if each.is_asked], limited)
        if not sure and key is None:
            return Filed("", [], [])

        def work() -> list[Any]:
            self._check_not_paused()  # again: judging the items takes a while
            chosen, limited = self._within_the_day(self._store, self._still_open(sure))
            batch = str(uuid.uuid4()) if chosen else ""
            for each in chosen:
                self._recorder.file(
                    each.id, each.labels, asked=each.is_asked, batch=batch, actor=actor
                )
            return [batch, limited]

        batch, limited = self._commit(work, key, scope, request)
        with self._readers.lend() as reader:
            return _filed_as(reader, batch, limited)

    def _check_not_paused(self) -> None:
        if self.settings.paused:
            raise ConflictError("filing is paused; change the setting 'paused' to go on")

    def _sure_items(self, min_precision: float | None, limit: int | None) -> list[_Sure]:
        """Return the open items that are sure, first those to file, then the spot checks."""
        required = self.settings.min_precision if min_precision is None else min_precision
        found: list[_Sure] = []
        for records in self._open_items():
            items = [record.content.item for record in records]
            answers = self.suggest_many(items, PLACES_JUDGED, required)
            for record, suggestions in zip(records, answers, strict=True):
                sure = [str(each.label) for each in suggestions if each.sure]
                if sure:
                    found.append(_Sure(record.id, sure, suggestions.audited))
        return sorted(found[:limit], key=lambda each: each.is_asked)

    def _still_open(self, sure: list[_Sure]) -> list[_Sure]:
        """Return the items that nobody has answered since they were judged."""
        labels = self._recorder.ledger.labels
        return [
            each
            for each in sure
            if self._store.state_of(each.id) == "open" and labels.issuperset(each.labels)
        ]

    def _within_the_day(self, reader: JournalReader, sure: list[_Sure]) -> tuple[list[_Sure], int]:
        """Return what may be filed today, and how many items are too many."""
        if self._limits.filed_per_day is None:
            return sure, 0
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        left = max(0, self._limits.filed_per_day - reader.filed_since(midnight))
        filed = [each for each in sure if not each.is_asked]
        asked = [each for each in sure if each.is_asked]
        return filed[:left] + asked, max(0, len(filed) - left)

    def _open_items(self) -> Iterator[list[ItemRecord]]:
        after = 0
        while records := self.items("open", after=after, limit=_ITEMS_AT_ONCE):
            yield records
            after = records[-1].seq


def _filed_as(reader: JournalReader, batch: str, limited: int) -> Filed:
    """Return what was filed as a batch, without items that do not exist any more."""
    filed: list[tuple[str, list[str]]] = []
    asked: list[str] = []
    for seq in reader.events_of_batch(batch) if batch else ():
        event = reader.event(seq)
        id = None if event.item is None else reader.item_id(event.item)
        if id is not None and event.kind == "asked":
            asked.append(id)
        elif id is not None:
            filed.append((id, event.labels or []))
    return Filed(batch, filed, asked, limited)
