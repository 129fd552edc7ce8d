"""Suggestions for a stream of items, asked for in batches."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from tagalong.learning.items import Item, ReadError
from tagalong.tagger.suggestions import Suggestions

__all__ = ["Suggested", "Suggests"]

MAX_BATCH = 256
MAX_ERRORS = 20
MAX_PLACES = 1 << 16  # largest number of suggestions in a batch


class Suggests(Protocol):
    """A tagger, or a workspace of a server."""

    def suggest_many(
        self, items: Sequence[Item], k: int, min_precision: float | None
    ) -> Sequence[Suggestions]:
        """Return labels for many items; ValueError if one of them cannot have any."""


class Suggested:
    """Iterator over items and their suggestions, in the order of the items.

    Parameters
    ----------
    tagger : Tagger or Client
        The model.
    items : iterator of Item
        The items.
    k : int
        Maximum number of suggestions per item.
    min_precision : float, optional
        Required precision of a sure suggestion, for labels without their own.
    one_by_one : bool
        Answer each item before the next one is read, as a live stream requires.
    skip : bool
        Count an item for which the model cannot suggest labels, instead of raising ReadError.

    Attributes
    ----------
    count, sure, unknown : int
        Number of items so far, of those with a sure suggestion, and of those without any feature
        that the model knows.
    in_runs : bool
        Whether nothing could be sure, because the labels of the learnt items came in runs.
    skipped : int
        Number of items without an answer, if these are skipped.
    errors : list of str
        The first reasons.
    """

    def __init__(
        self,
        tagger: Suggests,
        items: Iterator[Item],
        k: int,
        min_precision: float | None = None,
        *,
        one_by_one: bool = False,
        skip: bool = False,
    ):
        self.count = self.sure = self.unknown = self.skipped = 0
        self.in_runs = False
        self.errors: list[str] = []
        self._tagger = tagger
        self._items = items
        self._k = k
        self._min_precision = min_precision
        self._size = 1 if one_by_one else max(1, min(MAX_BATCH, MAX_PLACES // max(1, k)))
        self._skip = skip

    def __iter__(self) -> Iterator[tuple[Item, Suggestions]]:
        for batch in self._batches():
            for item, found in self._answers(batch):
                self.count += 1
                self.sure += any(one.sure for one in found)
                self.unknown += not found.known
                self.in_runs |= found.in_runs
                yield item, found

    def _batches(self) -> Iterator[list[Item]]:
        """Yield the items in batches, those before an unreadable item as well."""
        batch: list[Item] = []
        try:
            for item in self._items:
                batch.append(item)
                if len(batch) == self._size:
                    full, batch = batch, []
                    yield full
        except Exception:
            if batch:
                yield batch
            raise
        if batch:
            yield batch

    def _answers(self, batch: Sequence[Item]) -> Iterator[tuple[Item, Suggestions]]:
        try:
            found = self._tagger.suggest_many(batch, self._k, self._min_precision)
        except ValueError as error:
            if len(batch) > 1:  # find the item
                for item in batch:
                    yield from self._answers([item])
                return
            problem = ReadError(batch[0].place or batch[0].id or "--text", str(error))
            if not self._skip:
                raise problem from error
            self.skipped += 1
            if len(self.errors) < MAX_ERRORS:
                self.errors.append(str(problem))
            return
        yield from zip(batch, found, strict=True)
