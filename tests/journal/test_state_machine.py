"""A workspace gives what its events give from scratch, whatever is requested in which order.

Hypothesis makes sequences of requests, restarts and crashes. After each of them the workspace is
compared with the naive one (tests/journal/naive.py): the hash of the model, figures, items, labels,
settings, and what was refused for which reason.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tagalong import Item
from tagalong.journal import (
    Added,
    ConflictError,
    JournalError,
    Workspace,
    WorkspaceView,
    keeper,
    spare,
)
from tagalong.journal.storage import Place
from tests.journal.comparison import (
    assert_equal,
    assert_lists_agree,
    assert_tables_agree,
    copy_of_files,
)
from tests.journal.examples import START, naive_workspace
from tests.journal.naive import ANY, NaiveWorkspace
from tests.timeouts import TIMEOUT

MEMORY = Path("/dev/shm")
"""A file system in memory, where writing is fast. Whether data is on a disk is tested elsewhere."""
PRESENT: Any = object()
"""The present answer of the item."""
LABELS = ("money", "travel", "family", "home", "work")
MOST_RECENT = 15
IDS = ("x", "y", "z")
CONTENTS = (
    Item(text="the invoice of the bank"),
    Item(text="the flight and the hotel of the passport", weight=0.5),
    Item(text={"subject": "birthday", "from": "mother"}),
    Item(text="tax refund due", features={"amount": 2.5, "currency": "EUR"}),
    Item(features={"amount": 1.0}),
    Item(),
)
SETTINGS: Sequence[dict[str, Any]] = (
    {"labels": "fixed"},
    {"labels": "grow"},
    {"one_label": True},
    {"one_label": False},
    {"one_label": "auto"},
    {"audit": 0},
    {"audit": 1.0},
    {"audit": 0.02, "min_precision": 0.6},
    {"content": "features"},
    {"content": "text"},
    {"paused": True},
    {"paused": False, "labels": "fixed"},
    {"audit": 2},
    {"labels": "some"},
    {"colour": "red"},
)

OPERATIONS = {
    "add": "label-added",
    "rename": "label-renamed",
    "merge": "label-merged",
    "forget": "label-forgotten",
}

ids = st.sampled_from((*IDS, *[None] * len(IDS)))
contents = st.sampled_from(CONTENTS)
labels = st.sampled_from(LABELS)
label_lists = st.lists(labels, max_size=2, unique=True)
items = st.tuples(ids, contents, st.none() | label_lists)
places = st.integers(0, 3) | st.integers(0, MOST_RECENT + 4)
"""Places in a list, counted from its end, or something that may not be in it."""
precisions = st.sampled_from([None, 0.5, 0.99, "never"])
answers = st.sampled_from([ANY, ANY, PRESENT, PRESENT, None, ["money"]])
shown_labels = st.none() | st.lists(labels, max_size=3, unique=True)


class JournalMachine(RuleBasedStateMachine):
    """Requests to a workspace and to the naive one."""

    naive: NaiveWorkspace
    workspace: Workspace

    def __init__(self) -> None:
        super().__init__()
        self._folders = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self._folder_number = 0
        self._is_compared = False
        self.requests: list[tuple[str, str, str, str]] = []
        self._turned: dict[str | None, tuple[str | None, set[int]]] = {}
        self._patches = ExitStack()
        # The copy of the model is made on request only, and is used for short histories too.
        for module, name, value in [
            (keeper, "SECONDS_OF_REST", TIMEOUT),
            (spare, "ANSWERS_BEHIND", 3),
            (spare, "EVENTS_BEHIND", 1),
        ]:
            self._patches.enter_context(patch.object(module, name, value))

    @initialize(
        start=st.sampled_from(sorted(START)),
        changes=st.sampled_from([{}, {"content": "features", "audit": 0.5}, {"one_label": True}]),
        first=st.lists(items, max_size=4),
    )
    def create(self, start: str, changes: dict[str, Any], first: list[Any]) -> None:
        self.naive = naive_workspace(start, changes)
        self.workspace = Workspace(self._place, tagger=START[start](), settings=changes)
        self.add_many(first, relabel=False)

    @property
    def _folder(self) -> Path:
        return Path(self._folders.name) / f"workspace-{self._folder_number}"

    @property
    def _place(self) -> Place:
        """Where the workspace is; machines for other storages have another place."""
        return self._folder

    def _request(self, real: Callable[[], Any], naive: Callable[[], Any]) -> Any:
        """Send a request to both; they give the same result, or refuse it for the same reason."""
        self._is_compared = False
        expected: Any
        try:
            expected = naive()
        except JournalError as error:
            expected = error
        try:
            result = real()
        except JournalError as error:
            result = error
        assert _plain(result) == _plain(expected), (result, expected)
        return result

    @rule(item=items)
    def add(self, item: tuple[str | None, Item, list[str] | None]) -> None:
        id, content, labels = item
        results: list[Any] = []
        try:
            results.append(self.workspace.add(content, labels, id=id))
        except JournalError as error:
            results.append(error)
        self._compare_added([item], results, relabel=False)

    @rule(chosen=st.lists(items, max_size=5), relabel=st.booleans())
    def add_many(
        self, chosen: list[tuple[str | None, Item, list[str] | None]], relabel: bool
    ) -> None:
        given = [
            replace(item, id=id or "", labels=None if labels is None else tuple(labels))
            for id, item, labels in chosen
        ]
        results = self.workspace.add_many(given, relabel=relabel)
        self._compare_added(chosen, results, relabel=relabel)

    def _compare_added(
        self, chosen: list[tuple[str | None, Item, Any]], results: Sequence[Any], *, relabel: bool
    ) -> None:
        """Add to the naive workspace what was added; an item without an id has got one."""
        for (id, content, labels), result in zip(chosen, results, strict=True):
            if id is None:
                id = "new" if isinstance(result, JournalError) else result.id
                assert self.naive.state().find(id) is None
            item = replace(content, id=id)
            given = partial(_given, result)
            self._request(given, partial(self.naive.add, item, labels, relabel=relabel))

    def _id(self, place: int) -> str:
        """The id of an item that is there, or an id that may have been there."""
        present = [item.id for item in self.naive.state().items.values()]
        if present and place <= MOST_RECENT:
            return present[-1 - place % len(present)]
        return IDS[place % len(IDS)]

    def _label(self, place: int) -> str:
        """A label that is there, or one that may not be there."""
        known = sorted(self.naive.state().labels)
        if known and place <= MOST_RECENT:
            return known[-1 - place % len(known)]
        return LABELS[place % len(LABELS)]

    def _known(self, labels: list[str]) -> list[str]:
        known = self.naive.state().labels
        return [label for label in labels if label in known]

    @rule(place=places, labels=label_lists)
    def answer(self, place: int, labels: list[str]) -> None:
        self._answer(self._id(place), labels)

    def _answer(self, id: str, labels: list[str], was: Any = PRESENT, **more: Any) -> None:
        if was is PRESENT:
            item = self.naive.state().find(id)
            more["was"] = None if item is None else item.labels
        elif was is not ANY:
            more["was"] = was
        self._request(
            lambda: self.workspace.answer(id, labels, **more),
            lambda: self.naive.answer(id, labels, **more),
        )

    @rule(place=places, labels=label_lists, shown=shown_labels, unknown=label_lists, was=answers)
    def answer_anything(
        self, place: int, labels: list[str], shown: list[str] | None, unknown: list[str], was: Any
    ) -> None:
        self._answer(self._id(place), labels, was, shown=shown, unknown=unknown)

    @rule(place=places, labels=label_lists, shown=shown_labels, unknown=label_lists)
    def answer_with_known_labels(
        self, place: int, labels: list[str], shown: list[str] | None, unknown: list[str]
    ) -> None:
        self._answer(
            self._id(place),
            labels,
            shown=None if shown is None else self._known(shown),
            unknown=[label for label in self._known(unknown) if label not in labels],
        )

    @rule(
        place=places,
        filed=label_lists,
        asked=st.booleans(),
        labels=label_lists,
        is_shown=st.booleans(),
    )
    def file_and_answer(
        self, place: int, filed: list[str], asked: bool, labels: list[str], is_shown: bool
    ) -> None:
        id = self._open_id(place)
        if id is not None:
            filed = self._known(filed)
            shown = self._known([*filed, *(label for label in labels if label not in filed)])
            self._file(id, filed, asked, "one")
            self._answer(id, labels, shown=shown if is_shown else None)

    def _open_id(self, place: int) -> str | None:
        waiting = [item.id for item in self.naive.state().items.values() if item.state == "open"]
        return waiting[-1 - place % len(waiting)] if waiting else None

    @rule(
        place=places,
        labels=label_lists,
        asked=st.booleans(),
        batch=st.sampled_from(["", "one", "two"]),
        is_sound=st.sampled_from([True, True, False]),
    )
    def file(self, place: int, labels: list[str], asked: bool, batch: str, is_sound: bool) -> None:
        id = self._open_id(place)
        if id is not None and is_sound:
            self._file(id, self._known(labels), asked, batch)
        else:
            self._file(self._id(place), labels, asked, batch)

    def _file(self, id: str, labels: list[str], asked: bool, batch: str) -> None:
        self._request(
            lambda: self.workspace.file(id, labels, asked=asked, batch=batch),
            lambda: self.naive.file(id, labels, asked=asked, batch=batch),
        )

    @rule(
        min_precision=st.sampled_from([None, 0.5]),
        preview=st.booleans(),
        limit=st.sampled_from([None, 1]),
    )
    def file_sure(self, min_precision: float | None, preview: bool, limit: int | None) -> None:
        self.workspace.settle(TIMEOUT)
        state = self.naive.state(with_model=True)
        assert state.tagger is not None
        if state.settings.paused and not preview:
            try:
                self.workspace.file_sure(min_precision, limit=limit)
            except ConflictError:
                return
            raise AssertionError("filing is paused")
        required = state.settings.min_precision if min_precision is None else min_precision
        filed: list[tuple[str, list[str]]] = []
        asked: list[tuple[str, list[str]]] = []
        for item in sorted(state.items.values(), key=lambda item: item.seq):
            found = state.tagger.suggest(item.content, None, required)
            sure = [str(each.label) for each in found if each.sure]
            room = limit is None or len(filed) + len(asked) < limit
            if item.state == "open" and sure and room:
                (asked if found.audited else filed).append((item.id, sure))
        done = self.workspace.file_sure(min_precision, preview=preview, limit=limit)
        assert (done.items, done.asked) == (filed, [id for id, _ in asked])
        assert bool(done.batch) == (bool(filed or asked) and not preview)
        if done.batch:
            for id, sure in filed:
                self.naive.file(id, sure, batch=done.batch)
            for id, sure in asked:
                self.naive.file(id, sure, asked=True, batch=done.batch)

    @rule(place=places, cascade=st.booleans(), save=st.sampled_from(["", "snapshot", "spare"]))
    def undo(self, place: int, cascade: bool, save: str) -> None:
        if save:
            self.maintain(save)
        counting = [event.seq for event in self.naive.counting()]
        is_sound = place <= MOST_RECENT
        self._undo(counting[-1 - place % len(counting)] if is_sound else place - 16, cascade)

    def _undo(self, seq: int, cascade: bool) -> None:
        self._request(
            lambda: self.workspace.undo(seq, cascade=cascade),
            lambda: self.naive.undo(seq, cascade=cascade),
        )

    def _undos(self) -> list[int]:
        return [event.seq for event in self.naive.counting() if event.kind == "undo"]

    @precondition(lambda self: self._undos())
    @rule(place=st.integers(0, 3), cascade=st.booleans())
    def undo_an_undo(self, place: int, cascade: bool) -> None:
        undos = self._undos()
        self._undo(undos[-1 - place % len(undos)], cascade)

    @precondition(lambda self: any(event.batch for event in self.naive.events))
    @rule(place=st.integers(0, 3), cascade=st.booleans())
    def undo_batch(self, place: int, cascade: bool) -> None:
        batches = list(dict.fromkeys(event.batch for event in self.naive.events if event.batch))
        batch = [*batches, "missing"][place % (len(batches) + 1)]
        self._request(
            lambda: self.workspace.undo(batch=batch, cascade=cascade),
            lambda: self.naive.undo_batch(batch, cascade=cascade),
        )

    @rule(place=places, content=contents, labels=st.none() | label_lists)
    def take_over_an_id(self, place: int, content: Item, labels: list[str] | None) -> None:
        """Undo an item, and give its id to another one."""
        present = list(self.naive.state().items.values())
        if present:
            item = present[-1 - place % len(present)]
            self._undo(item.seq, cascade=True)
            self.add((item.id, content, labels))

    @rule(place=places)
    def skip(self, place: int) -> None:
        id = self._open_id(place) or self._id(place)
        self._request(lambda: self.workspace.skip(id), lambda: self.naive.skip(id))

    @rule(place=places)
    def skip_anything(self, place: int) -> None:
        id = self._id(place)
        self._request(lambda: self.workspace.skip(id), lambda: self.naive.skip(id))

    @rule(state=st.sampled_from([None, "open", "open", "answered"]), limit=st.integers(1, 3))
    def turn_a_page(self, state: str | None, limit: int) -> None:
        """No item comes twice, whatever happened since the page before."""
        after, seen = self._turned.get(state, (None, set()))
        page = self.workspace.page(state=state, limit=limit, after=after)
        found = {record.seq for record in page.records}
        assert len(found) == len(page.records)
        assert not found & seen
        assert found <= set(self.naive.newest(state))
        self._turned[state] = (page.next, set() if page.next is None else seen | found)

    @rule()
    def compare_lists(self) -> None:
        assert_lists_agree(self.workspace, self.naive)

    @rule(place=places)
    def forget(self, place: int) -> None:
        id = self._id(place)
        self._request(lambda: self.workspace.forget(id), lambda: self.naive.forget(id))

    @rule(
        kind=st.sampled_from(["add", "rename", "rename", "merge", "merge", "forget"]),
        place=places,
        other=labels,
        key=st.sampled_from([None, None, "first key", "second key"]),
    )
    def change_labels(self, kind: str, place: int, other: str, key: str | None) -> None:
        self._change_label(kind, self._label(place), other, key)

    @precondition(lambda self: self.requests)
    @rule(place=places)
    def repeat_a_change_of_labels(self, place: int) -> None:
        self._change_label(*self.requests[-1 - place % len(self.requests)])

    @rule(
        kind=st.sampled_from(["rename", "merge", "forget"]),
        place=places,
        other=labels,
        answer=label_lists,
    )
    def change_the_label_of_an_answer(
        self, kind: str, place: int, other: str, answer: list[str]
    ) -> None:
        """Change a label of an answered item, and answer the item again."""
        answered = [item for item in self.naive.state().items.values() if item.labels]
        if answered:
            item = answered[-1 - place % len(answered)]
            assert item.labels
            self._change_label(kind, item.labels[0], other)
            self._answer(item.id, answer)

    def _change_label(self, kind: str, name: str, other: str, key: str | None = None) -> None:
        workspace, naive = self.workspace, self.naive
        if key is not None:
            self.requests.append((kind, name, other, key))
        real: Callable[[], Any]
        if kind == "add":
            body = {"name": name}
            real = partial(workspace.add_label, name, key=key)
        elif kind == "rename":
            body = {"name": name, "to": other}
            real = partial(workspace.rename_label, name, other, key=key)
        elif kind == "merge":
            body = {"name": name, "into": other}
            real = partial(workspace.merge_label, name, other, key=key)
        else:
            body = {"name": name}
            real = partial(workspace.forget_label, name, key=key)
        event = OPERATIONS[kind]
        change = partial(naive.operate, event, **body)
        self._request(real, lambda: naive.once(key, (event, body), change))

    @rule(place=places, precision=precisions, is_new=st.booleans())
    def set_target(self, place: int, precision: Any, is_new: bool) -> None:
        workspace, naive, name = self.workspace, self.naive, self._label(place)
        body = {"name": name, "min_precision": precision}
        if is_new:
            self._request(
                lambda: workspace.add_label(name, precision),
                lambda: naive.operate("label-added", **body),
            )
        else:
            self._request(
                lambda: workspace.set_min_precision(name, precision),
                lambda: naive.operate("label-target", **body),
            )

    @rule(changes=st.sampled_from(SETTINGS))
    def change_settings(self, changes: dict[str, Any]) -> None:
        self._request(
            lambda: self.workspace.change_settings(**changes),
            lambda: self.naive.change_settings(**changes),
        )

    @rule(
        what=st.sampled_from(["snapshot", "spare", "compact", "reopen", "reopen exactly", "view"])
    )
    def maintain(self, what: str) -> None:
        if what == "snapshot":
            self.workspace.snapshot()
        elif what == "spare":
            self.workspace.settle(TIMEOUT)
            self.workspace._keeper._refresh_spare()
        elif what == "compact":
            self.workspace.compact()
        elif what == "view":
            with WorkspaceView(self._place) as view:
                assert_equal(view, self.naive)
        else:
            self.workspace.close()
            self.workspace = Workspace(self._place, create=False, exact=what == "reopen exactly")
            assert self.workspace.problems == []

    @rule(undo_before=st.booleans(), place=st.integers(0, 8))
    def crash(self, undo_before: bool, place: int) -> None:
        """Go on with what is on the disk now, perhaps while the model is being computed anew."""
        if undo_before:
            self.undo(place, cascade=True, save="")
        self._go_on_after_a_crash()
        assert self.workspace.problems == []

    def _go_on_after_a_crash(self) -> None:
        crashed, old = self.workspace, self._folder
        self._folder_number += 1
        with crashed._commits.paused():  # files are copied one after the other
            copy_of_files(old, self._folder)
        self.workspace = Workspace(self._folder, create=False)
        crashed.close()
        shutil.rmtree(old)

    @invariant()
    @precondition(lambda self: hasattr(self, "workspace"))
    def equals_the_naive_workspace(self) -> None:
        assert_equal(self.workspace, self.naive)
        assert_tables_agree(self._place, self.naive)
        self._is_compared = True

    def teardown(self) -> None:
        if hasattr(self, "workspace"):
            self.workspace.close()
        if self._is_compared:  # not after a failure, which it would hide
            self._remove_snapshots()
            with Workspace(self._place, create=False) as replayed:
                assert_equal(replayed, self.naive)
                assert_lists_agree(replayed, self.naive)
        self._patches.close()
        self._folders.cleanup()

    def _remove_snapshots(self) -> None:
        shutil.rmtree(self._folder / "snapshots", ignore_errors=True)


def _plain(result: Any) -> Any:
    """The parts of a result that equal results share."""
    if isinstance(result, ConflictError):
        return type(result), result.seqs, result.present
    return type(result) if isinstance(result, JournalError) else result


def _given(result: Added | JournalError) -> tuple[int, str]:
    if isinstance(result, JournalError):
        raise result
    return result.seq, result.outcome


IS_LONG = bool(os.environ.get("TAGALONG_NEW_EXAMPLES"))
JournalMachine.TestCase.settings = settings(
    max_examples=1000 if IS_LONG else 25, stateful_step_count=60 if IS_LONG else 40
)
TestJournal = JournalMachine.TestCase
