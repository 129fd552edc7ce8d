"""Where a run of ``learn`` is, so that it can stop and go on to the same bits."""

import base64
import hashlib
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.cli.errors import CommandError
from tagalong.cli.sources import Reading
from tagalong.evaluate import ListLosses, Progress, QueryProgress
from tagalong.learning.items import Item
from tagalong.learning.protocols import shows_lists
from tagalong.readers.queries import Query
from tagalong.tagger import Tagger

__all__ = ["NOTE", "Run", "losses_of"]

NOTE = "learn"
"""The entry of a tagger's notes that keeps the run."""


class Run:
    """A run: what is read, how far, and the figures so far.

    Parameters
    ----------
    reading : Reading
        What is read and how.
    passes : int
        How often.
    progress : Progress or QueryProgress
        The figures so far.

    Attributes
    ----------
    number : int
        The pass, from 1.
    position : int
        How many items of this pass have been read.
    unlabelled : int
        How many of them had no labels to learn.
    refused : int
        How many of them the learner could not take.
    lists : ListLosses or None
        What the lists cost that a learner from partial feedback has shown.
    """

    def __init__(self, reading: Reading, passes: int, progress: Progress | QueryProgress):
        self.reading = reading
        self.passes = passes
        self.progress = progress
        self.number = 1
        self.position = 0
        self.unlabelled = 0
        self.refused = 0
        self.lists: ListLosses | None = None
        self._last: Item | Query | str = ""

    def next_pass(self) -> None:
        """Begin to read once more."""
        self.number += 1
        self.position = self.unlabelled = self.refused = 0
        self._last = ""

    def count(self, items: Sequence[Item | Query]) -> None:
        """Note that items have been dealt with, at least one."""
        self.position += len(items)
        self._last = items[-1]

    def check_place(self, item: Item | Query | None, position: int) -> None:
        """Raise CommandError if what was read up to the position is not what it was before.

        Parameters
        ----------
        item : Item, Query or None
            The last one up to the position; None if there was none.
        position : int
            How many items there were, where there should be ``self.position``.
        """
        if position < self.position:
            raise CommandError(
                f"the run had read {self.position:,} items, but there are only {position:,}: the "
                "sources have changed. --continue learns them as new ones"
            )
        if item is not None and _digest(item) != self._digest():
            raise CommandError(
                f"item {position:,}, {item.place or item.id}, is not what it was when the run "
                "stopped: the sources have changed. --continue learns them as new ones"
            )

    def _digest(self) -> str:
        return self._last if isinstance(self._last, str) else _digest(self._last)

    def note(self, tagger: Tagger) -> None:
        """Write the run into a tagger's notes."""
        state = self.progress.state()
        tagger.notes[NOTE] = {
            "reading": self.reading.to_json(),
            "passes": self.passes,
            "pass": self.number,
            "position": self.position,
            "unlabelled": self.unlabelled,
            "refused": self.refused,
            "last": self._digest(),
            "rounds": tagger.certificate_.rounds,
            "lists": None if self.lists is None else self.lists.state(),
            "progress": {
                "numbers": state["numbers"],
                "arrays": {name: _packed(array) for name, array in state["arrays"].items()},
            },
        }

    @classmethod
    def of(cls, tagger: Tagger, path: str) -> "Run":
        """Return the run in a tagger's notes; CommandError if there is none to go on with.

        Parameters
        ----------
        tagger : Tagger
            As it was saved.
        path : str
            Its file, for messages.
        """
        saved = tagger.notes.get(NOTE)
        if saved is None:
            raise CommandError(
                f"{path} has no run to resume; --continue learns further items with it"
            )
        try:
            reading = Reading(**saved["reading"])
            state = saved["progress"]
            arrays = {name: _unpacked(packed) for name, packed in state["arrays"].items()}
            kind = QueryProgress if "queries" in state["numbers"] else Progress
            progress = kind().restore({"arrays": arrays, "numbers": state["numbers"]})
            run = cls(reading, saved["passes"], progress)
            run.number, run.position = saved["pass"], saved["position"]
            run.unlabelled, run.refused = saved["unlabelled"], saved["refused"]
            run._last = saved["last"]
            if saved.get("lists") is not None:
                run.lists = losses_of(tagger, progress.window).restore(saved["lists"])
            rounds = saved["rounds"]
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise CommandError(
                f"{path}: the notes about its run cannot be used ({error}); --continue learns "
                "further items with it"
            ) from error
        if rounds != tagger.certificate_.rounds:
            raise CommandError(
                f"{path} has been changed since its run stopped; --continue learns further items "
                "with it"
            )
        return run


def losses_of(tagger: Tagger, window: int) -> ListLosses:
    """Return the counter of what the lists of a tagger's learner cost.

    Parameters
    ----------
    tagger : Tagger
        With a learner from partial feedback.
    window : int
        How many items the recent figures look back.
    """
    learner = tagger.learner
    if not shows_lists(learner):
        raise ValueError(f"a {type(learner).__name__} shows no lists")
    return ListLosses(learner.miss_weight, learner.slot_cost, window)


def _digest(item: Item | Query) -> str:
    """Return a fingerprint by which an item is known again; it tells nothing about its text."""
    return hashlib.sha256(repr((item.id, item.labels)).encode()).hexdigest()[:16]


def _packed(array: npt.NDArray[Any]) -> dict[str, Any]:
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes())).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def _unpacked(packed: dict[str, Any]) -> npt.NDArray[Any]:
    data = zlib.decompress(base64.b64decode(packed["data"]))
    return np.frombuffer(data, dtype=packed["dtype"]).reshape(packed["shape"]).copy()
