"""Calls about items: suggest, add, answer, list, undo."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from tagalong.client.address import path_part
from tagalong.client.answers import Answer
from tagalong.client.calls import Calls
from tagalong.client.errors import ServerError
from tagalong.client.item_forms import (
    accepted_of,
    added_of,
    new_item,
    page_of,
    server_item,
    suggest_request,
)
from tagalong.client.item_json import AnyText, label_list, suggestions_from_json
from tagalong.client.line_batches import line_of, line_results, request_batches
from tagalong.client.results import Accepted, Added, ServerItem
from tagalong.learning.items import Item
from tagalong.tagger.suggestions import Explanation, Suggestions

__all__ = ["ANY_ANSWER", "ItemCalls"]

ANY_ANSWER: Any = object()
"""The present answer of an item, whatever it is."""


class ItemCalls(Calls):
    """Base class of `Client`: everything about items."""

    _helpers: ThreadPoolExecutor

    def suggest(self, item: AnyText, k: int = 5, min_precision: float | None = None) -> Suggestions:
        """Return labels for an item, best first. Nothing is stored.

        Parameters
        ----------
        item : Item, str or mapping
            The item: a text, a mapping of feature names to values, or both as an `Item`.
        k : int, default 5
            Maximum number of labels.
        min_precision : float, optional
            The share of the suggestions marked ``sure`` that has to be right; by default the
            setting of the workspace. Labels with a precision of their own keep it.
        """
        body = suggest_request(item, k, min_precision)
        return self._post(self._in_workspace("suggest"), body, suggestions_from_json)

    def suggest_many(
        self, items: Sequence[AnyText], k: int = 5, min_precision: float | None = None
    ) -> list[Suggestions]:
        """Return labels for many items, the same as ``suggest`` for each, in less time.

        Parameters
        ----------
        items : sequence of Item, str or mapping
            The items.
        k : int, default 5
            Maximum number of labels per item.
        min_precision : float, optional
            As for ``suggest``.
        """
        if isinstance(items, str):
            raise ValueError(f"items must be a collection of items, got {items!r}")
        return self._for_each(lambda item: self.suggest(item, k, min_precision), items)

    def _for_each(
        self, ask: Callable[[AnyText], Suggestions], items: Sequence[AnyText]
    ) -> list[Suggestions]:
        """Return the answers for items, asked over a few connections at a time."""
        if len(items) == 1:  # a live stream; no other thread is needed
            return [ask(items[0])]
        tasks = [self._helpers.submit(ask, item) for item in items]
        try:
            return [task.result() for task in tasks]
        finally:
            for task in tasks:
                task.cancel()

    def add(
        self,
        item: AnyText,
        labels: object = None,
        *,
        id: str | None = None,
        title: str = "",
        source: str = "",
        date: str | datetime | None = None,
        k: int = 5,
    ) -> Added:
        """Add an item, and return its id and suggestions. With labels, it is learnt at once.

        Parameters
        ----------
        item : Item, str or mapping
            The item.
        labels : label or collection of labels, optional
            Its labels; by default those of the item. Without labels it is open.
        id : str, optional
            Its id; by default that of the item, or a new one. Adding the same item again changes
            nothing; other content with the same id is a `Conflict`.
        title : str
            A short text to show in lists.
        source : str
            Where it comes from.
        date : str or datetime, optional
            When it was written, with a time zone; by default the date of the item.
        k : int, default 5
            Maximum number of suggestions.
        """
        body = new_item(item, labels, id=id, title=title, source=source, date=date)
        path = self._in_workspace("items")
        return self._change("POST", path, body, added_of, k=k)

    def learn(self, item: AnyText, labels: object = None) -> Added:
        """Learn the labels of an item, which is added to the workspace.

        Parameters
        ----------
        item : Item, str or mapping
            The item.
        labels : label or collection of labels, optional
            The labels; by default ``item.labels``.
        """
        if labels is None:
            labels = item.labels if isinstance(item, Item) else None
            if labels is None:
                raise ValueError("labels must be given, as the item has none")
        return self.add(item, labels)

    def add_many(
        self, items: Iterable[AnyText], *, source: str = "", relabel: bool = False
    ) -> Iterator[Added | ServerError]:
        """Add items, and yield for each what was added, or why it was refused.

        Items are sent in batches, so that any number of them can be added. Those with labels are
        learnt at once. An item without an id gets one here: if a batch is lost on its way and is
        sent again, no item is added twice.

        Parameters
        ----------
        items : iterable of Item, str or mapping
            The items. ValueError if one of them cannot be sent; those before it are added.
        source : str
            Where they come from.
        relabel : bool, default False
            Whether an item that is there already, with other labels, is answered with these,
            unless its source said so before. Otherwise it is a `Conflict`.
        """
        lines = (line_of(new_item(item, None, source=source)) for item in items)
        for batch in request_batches(lines):
            yield from self._add_batch(batch, relabel)

    def _add_batch(self, batch: Sequence[bytes], relabel: bool) -> list[Added | ServerError]:
        path = self._in_workspace("items:batch")
        request = self._lines_request(path, b"".join(batch), relabel=relabel or None)
        return self._transport.call(request, lambda answer: line_results(answer, batch))

    def answer(
        self,
        id: str,
        labels: object,
        shown: object = None,
        unknown: object = None,
        was: Any = ANY_ANSWER,
    ) -> int:
        """Learn the labels of an item of the workspace, and return the number of the event.

        Parameters
        ----------
        id : str
            The item.
        labels : label or collection of labels
            The right labels. None of them ([]) changes no weights, and counts as wrong for every
            suggestion.
        shown : collection of labels, optional
            The labels that were shown. Labels neither shown nor answered have unknown relevance.
        unknown : collection of labels, optional
            Further labels of unknown relevance.
        was : collection of labels or None, optional
            The present answer, None if there is none. If it is another one, nothing is changed,
            and a `Conflict` has it.
        """
        body: dict[str, Any] = {"labels": label_list(labels)}
        for name, given in (("shown", shown), ("unknown", unknown)):
            if given is not None:
                body[name] = label_list(given, name)
        if was is not ANY_ANSWER:
            body["was"] = None if was is None else label_list(was, "was")
        return self._change_seq("POST", self._item_path(id, "answer"), body)

    def correct(self, id: str, labels: object, was: Any = ANY_ANSWER) -> int:
        """Learn the right labels of an item that was answered with wrong labels.

        Parameters
        ----------
        id : str
            The item.
        labels : label or collection of labels
            The right labels.
        was : label or collection of labels, optional
            The wrong labels; a `Conflict` if the item has others by now.
        """
        return self.answer(id, labels, was=was)

    def feedback(self, id: str, shown: object, accepted: object) -> int:
        """Learn from the accepted labels of a shown list; others have unknown relevance.

        Parameters
        ----------
        id : str
            The item.
        shown : collection of labels
            The labels that were shown.
        accepted : label or collection of labels
            Those that are right.
        """
        return self.answer(id, accepted, shown=shown)

    def undo(
        self, seq: int | None = None, *, batch: str | None = None, cascade: bool = False
    ) -> int:
        """Take an event back: the model becomes what it would be without it.

        Parameters
        ----------
        seq : int, optional
            The event.
        batch : str, optional
            In place of it, all events of a batch that still count.
        cascade : bool, default False
            Whether later events that become impossible are taken back too. Otherwise they are
            listed in a `Conflict`.
        """
        if (seq is None) == (batch is None):
            raise ValueError("undo takes either an event or a batch")
        body: dict[str, Any] = {"seq": seq} if seq is not None else {"batch": batch}
        if cascade:
            body["cascade"] = True
        return self._change_seq("POST", self._in_workspace("undo"), body)

    def forget(self, id: str) -> int:
        """Delete an item and what was learnt from it. This cannot be undone.

        Parameters
        ----------
        id : str
            The item.
        """
        return self._change_seq("DELETE", self._item_path(id))

    def skip(self, id: str) -> None:
        """Put an open item off: it comes after all others.

        Parameters
        ----------
        id : str
            The item.
        """
        self._change("POST", self._item_path(id, "skip"), None, Answer.nothing)

    def accept_sure(self, min_precision: float | None = None, *, preview: bool = False) -> Accepted:
        """File all open items that are sure, as one batch; some are left as spot checks.

        Parameters
        ----------
        min_precision : float, optional
            The share that has to be right; by default the setting of the workspace.
        preview : bool, default False
            Whether to change nothing.
        """
        body: dict[str, Any] = {"preview": True} if preview else {}
        if min_precision is not None:
            body["min_precision"] = min_precision
        path = self._in_workspace("accept-sure")
        return self._change("POST", path, body, lambda answer: answer.formed(accepted_of))

    def item(
        self,
        id: str,
        k: int = 5,
        min_precision: float | None = None,
        label: str | None = None,
    ) -> ServerItem:
        """Return an item with its content, suggestions and an explanation.

        Parameters
        ----------
        id : str
            The item; `NotFound` if there is none.
        k : int, default 5
            Maximum number of suggestions.
        min_precision : float, optional
            As for ``suggest``.
        label : str, optional
            The label to explain; by default the first suggestion.
        """
        path = self._item_path(id)
        return self._get(path, server_item, k=k, min_precision=min_precision, label=label)

    def explain(self, id: str, label: str | None = None) -> Explanation:
        """Return how much each word of an item adds to the score of a label.

        Parameters
        ----------
        id : str
            An item of the workspace.
        label : str, optional
            The label; by default the one with the highest score.
        """
        found = self.item(id, label=label).explanation
        if found is None:
            raise ValueError("the workspace has no labels yet; learn an item first")
        return found

    def items(
        self,
        state: str | None = None,
        order: str | None = None,
        source: str | None = None,
        q: str | None = None,
        *,
        page: int | None = None,
    ) -> Iterator[ServerItem]:
        """Yield items, without their content.

        Parameters
        ----------
        state : str, optional
            Only items in this state: "open", "asked", "filed" or "answered".
        order : str, optional
            "newest" first, the default; or "unsure": the least certain ones first.
        source : str, optional
            Only items from there.
        q : str, optional
            Only items with all these words.
        page : int, optional
            How many items to fetch at a time; by default as many as the server sends.
        """
        path, after = self._in_workspace("items"), None
        found: list[ServerItem]
        while True:
            found, after = self._get(
                path, page_of, state=state, order=order, source=source, q=q, limit=page, after=after
            )
            yield from found
            if after is None:
                return

    def _item_path(self, id: str, *rest: str) -> str:
        return self._in_workspace("items", path_part(id, "the id of an item"), *rest)
