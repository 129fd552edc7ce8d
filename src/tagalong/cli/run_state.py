"""The state of a run of ``learn``, saved so that a resumed run gives the same bits."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tagalong import parameters
from tagalong.cli.errors import CommandError
from tagalong.cli.sources import Reading
from tagalong.evaluate import ListLosses, Progress, QueryProgress, Report
from tagalong.evaluate.query_report import QueryReport
from tagalong.learning.estimators import texts
from tagalong.learning.items import Item
from tagalong.learning.protocols import shows_lists
from tagalong.readers.queries import Query
from tagalong.tagger import Tagger

if TYPE_CHECKING:
    from tagalong.cli.learn.predictions import PredictionFile

__all__ = ["RUN_NOTE", "Run", "make_list_losses", "restored_progress"]

RUN_NOTE = "learn"
"""The key of the run in a tagger's notes."""


class Run:
    """A run: the sources, the position in them, and the measures so far.

    Parameters
    ----------
    reading : Reading
        The sources and how to read them.
    passes : int
        How many times to read the sources.
    progress : Progress or QueryProgress
        The measures so far.

    Attributes
    ----------
    number : int
        The current pass, from 1.
    position : int
        Number of items read in this pass.
    unlabelled : int
        Number of these items without labels.
    refused : int
        Number of these items that the learner refused.
    lists : ListLosses or None
        Losses of the lists that a learner from partial feedback has shown.
    predictions : PredictionFile or None
        The file that the predictions of the first pass are written to.
    saved_predictions : dict or None
        The state of this file when the run was saved.
    held_out : dict or None
        The held-out estimate of a finished run whose items came sorted by label.
    is_private : bool
        Whether an item that was read is mail, so that new files are readable by their owner only.
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
        self.predictions: PredictionFile | None = None
        self.saved_predictions: dict[str, Any] | None = None
        self.held_out: dict[str, Any] | None = None
        self.is_private = False
        self._last: Item | Query | str = ""

    @property
    def is_first_pass(self) -> bool:
        """Whether items are seen for the first time; only then are predictions measured."""
        return self.number == 1

    def report(self, tagger: Tagger) -> Report | QueryReport:
        """Return the measures so far.

        Parameters
        ----------
        tagger : Tagger
            The model that learns.
        """
        facts = tagger.labels, tagger.certificate_, tagger.has_one_label
        if isinstance(self.progress, Progress):
            return self.progress.report(*facts, drift=tagger.drift, grades=tagger.has_grades)
        return self.progress.report(*facts)

    def next_pass(self) -> None:
        """Start the next pass."""
        self.number += 1
        self.position = self.unlabelled = self.refused = 0
        self._last = ""

    def count(self, items: Sequence[Item | Query]) -> None:
        """Count one or more items as read."""
        self.position += len(items)
        self._last = items[-1]

    def check_position(self, item: Item | Query | None, position: int) -> None:
        """Raise CommandError if the sources have changed before the position of the run.

        Parameters
        ----------
        item : Item, Query or None
            The last item read; None if there is none.
        position : int
            The number of items read; less than ``self.position`` if the sources ended early.
        """
        if position < self.position:
            raise CommandError(
                f"the run had read {self.position:,} items, but the sources now have only "
                f"{position:,}; use --continue to learn them as new items"
            )
        if item is not None and _digest(item) != self._digest():
            raise CommandError(
                f"{item.place or item.id}: item {position:,} has changed since the run stopped; "
                "use --continue to learn the sources as new items"
            )

    def _digest(self) -> str:
        return self._last if isinstance(self._last, str) else _digest(self._last)

    def save_to_notes(self, tagger: Tagger) -> None:
        """Store the run in a tagger's notes."""
        self.reading.save_to_notes(tagger)
        if self.predictions is not None:
            self.saved_predictions = self.predictions.state()
        tagger.notes[RUN_NOTE] = {
            "reading": self.reading.to_json(),
            "passes": self.passes,
            "pass": self.number,
            "position": self.position,
            "unlabelled": self.unlabelled,
            "refused": self.refused,
            "last": self._digest(),
            "rounds": tagger.certificate_.rounds,
            "predictions": self.saved_predictions,
            "lists": None if self.lists is None else self.lists.state(),
            "held_out": self.held_out,
            "progress": self.progress.to_json(),
        }

    @classmethod
    def from_notes(cls, tagger: Tagger, path: str) -> "Run":
        """Return the run in a tagger's notes; CommandError if there is none to resume.

        Parameters
        ----------
        tagger : Tagger
            The loaded tagger.
        path : str
            The model file, for messages.
        """
        saved = tagger.notes.get(RUN_NOTE)
        if saved is None:
            raise CommandError(
                f"{path} has no run to resume; use --continue to learn further items"
            )
        try:
            saved = checked_note(saved)
            progress = restored_progress(saved)
            run = cls(Reading(**saved["reading"]), saved["passes"], progress)
            run.number, run.position = saved["pass"], saved["position"]
            run.unlabelled, run.refused = saved["unlabelled"], saved["refused"]
            run._last = saved["last"]
            run.saved_predictions = saved.get("predictions")
            if saved.get("lists") is not None:
                run.lists = make_list_losses(tagger, progress.window).restore(saved["lists"])
            rounds = saved["rounds"]
        except Exception as error:  # whatever the note says, it is the file that is wrong
            raise CommandError(
                f"{path}: the saved run is damaged ({error}); use --continue to learn further items"
            ) from error
        if rounds != tagger.certificate_.rounds:
            raise CommandError(
                f"{path} has changed since its run stopped; use --continue to learn further items"
            )
        return run


def checked_note(note: Any) -> dict[str, Any]:
    """Return the note of a run; an error of any kind if it is not one that `Run` has written.

    Parameters
    ----------
    note : object
        The note ``RUN_NOTE`` of a tagger.
    """
    for name in ("passes", "pass", "position", "unlabelled", "refused"):
        parameters.integer(note[name], name, 0)
    texts(Reading(**note["reading"]).sources, "sources")
    if (held_out := note.get("held_out")) is not None:
        for name in ("learnt", "items"):
            parameters.integer(held_out[name], name, 0)
        if held_out["accuracy"] is not None:
            parameters.real(held_out["accuracy"], "accuracy")
    return {**note}


def restored_progress(note: dict[str, Any]) -> Progress | QueryProgress:
    """Return the measures of a saved run.

    Parameters
    ----------
    note : dict
        The note ``RUN_NOTE`` of a tagger.
    """
    saved = note["progress"]
    kind = QueryProgress if "queries" in saved["numbers"] else Progress
    return kind.from_json(saved)


def make_list_losses(tagger: Tagger, window: int) -> ListLosses:
    """Return a counter of list losses with the costs of a tagger's learner.

    Parameters
    ----------
    tagger : Tagger
        A tagger with a learner from partial feedback.
    window : int
        Number of items that the recent means cover.
    """
    learner = tagger.learner
    if not shows_lists(learner):
        raise ValueError(f"a {type(learner).__name__} does not learn from partial feedback")
    return ListLosses(learner.miss_weight, learner.slot_cost, window)


def _digest(item: Item | Query) -> str:
    """Return a fingerprint of an item's id and labels; it reveals nothing about the text."""
    return hashlib.sha256(repr((item.id, item.labels)).encode()).hexdigest()[:16]
