"""Pages of items. An item may move while somebody turns pages, but never comes twice."""

import base64
import hashlib
import json
import secrets
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from tagalong import parameters
from tagalong.journal.contents import Content, listed_source
from tagalong.journal.errors import RefusedError
from tagalong.journal.item_queries import WAITING, ItemState, Place
from tagalong.journal.item_records import ItemRecord, item_record
from tagalong.journal.reader import JournalReader
from tagalong.journal.reader_pool import ReaderPool
from tagalong.journal.search_words import has_words, words_of

__all__ = ["ItemOrder", "ItemPage", "PageOrders", "PageRequest", "newest_page", "unsure_page"]

ItemOrder: TypeAlias = Literal["newest", "unsure"]
Certainties: TypeAlias = Callable[[Sequence[Any]], Sequence[float]]
"""Returns for some items how certain their first suggestion is."""

MAX_LIMIT = 10_000
ITEMS_SEARCHED = 2000
BYTES_READ = 8_000_000
"""A page ends after so many bytes of items, or after so many items that were searched."""
ITEMS_ORDERED = 20_000
ITEMS_AT_ONCE = 256
ORDERS_KEPT = 32
_DIGEST_BYTES = 9
_STATES: dict[str | None, tuple[ItemState, ...]] = {
    None: get_args(ItemState),
    "open": WAITING,
    "answered": ("answered", "filed"),
    "asked": ("asked",),
    "filed": ("filed",),
}


@dataclass(frozen=True, slots=True)
class ItemPage:
    """A page of a list of items.

    Parameters
    ----------
    records : list of ItemRecord
        The items. There may be fewer than asked for, or none, although more pages follow.
    next : str or None
        Where the next page begins; None if this is the last one.
    """

    records: list[ItemRecord]
    next: str | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which items are listed, checked.

    Parameters
    ----------
    state, order, source, q
        See `WorkspaceView.page`.
    limit : int
        Maximum number of items in the page.
    """

    state: str | None
    order: ItemOrder
    source: str | None
    q: str | None
    limit: int

    def __post_init__(self) -> None:
        if self.state not in _STATES:
            states = ", ".join(repr(state) for state in _STATES if state)
            raise RefusedError(f"state must be one of {states}, got {self.state!r}")
        if self.order == "unsure" and not set(self.states) <= set(WAITING):
            raise RefusedError("order 'unsure' is for open items: state must be 'open' or 'asked'")
        try:
            parameters.choice(self.order, "order", get_args(ItemOrder))
            parameters.integer(self.limit, "limit", 1, MAX_LIMIT)
        except ValueError as error:
            raise RefusedError(str(error)) from None
        for name, text in (("source", self.source), ("q", self.q)):
            if text is not None and not isinstance(text, str):
                raise RefusedError(f"{name} must be a text, got {text!r}")

    @property
    def states(self) -> tuple[ItemState, ...]:
        """The states of the items in the list."""
        return _STATES[self.state]

    @property
    def listed_source(self) -> str | None:
        """The source as the list of items has it."""
        return None if self.source is None else listed_source(self.source)

    def cursor(self, reader: JournalReader, *parts: Any) -> str:
        """Return where the next page begins, as text that only this list understands.

        Parameters
        ----------
        reader : JournalReader
            The journal.
        parts : object
            JSON values.
        """
        data = json.dumps(parts, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._digest(reader, data) + data).rstrip(b"=").decode()

    def position(self, reader: JournalReader, cursor: str) -> list[Any]:
        """Return the parts of a cursor; RefusedError if it does not belong to this list.

        Parameters
        ----------
        reader : JournalReader
            The journal.
        cursor : str
            The cursor.
        """
        try:
            given = cursor.encode("ascii")
            packed = base64.b64decode(given + b"=" * (-len(given) % 4), b"-_", validate=True)
        except (ValueError, AttributeError):
            packed = b""
        digest, data = packed[:_DIGEST_BYTES], packed[_DIGEST_BYTES:]
        if not secrets.compare_digest(digest, self._digest(reader, data)):
            raise RefusedError(
                "after must be the cursor of the page before, of the same list: start again without"
            )
        parts: list[Any] = json.loads(data)
        return parts

    def _digest(self, reader: JournalReader, data: bytes) -> bytes:
        """Return a digest of a position in this list of this workspace."""
        workspace = str(reader.event(1).body["workspace"]).encode()
        what = json.dumps([self.state, self.order, self.source, self.q]).encode()
        found = hashlib.blake2b(what, key=workspace[:64], digest_size=_DIGEST_BYTES)
        found.update(data)
        return found.digest()


class PageOrders:
    """Orders of items that were computed for a first page, for the pages after it.

    The model changes from page to page, so that another order would repeat items.
    """

    def __init__(self) -> None:
        self._orders: OrderedDict[str, array[int]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, items: Iterable[int]) -> str:
        """Keep an order, and return its name; the least recently used one may be dropped.

        Parameters
        ----------
        items : iterable of int
            The items in order.
        """
        name = secrets.token_urlsafe(9)
        with self._lock:
            self._orders[name] = array("q", items)
            while len(self._orders) > ORDERS_KEPT:
                self._orders.popitem(last=False)
        return name

    def find(self, name: str) -> "array[int]":
        """Return an order; RefusedError if it was dropped.

        Parameters
        ----------
        name : str
            Its name.
        """
        with self._lock:
            if name not in self._orders:
                raise RefusedError("after: the order of this list is no longer kept: start again")
            self._orders.move_to_end(name)
            return self._orders[name]


class _Page:
    """A page that is being filled, with a bounded amount of work."""

    def __init__(self, reader: JournalReader, request: PageRequest):
        self._reader = reader
        self._words = words_of(request.q or "")
        self._names = reader.label_names()
        self._limit = request.limit
        self._bytes = 0
        self.most = ITEMS_SEARCHED if self._words else request.limit
        """Number of items to look at."""
        self.records: list[ItemRecord] = []

    @property
    def is_full(self) -> bool:
        return len(self.records) == self._limit or self._bytes > BYTES_READ

    def add(self, item: int) -> None:
        """Add an item, if it has the words that are searched."""
        data = self._reader.content(item)
        if data is None:
            raise self._reader.damage(f"the content of event {item:,} is missing")
        self._bytes += len(data)
        content = Content.from_bytes(data)
        if has_words(content, self._words):
            self.records.append(item_record(self._reader, item, content, self._names))


def newest_page(reader: JournalReader, request: PageRequest, after: str | None) -> ItemPage:
    """Return a page of the newest items; those that were put off come last.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    request : PageRequest
        Which items.
    after : str or None
        The cursor of the page before.
    """
    if after is None:
        # An item that is put off later may have been on this page already.
        last_skip, before = reader.last_skip(), None
    else:
        last_skip, *parts = request.position(reader, after)
        before = Place(*parts)
    page = _Page(reader, request)
    places = reader.newest(
        request.states,
        after=before,
        last_skip=last_skip,
        source=request.listed_source,
        limit=page.most + 1,
    )
    for count, place in enumerate(places):
        if before is not None and (page.is_full or count == page.most):
            return ItemPage(page.records, request.cursor(reader, last_skip, *before))
        page.add(place.item)
        before = place
    return ItemPage(page.records, None)


def unsure_page(
    readers: ReaderPool,
    request: PageRequest,
    after: str | None,
    orders: PageOrders,
    certainties: Certainties,
) -> ItemPage:
    """Return a page of open items, the least certain first; those that were put off come last.

    Parameters
    ----------
    readers : ReaderPool
        The journal.
    request : PageRequest
        Which items.
    after : str or None
        The cursor of the page before.
    orders : PageOrders
        The orders of earlier pages.
    certainties : callable
        Returns for some items how certain their first suggestion is.
    """
    if after is None:
        with readers.lend() as reader:
            last_skip = reader.last_skip()
            places = reader.newest(
                request.states, source=request.listed_source, limit=ITEMS_ORDERED
            )
        order = _by_certainty(readers, places, certainties)
        name, start = orders.keep(order), 0
    with readers.lend() as reader:
        if after is not None:
            name, start, last_skip = request.position(reader, after)
        items = orders.find(name)
        page = _Page(reader, request)
        for count, item in enumerate(items[start:]):
            if page.is_full or count == ITEMS_SEARCHED:
                cursor = request.cursor(reader, name, start + count, last_skip)
                return ItemPage(page.records, cursor)
            listed = reader.listed_item(item)
            if listed is not None and listed[1] in request.states and listed[2] <= last_skip:
                page.add(item)
        return ItemPage(page.records, None)


def _by_certainty(
    readers: ReaderPool, places: Sequence[Place], certainties: Certainties
) -> list[int]:
    """Return items with their least certain one first; those that were put off come last."""
    found: list[tuple[int, float, int]] = []
    for start in range(0, len(places), ITEMS_AT_ONCE):
        some = places[start : start + ITEMS_AT_ONCE]
        # For a moment only: a long view keeps the log from shrinking.
        with readers.lend() as reader:
            stored = [(place, reader.content(place.item)) for place in some]
        there = [(place, Content.from_bytes(data)) for place, data in stored if data is not None]
        numbers = certainties([content.item for _, content in there])
        for (place, _), certainty in zip(there, numbers, strict=True):
            found.append((place.skipped, certainty, -place.item))
    return [-item for _, _, item in sorted(found)]
