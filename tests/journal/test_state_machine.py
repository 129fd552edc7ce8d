"""A workspace gives what its events give from scratch, whatever is requested in which order.

Hypothesis makes sequences of requests, restarts and crashes. After each of them the workspace is
compared with the naive one (tests/journal/naive.py): the hash of the model, figures, items, labels,
settings, and what was refused for which reason.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tagalong import Item
from tagalong.journal import Added, ConflictError, JournalError, Workspace, WorkspaceView
from tests.journal.comparison import assert_equal, assert_tables_agree, copy_of_files
from tests.journal.examples import START, naive_workspace
from tests.journal.naive import ANY, NaiveWorkspace
from tests.timeouts import TIMEOUT

MEMORY = Path("/dev/shm")
"""A file system in memory, where writing is fast. Whether data is on a disk is tested elsewhere."""
PRESENT: Any = object()
"""The present answer of the item."""
LABELS = ("money", "travel", "family", "home", "work")
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

ids = st.sampled_from(IDS)
labels = st.sampled_from(LABELS)
label_lists = st.lists(labels, max_size=2, unique=True)
contents = st.sampled_from(CONTENTS)
batches = st.sampled_from(["", "one", "two"])
places = st.integers(0, 3) | st.integers(0, 12)
distances = st.integers(0, 8) | st.integers(0, 60)
precisions = st.sampled_from([0.5, 0.99, "never"])


class JournalMachine(RuleBasedStateMachine):
    """Requests to a workspace and to the naive one."""

    naive: NaiveWorkspace
    workspace: Workspace

    def __init__(self) -> None:
        super().__init__()
        self._folders = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self._folder_number = 0
        self._batches = ["one", "two"]

    @initialize(
        start=st.sampled_from(sorted(START)),
        changes=st.sampled_from([{}, {"content": "features", "audit": 0.5}, {"one_label": True}]),
    )
    def create(self, start: str, changes: dict[str, Any]) -> None:
        self.naive = naive_workspace(start, changes)
        self.workspace = Workspace(self._folder, tagger=START[start](), settings=changes)

    @property
    def _folder(self) -> Path:
        return Path(self._folders.name) / f"workspace-{self._folder_number}"

    def _request(self, real: Callable[[], Any], naive: Callable[[], Any]) -> Any:
        """Send a request to both; they give the same result, or refuse it for the same reason."""
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

    @rule(id=ids, content=contents, labels=st.none() | label_lists)
    def add(self, id: str, content: Item, labels: list[str] | None) -> None:
        item = Item(id, content.text, content.features, weight=content.weight)
        self._request(
            lambda: _outcome(self.workspace.add(item, labels)),
            lambda: self.naive.add(item, labels),
        )

    @rule(content=contents, labels=st.none() | label_lists)
    def add_without_id(self, content: Item, labels: list[str] | None) -> None:
        taken = {item.id for item in self.naive.state().items.values()}
        ids = []

        def add() -> tuple[int, str]:
            added = self.workspace.add(content, labels)
            assert added.id not in taken
            ids.append(added.id)
            return _outcome(added)

        try:
            result: Any = add()
        except JournalError as error:
            result = error
        item = Item(ids[0] if ids else "new", content.text, content.features, weight=content.weight)

        def give() -> Any:
            if isinstance(result, JournalError):
                raise result
            return result

        self._request(give, lambda: self.naive.add(item, labels))

    @rule(
        chosen=st.lists(st.tuples(ids, contents, st.none() | label_lists), max_size=5),
        relabel=st.booleans(),
    )
    def add_many(self, chosen: list[tuple[str, Item, list[str] | None]], relabel: bool) -> None:
        items = [
            Item(
                id,
                each.text,
                each.features,
                labels=None if labels is None else tuple(labels),
                weight=each.weight,
            )
            for id, each, labels in chosen
        ]
        found = self.workspace.add_many(items, relabel=relabel)
        expected: list[Any] = []
        for item in items:
            try:
                bare = Item(item.id, item.text, item.features, weight=item.weight)
                expected.append(self.naive.add(bare, item.labels, relabel=relabel))
            except JournalError as error:
                expected.append(error)
        assert [
            _plain(each if isinstance(each, JournalError) else _outcome(each)) for each in found
        ] == [_plain(each) for each in expected]

    def _id(self, which: int) -> str:
        """The id of an item that is there, or an id that may have been there."""
        present = [item.id for item in self.naive.state().items.values()]
        return present[-1 - which] if which < len(present) else IDS[which % len(IDS)]

    @rule(which=places, labels=label_lists)
    def answer(self, which: int, labels: list[str]) -> None:
        id = self._id(which)
        self._request(
            lambda: self.workspace.answer(id, labels), lambda: self.naive.answer(id, labels)
        )

    @rule(
        which=places,
        labels=label_lists,
        shown=st.none() | label_lists,
        unknown=label_lists,
        was=st.sampled_from([ANY, ANY, PRESENT, None]) | label_lists,
    )
    def answer_with_more(
        self, which: int, labels: list[str], shown: list[str] | None, unknown: list[str], was: Any
    ) -> None:
        id = self._id(which)
        item = self.naive.state().find(id)
        given: dict[str, Any] = {"shown": shown, "unknown": unknown}
        if was is PRESENT:
            given["was"] = None if item is None else item.labels
        elif was is not ANY:
            given["was"] = was
        self._request(
            lambda: self.workspace.answer(id, labels, **given),
            lambda: self.naive.answer(id, labels, **given),
        )

    @rule(which=places, labels=label_lists, asked=st.booleans(), batch=batches)
    def file(self, which: int, labels: list[str], asked: bool, batch: str) -> None:
        id = self._id(which)
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
            self._batches.append(done.batch)
            for id, sure in filed:
                self.naive.file(id, sure, batch=done.batch)
            for id, sure in asked:
                self.naive.file(id, sure, asked=True, batch=done.batch)

    @rule(distance=distances, cascade=st.booleans())
    def undo(self, distance: int, cascade: bool) -> None:
        seq = max(self.naive.tip - distance, 0)
        self._request(
            lambda: self.workspace.undo(seq, cascade=cascade),
            lambda: self.naive.undo(seq, cascade=cascade),
        )

    @rule(distance=st.integers(0, 3), cascade=st.booleans())
    def undo_an_undo(self, distance: int, cascade: bool) -> None:
        undos = [event.seq for event in self.naive.counting() if event.kind == "undo"]
        if distance < len(undos):
            self.undo(self.naive.tip - undos[-1 - distance], cascade)

    @rule(distance=st.integers(0, 3), cascade=st.booleans())
    def undo_batch(self, distance: int, cascade: bool) -> None:
        batch = self._batches[-1 - distance % len(self._batches)]
        self._request(
            lambda: self.workspace.undo(batch=batch, cascade=cascade),
            lambda: self.naive.undo_batch(batch, cascade=cascade),
        )

    @rule(which=places)
    def forget(self, which: int) -> None:
        id = self._id(which)
        self._request(lambda: self.workspace.forget(id), lambda: self.naive.forget(id))

    @rule(kind=st.sampled_from(["add", "rename", "merge", "forget"]), name=labels, other=labels)
    def change_labels(self, kind: str, name: str, other: str) -> None:
        workspace, naive = self.workspace, self.naive
        if kind == "add":
            self._request(
                lambda: workspace.add_label(name), lambda: naive.operate("label-added", name=name)
            )
        elif kind == "rename":
            self._request(
                lambda: workspace.rename_label(name, other),
                lambda: naive.operate("label-renamed", name=name, to=other),
            )
        elif kind == "merge":
            self._request(
                lambda: workspace.merge_label(name, other),
                lambda: naive.operate("label-merged", name=name, into=other),
            )
        else:
            self._request(
                lambda: workspace.forget_label(name),
                lambda: naive.operate("label-forgotten", name=name),
            )

    @rule(name=labels, precision=st.none() | precisions, is_new=st.booleans())
    def set_target(self, name: str, precision: Any, is_new: bool) -> None:
        workspace, naive = self.workspace, self.naive
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

    @rule(what=st.sampled_from(["snapshot", "compact", "reopen", "reopen exactly", "view"]))
    def maintain(self, what: str) -> None:
        if what == "snapshot":
            self.workspace.snapshot()
        elif what == "compact":
            self.workspace.compact()
        elif what == "view":
            with WorkspaceView(self._folder) as view:
                assert_equal(view, self.naive)
        else:
            self.workspace.close()
            self.workspace = Workspace(self._folder, create=False, exact=what == "reopen exactly")
            assert self.workspace.problems == []

    @rule(undo_before=st.booleans(), distance=st.integers(0, 8))
    def crash(self, undo_before: bool, distance: int) -> None:
        """Go on with what is on the disk now, perhaps while the model is being computed anew."""
        if undo_before:
            self.undo(distance, cascade=True)
        crashed, old = self.workspace, self._folder
        self._folder_number += 1
        copy_of_files(old, self._folder)
        self.workspace = Workspace(self._folder, create=False)
        assert self.workspace.problems == []
        crashed.close()
        shutil.rmtree(old)

    @invariant()
    @precondition(lambda self: hasattr(self, "workspace"))
    def equals_the_naive_workspace(self) -> None:
        facts = self.workspace.model(TIMEOUT)
        assert facts.exact
        assert facts.seq == self.workspace.tip
        assert_equal(self.workspace, self.naive)
        assert_tables_agree(self._folder, self.naive)

    def teardown(self) -> None:
        if hasattr(self, "workspace"):
            self.workspace.close()
            shutil.rmtree(self._folder / "snapshots", ignore_errors=True)
            with Workspace(self._folder, create=False) as replayed:  # without any snapshot
                assert_equal(replayed, self.naive)
        self._folders.cleanup()


def _plain(result: Any) -> Any:
    """What two results have in common if they are the same."""
    if isinstance(result, ConflictError):
        return type(result), result.seqs, result.present
    return type(result) if isinstance(result, JournalError) else result


def _outcome(added: Added) -> tuple[int, str]:
    return added.seq, added.outcome


IS_LONG = bool(os.environ.get("TAGALONG_NEW_EXAMPLES"))
JournalMachine.TestCase.settings = settings(
    max_examples=1000 if IS_LONG else 40, stateful_step_count=60 if IS_LONG else 40
)
TestJournal = JournalMachine.TestCase
