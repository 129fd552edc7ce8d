"""A naive workspace: a list of events in memory, and everything computed from it by definition.

- An event counts unless an event that counts takes it back.
- The state is what the events that count give, one after the other, from the start: a new tagger
  learns with its public methods, a new `Progress` measures, labels and items follow.
- Forgetting an item keeps the labels that its answers made, if other events need them.
- An event is impossible if its item does not exist, if a label that it names does not exist, if a
  label that it makes exists already, or if the settings of that moment do not admit its labels.

There are no snapshots, no batches and no database. Nothing is computed from an earlier result; the
last one is kept only until the next event.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from tagalong import Item, Tagger, model_hash
from tagalong.evaluate import Progress
from tagalong.features import FeatureItem
from tagalong.journal import ConflictError, NotFoundError, RefusedError, Settings

ANY: Any = object()
"""The present answer of an item, whatever it is."""
Content = Item | FeatureItem
State = Literal["open", "asked", "filed", "answered"]


@dataclass(frozen=True)
class NaiveEvent:
    """An event; `content` is that of a new item, until it is forgotten."""

    seq: int
    kind: str
    body: Mapping[str, Any] = field(default_factory=dict)
    item: int | None = None
    batch: str = ""
    content: Content | None = None

    @property
    def takes(self) -> Sequence[int]:
        return self.body["seqs"] if self.kind in ("undo", "forgotten") else ()


@dataclass
class NaiveItem:
    """An item in a state of the workspace."""

    seq: int
    content: Content
    state: State = "open"
    labels: list[str] | None = None

    @property
    def id(self) -> str:
        return self.content.id


class NaiveState:
    """Everything that follows from events: items, labels, settings, and with a tagger the model.

    Parameters
    ----------
    labels : iterable of str
        The labels at the start.
    settings : Settings
        The settings at the start.
    tagger : Tagger, optional
        The model at the start; None if only items, labels and settings are of interest.
    """

    def __init__(self, labels: Iterable[str], settings: Settings, tagger: Tagger | None = None):
        self.labels = set(labels)
        self.settings = settings
        self.items: dict[int, NaiveItem] = {}
        self.tagger = tagger
        self.progress = Progress()

    def find(self, id: str) -> NaiveItem | None:
        return next((item for item in self.items.values() if item.id == id), None)

    def problem(self, event: NaiveEvent) -> str | None:
        """Return why an event is impossible; None if it is possible."""
        body = event.body
        if event.item is not None and event.item not in self.items:
            return "no item"
        has_to_exist: list[str] = []
        has_to_be_new: list[str] = []
        match event.kind:
            case "item" | "answer" if "labels" in body:
                if self.settings.one_label is True and len(body["labels"]) > 1:
                    return "one label"
                named = [*body.get("shown", ()), *body.get("unknown", ())]
                has_to_exist += [label for label in named if label not in body["labels"]]
                if self.settings.labels == "fixed":
                    has_to_exist += body["labels"]
            case "filed" | "asked":
                has_to_exist += body["labels"]
            case "label-added":
                has_to_be_new += [body["name"]]
            case "label-renamed":
                has_to_exist += [body["name"]]
                has_to_be_new += [body["to"]]
            case "label-merged":
                has_to_exist += [body["name"], body["into"]]
            case "label-forgotten" | "label-target":
                has_to_exist += [body["name"]]
        if not self.labels.issuperset(has_to_exist):
            return "no label"
        return "label exists" if self.labels.intersection(has_to_be_new) else None

    def follow(self, event: NaiveEvent) -> None:
        """Let a possible event happen."""
        body = event.body
        match event.kind:
            case "item":
                assert event.content is not None
                item = self.items[event.seq] = NaiveItem(event.seq, event.content)
                if "labels" in body:
                    self._answer(item, body)
            case "answer":
                assert event.item is not None
                self._answer(self.items[event.item], body)
            case "filed":
                assert event.item is not None
                item = self.items[event.item]
                item.state, item.labels = "filed", list(body["labels"])
            case "asked":
                assert event.item is not None
                item = self.items[event.item]
                item.state, item.labels = "asked", None
            case "settings":
                self._set(body["changes"])
            case "undo" | "forgotten":
                pass
            case _:
                self._operate(event.kind, body)

    def keep_labels(self, event: NaiveEvent) -> None:
        """Let an event of a forgotten item make its labels, and nothing else."""
        if event.kind in ("item", "answer"):
            for label in event.body.get("labels", ()):
                self.labels.add(label)
                if self.tagger is not None and label not in self.tagger.labels:
                    self.tagger.add_labels([label])

    def _answer(self, item: NaiveItem, body: Mapping[str, Any]) -> None:
        if self.tagger is not None:
            self._learn(self.tagger, item, body)
        self.labels.update(body["labels"])
        item.state, item.labels = "answered", list(body["labels"])

    def _learn(self, tagger: Tagger, item: NaiveItem, body: Mapping[str, Any]) -> None:
        labels, shown = list(body["labels"]), body.get("shown")
        unknown = set(body.get("unknown", ()))
        if shown is not None:
            unknown |= {label for label in tagger.labels if label not in [*shown, *labels]}
        content = item.content
        if item.state == "answered":
            tagger.correct(content, labels, was=item.labels or [], unknown=unknown)
        elif item.state == "filed":
            if shown is not None and set(labels) <= set(shown):
                for label in labels:
                    if label not in tagger.labels:
                        tagger.add_labels([label])
                tagger.feedback(content, shown, labels, filed=True)
            else:
                tagger.learn(content, labels, unknown, filed=True)
        else:
            audited = item.state == "asked" and tagger.audit > 0
            self.progress.add(tagger.watch(content, labels, unknown, audited=audited))

    def _operate(self, kind: str, body: Mapping[str, Any]) -> None:
        name = body["name"]
        if kind == "label-added":
            self.labels.add(name)
        elif kind == "label-renamed":
            self._replace(name, [body["to"]])
        elif kind == "label-merged":
            self._replace(name, [body["into"]])
        elif kind == "label-forgotten":
            self._replace(name, [])
        if self.tagger is not None:
            self._operate_tagger(self.tagger, kind, body)

    def _replace(self, name: str, others: list[str]) -> None:
        """Give another name to a label, or none, everywhere."""
        self.labels = (self.labels - {name}) | set(others)
        for item in self.items.values():
            if item.labels is not None and name in item.labels:
                at = item.labels.index(name)
                found = [*item.labels[:at], *others, *item.labels[at + 1 :]]
                item.labels = list(dict.fromkeys(found))

    def _operate_tagger(self, tagger: Tagger, kind: str, body: Mapping[str, Any]) -> None:
        name, before = body["name"], list(tagger.labels)
        becomes = {label: label for label in before}
        if kind == "label-added":
            tagger.add_labels([name])
            if body.get("min_precision") is not None:
                tagger.set_min_precision(name, body["min_precision"])
        elif kind == "label-renamed":
            tagger.rename_label(name, body["to"])
            becomes[name] = body["to"]
        elif kind == "label-merged":
            tagger.merge_labels([name], body["into"])
            becomes[name] = body["into"]
        elif kind == "label-forgotten":
            tagger.forget_label(name)
            del becomes[name]
        else:
            tagger.set_min_precision(name, body["min_precision"])
        if kind in ("label-merged", "label-forgotten"):
            after = list(tagger.labels)
            self.progress.relabel(
                [after.index(becomes[label]) if label in becomes else None for label in before]
            )

    def _set(self, changes: Mapping[str, Any]) -> None:
        self.settings = replace(self.settings, **changes)
        if self.tagger is not None:
            if "audit" in changes:
                self.tagger.audit = changes["audit"]
            if "one_label" in changes:
                self.tagger.set_one_label(changes["one_label"])

    @cached_property
    def hash(self) -> str:
        """The hash of the model, after all events."""
        assert self.tagger is not None
        return model_hash(self.tagger)

    @cached_property
    def report(self) -> dict[str, Any]:
        """The figures of the model, after all events."""
        tagger = self.tagger
        assert tagger is not None
        report = self.progress.report(
            tagger.labels, tagger.certificate_, tagger.has_one_label, drift=tagger.drift
        )
        return report.to_dict()


class NaiveWorkspace:
    """The same requests as `tagalong.journal.Workspace`, answered by definition.

    Parameters
    ----------
    make_tagger : callable
        Returns a new tagger to start from, with the settings.
    settings : Settings
        The settings at the start.
    """

    def __init__(self, make_tagger: Callable[[], Tagger], settings: Settings):
        self._make_tagger = make_tagger
        self._first_settings = settings
        self._first_labels = [str(label) for label in make_tagger().labels]
        self.events: list[NaiveEvent] = [NaiveEvent(1, "created")]
        self._last: dict[bool, tuple[int, NaiveState]] = {}
        self._put_off: list[int] = []
        self._requests: dict[str, tuple[object, Any]] = {}

    @property
    def tip(self) -> int:
        return len(self.events)

    def counts(self, seq: int) -> bool:
        """Return whether an event counts: nothing that counts takes it back."""
        return not any(seq in later.takes and self.counts(later.seq) for later in self.events[seq:])

    def counting(self) -> list[NaiveEvent]:
        return [event for event in self.events if self.counts(event.seq)]

    def state(self, *, with_model: bool = False) -> NaiveState:
        """Replay from scratch."""
        tip, state = self._last.get(with_model, (0, None))
        if state is None or tip != self.tip:
            state = self._first_state(with_model=with_model)
            kept = self._kept()
            for event in self.events[1:]:
                if self.counts(event.seq):
                    problem = state.problem(event)
                    assert problem is None, (event, problem)
                    state.follow(event)
                elif event.seq in kept:
                    state.keep_labels(event)
            self._last[with_model] = self.tip, state
        return state

    def _kept(self) -> set[int]:
        """The events of forgotten items whose labels stay."""
        return {seq for event in self.events for seq in event.body.get("keeps", ())}

    def _first_state(self, *, with_model: bool = False) -> NaiveState:
        tagger = self._make_tagger() if with_model else None
        return NaiveState(self._first_labels, self._first_settings, tagger)

    def _append(self, kind: str, body: Mapping[str, Any], **rest: Any) -> int:
        event = NaiveEvent(self.tip + 1, kind, body, **rest)
        problem = self.state().problem(event)
        if problem is not None and kind.startswith("label-"):
            raise NotFoundError(problem) if problem == "no label" else ConflictError(problem)
        if problem is not None:
            raise RefusedError(problem)
        self.events.append(event)
        return event.seq

    def add(
        self, content: Content, labels: Sequence[str] | None = None, *, relabel: bool = False
    ) -> tuple[int, str]:
        """Add an item that has an id; return a number, and what became of it."""
        _check_weight(content)
        state = self.state()
        if state.settings.content == "features":
            content = self.hashed(content)
        there = state.find(content.id)
        if there is not None:
            if there.content != content and self.hashed(there.content) != self.hashed(content):
                raise ConflictError("other content")
            if labels is None or set(labels) == _as_set(there.labels):
                return there.seq, "known"
            if set(labels) in (_as_set(said) for said in self._said(there.seq)):
                return there.seq, "known"
            if relabel:
                return self.answer(content.id, labels), "answered"
            raise ConflictError("other labels", present=there.labels)
        undone = [event.seq for event in self.events if _has_id(event, content.id)]
        if relabel and undone:
            return undone[-1], "known"
        body = {} if labels is None else {"labels": list(labels)}
        return self._append("item", body, content=content), "new"

    def _said(self, item: int) -> list[list[str] | None]:
        """The labels that an item had at first and has at last, by the names of that time."""
        about = [event for event in self.counting() if item in (event.seq, event.item)]
        first, last = about[0], about[-1]
        return [first.body.get("labels"), last.body.get("labels") if last.kind != "asked" else None]

    def hashed(self, content: Content) -> Content:
        """Return an item as it is stored without text."""
        if isinstance(content, FeatureItem):
            return content
        return self._make_tagger().features.hashed(content)

    def answer(
        self,
        id: str,
        labels: Sequence[str],
        shown: Sequence[str] | None = None,
        unknown: Sequence[str] = (),
        was: Collection[str] | None = ANY,
    ) -> int:
        if set(labels) & set(unknown):
            raise RefusedError("both relevant and unknown")
        item = self._item(id)
        if was is not ANY and _as_set(was) != _as_set(item.labels):
            raise ConflictError("another answer", present=item.labels)
        body: dict[str, Any] = {"labels": list(labels)}
        if shown is not None:
            body["shown"] = list(shown)
        if unknown:
            body["unknown"] = list(unknown)
        return self._append("answer", body, item=item.seq)

    def _item(self, id: str) -> NaiveItem:
        item = self.state().find(id)
        if item is None:
            raise NotFoundError(id)
        return item

    def file(self, id: str, labels: Sequence[str], *, asked: bool = False, batch: str = "") -> int:
        item = self._item(id)
        if item.state in ("filed", "answered"):
            raise ConflictError(item.state)
        kind = "asked" if asked else "filed"
        return self._append(kind, {"labels": list(labels)}, item=item.seq, batch=batch)

    def skip(self, id: str) -> None:
        """Put an item off, behind those that were put off before."""
        item = self._item(id)
        if item.state not in ("open", "asked"):
            raise ConflictError(item.state)
        self._put_off = [seq for seq in self._put_off if seq != item.seq] + [item.seq]

    def newest(self, state: str | None) -> list[int]:
        """Return the items of a list, the newest first; of open ones, those put off come last."""
        states = {"open": ("open", "asked"), "answered": ("answered", "filed")}
        items = self.state().items
        found = [
            seq
            for seq in sorted(items, reverse=True)
            if state is None or items[seq].state in states.get(state, (state,))
        ]
        if state not in ("open", "asked"):
            return found
        last = [seq for seq in self._put_off if seq in found]
        return [seq for seq in found if seq not in last] + last

    def items_with_label(self, label: str) -> int:
        """Return how many items have a label at present."""
        return sum(label in (item.labels or ()) for item in self.state().items.values())

    def once(self, key: str | None, request: object, work: Callable[[], Any]) -> Any:
        """Do work, unless it was done before with the same key."""
        if key is not None and key in self._requests:
            earlier, result = self._requests[key]
            if earlier != request:
                raise RefusedError("another request")
            return result
        result = work()
        if key is not None:
            self._requests[key] = (request, result)
        return result

    def operate(self, kind: str, **body: Any) -> int:
        """Change labels."""
        if kind == "label-merged" and body["name"] == body["into"]:
            raise RefusedError("into itself")
        return self._append(kind, body)

    def change_settings(self, **changes: Any) -> int:
        self.state().settings.changed(changes)  # RefusedError if they are not valid
        return self._append("settings", {"changes": changes})

    def undo(self, seq: int, *, cascade: bool = False) -> int:
        if seq < 1:
            raise RefusedError(str(seq))
        if seq > self.tip:
            raise NotFoundError(str(seq))
        return self._undo([seq], cascade=cascade)

    def undo_batch(self, batch: str, *, cascade: bool = False) -> int:
        seqs = [event.seq for event in self.events if event.batch == batch]
        if not seqs:
            raise NotFoundError(batch)
        seqs = [seq for seq in seqs if self.counts(seq)]
        if not seqs:
            raise ConflictError("undone already")
        return self._undo(seqs, cascade=cascade)

    def _undo(self, seqs: Sequence[int], *, cascade: bool) -> int:
        for seq in seqs:
            if self.events[seq - 1].kind in ("created", "forgotten"):
                raise ConflictError("cannot be undone")
            if not self.counts(seq):
                raise ConflictError("undone already")
        impossible = self._impossible_without(seqs)
        if impossible and not cascade:
            raise ConflictError("impossible", seqs=impossible)
        dead = [seq for seq in impossible if not self.counts(seq)]
        if dead:
            raise ConflictError("cannot come back", seqs=dead)
        return self._take("undo", {*seqs, *impossible})

    def _take(self, kind: str, seqs: Collection[int], keeps: Collection[int] = ()) -> int:
        body = {"seqs": sorted(seqs), "keeps": sorted(keeps)}
        self.events.append(NaiveEvent(self.tip + 1, kind, body))
        return self.tip

    def _impossible_without(self, seqs: Collection[int], keeps: Collection[int] = ()) -> list[int]:
        """Return the events that become impossible if events are taken back.

        An item whose id has been given to another item in the meantime cannot come back.
        """
        present = self.state()
        self._take("undo", seqs, keeps)
        remaining = {event.seq for event in self.counting()}
        kept = self._kept()
        self.events.pop()
        given = {item.id: item.seq for item in present.items.values() if item.seq in remaining}
        state, found = self._first_state(), []
        for event in self.events[1:]:
            if event.seq not in remaining:
                if event.seq in kept:
                    state.keep_labels(event)
                continue
            problem = state.problem(event)
            if event.content is not None and given.get(event.content.id, event.seq) != event.seq:
                problem = "the id belongs to another item"
            if problem is None:
                state.follow(event)
            else:
                found.append(event.seq)
                if event.content is not None and given.get(event.content.id) == event.seq:
                    del given[event.content.id]
        return found

    def forget(self, id: str) -> int:
        """Forget all items that have or had an id."""
        items = {event.seq for event in self.events if _has_id(event, id)}
        if not items:
            raise NotFoundError(id)
        about = {event.seq for event in self.events if event.seq in items or event.item in items}
        keeps: set[int] = set()
        impossible = self._impossible_without(about)
        if impossible:
            keeps = {seq for seq in about if self.counts(seq)}
            impossible = self._impossible_without(about, keeps)
        for seq in items:
            self.events[seq - 1] = replace(self.events[seq - 1], content=None)
        return self._take("forgotten", about | set(impossible), keeps)


def _has_id(event: NaiveEvent, id: str) -> bool:
    return event.content is not None and event.content.id == id


def _as_set(labels: Collection[str] | None) -> set[str] | None:
    return None if labels is None else set(labels)


def _check_weight(content: Content) -> None:
    if content.weight <= 0:
        raise RefusedError("weight")
