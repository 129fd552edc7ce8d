"""Clients at work: threads that add, answer, correct and undo, and note what was acknowledged."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tagalong import Item
from tagalong.client import Added, Client, ServerError, Timing, Unavailable
from tests.journal.examples import TOPICS, texts
from tests.timeouts import TIMEOUT

TEXTS = [text for text, _ in texts(500, seed=1)]
LONGEST_WAIT = 0.05
"""Seconds after which a client tries again, so that it comes back soon after a restart."""


@dataclass(frozen=True)
class Acknowledged:
    """A change that a client was told to be stored."""

    seq: int
    facts: dict[str, Any]
    """Members that the event has to have."""


@dataclass
class Worker:
    """One client, with items and labels of its own: others never make its requests impossible."""

    client: Client
    name: str
    choose: random.Random
    note: Callable[[int, dict[str, Any]], None]
    items: int = 0
    open: list[str] = field(default_factory=list)
    answered: dict[str, list[str]] = field(default_factory=dict)
    undoable: list[int] = field(default_factory=list)
    renamed: int = 0

    @property
    def own_label(self) -> str:
        return f"{self.name}-{self.renamed}"

    def labels(self) -> list[str]:
        """Labels that all clients use; they are never renamed."""
        return self.choose.sample(sorted(TOPICS), self.choose.choice([1, 1, 1, 2]))

    def new_item(self) -> Item:
        self.items += 1
        return Item(f"{self.name}/{self.items}", self.choose.choice(TEXTS))

    def add(self) -> None:
        item = self.new_item()
        added = self.client.add(item)
        self.note(added.seq, {"kind": "item", "id": item.id})
        self.open.append(item.id)

    def learn(self) -> None:
        item, labels = self.new_item(), self.labels()
        added = self.client.add(item, labels)
        self.note(added.seq, {"kind": "item", "id": item.id, "labels": labels})
        self.answered[item.id] = labels

    def add_many(self) -> None:
        items = [self.new_item() for _ in range(self.choose.randrange(2, 6))]
        for item, added in zip(items, self.client.add_many(items), strict=True):
            assert isinstance(added, Added), added
            self.note(added.seq, {"kind": "item", "id": item.id})
            self.open.append(item.id)

    def answer(self) -> None:
        if not self.open:
            self.add()
        id = self.open.pop(self.choose.randrange(len(self.open)))
        self._answer(id, self.labels(), None)

    def correct(self) -> None:
        if not self.answered:
            self.learn()
        id = self.choose.choice(sorted(self.answered))
        self._answer(id, self.labels(), self.answered[id])

    def _answer(self, id: str, labels: list[str], was: list[str] | None) -> None:
        seq = self.client.answer(id, labels, was=was)
        self.note(seq, {"kind": "answer", "id": id, "labels": labels})
        self.answered[id] = labels

    def answer_and_undo(self) -> None:
        """Answer an item; later the answer is undone, and nothing about the item meanwhile."""
        if not self.open:
            self.add()
        id, labels = self.open.pop(), self.labels()
        seq = self.client.answer(id, labels)
        self.note(seq, {"kind": "answer", "id": id, "labels": labels})
        self.undoable.append(seq)

    def undo(self) -> None:
        """Undo an earlier answer, or the undo of one."""
        if not self.undoable:
            self.answer_and_undo()
        undone = self.undoable.pop(self.choose.randrange(len(self.undoable)))
        seq = self.client.undo(undone)
        self.note(seq, {"kind": "undo", "seqs": [undone]})
        if self.choose.random() < 0.2:
            self.undoable.append(seq)

    def rename(self) -> None:
        """Give another name to the label that only this client has."""
        if self.renamed == 0:
            (seq,) = self.client.add_labels([self.own_label])
            self.note(seq, {"kind": "label-added", "name": self.own_label})
        old = self.own_label
        self.renamed += 1
        seq = self.client.rename_label(old, self.own_label)
        self.note(seq, {"kind": "label-renamed", "name": old, "to": self.own_label})

    def change(self) -> None:
        """Make a change of a kind that chance decides."""
        kinds = [self.add, self.learn, self.add_many, self.answer, self.answer]
        kinds += [self.correct, self.answer_and_undo, self.undo, self.rename]
        self.choose.choice(kinds)()

    def read(self) -> None:
        """Read something, which may not fail."""
        kind = self.choose.randrange(5)
        if kind == 0:
            self.client.suggest(self.choose.choice(TEXTS))
        elif kind == 1:
            next(self.client.items(self.choose.choice(["open", "answered"]), page=20), None)
        elif kind == 2:
            self.client.labels()
        elif kind == 3:
            self.client.report()
        elif self.answered:
            self.client.item(self.choose.choice(sorted(self.answered)))


class Load:
    """Several clients at work.

    Parameters
    ----------
    url, token : str
        The server.
    clients : int
        Number of clients, each in a thread of its own.
    seed : object
        Decides what each client does.
    reads : float
        The share of requests that only read.
    goes_on : bool
        Whether clients try again while the server is away; otherwise they end.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        clients: int,
        seed: object,
        reads: float = 0.1,
        goes_on: bool = True,
    ):
        self._changed = threading.Condition()
        self._acknowledged: list[Acknowledged] = []
        self._stopping = threading.Event()
        self._reads = reads
        self._goes_on = goes_on
        self.waits: list[ServerError] = []
        self.errors: list[BaseException] = []
        self._workers = [
            Worker(self._client(url, token), f"c{number}", random.Random(f"{seed} {number}"), note)
            for number in range(clients)
            for note in [self._note]
        ]
        self._threads = [
            threading.Thread(target=self._work, args=[worker], daemon=True)
            for worker in self._workers
        ]

    def _client(self, url: str, token: str) -> Client:
        timing = Timing(sleep=lambda seconds: time.sleep(min(seconds, LONGEST_WAIT)))
        return Client(url, token, timeout=TIMEOUT, timing=timing, on_wait=self._note_wait)

    def _note_wait(self, error: ServerError, seconds: float) -> None:
        if not self._goes_on:
            raise error
        self.waits.append(error)

    def _note(self, seq: int, facts: dict[str, Any]) -> None:
        with self._changed:
            self._acknowledged.append(Acknowledged(seq, facts))
            self._changed.notify_all()

    def _work(self, worker: Worker) -> None:
        try:
            while not self._stopping.is_set():
                if worker.choose.random() < self._reads:
                    worker.read()
                else:
                    worker.change()
        except Unavailable as error:
            if self._goes_on:
                self._note_error(error)
        except BaseException as error:
            self._note_error(error)
        finally:
            worker.client.close()

    def _note_error(self, error: BaseException) -> None:
        with self._changed:
            self.errors.append(error)
            self._changed.notify_all()

    @property
    def acknowledged(self) -> Sequence[Acknowledged]:
        with self._changed:
            return list(self._acknowledged)

    def wait_for(self, count: int) -> None:
        """Wait until so many changes were acknowledged in all."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._acknowledged) >= count or self.errors, TIMEOUT)
        assert not self.errors, self.errors
        assert len(self.acknowledged) >= count, "the clients hang"

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def give_up(self) -> None:
        """Let no client try again."""
        self._goes_on = False

    def finish(self) -> Sequence[Acknowledged]:
        """Let every client end its last request, and return what was acknowledged."""
        self._stopping.set()
        until = time.monotonic() + TIMEOUT
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
            assert not thread.is_alive(), "a client hangs"
        assert not self.errors, self.errors
        return self.acknowledged


@contextmanager
def load(url: str, token: str, **options: Any) -> Iterator[Load]:
    """Let clients work during the block, and until `Load.finish` at the latest."""
    found = Load(url, token, **options)
    found.start()
    try:
        yield found
    except BaseException:
        found.give_up()
        raise
    finally:
        found.finish()
